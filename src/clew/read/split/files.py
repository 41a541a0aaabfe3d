"""What is read from files is cut; what a caller hands in stays as the caller cut it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.document import Document
from clew.read.pieces import Piece
from clew.read.split.splitter import Splitter


@dataclass(frozen=True)
class SplitFiles:
    r"""Cuts documents that clew read from files, as `Splitter` does, and keeps others whole.

    A file holds more than a page has room for. A text, a node or a document that a caller hands in
    is what the caller wants to have back. To cut these too, name `Splitter()`; to keep files whole,
    name None.

    Attributes:
        tokens: The number of tokens that a passage of a file may have, as in `Splitter`.

    Example:
        >>> text = "# Moon\n\nIt is far.\n\n# Sea\n\nIt is salt."
        >>> of_file = {"path": "notes/moon.md", "file_name": "moon.md"}
        >>> [piece.text for piece in SplitFiles()(Document("d", text, of_file, format="markdown"))]
        ['Moon', 'It is far.', 'Sea', 'It is salt.']
        >>> len(SplitFiles()(Document("d", text, format="markdown")))
        1
    """

    tokens: int = 256

    def __post_init__(self) -> None:
        Splitter(self.tokens)  # which checks them

    def __call__(self, document: Document) -> Sequence[Piece]:
        """Return the pieces of a document, by clew's own estimate of tokens."""
        from clew.read.split.whole import keep_whole

        return Splitter(self.tokens)(document) if is_of_file(document) else keep_whole(document)


def is_of_file(document: Document) -> bool:
    """Return whether clew read a document from a file, which its metadata tell.

    Example:
        >>> is_of_file(Document("moon.md", "Far.", {"path": "moon.md", "file_name": "moon.md"}))
        True
        >>> is_of_file(Document("moon", "Far.", {"file_name": "moon.md"}))
        False
    """
    return "path" in document.metadata and "file_name" in document.metadata


FILES = SplitFiles()
"""What cuts documents unless somebody says otherwise: files, which hold more than a page."""
