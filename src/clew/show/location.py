"""Where an item stands: its document, its lines there, and the headings above it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from clew.graph import EMPTY
from clew.items import Item


def location_of(item: Item, texts: Mapping[str, str] = EMPTY) -> str:
    r"""Return the place of an item on one line; for a fact, the fact.

    Args:
        item: An item of a context.
        texts: The text of each document by its id, for items without a `location`, such as those
            made by hand. They give the line numbers.

    Returns:
        `Item.location`, or else the document and its lines; and the headings. For instance
        "encoder.py:37-64 > class JSONEncoder" or "tides.html#ebb > Tides > Ebb".

    Example:
        >>> text = "# Boats\n\nOars are of ash.\n"
        >>> item = Item("boats.md#9-25", text[9:25], 0.7, "seed", "passage", 5,
        ...             document="boats.md", heading="Boats > Oars", span=(9, 25))
        >>> location_of(item, {"boats.md": text})
        'boats.md:3 > Boats > Oars'
    """
    if item.role == "fact":
        return f"fact: {_on_one_line(item.text)}"
    document = item.document or item.id
    titles = [title for title in item.heading.split(" > ") if title]
    file = PurePath(document)
    if titles and titles[0] in (document, file.name, file.stem):
        titles = titles[1:]
    place = item.location or document + _line_numbers(item, texts.get(document, ""))
    return _on_one_line(" > ".join([place, *titles]))


def lines_of(item: Item, text: str) -> tuple[int, int] | None:
    r"""Return the first and last line of an item in the text of its document, counted from 1.

    Args:
        item: An item of a context.
        text: The text of its document.

    Returns:
        The two numbers; None where the item is the whole document or has no place in its lines.

    Example:
        >>> text = "one\ntwo\nthree\n"
        >>> lines_of(Item("d#4-13", "two\nthree", 1.0, "seed", "passage", 2, span=(4, 13)), text)
        (2, 3)
    """
    if "read_as" in item.metadata:  # the text was read in another form than the file's lines have
        return None
    if item.span is None or item.span == (0, len(text)) or not text[slice(*item.span)]:
        return None
    start, end = item.span
    return text.count("\n", 0, start) + 1, text.count("\n", 0, end - 1) + 1


def _line_numbers(item: Item, text: str) -> str:
    lines = lines_of(item, text)
    if lines is None:
        return ""
    first, last = lines
    return f":{first}" if first == last else f":{first}-{last}"


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
