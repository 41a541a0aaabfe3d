"""Where an item stands: its document, its lines there, and the headings above it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from clew.context import Item


def location_of(item: Item, texts: Mapping[str, str]) -> str:
    """Return the place of an item on one line, as "encoder.py:37-64 > class JSONEncoder"; for a fact, the fact.

    Args:
        texts: the texts of the documents by id, for the numbers of the lines; `{d.id: d.text for d in index.documents}`.
    """
    if item.role == "fact":
        return f"fact: {_line(item.text)}"
    document = item.document or item.id
    titles = [title for title in item.heading.split(" > ") if title]
    if titles and titles[0] in (document, PurePath(document).name, PurePath(document).stem):
        titles = titles[1:]
    return _line(" > ".join([document + _numbers(item, texts.get(document, "")), *titles]))


def lines_of(item: Item, text: str) -> tuple[int, int] | None:
    """Return the first and last line of an item in its document's text, or None where it is the whole, or has no place in its lines."""
    if "read_as" in item.metadata:  # what was read is not what the file has in its lines
        return None
    if item.span is None or item.span == (0, len(text)) or not text[slice(*item.span)]:
        return None
    return text.count("\n", 0, item.span[0]) + 1, text.count("\n", 0, item.span[1] - 1) + 1


def _numbers(item: Item, text: str) -> str:
    found = lines_of(item, text)
    if found is None:
        return ""
    first, last = found
    return f":{first}" if first == last else f":{first}-{last}"


def _line(text: str) -> str:
    return " ".join(text.split())
