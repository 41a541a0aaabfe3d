"""How `clew.Splitter` cuts one text: its outline first, then what does not fit."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise, zip_longest
from typing import Any, Protocol

from clew.read.formats.outline import Block, Close, Heading
from clew.read.formats.table import outline_text
from clew.read.pieces import Piece
from clew.read.split.semantic import Unit, subject_starts
from clew.text.estimate import estimate_tokens
from clew.text.spans import lines, pack_spans, sentences, split_at_words, trim_span
from clew.text.tokens import span_counter
from clew.text.words import has_content

Parts = Sequence[Heading | Block | Close]

MAX_LEAD_IN = 100  # characters of a line that leads in what stands behind it
SENTENCE_ENDS = (".", "!", "?", ";", ",", "。", "！", "？", "؟", "।", "…")


class CutOptions(Protocol):
    """What is used of a `clew.Splitter`, which has them all."""

    @property
    def tokens(self) -> int: ...
    @property
    def sentences(self) -> bool: ...
    @property
    def semantic(self) -> Any: ...  # noqa: ANN401  # True, False, or an embedder of any kind
    @property
    def breaks(self) -> float: ...


class Cutter:
    """Cuts one text; it holds the pieces under construction."""

    def __init__(
        self, text: str, options: CutOptions, count: Callable[[str], int], language: str
    ) -> None:
        self._text, self._options, self._count, self._language = text, options, count, language
        self._is_semantic = options.semantic is not False
        mark = max(0, count("- word\n") - count("word"))  # as `Graph.tokens` counts a passage
        self._max_tokens = max(1, options.tokens - mark)
        self._mark = mark if count is estimate_tokens else None
        self._size = span_counter(text, count)  # (start, end) -> tokens of text[start:end]
        self._subject_starts: frozenset[int] = frozenset()  # places where a passage must begin
        self._links: tuple[tuple[int, str], ...] = ()
        self._link_starts: list[int] = []
        self._pieces: list[Piece] = []

    def cut(self, format: str) -> list[Piece]:
        outline = outline_text(self._text, format, self._share)
        self._links, self._link_starts = outline.links, [start for start, _ in outline.links]
        parts = [part for part in outline.parts if not self._is_mark(part)] or outline.parts
        has_headings = any(isinstance(part, Heading) for part in parts)
        if not has_headings and (not parts or self._share(0, len(self._text)) <= 1):
            self._add_passage(0, len(self._text), None, self._sentence_spans(parts))
            return self._pieces
        if self._is_semantic:
            self._subject_starts = self._find_subjects(parts)
        self._subject_starts |= _behind_front_matter(parts)
        self._add_sections(parts)
        return self._pieces

    def _is_mark(self, part: Heading | Block | Close) -> bool:
        """Return whether a part is a line of dashes or the like, without a word."""
        return (
            isinstance(part, Block)
            and not has_content(self._text[part.start : part.end])
            and not self._links_in(part.start, part.end)
        )

    def _find_subjects(self, parts: Parts) -> frozenset[int]:
        """Return the places of units where a new subject begins, within runs of blocks."""
        runs = [
            [unit for block in run if isinstance(block, Block) for unit in self._units(block)]
            for are_blocks, run in groupby(parts, lambda part: isinstance(part, Block))
            if are_blocks
        ]
        semantic = self._options.semantic
        embedder = None if semantic is True else semantic
        return subject_starts(
            self._text, runs, self._max_tokens, self._options.breaks, embedder, self._size
        )

    def _add_sections(self, parts: Parts) -> None:
        open_sections: list[tuple[int, int]] = []  # level and position of the sections around
        blocks: list[Block] = []  # that are not yet in a passage

        def flush() -> None:
            if blocks:
                self._add_passages(blocks, open_sections[-1][1] if open_sections else None)
                blocks.clear()

        for i, part in enumerate(parts):
            if isinstance(part, Block):
                blocks.append(part)
                continue
            while open_sections and open_sections[-1][0] >= part.level:
                flush()
                open_sections.pop()
            if isinstance(part, Close):
                continue
            end = _end_of_section(parts, i, part.level)
            if end is None:
                own = part.start if part.title_start is None else part.title_start
                blocks.append(Block(own, part.end))
                continue
            flush()
            parent = open_sections[-1][1] if open_sections else None
            open_sections.append((part.level, len(self._pieces)))
            links = self._links_in(part.start, part.end)
            self._pieces.append(Piece("section", part.text, part.start, end, parent, links))
        flush()

    def _add_passages(self, blocks: Sequence[Block], parent: int | None) -> None:
        units = self._units_of(blocks)
        sentence_spans = self._sentence_spans(blocks)
        starts = [i for i, unit in enumerate(units) if i and unit[0] in self._subject_starts]
        packed = [
            span
            for first, behind in pairwise([0, *starts, len(units)])
            for span in pack_spans(units[first:behind], self._max_tokens, self._size)
        ]
        kept = [span for span in packed if has_content(self._text[slice(*span)])] or packed
        # What is left out may be the mark that a link begins with.
        bounds = [start for start, _ in (*packed[:1], *kept[1:])] + [end for _, end in packed[-1:]]
        titled = [block for block in blocks if block.title]
        for (title, _), run in groupby(
            zip(kept, pairwise(bounds), strict=True), lambda one: _title_of(titled, one[0][0])
        ):
            own, above = list(run), parent
            if title:
                above = len(self._pieces)
                span = own[0][0][0], own[-1][0][1]
                self._pieces.append(Piece("section", title, *span, parent, ()))
            for span, around in own:
                self._add_passage(*span, above, sentence_spans, self._links_in(*around))

    def _add_passage(
        self,
        start: int,
        end: int,
        parent: int | None,
        sentence_spans: Sequence[tuple[int, int]],
        links: tuple[str, ...] | None = None,
    ) -> None:
        """Add a passage, and its sentences where it has several.

        Args:
            start: Where the passage starts.
            end: Where the passage ends.
            parent: The position of the section around it.
            sentence_spans: The sentences of a text around the passage, by place.
            links: The targets of its links; None for those that start within it.
        """
        text, position = self._text, len(self._pieces)
        links = self._links_in(start, end) if links is None else links
        tokens = None if self._mark is None else self._mark + self._size(start, end)
        self._pieces.append(Piece("passage", text[start:end], start, end, parent, links, tokens))
        if not sentence_spans:
            return
        first = bisect_right(sentence_spans, start, key=lambda span: span[1])
        behind = bisect_left(sentence_spans, end, key=lambda span: span[0])
        spans = [
            trim_span(text, max(a, start), min(b, end)) for a, b in sentence_spans[first:behind]
        ]
        if len(spans) > 1:
            for a, b in spans:
                links = self._links_in(a, b)
                self._pieces.append(Piece("sentence", text[a:b], a, b, position, links))

    def _sentence_spans(self, parts: Parts) -> list[tuple[int, int]]:
        if not self._options.sentences:
            return []
        blocks = (part for part in parts if isinstance(part, Block))
        return [span for block in blocks for span in self._sentences(block)]

    def _sentences(self, block: Block) -> Iterator[tuple[int, int]]:
        """Yield the sentences of a block; code, a table or HTML counts as one."""
        if block.parts:
            for part in block.parts:
                yield from self._sentences(part)
        elif block.kind == "prose":
            yield from sentences(self._text, block.start, block.end, self._language)
        else:
            yield block.start, block.end

    def _units_of(self, blocks: Sequence[Block]) -> list[Unit]:
        """Return the units of blocks; a line that leads in what follows is one with its begin."""
        if not any(block.kind == "prose" for block in blocks):  # as of code: none leads in
            return [unit for block in blocks for unit in self._units(block)]
        units = list[Unit]()
        start: int | None = None  # of the lines that lead in the next block
        led_in = 0  # where these end
        for block, following in zip_longest(blocks, blocks[1:]):
            own = self._units(block)
            if start is not None:
                begin = self._size(start, own[0][1])
                if begin <= self._max_tokens:
                    own[0] = (start, own[0][1], begin)
                else:
                    units.append((start, led_in, self._size(start, led_in)))
                start = None
            if following is not None and len(own) == 1 and self._leads_in(block):
                start, led_in = own[0][0], own[0][1]
            else:
                units += own
        return units

    def _leads_in(self, block: Block) -> bool:
        """Return whether a block is a line such as a term before its definition, or "Example:"."""
        if block.kind != "prose" or block.parts or self._is_semantic:
            return False
        line = self._text[block.start : block.end].strip()
        return "\n" not in line and len(line) <= MAX_LEAD_IN and line[-1:] not in SENTENCE_ENDS

    def _units(self, block: Block) -> list[Unit]:
        """Return the largest parts of a block that fit, with their tokens.

        With `semantic` the parts of prose are its sentences.
        """
        tokens = self._size(block.start, block.end)
        is_prose = block.kind == "prose" or bool(block.parts)
        if tokens <= self._max_tokens and not (self._is_semantic and is_prose):
            return [(block.start, block.end, tokens)]
        if parts := self._smaller_blocks(block):
            return [unit for part in parts for unit in self._units(part)]
        spans = split_at_words(self._text, block.start, block.end, self._max_tokens, self._count)
        return [(start, end, self._size(start, end)) for start, end in spans]

    def _smaller_blocks(self, block: Block) -> Sequence[Block]:
        if block.parts:
            return block.parts
        if block.kind == "prose":
            spans = sentences(self._text, block.start, block.end, self._language)
        elif block.kind == "lines":
            spans = lines(self._text, block.start, block.end)
        else:
            return ()
        return [Block(start, end, "words") for start, end in spans]

    def _share(self, start: int, end: int) -> float:
        """Return the share of a passage that text[start:end] fills."""
        return self._size(start, end) / self._max_tokens

    def _links_in(self, start: int, end: int) -> tuple[str, ...]:
        first = bisect_left(self._link_starts, start)
        behind = bisect_left(self._link_starts, end)
        if first >= behind:
            return ()
        return tuple(dict.fromkeys(target for _, target in self._links[first:behind]))


def _title_of(titled: Sequence[Block], place: int) -> tuple[str, int]:
    """Return the title of the block that goes on at a place, and where that starts; ("", -1)."""
    i = bisect_left(titled, place, key=lambda block: block.start) - 1
    if i < 0 or titled[i].end <= place:
        return "", -1
    return titled[i].title, titled[i].start


def _behind_front_matter(parts: Parts) -> frozenset[int]:
    """Return the place of the block behind front matter, which is a passage of its own."""
    return frozenset(
        behind.start
        for front, behind in pairwise(parts[:2])
        if isinstance(front, Block)
        and front.kind == "front matter"
        and not isinstance(behind, Close)
    )


def _end_of_section(parts: Parts, place: int, level: int) -> int | None:
    """Return where the section of a heading of a level ends; None if nothing is under it."""
    end = None
    for i in range(place + 1, len(parts)):
        part = parts[i]
        if isinstance(part, Block):
            end = part.end
        elif part.level <= level:
            break
        elif isinstance(part, Heading):
            end = part.end
    return end
