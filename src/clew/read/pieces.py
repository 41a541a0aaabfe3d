"""The parts that a document is cut into, and what cuts it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from clew.document import Document

if TYPE_CHECKING:
    from clew.read.extract.code.python_scopes import Module


PIECE_KINDS = ("section", "passage", "sentence")


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


def covers(piece: Piece, document: Document) -> bool:
    """Return whether a piece has all words of a document.

    Example:
        >>> covers(Piece("passage", "The sea.", 4, 12), Document("a", "--- The sea."))
        True
    """
    if piece.start == 0 and piece.end == len(document.text):
        return True
    rest = document.text[: piece.start] + document.text[piece.end :]
    return not any(map(str.isalnum, rest))


def checked_pieces(pieces: object, document: Document) -> Sequence[Piece]:
    """Return what a splitter of the caller's has cut a document into.

    Raises:
        TypeError: They are no pieces.
        ValueError: A piece is of no known kind, or not where it says, or nothing would be read.

    Example:
        >>> len(checked_pieces(iter([Piece("passage", "Sea.", 0, 4)]), Document("a", "Sea.")))
        1
    """
    if isinstance(pieces, (str, Document)) or not isinstance(pieces, Iterable):
        raise TypeError(
            "a splitter returns clew.read.Piece values in a list; of the document "
            f"{document.id!r} it returned a {type(pieces).__name__}"
        )
    listed = list(pieces)
    for place, piece in enumerate(listed):
        if not isinstance(piece, Piece):
            raise TypeError(
                "a splitter returns clew.read.Piece values in a list; of the document "
                f"{document.id!r} it returned a {type(piece).__name__} in it"
            )
        if piece.kind not in PIECE_KINDS:
            raise ValueError(f"a piece is one of {', '.join(PIECE_KINDS)}; got {piece!r}")
        if not 0 <= piece.start <= piece.end <= len(document.text):
            raise ValueError(
                f"a piece is from 0 to {len(document.text)} in the text of {document.id!r}; "
                f"got {piece!r}"
            )
        if piece.parent is not None and not 0 <= piece.parent < place:
            raise ValueError(f"the parent of a piece is the place of one before it; got {piece!r}")
    if not any(piece.kind == "passage" and piece.text.strip() for piece in listed):
        raise ValueError(
            f"the splitter cut no passage with text from the document {document.id!r}, of which "
            "nothing would be read: leave the document out, or return it as one passage"
        )
    return listed
