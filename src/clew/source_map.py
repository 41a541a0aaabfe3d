"""A source map says where the places of a text are in the file that it was read from.

A place is an offset in characters, as everywhere. The reader of a format makes the map while it
reads; a text that is its file needs none, since its lines are the file's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from clew.graph import Mask, Rows, freeze


class LineStart(NamedTuple):
    """From a place of the text on, the lines of the file.

    Attributes:
        place: The offset in the text.
        line: The line of the file there, from 1.
        is_verbatim: Whether every further line of the text is a further line of the file, as in
            code. Otherwise all that follows is in the same line, up to the next such record.
    """

    place: int
    line: int
    is_verbatim: bool = False


@dataclass(frozen=True, eq=False)
class SourceMap:
    r"""From the places of a text to the lines, anchors and page of its file.

    Attributes:
        file: The id of the file: its path below the folder that was read.
        page: The page of the file that the text is of, from 1, or None.
        places: int32 [n], ascending: where the lines that are known begin in the text.
        lines: int32 [n]: the line of the file at each of these places, from 1.
        verbatim: bool [n]: whether every further line of the text is one of the file from there on.
        anchor_places: int32 [m], ascending: where the anchors are in the text.
        anchors: Their names. In HTML they are the ids of elements and the names of targets.
        target_places: int32 [t], ascending: where all that an address may lead to begins.
        targets: Their names; `anchors` has one of them at most for each block.

    Example:
        >>> starts = [LineStart(0, 7), LineStart(9, 20, is_verbatim=True)]
        >>> source = SourceMap.of("tides.html", starts, [(0, "tides")])
        >>> text = "# Tides\n\nebb()\nflow()\n"
        >>> source.lines_of(text, (0, 7)), source.lines_of(text, (9, 21)), source.anchor_at(9)
        ((7, 7), (20, 21), 'tides')
    """

    file: str
    page: int | None = None
    places: Rows = field(default_factory=lambda: freeze([], np.int32))
    lines: Rows = field(default_factory=lambda: freeze([], np.int32))
    verbatim: Mask = field(default_factory=lambda: freeze([], np.bool_))
    anchor_places: Rows = field(default_factory=lambda: freeze([], np.int32))
    anchors: tuple[str, ...] = ()
    target_places: Rows = field(default_factory=lambda: freeze([], np.int32))
    targets: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        file: str,
        starts: Iterable[LineStart] = (),
        anchors: Iterable[tuple[int, str]] = (),
        page: int | None = None,
        targets: Sequence[tuple[int, str]] = (),
    ) -> SourceMap:
        """Return the map of these records, without those that say what is known before them.

        Args:
            file: The id of the file.
            starts: Where lines begin, by place.
            anchors: Pairs (place, name), by place. Of several at one place the last counts.
            page: The page of the file, from 1, or None.
            targets: Pairs (place, name), by place, of all that an address may lead to.
        """
        known: list[LineStart] = []
        for start in starts:
            if known and known[-1].place == start.place:
                known.pop()
            if not (known and known[-1][1:] == start[1:] and not start.is_verbatim):
                known.append(start)
        named: list[tuple[int, str]] = []
        for place, name in anchors:
            if named and named[-1][0] == place:
                named.pop()
            if not named or named[-1][1] != name:
                named.append((place, name))
        return cls(
            file,
            page,
            freeze([start.place for start in known], np.int32),
            freeze([start.line for start in known], np.int32),
            freeze([start.is_verbatim for start in known], np.bool_),
            freeze([place for place, _ in named], np.int32),
            tuple(name for _, name in named),
            freeze([place for place, _ in targets], np.int32),
            tuple(name for _, name in targets),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SourceMap):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def lines_of(self, text: str, span: tuple[int, int]) -> tuple[int, int] | None:
        """Return the first and last line of the file that a span of the text is from.

        Args:
            text: The text that this map is of.
            span: Its part, as (start, end) in characters.

        Returns:
            The two lines, from 1; None where no line is known.
        """
        start, end = span
        first = self._line_at(text, start)
        if first is None:
            return None
        return first, max(first, self._line_at(text, max(start, end - 1)) or first)

    def anchor_at(self, place: int) -> str | None:
        """Return the nearest anchor at or above a place of the text; None where there is none."""
        i = int(np.searchsorted(self.anchor_places, place, side="right")) - 1
        return self.anchors[i] if i >= 0 else None

    def _line_at(self, text: str, place: int) -> int | None:
        i = int(np.searchsorted(self.places, place, side="right")) - 1
        if i < 0:
            return None
        further = text.count("\n", int(self.places[i]), place) if self.verbatim[i] else 0
        return int(self.lines[i]) + further

    def _key(self) -> tuple[object, ...]:
        columns = (
            *(self.places, self.lines, self.verbatim),
            *(self.anchor_places, self.target_places),
        )
        names = (tuple(self.anchors), tuple(self.targets))  # a stored column has no hash
        return self.file, self.page, *names, *(column.tobytes() for column in columns)


def starts_of_lines(text: str, lines: Sequence[int], place: int = 0) -> Iterator[LineStart]:
    r"""Yield the records of a text of which the line in the file is known for each of its lines.

    Args:
        text: The text.
        lines: The line of the file for each line of the text. There may be fewer.
        place: Where the text is in a larger one.

    Example:
        >>> [tuple(start) for start in starts_of_lines("a\nb\nc", [7, 8, 20])]
        [(0, 7, True), (4, 20, False)]
    """
    goes_on = False
    for i, (words, line) in enumerate(zip(text.split("\n"), lines, strict=False)):
        follows = lines[i + 1 : i + 2] == [line + 1]
        if not (goes_on and line == lines[i - 1] + 1):
            yield LineStart(place, line, follows)
            goes_on = follows
        place += len(words) + 1


def lines_in_text(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    r"""Return the first and last line of each span of a text, from 1; the text is read once.

    Args:
        text: A text whose lines are those of its file.
        spans: Its parts, each as (start, end) in characters.

    Example:
        >>> lines_in_text("one\ntwo\nthree\n", [(4, 13), (0, 3)])
        [(2, 3), (1, 1)]
    """
    spans = [(start, max(start, end - 1)) for start, end in spans]
    line_of, line, counted = dict[int, int](), 1, 0
    for place in sorted({place for span in spans for place in span}):
        line, counted = line + text.count("\n", counted, place), place
        line_of[place] = line
    return [(line_of[start], line_of[last]) for start, last in spans]
