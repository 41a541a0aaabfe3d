"""A document becomes sections, passages and sentences, each at its exact place.

Neighbouring blocks (paragraphs, list items, code, tables) are filled into passages up to a number
of tokens. Only a block that does not fit is cut: between its sentences (sentencex), its lines or
its items; and a sentence that does not fit is cut between its words (semchunk). A passage therefore
never cuts a sentence that fits. On request, passages also end where the subject changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clew.document import Document
from clew.read.pieces import Piece
from clew.text.estimate import estimate_tokens


@dataclass(frozen=True)
class Splitter:
    r"""Cuts documents into sections, passages and sentences.

    Attributes:
        tokens: The number of tokens that a passage may have as it is printed by itself, the mark of
            an item included. A document without headings that has no more stays whole.
        sentences: Whether passages of several sentences are also cut into these.
        count: The tokenizer, text -> number of tokens; None for that of the index.
        language: The code of a language, such as "de", whose abbreviations end no sentence. None
            for the `language` in the document's metadata, else "en". English also knows how
            Chinese, Japanese, Arabic and Hindi end a sentence.
        semantic: Whether a passage also ends between sentences where the subject changes. True
            compares sentences by the embedder of the index, or by the words of each document where
            that is the embedded default. Any other value is the embedder to use, as `Index` takes
            one.
        breaks: With `semantic`: the share, from 0 to 1, of a document's gaps between sentences that
            count as changes. The deepest of several such gaps in a row ends a passage, though more
            would fit.

    Example:
        >>> text = "# Moon\n\nIt is far.\n\n# Sea\n\nIt is salt."
        >>> [piece.text for piece in Splitter()(Document("d", text, format="markdown"))]
        ['Moon', 'It is far.', 'Sea', 'It is salt.']
    """

    tokens: int = 256
    sentences: bool = False
    count: Callable[[str], int] | None = None
    language: str | None = None
    semantic: Any = False
    breaks: float = 0.3

    def __post_init__(self) -> None:
        is_number = isinstance(self.breaks, (int, float)) and not isinstance(self.breaks, bool)
        if not is_number or not 0 <= self.breaks <= 1:
            raise ValueError(
                "breaks is the share of gaps that are taken for changes, from 0 to 1; "
                f"got {self.breaks!r}"
            )
        if isinstance(self.tokens, bool) or not isinstance(self.tokens, int) or self.tokens < 1:
            raise ValueError(
                "tokens is a whole number of at least 1, the most that a passage may have; "
                f"got {self.tokens!r}"
            )

    def __call__(self, document: Document) -> list[Piece]:
        """Return the pieces of a document, every container before its contents.

        Passages are disjoint and in order, and leave out nothing but space, headings with the
        labels above them, front matter of settings alone, and marks without a word, such as a line
        of dashes. A heading with nothing under it is read as a passage. For every passage and
        sentence `document.text[piece.start:piece.end]` is its text. The text of a section is its
        heading; its span reaches to its end.

        Args:
            document: The document to cut.
        """
        declared = str(document.metadata.get("language") or "en")
        language = self.language or declared.split("-")[0].lower()
        count = self.count or estimate_tokens
        # What cuts is loaded where something is cut: a question needs only this class.
        from clew.read.split.cutter import Cutter

        return Cutter(document.text, self, count, language).cut(document.format)
