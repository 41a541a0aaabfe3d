"""The sections of a plain text that is laid out by indentation.

Help texts, printed manual pages and many notes have no markup. A line by itself stands above what
is indented below it, as a function's signature above what it does. Such a line is a heading, if
there are several and most lines are below one: in other texts lines are indented to stand out. A
bar that lines begin with counts as space, as in Python's `help`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from clew.read.formats.outline import Block, Close, Heading

MIN_HEADINGS = 2  # one line may stand above indented text by chance
MIN_BELOW = 0.5  # share of the lines that are below a heading
MIN_STEP = 2  # columns that the text below a heading is indented by
MAX_HEADING = 80  # characters
MAX_WORDS = 8  # of a heading that is no signature
MIN_DESCRIPTION = 16  # words below a heading
TAB = 8  # columns
_INDENTED = re.compile(r"^[ \t|]{2,}[^\s|]", re.MULTILINE)
_LINE = re.compile(r"^([ \t|]*)([^\n]*)", re.MULTILINE)
_LISTED = re.compile(r"(?:[-*+•>#]|\d+[.)]|[a-z][.)])\s")  # an item, a quotation, a session
_NUMBERED = re.compile(r"\d+(?:\.\d+)*\.?\s+\S")  # "1.2 Scope"
_SIGNATURE = re.compile(r"(?:(?:async|class|def|function|static) ){0,2}[\w.]+\(.*\)")
_HEADING = re.compile(r"(?=[^\W\d_]|\d|-)[^a-z].*[^\W_\s]|[^\W\d_]", re.DOTALL)


@dataclass(frozen=True)
class IndentedLine:
    """A line with words.

    Attributes:
        start: Where its words start.
        end: Where they end.
        indent: The columns before them.
        is_first: Whether the line above it is empty.
    """

    start: int
    end: int
    indent: int
    is_first: bool


def outline_by_indentation(text: str) -> tuple[Heading | Block | Close, ...] | None:
    r"""Return the headings, paragraphs and ends of sections; None where there are no sections.

    Example:
        >>> what = "how high the water stands at an hour of a day, " * 2
        >>> text = f"TIDES\n  high(hour)\n    Say {what}\n\n  low()\n    Say {what}\n"
        >>> [part.text for part in outline_by_indentation(text) if isinstance(part, Heading)]
        ['TIDES', 'high(hour)', 'low()']
    """
    if not _INDENTED.search(text):
        return None
    lines = _lines(text)
    headings = _headings(text, lines)
    if sum(headings) < MIN_HEADINGS:
        return None
    n_below = 0
    parts = list[Heading | Block | Close]()
    open_indents = list[int]()  # of the headings around
    for i, line in enumerate(lines):
        depth = len(open_indents)
        while open_indents and open_indents[-1] >= line.indent:
            open_indents.pop()
        if headings[i]:
            open_indents.append(line.indent)
            words = text[line.start : line.end]
            parts.append(Heading(len(open_indents), words, line.start, line.end))
            continue
        if len(open_indents) < depth:
            parts.append(Close(len(open_indents) + 1))
        n_below += bool(open_indents)
        before = parts[-1] if parts else None
        if isinstance(before, Block) and not line.is_first:
            parts[-1] = Block(before.start, line.end)
        else:
            parts.append(Block(line.start, line.end))
    return tuple(parts) if n_below >= MIN_BELOW * (len(lines) - sum(headings)) else None


def _lines(text: str) -> list[IndentedLine]:
    lines, is_first = list[IndentedLine](), True
    for found in _LINE.finditer(text):
        words = found[2].rstrip()
        if words:
            indent = len(found[1].expandtabs(TAB))
            end = found.start(2) + len(words)
            lines.append(IndentedLine(found.start(2), end, indent, is_first))
        is_first = not words
    return lines


def _headings(text: str, lines: Sequence[IndentedLine]) -> list[bool]:
    """Return of each line whether it is a heading."""
    headings = list[bool]()
    for line, below in zip(lines, [*lines[1:], None], strict=True):
        starts = line.is_first or not headings or headings[-1]
        headings.append(
            starts
            and below is not None
            and below.indent >= line.indent + MIN_STEP
            and _may_be_heading(text[line.start : line.end], text[below.start : below.end], below)
        )
    return [is_one and _says_enough(text, lines, i) for i, is_one in enumerate(headings)]


def _says_enough(text: str, lines: Sequence[IndentedLine], i: int) -> bool:
    """Return whether there are enough words below a line for a section of their own."""
    below = takewhile(lambda line: line.indent > lines[i].indent, islice(lines, i + 1, None))
    found = 0
    for line in below:
        found += len(text[line.start : line.end].split())
        if found >= MIN_DESCRIPTION:
            return True
    return False


def _may_be_heading(words: str, following: str, below: IndentedLine) -> bool:
    """Return whether a line reads as a heading of what is below it.

    Args:
        words: The line.
        following: The next line with words.
        below: The same.
    """
    if len(words) > MAX_HEADING:
        return False
    if _SIGNATURE.fullmatch(words):
        return True
    if len(words.split()) > MAX_WORDS or not _HEADING.fullmatch(words):
        return False
    if _LISTED.match(words) and not (below.is_first and _NUMBERED.match(words)):
        return False
    goes_on = not below.is_first and following[:1].islower()
    return words.isupper() or not goes_on
