"""How a text is written, by the name of its file, and how it is taken apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from clew.read.formats import markdown, python, rst
from clew.read.formats import source_code as syntax
from clew.read.formats.outline import Block, Outline
from clew.text.spans import paragraphs

OWN = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd", ".mdx"), "markdown"),
    **dict.fromkeys((".rst", ".rest"), "rst"),
    **dict.fromkeys((".py", ".pyi", ".pyw"), "python"),
}
KNOWN = ("text", "markdown", "rst", "python", "record", *syntax.LANGUAGES)


def format_of(metadata: Mapping[str, Any]) -> str:
    """Return how a text is written, "text" unless the name of the file that its metadata says it comes from tells more."""
    names = (str(metadata.get(name) or "") for name in ("file_name", "file_path", "path", "source"))
    return next(
        (OWN[end] for name in names if (end := PurePosixPath(name.lower()).suffix) in OWN), "text"
    )


def outline_of(text: str, format: str, share: Callable[[int, int], float]) -> Outline:
    """Return what a text consists of.

    Args:
        format: one of `KNOWN`. share: how much of a passage text[start:end] takes: a function or class that takes at most 1 is kept whole.
    """
    if format == "markdown":
        return markdown.outline(text)
    if format == "rst":
        return rst.outline(text)
    if format == "python":
        return python.outline(text, share)
    if format in syntax.LANGUAGES:
        return syntax.outline(text, format, share)
    if format == "record":
        return Outline((Block(0, len(text), "lines"),))
    if format != "text":
        raise ValueError(f"unknown format {format!r} of a document; known: {', '.join(KNOWN)}")
    return Outline(tuple(Block(a, b) for a, b in paragraphs(text)))


def links_of(text: str, format: str) -> tuple[str, ...]:
    """Return the link targets written in a text, each once."""
    if format == "markdown":
        return markdown.links_of(text)
    return tuple(
        dict.fromkeys(
            target for _, target in outline_of(text, format, lambda start, end: 0.0).links
        )
    )
