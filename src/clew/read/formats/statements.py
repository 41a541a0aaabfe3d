"""Source code is cut between its statements: a function or class that fits is kept whole, under a heading of its own.

Statements are laid end to end: what stands between two, such as a comment, belongs to the later one. A definition opens a section; one
that does not fit is cut into its head and its statements, and so on downwards, so that every passage of a long function still stands
under that function's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from clew.read.formats.outline import Block, Close, Heading
from clew.text.spans import paragraphs

_LINE_END = re.compile(r"\r\n?|\n")
LONGEST_HEADING = 160
SMALL = 0.2  # of a passage: smaller definitions that follow one another are read together, under what they stand in


@dataclass(frozen=True)
class Statement:
    """A statement at its place: a definition has a `heading`; `inside` are the statements within; `said` is text, as a docstring is."""

    start: int
    end: int
    heading: str | None = None
    inside: tuple[Statement, ...] = ()
    said: bool = False


def parts_of(
    text: str, statements: Sequence[Statement], share: Callable[[int, int], float]
) -> Iterator[Heading | Block | Close]:
    """Return the headings and blocks of a program, which leave out nothing but space; one that fits as a whole is one block."""
    if share(0, len(text)) <= 1:
        yield Block(0, len(text), "lines")
        return
    yield from _laid(text, statements, 0, len(text), 1, share)


def headed_by(signature: str) -> str:
    """Return a signature on one line of a length to be read."""
    line = " ".join(signature.split())
    return line if len(line) <= LONGEST_HEADING else line[: LONGEST_HEADING - 1].rstrip() + "…"


def _laid(
    text: str,
    statements: Sequence[Statement],
    start: int,
    end: int,
    level: int,
    share: Callable[[int, int], float],
) -> Iterator[Heading | Block | Close]:
    if not statements:
        yield from _block(text, start, end)
        return
    begins = [
        start,
        *(_behind(text, one.end, other.start) for one, other in pairwise(statements)),
        end,
    ]
    small = [
        one.heading is not None and share(a, b) <= SMALL
        for one, (a, b) in zip(statements, pairwise(begins), strict=True)
    ]
    for i, statement in enumerate(statements):
        stop = begins[i + 1]
        if statement.heading is not None and not (
            small[i] and any(small[max(i - 1, 0) : i] + small[i + 1 : i + 2])
        ):
            first, _ = _kept(text, start, stop)
            yield Heading(level, statement.heading, first, first)
            yield from _one(text, statement, start, stop, level + 1, share)
            yield Close(level)
        else:
            yield from _one(text, statement, start, stop, level, share)
        start = stop


def _one(
    text: str,
    statement: Statement,
    start: int,
    stop: int,
    level: int,
    share: Callable[[int, int], float],
) -> Iterator[Heading | Block | Close]:
    first, last = _kept(text, start, stop)
    own = _line(text, statement.start, first)
    if first < own and share(first, last) > 1 >= share(
        own, last
    ):  # with the remark above it would not fit: that stands alone
        yield from _block(text, first, own)
        first = start = own
    if first == last or share(first, last) <= 1 or not (statement.inside or statement.said):
        yield from _block(text, start, stop)
    elif statement.said:
        cut = ((start + a, start + b) for a, b in paragraphs(text[start:stop]))
        yield Block(first, last, "list", tuple(Block(a, b) for a, b in cut))
    else:
        inner = _line(text, statement.inside[0].start, start)
        yield from _block(text, start, inner)
        yield from _laid(text, statement.inside, inner, stop, level, share)


def _block(text: str, start: int, end: int) -> Iterator[Block]:
    start, end = _kept(text, start, end)
    if start < end:
        yield Block(start, end, "lines")


def _kept(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without empty lines and the space behind; the first line keeps its indentation, which code means something by."""
    said = text[start:end]
    inner = start + len(said) - len(said.lstrip())
    return (
        (_line(text, inner, start), start + len(said.rstrip())) if said.strip() else (start, start)
    )


def _line(text: str, place: int, first: int) -> int:
    """Where the line of a place begins, if nothing but space stands before it there."""
    begin = max(text.rfind("\n", first, place), text.rfind("\r", first, place), first - 1) + 1
    return begin if not text[begin:place].strip() else place


def _behind(text: str, end: int, following: int) -> int:
    """Where a statement's last line ends, with the comment there, if the next one stands in another line."""
    found = _LINE_END.search(text, end, following)
    return found.end() if found else following
