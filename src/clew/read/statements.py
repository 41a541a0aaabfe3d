"""Source code is cut between its statements: a function or class that fits is kept whole, under a heading of its own.

Statements are laid end to end: what stands between two, such as a comment, belongs to the later one. A definition opens a section; one
that does not fit is cut into its head and its statements, and so on downwards, so that every passage of a long function still stands
under that function's name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from clew.read.outline import Block, Close, Heading
from clew.read.spans import paragraphs

LONGEST_HEADING = 160


@dataclass(frozen=True)
class Statement:
    """A statement at its place: a definition has a `heading`; `inside` are the statements within; `said` is text, as a docstring is."""

    start: int
    end: int
    heading: str | None = None
    inside: tuple[Statement, ...] = ()
    said: bool = False


def parts_of(text: str, statements: Sequence[Statement], fits: Callable[[int, int], bool]) -> Iterator[Heading | Block | Close]:
    """Return the headings and blocks of a program, which leave out nothing but space; one that fits as a whole is one block."""
    if fits(0, len(text)):
        yield Block(0, len(text), "lines")
        return
    yield from _laid(text, statements, 0, len(text), 1, fits)


def headed_by(signature: str) -> str:
    """Return a signature on one line of a length to be read."""
    line = " ".join(signature.split())
    return line if len(line) <= LONGEST_HEADING else line[: LONGEST_HEADING - 1].rstrip() + "…"


def _laid(
    text: str, statements: Sequence[Statement], start: int, end: int, level: int, fits: Callable[[int, int], bool]
) -> Iterator[Heading | Block | Close]:
    for i, statement in enumerate(statements):
        stop = end if i + 1 == len(statements) else _behind(text, statement.end, statements[i + 1].start)
        if statement.heading is not None:
            first, _ = _kept(text, start, stop)
            yield Heading(level, statement.heading, first, first)
            yield from _one(text, statement, start, stop, level + 1, fits)
            yield Close(level)
        else:
            yield from _one(text, statement, start, stop, level, fits)
        start = stop
    if not statements:
        yield from _block(text, start, end)


def _one(
    text: str, statement: Statement, start: int, stop: int, level: int, fits: Callable[[int, int], bool]
) -> Iterator[Heading | Block | Close]:
    first, last = _kept(text, start, stop)
    if first == last or fits(first, last) or not (statement.inside or statement.said):
        yield from _block(text, start, stop)
    elif statement.said:
        cut = ((start + a, start + b) for a, b in paragraphs(text[start:stop]))
        yield Block(first, last, "list", tuple(Block(a, b) for a, b in cut))
    else:
        inner = _line(text, statement.inside[0].start, start)
        yield from _block(text, start, inner)
        yield from _laid(text, statement.inside, inner, stop, level, fits)


def _block(text: str, start: int, end: int) -> Iterator[Block]:
    start, end = _kept(text, start, end)
    if start < end:
        yield Block(start, end, "lines")


def _kept(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without empty lines and the space behind; the first line keeps its indentation, which code means something by."""
    said = text[start:end]
    inner = start + len(said) - len(said.lstrip())
    return (_line(text, inner, start), start + len(said.rstrip())) if said.strip() else (start, start)


def _line(text: str, place: int, first: int) -> int:
    """Where the line of a place begins, if nothing but space stands before it there."""
    begin = max(text.rfind("\n", 0, place) + 1, first)
    return begin if not text[begin:place].strip() else place


def _behind(text: str, end: int, following: int) -> int:
    """Where a statement's last line ends, with the comment there, if the next one stands in another line."""
    found = text.find("\n", end, following)
    return following if found < 0 else found + 1
