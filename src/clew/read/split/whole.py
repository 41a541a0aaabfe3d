"""A document as one passage."""

from __future__ import annotations

from collections.abc import Sequence

from clew.document import Document
from clew.read.formats.table import find_links
from clew.read.pieces import Piece
from clew.text.kept import MAX_KEPT_TEXT, Kept

LINKS = Kept[tuple[str, str], tuple[str, ...]](2_048)
"""The link targets in texts by format and text: a candidate soon comes again."""


def keep_whole(document: Document) -> Sequence[Piece]:
    """Return the document as one passage.

    Example:
        >>> [piece.text for piece in keep_whole(Document("moon", "The moon is far."))]
        ['The moon is far.']
    """
    text, key = document.text, (document.format, document.text)
    links = LINKS.get(key)
    if links is None:
        links = find_links(text, document.format)
        if len(text) <= MAX_KEPT_TEXT:
            LINKS.put(key, links)
    return [Piece("passage", text, 0, len(text), references=links)]
