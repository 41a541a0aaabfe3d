"""An outline is what a text of any format consists of: headings, blocks and links at their places.

A place is an offset in characters; a span is a pair (start, end) of places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

Share = Callable[[int, int], float]  # (start, end) -> tokens of text[start:end] / tokens allowed


class Block(NamedTuple):
    """Text that belongs together.

    Attributes:
        start: Where the block starts.
        end: Where the block ends.
        kind: How a block that is too long is cut: "prose" between sentences; "lines" (code, a
            table, HTML) between lines; "list" between its `parts`; "words" between words.
        parts: The items of a list.
        title: What its lines are of, such as the columns of a table: the heading of all passages
            but the first, where it does not fit into one; "" for none.
    """

    start: int
    end: int
    kind: str = "prose"
    parts: tuple[Block, ...] = ()
    title: str = ""


class Heading(NamedTuple):
    """A heading, which opens a section.

    Attributes:
        level: 1 is the outermost level.
        text: The words of the heading without markup.
        start: Where the heading starts.
        end: Where the heading ends; equal to `start` for a heading that the text does not contain.
        title_start: Where its own words start, where labels stand above them; None for `start`.
    """

    level: int
    text: str
    start: int
    end: int
    title_start: int | None = None


class Close(NamedTuple):
    """The end of all sections of this level or deeper where no new heading starts.

    Source code needs it: after the last statement of a function, the module goes on.
    """

    level: int


@dataclass(frozen=True)
class Outline:
    """Headings and blocks in the order of the text, and its links.

    Attributes:
        parts: Headings, blocks and closes, by place.
        links: Pairs (place, link target), by place. Names that links lead to are among them, as
            `graph.link_targets` has it.
    """

    parts: tuple[Heading | Block | Close, ...] = ()
    links: tuple[tuple[int, str], ...] = ()
