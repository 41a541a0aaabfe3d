"""The parts that a document is cut into, and what cuts it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from clew.document import Document

if TYPE_CHECKING:
    from clew.read.extract.code.python_scopes import Module


@dataclass(frozen=True)
class Piece:
    r"""A part of a document.

    Attributes:
        kind: "section", "passage" or "sentence".
        text: The text of the piece; of a section its heading.
        start: Where the piece starts in the text of the document.
        end: Where the piece ends there.
        parent: The position, among the pieces of the document, of the section or passage around
            this piece; None for the document itself.
        references: The link targets that are written in the piece.
        tokens: The estimated tokens of its text as an entry of a list, "- ...\n", where who cut it
            knows them; None otherwise.

    Example:
        >>> Piece("passage", "The moon is far.", 0, 16).parent is None
        True
    """

    kind: str
    text: str
    start: int
    end: int
    parent: int | None = None
    references: tuple[str, ...] = ()
    tokens: int | None = field(default=None, compare=False, repr=False)


class CutDocument(NamedTuple):
    """What a document is cut into, and what its parser finds beside it.

    Attributes:
        pieces: The pieces.
        module: The scopes of a module in Python; None where nobody wants them, or it is none.
    """

    pieces: Sequence[Piece]
    module: Module | None = None


class CutAtOnce(Protocol):
    """Cuts a document as soon as it is read; None leaves it for later."""

    @property
    def record(self) -> str:
        """What the pieces depend on beside the document, as a text."""
        ...

    def __call__(self, document: Document) -> CutDocument | None: ...

    def modules_of(self, documents: Sequence[Document]) -> Sequence[Module | None]:
        """Return the scopes of modules in Python, for documents that were cut before."""
        ...


class Split(Protocol):
    """Cuts a document into pieces; a single passage that covers it keeps the document whole."""

    def __call__(self, document: Document) -> Sequence[Piece]: ...
