"""Source code is cut between its statements.

A function or class that fits into a passage is kept whole, under a heading of its own. Statements
are laid end to end: what is between two of them, such as a comment, belongs to the later one. A
definition that does not fit is cut into its head and its statements, and so on downwards, so that
every passage of a long function is still under the name of that function.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from clew.read.formats.outline import Block, Close, Heading, Share
from clew.text.spans import paragraphs

_LINE_END = re.compile(r"\r\n?|\n")
MAX_HEADING_LENGTH = 160  # characters
SMALL_SHARE = 0.2  # of a passage: neighbouring definitions that are smaller share their passage
TINY_SHARE = 0.15  # of a passage: other statements that are smaller join the definition below them


class Statement(NamedTuple):
    """A statement and its place.

    Attributes:
        start: Where the statement starts.
        end: Where the statement ends.
        heading: The signature of a definition; None for any other statement.
        children: The statements directly within this one.
        is_text: Whether the statement is nothing but a text, as a docstring is.
        is_function: Whether it defines a function, whose inner definitions are no members.
    """

    start: int
    end: int
    heading: str | None = None
    children: Sequence[Statement] = ()
    is_text: bool = False
    is_function: bool = False


def outline_parts(
    text: str, statements: Sequence[Statement], share: Share
) -> Iterator[Heading | Block | Close]:
    r"""Yield the headings and blocks of a program, which leave out nothing but space.

    Args:
        text: The program. One that fits into a passage is a single block.
        statements: Its outermost statements, by place.
        share: (start, end) -> the share of a passage that text[start:end] fills.

    Example:
        >>> program = (Statement(0, 5), Statement(6, 11))
        >>> parts = outline_parts("a = 1\nb = 2", program, lambda start, end: 2.0)
        >>> [(part.start, part.end) for part in parts]
        [(0, 5), (6, 11)]
    """
    if share(0, len(text)) <= 1:
        yield Block(0, len(text), "lines")
        return
    yield from _Layout(text, share).sequence(statements, 0, len(text), 1)


def shorten_signature(signature: str) -> str:
    r"""Return a signature on one line, cut to the length of a heading.

    Example:
        >>> shorten_signature("def walk(\n    path)")
        'def walk( path)'
    """
    line = " ".join(signature.split())
    if len(line) <= MAX_HEADING_LENGTH:
        return line
    return line[: MAX_HEADING_LENGTH - 1].rstrip() + "…"


@dataclass(frozen=True)
class _Layout:
    """Lays the statements of one text end to end."""

    text: str
    share: Share

    def sequence(
        self, statements: Sequence[Statement], start: int, end: int, level: int
    ) -> Iterator[Heading | Block | Close]:
        """Yield the parts of text[start:end], which holds these statements."""
        if not statements:
            yield from self._block(start, end)
            return
        between = (
            _end_of_line(self.text, before.end, behind.start)
            for before, behind in pairwise(statements)
        )
        bounds = [start, *between, end]
        sections = self._sections(statements, bounds)
        tiny = self._tiny_runs(statements, sections, bounds)
        for i, (statement, (begin, stop)) in enumerate(
            zip(statements, pairwise(bounds), strict=True)
        ):
            if i in tiny:
                continue
            if not sections[i]:
                yield from self._statement(statement, begin, stop, level)
                continue
            first, _ = self._trimmed(bounds[tiny.get(~i, i)], stop)
            yield Heading(level, statement.heading or "", first, first)
            yield from self._statement(statement, first, stop, level + 1)
            yield Close(level)

    def _sections(self, statements: Sequence[Statement], bounds: Sequence[int]) -> list[bool]:
        """Return which statements have sections: definitions, but no small ones side by side."""
        small = [
            statement.heading is not None and self.share(*span) <= SMALL_SHARE
            for statement, span in zip(statements, pairwise(bounds), strict=True)
        ]
        return [
            statement.heading is not None
            and not (small[i] and any(small[max(i - 1, 0) : i] + small[i + 1 : i + 2]))
            for i, statement in enumerate(statements)
        ]

    def _tiny_runs(
        self, statements: Sequence[Statement], sections: Sequence[bool], bounds: Sequence[int]
    ) -> dict[int, int]:
        """Return the statements between two definitions that go with the second, being so few.

        Keys are their positions. The complement of the definition's own position is a key, too; its
        value is the position of the first of them.
        """
        tiny: dict[int, int] = {}
        first = 0
        for i, is_section in enumerate(sections):
            plain = range(first, i)
            is_run = (
                is_section and 0 < first < i and all(statements[k].heading is None for k in plain)
            )
            if is_run and self.share(bounds[first], bounds[i]) <= TINY_SHARE:
                tiny |= {**dict.fromkeys(plain, i), ~i: first}
            if is_section:
                first = i + 1
        return tiny

    def _statement(
        self, statement: Statement, start: int, stop: int, level: int
    ) -> Iterator[Heading | Block | Close]:
        first, last = self._trimmed(start, stop)
        own = self._line_start(statement.start, first)
        if first < own and self.share(first, last) > 1 >= self.share(own, last):
            # The statement fits, but not together with the comment above it.
            yield from self._block(first, own)
            first = start = own
        fits = first == last or self.share(first, last) <= 1
        if fits or not (statement.children or statement.is_text):
            if first < last:
                yield Block(first, last, "lines")
        elif statement.is_text:
            spans = paragraphs(self.text[start:stop])
            items = tuple(Block(start + begin, start + end) for begin, end in spans)
            yield Block(first, last, "list", items)
        else:
            yield from self._cut(statement, start, stop, level)

    def _cut(
        self, statement: Statement, start: int, stop: int, level: int
    ) -> Iterator[Heading | Block | Close]:
        """Yield the head of a statement that does not fit, then what is in it.

        The head keeps its documentation. A head of few words goes with the first of its members.
        """
        children = statement.children
        if statement.is_function:  # what a function defines for itself is a step like any other
            children = tuple(map(self._without_heading, children))
        member = next((i for i, child in enumerate(children) if child.heading is not None), 0)
        body = self._line_start(children[member].start, start)
        # The only member would have the same place as the class.
        has_members = children[member].heading is not None and len(children) > member + 1
        if has_members and self.share(start, body) <= TINY_SHARE:
            yield from self.sequence(children[member:], start, stop, level)
            return
        body = self._line_start(children[0].start, start)
        if children[0].is_text:
            following = children[1].start if len(children) > 1 else stop
            end = _end_of_line(self.text, children[0].end, following)
            if self.share(start, end) <= 1:
                yield from self._block(start, end)
            else:
                yield from self._block(start, body)
                for begin, last in paragraphs(self.text[body:end]):
                    yield Block(body + begin, body + last)
            children, body = children[1:], end
        else:
            yield from self._block(start, body)
        yield from self.sequence(children, body, stop, level)

    def _without_heading(self, statement: Statement) -> Statement:
        fits = self.share(statement.start, statement.end) <= 1
        return statement._replace(heading=None) if fits else statement

    def _block(self, start: int, end: int) -> Iterator[Block]:
        start, end = self._trimmed(start, end)
        if start < end:
            yield Block(start, end, "lines")

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        """Return the span without its empty lines and the space at its end.

        The first line keeps its indentation, which has a meaning in code.
        """
        content = self.text[start:end]
        if not content.strip():
            return start, start
        inner = start + len(content) - len(content.lstrip())
        return self._line_start(inner, start), start + len(content.rstrip())

    def _line_start(self, place: int, first: int) -> int:
        """Return where the line of a place starts, if only space is before it, from `first` on."""
        last_return = self.text.rfind("\r", first, place)
        begin = max(self.text.rfind("\n", first, place), last_return, first - 1) + 1
        return place if self.text[begin:place].strip() else begin


def _end_of_line(text: str, end: int, next_start: int) -> int:
    """Return the end of a statement's last line, unless the next statement is on that line.

    A comment on the last line therefore belongs to the statement before it.
    """
    match = _LINE_END.search(text, end, next_start)
    return match.end() if match else next_start
