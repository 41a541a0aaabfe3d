"""The sections of a plain text whose headings stand on lines of their own.

READMEs, minutes, contracts and manuals have headings without being in a markup: lines with a line
of signs below them, lines that are numbered in turn, chapters, and beside these lines in capitals.
Each begins a paragraph. What ends as a sentence does is an item of a list. Pages of wikis have
lines with signs of equality on both sides, or with the level of the heading before it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from clew.read.formats.outline import Heading
from clew.text.spans import Span, lines, paragraphs, trim_span
from clew.text.words import has_content

MIN_SERIES = 3  # headings that are numbered, or chapters
MIN_MARKED = 2  # headings that are underlined, or those of a wiki, unless the text begins with one
MAX_TITLE = 80  # characters
MAX_WORDS = 10  # of a title
MAX_DIFFERENCE = 2  # signs between the lengths of a title and of the line below
MAX_OUT_OF_TURN = 0.25  # numbered lines that are no headings, for each that is one
MIN_BELOW = 2  # characters below numbered headings, for each of these
_RULE = re.compile(r"([=\-~*^])\1{2,}")
_NUMBER = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,4})[.)]?[ \t]+(?=[^\W\d_]|[\"'“„«(])")
_CHAPTER_WORDS = (
    "chapter part section article appendix kapitel teil abschnitt artikel anhang chapitre partie "
    "annexe capítulo parte sección artículo capitolo sezione articolo глава часть раздел статья"
)
_CHAPTER = re.compile(
    r"第[一二三四五六七八九十百〇\d]{1,5}[章節节条條部編编](?![^\W_])|§{1,2} ?\d{1,4}[a-z]?\b"
    rf"|(?:{'|'.join(_CHAPTER_WORDS.split())}) (?:\d{{1,3}}|[ivxlc]{{1,7}}|[a-z])\b",
    re.IGNORECASE,
)
_OF_WIKI = re.compile(r"^(?:(={1,6})[^=\n][^\n]*=|(h[1-6])\. [^\n]+)[ \t]*$", re.MULTILINE)
_CAPITALS = re.compile(r"(?=(?:[^\W\d_][^\w\n]*){4})[^\W\d_][\w ,&'’()/:.–-]*")
_SENTENCE_ENDS = ".,;:!…。，；：！、"


class _Line(NamedTuple):
    """A line that a heading may begin with.

    Attributes:
        kind: What makes it one: a sign below it, signs before it, "number", "chapter" or
            "capitals".
        text: The title.
        start: Where it starts.
        end: Where it ends, with the line of signs below it.
        number: Its number, part by part.
        title_start: Where the title starts, below a line of signs; None for `start`.
    """

    kind: str
    text: str
    start: int
    end: int
    number: tuple[int, ...] = ()
    title_start: int | None = None


def headings_in(text: str) -> list[Heading]:
    r"""Return the headings of a text; [] where it has none.

    Example:
        >>> text = "1. Rent\n\nIt is high.\n\n2. Pets\n\nOne cat.\n\n3. Keys\n\nThere are two."
        >>> [heading.text for heading in headings_in(text)]
        ['1. Rent', '2. Pets', '3. Keys']
        >>> headings_in("1. Pay the rent.\n\n2. Feed the cat.\n\n3. Return both keys.")
        []
    """
    found = list(_candidates(text))
    underlined = [one for one in found if len(one.kind) == 1]
    if len(underlined) < MIN_MARKED and not (underlined and found[0] is underlined[0]):
        underlined = []
    of_wiki = list(_headings_of_wiki(text))
    if len(of_wiki) < MIN_MARKED and not (of_wiki and not text[: of_wiki[0].start].strip()):
        of_wiki = []
    chapters = [one for one in found if one.kind == "chapter"]
    others = [*underlined, *of_wiki, *(chapters if len(chapters) >= MIN_SERIES else ())]
    known = [*others, *_in_turn(text, found, {one.start for one in others})]
    if known:  # by capitals alone, the terms of a list and what is shouted would be headings, too
        known += [one for one in found if one.kind == "capitals"]
    return _with_levels(sorted(known, key=lambda one: one.start))


def _candidates(text: str) -> Iterator[_Line]:
    """Yield the lines that may be headings; each begins a paragraph."""
    for start, end in paragraphs(text):
        stop = text.find("\n", start, end)
        first = (start, end) if stop < 0 else trim_span(text, start, stop)
        if first[1] - start > MAX_TITLE:
            continue
        if stop < 0:
            line = _marked(text, first, None)
        else:
            second, *third = islice(lines(text, stop, end), 2)
            line = _underlined(text, first, second, third) or _marked(text, first, second)
        if line is not None:
            yield line


def _headings_of_wiki(text: str) -> Iterator[_Line]:
    """Yield the headings of MediaWiki, DokuWiki and Textile: `== Tides ==`, `h2. Tides`."""
    for match in _OF_WIKI.finditer(text):
        line, mark = match[0].rstrip(), match[1] or match[2]
        title = line.removeprefix(mark)
        if match[1]:
            title = title.removesuffix(mark)
            if len(title) + 2 * len(mark) != len(line) or title.endswith("="):
                continue
        title = title.removeprefix(".").strip()
        if len(title) <= MAX_TITLE and has_content(title):
            start = match.start() + line.index(title)
            yield _Line(f"{mark} ", title, match.start(), match.start() + len(line), (), start)


def _underlined(text: str, first: Span, second: Span, third: Sequence[Span]) -> _Line | None:
    """Return the title of a paragraph with a line of one sign below it, and perhaps above it."""
    above, title = text[slice(*first)], text[slice(*second)]
    if third and _RULE.fullmatch(above) and above == text[slice(*third[0])]:
        if not has_content(title):
            return None
        return _Line(above[0], title, first[0], third[0][1], title_start=second[0])
    title, below = above, title
    is_as_long = abs(len(title) - len(below)) <= MAX_DIFFERENCE and _RULE.fullmatch(below)
    is_indented = text[first[0] - 1 : first[0]] in (" ", "\t")  # as in a comment of a program
    is_title = is_as_long and not is_indented and has_content(title) and title[0] not in "|+>#"
    return _Line(below[0], title, first[0], second[1]) if is_title else None


def _marked(text: str, first: Span, second: Span | None) -> _Line | None:
    """Return the first line of a paragraph as a title that is numbered or in capitals, or None."""
    title = text[slice(*first)]
    if title[-1] in _SENTENCE_ENDS or len(title.split()) > MAX_WORDS or "\t" in title:
        return None
    if second and text[second[0]].islower():  # the line goes on there
        return None
    if match := _NUMBER.match(title):
        number = tuple(int(part) for part in match[1].split("."))
        return _Line("number", title, *first, number)
    if _CHAPTER.match(title):
        return _Line("chapter", title, *first)
    if second is None and title.isupper() and _CAPITALS.fullmatch(title):
        return _Line("capitals", title, *first)
    return None


def _in_turn(text: str, found: Sequence[_Line], others: Container[int]) -> list[_Line]:
    """Return the lines that are numbered in turn; none where they are few, or many are out of turn.

    Args:
        text: The text.
        found: All lines that may be headings.
        others: Where those start that are headings, behind which numbers may begin anew.
    """
    last: tuple[int, ...] = (0,)
    kept, out_of_turn, may_begin = list[_Line](), 0, False
    for line in found:
        may_begin |= line.start in others
        if line.kind != "number":
            continue
        (*above, own), depth = line.number, len(line.number)
        before = last[depth - 1] if depth <= len(last) else 0
        if (tuple(above) == last[: depth - 1] and own == before + 1) or (
            may_begin and line.number == (1,)
        ):
            kept.append(line)
            last, may_begin = line.number, False
        else:
            out_of_turn += 1
    titles = sum(len(line.text) for line in kept)
    is_list = not kept or len(text.rstrip()) - kept[0].start < (1 + MIN_BELOW) * titles
    is_one = len(kept) >= MIN_SERIES and out_of_turn <= MAX_OUT_OF_TURN * len(kept)
    return kept if is_one and not is_list else []


def _with_levels(found: Sequence[_Line]) -> list[Heading]:
    """Return the headings, on levels in the order in which their kinds come."""
    kinds, headings = list[tuple[str, int]](), list[Heading]()
    for line in found:
        kind = line.kind, len(line.number)
        if kind not in kinds:
            kinds.append(kind)
        title = " ".join(line.text.split())
        place = line.start, line.end, line.title_start
        headings.append(Heading(kinds.index(kind) + 1, title, *place))
    return headings
