"""A document becomes sections, passages and sentences, each at its exact place.

Blocks (paragraphs, list items, code, tables) that stand together are filled into passages up to a number of tokens; only a block that
does not fit is cut: between its sentences (sentencex), its lines or its items, and a sentence that does not fit between its words
(semchunk). A passage therefore never cuts a sentence that could have been kept. On request passages also end where the subject changes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, pairwise
from typing import Any

from clew.document import Document
from clew.read.assemble import Piece
from clew.read.formats.outline import Block, Close, Heading
from clew.read.formats.table import outline_of
from clew.read.split.semantic import Unit, subjects
from clew.text.spans import lines, pack_spans, sentences, split_at_words, trim_span
from clew.text.tokens import estimate_tokens, span_counter


@dataclass(frozen=True)
class Splitter:
    """Cuts documents into sections, passages and sentences.

    Attributes:
        tokens: the most tokens of a passage. A document without headings that has no more stays whole.
        sentences: cut every passage of several sentences into these too.
        count: the tokenizer, text -> number of tokens; None for that of the index.
        language: code of the language whose abbreviations end no sentence, such as "de"; None for what the document's metadata says
            under `language`, else "en", which also knows the sentence ends of Chinese, Japanese, Arabic and Hindi.
        semantic: end passages between sentences where the subject changes, not only where they are full. True: by the index's embedder,
            or by the words of each document where that is the embedded default; or an embedder of its own, as `Index` takes one.
        breaks: with `semantic`, the share of a document's gaps between sentences that are taken for changes; of such gaps in a row the
            deepest ends a passage though more would fit.
    """

    tokens: int = 256
    sentences: bool = False
    count: Callable[[str], int] | None = None
    language: str | None = None
    semantic: Any = False
    breaks: float = 0.3

    def __post_init__(self) -> None:
        if (
            isinstance(self.breaks, bool)
            or not isinstance(self.breaks, (int, float))
            or not 0 <= self.breaks <= 1
        ):
            raise ValueError(
                f"breaks is the share of gaps that are taken for changes, from 0 to 1; got {self.breaks!r}"
            )
        if isinstance(self.tokens, bool) or not isinstance(self.tokens, int) or self.tokens < 1:
            raise ValueError(
                f"tokens is a whole number of at least 1, the most that a passage may have; got {self.tokens!r}"
            )

    def __call__(self, document: Document) -> list[Piece]:
        """Return the pieces of a document, every container before its contents.

        Passages are disjoint, in order, and leave out nothing but space, headings and front matter; a heading with nothing under it
        is read as a passage. `document.text[piece.start:piece.end]` is the text of every passage and sentence. A section's text is its
        heading and its span reaches to its end.
        """
        language = (
            self.language or str(document.metadata.get("language") or "en").split("-")[0].lower()
        )
        return _Cut(document.text, self.count or estimate_tokens, language, self).pieces(
            document.format
        )


class _Cut:
    """The pieces of one text under construction."""

    def __init__(
        self, text: str, count: Callable[[str], int], language: str, how: Splitter
    ) -> None:
        self.text, self.count, self.language, self.how = text, count, language, how
        self.tokens, self.size = how.tokens, span_counter(text, count)
        self.begins: frozenset[int] = frozenset()  # where passages must begin
        self.made: list[Piece] = []
        self.links: tuple[tuple[int, str], ...] = ()

    def pieces(self, format: str) -> list[Piece]:
        found = outline_of(self.text, format, self._share)
        self.links = found.links
        headings = any(isinstance(part, Heading) for part in found.parts)
        if not headings and (not found.parts or self._share(0, len(self.text)) <= 1):
            self._passage(0, len(self.text), None, self._units_of(found.parts))
            return self.made
        if self.how.semantic is not False:
            runs = [
                list(part)
                for block, part in groupby(found.parts, lambda part: isinstance(part, Block))
                if block
            ]
            units = [
                [unit for block in run if isinstance(block, Block) for unit in self._atoms(block)]
                for run in runs
            ]
            embedder = None if self.how.semantic is True else self.how.semantic
            self.begins = subjects(
                self.text, units, self.tokens, self.how.breaks, embedder, self.size
            )
        self._sections(found.parts)
        return self.made

    def _sections(self, parts: Sequence[Heading | Block | Close]) -> None:
        around: list[tuple[int, int]] = []  # level and position of the sections around
        waiting: list[Block] = []
        for i, part in enumerate(parts):
            if not isinstance(part, Block):
                while around and around[-1][0] >= part.level:
                    self._passages(waiting, around.pop()[1])
            if isinstance(part, Heading):
                if end := _end_of_section(parts, i):
                    self._passages(waiting, around[-1][1] if around else None)
                    parent = around[-1][1] if around else None
                    around.append((part.level, len(self.made)))
                    self.made.append(
                        Piece(
                            "section",
                            part.text,
                            part.start,
                            end,
                            parent,
                            self._links_in(part.start, part.end),
                        )
                    )
                    continue
                part = Block(part.start, part.end)
            if isinstance(part, Block):
                waiting.append(part)
        self._passages(waiting, around[-1][1] if around else None)

    def _passages(self, waiting: list[Block], parent: int | None) -> None:
        """Make passages of the blocks that wait, and let none wait."""
        atoms = [atom for block in waiting for atom in self._atoms(block)]
        units = self._units_of(waiting)
        begins = [
            0,
            *(i for i, atom in enumerate(atoms) if i and atom[0] in self.begins),
            len(atoms),
        ]
        for first, behind in pairwise(begins):
            for start, end in pack_spans(atoms[first:behind], self.tokens, self.size):
                self._passage(start, end, parent, units)
        waiting.clear()

    def _passage(
        self, start: int, end: int, parent: int | None, units: Sequence[tuple[int, int]]
    ) -> None:
        position = len(self.made)
        self.made.append(
            Piece("passage", self.text[start:end], start, end, parent, self._links_in(start, end))
        )
        inside = units[
            bisect_right(units, start, key=lambda unit: unit[1]) : bisect_left(
                units, end, key=lambda unit: unit[0]
            )
        ]
        spans = [trim_span(self.text, max(a, start), min(b, end)) for a, b in inside]
        if len(spans) > 1:
            for a, b in spans:
                self.made.append(
                    Piece("sentence", self.text[a:b], a, b, position, self._links_in(a, b))
                )

    def _units_of(self, parts: Sequence[Heading | Block | Close]) -> list[tuple[int, int]]:
        return (
            [unit for part in parts if isinstance(part, Block) for unit in self._units(part)]
            if self.how.sentences
            else []
        )

    def _units(self, block: Block) -> Iterator[tuple[int, int]]:
        """The sentences of a block; code, a table or HTML is one."""
        if block.parts:
            for part in block.parts:
                yield from self._units(part)
        elif block.kind == "prose":
            yield from sentences(self.text, block.start, block.end, self.language)
        else:
            yield block.start, block.end

    def _atoms(self, block: Block) -> Iterator[Unit]:
        """The largest parts of a block that fit, each with its tokens; with `semantic` the sentences of prose."""
        tokens = self.size(block.start, block.end)
        finer_anyway = self.how.semantic is not False and (block.kind == "prose" or block.parts)
        if tokens <= self.tokens and not finer_anyway:
            yield block.start, block.end, tokens
            return
        finer: Sequence[Block] = block.parts
        if not finer and block.kind == "prose":
            finer = [
                Block(a, b, "words")
                for a, b in sentences(self.text, block.start, block.end, self.language)
            ]
        elif not finer and block.kind == "lines":
            finer = [Block(a, b, "words") for a, b in lines(self.text, block.start, block.end)]
        if finer:
            for part in finer:
                yield from self._atoms(part)
            return
        for start, end in split_at_words(
            self.text, block.start, block.end, self.tokens, self.count
        ):
            yield start, end, self.size(start, end)

    def _share(self, start: int, end: int) -> float:
        return self.size(start, end) / self.tokens

    def _links_in(self, start: int, end: int) -> tuple[str, ...]:
        first, last = (
            bisect_left(self.links, place, key=lambda link: link[0]) for place in (start, end)
        )
        return tuple(dict.fromkeys(target for _, target in self.links[first:last]))


def _end_of_section(parts: Sequence[Heading | Block | Close], i: int) -> int | None:
    """Where the section of heading `i` ends; None if there is nothing under it."""
    level, end = parts[i].level, None  # type: ignore[union-attr]  # the caller asks of headings alone
    for part in islice(parts, i + 1, None):
        if isinstance(part, Block):
            end = part.end
        elif part.level <= level:
            break
        elif isinstance(part, Heading):
            end = part.end
    return end
