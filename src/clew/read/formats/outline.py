"""What a text consists of, whatever it is written in: headings, blocks and links, each with its place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """Text that belongs together: "prose" is cut between sentences, "lines" (code, a table, HTML) between lines, a list into `parts`."""

    start: int
    end: int
    kind: str = "prose"
    parts: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Heading:
    """A heading: its level (1 is the outermost), its words without marks, its place; an empty place for words that stand nowhere."""

    level: int
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Close:
    """The end of the sections of this level and of those inside them, where no other heading begins: code goes on behind a function."""

    level: int


@dataclass(frozen=True)
class Outline:
    """Headings and blocks in order, and pairs of a place and the link target that is written there, by place."""

    parts: tuple[Heading | Block | Close, ...] = ()
    links: tuple[tuple[int, str], ...] = ()
