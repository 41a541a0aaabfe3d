"""Documents of files are cut as soon as they are read, by the process that reads them.

What a parser finds in a file then serves twice, and no document is sent to another process again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clew.document import Document
from clew.processes import map_items
from clew.read.limits import is_within_limits
from clew.read.pieces import CutAtOnce, CutDocument, Split
from clew.read.split.files import SplitFiles
from clew.read.split.splitter import Splitter
from clew.read.split.whole import keep_whole
from clew.text.tokens import Tiktoken, estimate_tokens

if TYPE_CHECKING:
    from clew.read.extract.code.python_scopes import Module


@dataclass(frozen=True)
class CutAsRead:
    """Cuts documents of files that are within the limits; leaves others for later.

    Attributes:
        split: Cuts a document, by nothing but the document.
        max_document: Characters that a document may have.
        max_line: Characters that a line of a document that is parsed may have.
        reads_modules: Whether the scopes of modules in Python are read, too.

    Example:
        >>> cut = CutAsRead(Splitter(), max_document=100, max_line=80)
        >>> [piece.text for piece in cut(Document("moon", "The moon is far.")).pieces]
        ['The moon is far.']
        >>> cut(Document("page", "*" * 90, format="markdown")) is None
        True
    """

    split: Split
    max_document: int
    max_line: int
    reads_modules: bool = False

    @property
    def record(self) -> str:
        """What the pieces depend on beside the document, as a text."""
        own = ""
        if isinstance(self.split, Splitter):
            count = self.split.count
            own = repr((replace(self.split, count=None), count if count is None else _name(count)))
        return f"{own}, {self.max_document}, {self.max_line}"

    def __call__(self, document: Document) -> CutDocument | None:
        """Return the pieces of a document; None where its limits are to be seen to first."""
        if not is_within_limits(document, self.max_document, self.max_line):
            return None
        pieces = keep_whole(document) if document.heading else self.split(document)
        return CutDocument(pieces, module_of(document) if self.reads_modules else None)

    def modules_of(self, documents: Sequence[Document]) -> Sequence[Module | None]:
        """Return the scopes of modules in Python, for documents that were cut before."""
        if not self.reads_modules:
            return [None] * len(documents)
        return map_items(module_of, documents, sizes=[len(one.text) for one in documents])


def _name(count: Callable[[str], int]) -> str:
    return count.name if isinstance(count, Tiktoken) else getattr(count, "__qualname__", "")


def module_of(document: Document) -> Module | None:
    """Return the scopes of a module in Python; None for any other document.

    Example:
        >>> module_of(Document("moon", "The moon is far.")) is None
        True
    """
    if document.format != "python" or document.heading:
        return None
    # What reads symbols is loaded where there is code.
    from clew.read.extract.code.python_scopes import read_module
    from clew.read.extract.symbol_reading import code_file

    return read_module(code_file(document.id, document.format, document.metadata, document.text))


def cut_as_read(
    splitter: Split | None,
    count: Callable[[str], int],
    max_document: int,
    max_line: int,
    reads_modules: bool = False,
) -> CutAtOnce | None:
    """Return what cuts documents of files as they are read; None where that is left for later.

    That is where a splitter or a tokenizer is the caller's own, which other processes may not
    have, or where sentences are compared by an embedder.

    Args:
        splitter: As in `Index.from_documents`.
        count: The tokenizer, text -> number of tokens.
        max_document: Characters that a document may have.
        max_line: Characters that a line of a document that is parsed may have.
        reads_modules: Whether the scopes of modules in Python are read, too.

    Example:
        >>> cut_as_read(Splitter(), estimate_tokens, 100, 80) is None
        False
        >>> cut_as_read(Splitter(semantic=True), estimate_tokens, 100, 80) is None
        True
    """
    if splitter is None:
        return CutAsRead(keep_whole, max_document, max_line, reads_modules)
    if isinstance(splitter, SplitFiles):
        splitter = Splitter(splitter.tokens)
    if type(splitter) is not Splitter or splitter.semantic is not False:
        return None
    own = splitter.count or count
    if own is not estimate_tokens and not isinstance(own, Tiktoken):
        return None
    return CutAsRead(replace(splitter, count=own), max_document, max_line, reads_modules)
