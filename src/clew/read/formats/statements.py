"""Source code is cut between its statements.

A function or class that fits into a passage is kept whole, under a heading of its own. Statements
are laid end to end: what is between two of them, such as a comment, belongs to the later one. A
definition that does not fit is cut into its head and its statements, and so on downwards, so that
every passage of a long function is still under the name of that function.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
) -> list[Heading | Block | Close]:
    r"""Return the headings and blocks of a program, which leave out nothing but space.

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
        return [Block(0, len(text), "lines")]
    layout = _Layout(text, share)
    layout.add_all(statements, 0, len(text), 1)
    return layout.parts


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


class _Layout:
    """Lays the statements of one text end to end.

    Args:
        text: The program.
        share: As in `outline_parts`.

    Attributes:
        parts: The headings and blocks so far.
    """

    def __init__(self, text: str, share: Share) -> None:
        self.text, self.share = text, share
        self.parts: list[Heading | Block | Close] = []
        self._has_returns = "\r" in text

    def add_all(self, statements: Sequence[Statement], start: int, end: int, level: int) -> None:
        """Add the parts of text[start:end], which holds these statements."""
        if not statements:
            self._add_block(start, end)
            return
        between = [
            self._end_of_line(before.end, behind.start) for before, behind in pairwise(statements)
        ]
        bounds = [start, *between, end]
        if all(statement.heading is None for statement in statements):
            for statement, (begin, stop) in zip(statements, pairwise(bounds), strict=True):
                self._add(statement, begin, stop, level)
            return
        sections = self._sections(statements, bounds)
        tiny = self._tiny_runs(statements, sections, bounds)
        for i, (statement, (begin, stop)) in enumerate(
            zip(statements, pairwise(bounds), strict=True)
        ):
            if i in tiny:
                continue
            if not sections[i]:
                self._add(statement, begin, stop, level)
                continue
            first, _ = self._trimmed(bounds[tiny.get(~i, i)], stop)
            self.parts.append(Heading(level, statement.heading or "", first, first))
            self._add(statement, first, stop, level + 1)
            self.parts.append(Close(level))

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

    def _add(self, statement: Statement, start: int, stop: int, level: int) -> None:
        first, last = self._trimmed(start, stop)
        fits = first == last or self.share(first, last) <= 1
        own = first if fits else self._line_start(statement.start, first)
        if first < own and self.share(own, last) <= 1:
            # The statement fits, but not together with the comment above it.
            self._add_block(first, own)
            first, fits = own, True
        if fits or not (statement.children or statement.is_text):
            if first < last:
                self.parts.append(Block(first, last, "lines"))
        elif statement.is_text:
            spans = paragraphs(self.text[start:stop])
            items = tuple(Block(start + begin, start + end) for begin, end in spans)
            self.parts.append(Block(first, last, "list", items))
        else:
            self._cut(statement, start, stop, level)

    def _cut(self, statement: Statement, start: int, stop: int, level: int) -> None:
        """Add the head of a statement that does not fit, then what is in it.

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
            self.add_all(children[member:], start, stop, level)
            return
        body = self._line_start(children[0].start, start)
        if children[0].is_text:
            following = children[1].start if len(children) > 1 else stop
            end = self._end_of_line(children[0].end, following)
            if self.share(start, end) <= 1:
                self._add_block(start, end)
            else:
                self._add_block(start, body)
                for begin, last in paragraphs(self.text[body:end]):
                    self.parts.append(Block(body + begin, body + last))
            children, body = children[1:], end
        else:
            self._add_block(start, body)
        self.add_all(children, body, stop, level)

    def _without_heading(self, statement: Statement) -> Statement:
        fits = self.share(statement.start, statement.end) <= 1
        return statement._replace(heading=None) if fits else statement

    def _add_block(self, start: int, end: int) -> None:
        start, end = self._trimmed(start, end)
        if start < end:
            self.parts.append(Block(start, end, "lines"))

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        """Return the span without its empty lines and the space at its end.

        The first line keeps its indentation, which has a meaning in code.
        """
        content = self.text[start:end].rstrip()
        if not content or not content[0].isspace():
            return start, start + len(content)
        inner = start + len(content) - len(content.lstrip())
        return self._line_begin(inner, start), start + len(content)

    def _line_start(self, place: int, first: int) -> int:
        """Return where the line of a place starts, if only space is before it, from `first` on."""
        begin = self._line_begin(place, first)
        return place if self.text[begin:place].strip() else begin

    def _line_begin(self, place: int, first: int) -> int:
        """Return where the line of a place starts, from `first` on."""
        begin = self.text.rfind("\n", first, place) + 1 or first
        if self._has_returns:
            begin = max(self.text.rfind("\r", first, place) + 1, begin)
        return begin

    def _end_of_line(self, end: int, next_start: int) -> int:
        """Return the end of a statement's last line, unless the next statement is on that line.

        A comment on the last line therefore belongs to the statement before it.
        """
        if self._has_returns:
            match = _LINE_END.search(self.text, end, next_start)
            return match.end() if match else next_start
        return self.text.find("\n", end, next_start) + 1 or next_start
