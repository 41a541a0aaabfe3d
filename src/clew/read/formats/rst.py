"""The outline of a reStructuredText document: a title is a line underlined with one sign as long as it is, perhaps overlined too.

Which signs mean which level is said by their first use, as the format's definition has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clew.read.formats.outline import Block, Heading, Outline
from clew.text.spans import paragraphs

_LINE = re.compile(r"([!-/:-@\[-`{-~])\1+[ \t]*$")
_LINK = re.compile(
    r"`[^`<>]*<([^<>`]+)>`__?|:(?:doc|download):`(?:[^`<>]*<)?([^`<>]+)>?`|^\.\. _[^:\n]+: +(\S+)[ \t]*$",
    re.MULTILINE,
)
_INCLUDED = re.compile(r"^[ \t]*\.\. (?:literal)?include:: +(\S+)[ \t]*$", re.MULTILINE)
_MARKS = re.compile(r":[\w:+.-]+:(?=`)|`([^`<]*?)(?: ?<[^`>]*>)?`_{0,2}|\*\*?|``")


def outline(text: str) -> Outline:
    """Return what a reStructuredText document consists of."""
    headings = list(_headings(text))
    parts: list[Heading | Block] = []
    at = 0
    for heading in [*headings, None]:
        for start, end in paragraphs(text[at : heading.start if heading else len(text)]):
            begin = text.rfind("\n", 0, at + start) + 1
            parts.append(
                Block(at + start, at + end, "lines" if text[begin : at + start] else "prose")
            )
        if heading:
            parts.append(heading)
            at = heading.end
    links = [
        (found.start(), next(group for group in found.groups() if group).strip())
        for mark in (_LINK, _INCLUDED)
        for found in mark.finditer(text)
    ]
    return Outline(tuple(parts), tuple(sorted(links)))


def title_of(text: str) -> str | None:
    """Return the first heading, if any."""
    return next((heading.text for heading in _headings(text)), None)


def _headings(text: str) -> Iterator[Heading]:
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    levels: list[str] = []
    i = 0
    while i + 1 < len(lines):
        over = (
            bool(_LINE.match(lines[i]))
            and i + 2 < len(lines)
            and lines[i + 2].rstrip() == lines[i].rstrip()
        )
        title, under = (lines[i + 1], lines[i + 2]) if over else (lines[i], lines[i + 1])
        alone = i == 0 or not lines[i - 1].strip() or lines[i - 1].startswith("..")
        fits = bool(_LINE.match(under)) and len(under.rstrip()) >= len(title.rstrip()) > 0
        if (
            alone
            and fits
            and title.strip()
            and not _LINE.match(title)
            and (over or not title[0].isspace())
        ):
            style = under[0] + ("=" if over else "")
            if style not in levels:
                levels.append(style)
            last = i + (2 if over else 1)
            words = " ".join(_MARKS.sub(lambda mark: mark[1] or "", title).split())
            yield Heading(
                levels.index(style) + 1, words, starts[i], starts[last] + len(lines[last].rstrip())
            )
            i = last
        i += 1
