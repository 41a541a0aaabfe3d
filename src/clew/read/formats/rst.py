"""The outline of a reStructuredText document.

A title is a line that is underlined, and perhaps overlined, with one repeated sign at least as long
as the title. Which sign means which level is decided by the order of first use, as in the format's
definition. A term of a glossary (Sphinx's directive) is the heading of what it means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from clew.document import Document
from clew.graph.link_targets import LABEL, REFERENCE
from clew.read.formats.front_matter import header_title
from clew.read.formats.outline import (
    Block,
    Close,
    Heading,
    Outline,
    Share,
)
from clew.read.formats.source_file import SourceFile
from clew.read.formats.titles import find_title_heading
from clew.text.spans import paragraphs

MIN_LINE = 4  # signs of a line that makes a title of a longer one; docutils warns of it
_LINE = re.compile(r"([!-/:-@\[-`{-~])\1+[ \t]*$")
_LINK = re.compile(
    r"`[^`<>]*<([^<>`]+)>`__?|:(?:doc|download):`(?:[^`<>]*<)?([^`<>]+)>?`"
    r"|^\.\. _[^:\n]+: +(\S+)[ \t]*$",
    re.MULTILINE,
)
# What stands above a title and belongs to it: labels, and directives that are no text themselves.
_ABOVE_TITLE = re.compile(
    r"\.\. _[^:\n]+:[ \t]*$|\.\. (?:contents|currentmodule|default-role|highlight|include|index"
    r"|module|program|py:(?:currentm|m)odule|role|sectionauthor|codeauthor)::.*$"
)
_OPTION = re.compile(r"[ \t]+:[\w-]+:")  # of a directive
# A directive that may name what the title below it names, such as `.. setting:: timezone`; what
# `.. autoclass::` and the like put in their place stands above the title, not below it.
_NAMING = re.compile(r"\.\. (?!auto)[\w:+.-]+:: +([^\s(]+)")
_WORD = re.compile(r"\w+")
# A link to a label, with a text of its own or without; one whose text begins with "!" is none.
_REF = re.compile(r":(?:std:)?(?:num)?ref:`(?!!)(?:[^`]*<)?([^`<>]+)>?`")
_LABEL = re.compile(r"^[ \t]*+(\.\. )_(?!_)(`[^`\n]+`|(?:[^:`\n]|:(?=\S))+):[ \t]*$", re.MULTILINE)
_SPACE = re.compile(r"\s+")
_INCLUDE = re.compile(r"^[ \t]*\.\. (?:literal)?include:: +(\S+)[ \t]*$", re.MULTILINE)
# The first line of a directive with its options, and all indented and empty lines behind.
_GLOSSARY = re.compile(
    r"^(\.\. glossary::[^\n]*+(?:\n[ \t]++:[\w-]++:[^\n]*+|(?!))*+)"
    r"(?:\n(?:[ \t]++\S[^\n]*+|[ \t]*+$)|(?!))*+",
    re.MULTILINE,
)
_WRITTEN_LINE = re.compile(r"^[ \t]++(?!\.\. )(\S[^\n]*)", re.MULTILINE)  # but for comments
_MARKUP = re.compile(r"``([^`]+)``|:[\w:+.-]{1,64}:(?=`)|`([^`<]*?)(?: ?<[^`>]*>)?`_{0,2}|\*\*?|``")


class _TitleLines(NamedTuple):
    """A title and its lines: the first line, the last line, and the style of the underline."""

    title: str
    first: int
    last: int
    style: str  # the sign, and "=" behind it for an overlined title


def read(file: SourceFile) -> Iterator[Document]:
    """Yield the file as one document under its title."""
    text = file.text()
    yield file.document(text, "rst", title=find_title(text))


def outline(text: str, share: Share | None = None) -> Outline:  # noqa: ARG001  # sizes do not matter
    r"""Return the headings, blocks and links of a reStructuredText document.

    Example:
        >>> outline("Moon\n====\n\nIt is far.").parts[0].text
        'Moon'
    """
    parts: list[Heading | Block | Close] = []
    begin, level = 0, 0
    for heading in _headings(text):
        parts += _parts(text, begin, heading.start, level)
        parts.append(heading)
        begin, level = heading.end, heading.level
    parts += _parts(text, begin, len(text), level)
    links = [
        (match.start(), next(group for group in match.groups() if group).strip())
        for pattern in (_LINK, _INCLUDE)
        for match in pattern.finditer(text)
    ]
    links += [
        (match.start(), f"{REFERENCE}{label_name(match[1])}") for match in _REF.finditer(text)
    ]
    links += _labels(text)
    return Outline(tuple(parts), tuple(sorted(links)))


def label_name(written: str) -> str:
    r"""Return the name of a label as all that spell it are compared: spaces and case do not count.

    Example:
        >>> label_name("`Spring\n tide`"), label_name("spring  tide")
        ('spring tide', 'spring tide')
    """
    return " ".join(written.strip("`").lower().split())


def _labels(text: str) -> Iterator[tuple[int, str]]:
    """Yield each label with the place of what it stands above."""
    found = list(_LABEL.finditer(text))
    place_of: dict[int, int] = {}  # of what labels stand above, by where they begin
    for match in reversed(found):
        behind = _SPACE.match(text, match.end())
        place = match.end() if behind is None else behind.end()
        place_of[match.start(1)] = place_of.get(place, place)
    for match in found:
        yield place_of[match.start(1)], f"{LABEL}{label_name(match[2])}"


def find_title(text: str) -> str | None:
    """Return the title in the header at the top, else the heading that is the title, else None."""
    if title := header_title(text):
        return title
    headings = [(heading.level, heading.text) for heading in _headings(text)]
    place = find_title_heading(headings)
    return None if place is None else headings[place][1]


def has_heading(text: str) -> bool:
    """Return whether there is a heading."""
    return next(_headings(text), None) is not None


def _parts(text: str, begin: int, end: int, level: int) -> Iterator[Heading | Block | Close]:
    """Yield what stands in text[begin:end] under a heading of a level; it has no title."""
    for glossary in _GLOSSARY.finditer(text, begin, end):
        yield from _blocks(text, begin, glossary.start())
        begin = glossary.end(1)
        for term in _terms(text, glossary.end(1), glossary.end(), level + 1):
            yield from _blocks(text, begin, term.start)
            yield term
            begin = term.end
        yield from _blocks(text, begin, glossary.end())
        yield Close(level + 1)
        begin = glossary.end()
    yield from _blocks(text, begin, end)


def _terms(text: str, begin: int, end: int, level: int) -> Iterator[Heading]:
    """Yield the terms of a glossary; lines that follow one another are terms of one meaning."""
    lines = [match.span(1) for match in _WRITTEN_LINE.finditer(text, begin, end)]
    depths = [start - text.rfind("\n", 0, start) for start, _ in lines]
    i = 0
    while i < len(lines):
        of_terms = list(takewhile(lambda j: depths[j] <= depths[0], range(i, len(lines))))
        if of_terms:
            start, stop = lines[i][0], lines[of_terms[-1]][1]
            names = [text[slice(*lines[j])].split(" : ")[0] for j in of_terms]
            yield Heading(level, ", ".join(map(_without_markup, names)), start, stop)
        i += max(1, len(of_terms))


def _blocks(text: str, begin: int, end: int) -> Iterator[Block]:
    """Yield the paragraphs of text[begin:end]; an indented one, such as code, is cut by lines."""
    for start, stop in paragraphs(text[begin:end]):
        line_start = text.rfind("\n", 0, begin + start) + 1
        indented = text[line_start : begin + start]
        yield Block(begin + start, begin + stop, "lines" if indented else "prose")


def _headings(text: str) -> Iterator[Heading]:
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    styles: list[str] = []
    i, behind = 0, 0  # the line behind the last title
    while i + 1 < len(lines):
        if lines_of_title := _title_at(lines, i, behind):
            if lines_of_title.style not in styles:
                styles.append(lines_of_title.style)
            words = _without_markup(lines_of_title.title)
            end = starts[lines_of_title.last] + len(lines[lines_of_title.last].rstrip())
            first = _first_line_above(lines, i, behind, words)
            level = styles.index(lines_of_title.style) + 1
            yield Heading(level, words, starts[first], end, starts[i] if first < i else None)
            i, behind = lines_of_title.last, lines_of_title.last + 1
        i += 1


def _without_markup(title: str) -> str:
    return " ".join(_MARKUP.sub(lambda mark: mark[1] or mark[2] or "", title).split())


def _first_line_above(lines: Sequence[str], line: int, behind: int, title: str) -> int:
    """Return the first of the lines that belong to a title, from the line `behind` on."""
    first = line
    for i in range(line - 1, behind - 1, -1):
        if not _is_above(lines[i], title):
            if lines[i].strip() and not _OPTION.match(lines[i]):
                break
        elif i == behind or not lines[i - 1].strip() or _is_above(lines[i - 1], title):
            first = i
    return first


def _is_above(line: str, title: str) -> bool:
    """Return whether a line is a label or a directive that belongs to a title below it."""
    if _ABOVE_TITLE.match(line):
        return True
    naming = _NAMING.match(line)
    named = _WORD.findall(naming[1].lower())[-1:] if naming else []
    return bool(named) and named[0] in _WORD.findall(title.lower())


def _title_at(lines: Sequence[str], i: int, behind: int) -> _TitleLines | None:
    """Return the title that begins in a line, if one does; `behind` is that after the last one."""
    overlined = (
        _LINE.match(lines[i]) is not None
        and i + 2 < len(lines)
        and lines[i + 2].rstrip() == lines[i].rstrip()
    )
    title, underline = (lines[i + 1], lines[i + 2]) if overlined else (lines[i], lines[i + 1])
    if not title.strip() or _LINE.match(title) or not _LINE.match(underline):
        return None
    separate = i == behind or not lines[i - 1].strip() or lines[i - 1].startswith("..")
    long_enough = len(underline.rstrip()) >= min(MIN_LINE, len(title.rstrip()))
    if not (separate and long_enough and (overlined or not title[0].isspace())):
        return None
    style = underline[0] + ("=" if overlined else "")
    return _TitleLines(title, i, i + (2 if overlined else 1), style)
