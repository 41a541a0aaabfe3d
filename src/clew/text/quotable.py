"""What can be quoted of a text: sentences, messages, lines of what is no prose, rows of tables."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from clew.text.code_languages import is_source_code
from clew.text.entries import entries_in
from clew.text.settings import Setting, settings_in
from clew.text.spans import COLUMNS, Span, lines, paragraphs, sentences, trim_span
from clew.text.words import has_content

MAX_LETTERS = 300  # of a quote; what has no such sentences is no prose, and is quoted by its lines
MAX_LIST = 600  # letters of a list, with what leads it in
MAX_LED_IN = 20  # items of such a list
MAX_TERM = 60  # letters of a line above what it means
MAX_ABOVE = 120  # letters of the keys that a setting is in
_TIME = r"\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]\.?m\.?)?"
_DATE = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_STAMP = re.compile(  # before a message or an entry of a log; wrapped prose may begin with a time
    rf"\[(?:{_DATE},?[ T])?{_TIME}[^\]\n]{{0,9}}\]"
    rf"|{_DATE},?[ T]{_TIME}|{_TIME}(?= *[<|–—-](?! *\d))",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"<[\w@+-]+> |[^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2}: ")  # up to three words
MIN_STATEMENTS = 2  # lines that end as statements and blocks do
MIN_CODE = 0.6  # of the lines of a program: these, and its remarks
_MARKED_UP = re.compile(r"^[ \t]*(?:```|~~~|\|)", re.MULTILINE)  # what is code or a table, or not
_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_EMPTY_LINE = re.compile(r"[ \t]*\n[ \t]*\n")
_LISTED = re.compile(r"(?:[-*+•·–]|\d{1,3}[.)]|\(?[a-z]\))[ \t]")
_REMARK = re.compile(r"(?:///?!?|/\*+|\*/|\*(?!\S)|--(?!\S))[ \t]*")
_MARKS = re.compile("[*]{1,3}|_{1,3}|~~|`+")  # of emphasis and code, in Markdown
_OPENS = "\"'“‘«([<`*_~¿¡"  # what emphasis may begin with, beside a letter


class Quotable(NamedTuple):
    """A piece of a text that can be quoted.

    Attributes:
        start: Its first character in the text.
        end: The character behind its last one.
        text: What is quoted: the piece without marks of emphasis whose other one is outside, the
            row of a table with the names of its columns, or a setting behind what it is in.
        is_row: Whether it is a row of a table, or a setting.
        lead: What of the text leads in the rest, such as "We need:"; "" for nothing.
        is_list: Whether the rest is a list, of which each item is a piece, too.
    """

    start: int
    end: int
    text: str
    is_row: bool = False
    lead: str = ""
    is_list: bool = False


class _Row(NamedTuple):
    """A row of a table: its first and last line, counted from 0, and its text."""

    first: int
    last: int
    text: str


def quotable(text: str, columns: Mapping[str, Any], heading: str = "") -> Iterator[Quotable]:
    r"""Yield what can be quoted of a text, in order.

    Args:
        text: The text of an item.
        columns: The item's metadata. A text whose lines are all `column: value` is one row.
        heading: What the text stands under, by which a piece of a long table has its columns.

    Example:
        >>> [piece.text for piece in quotable("Ben sails. Anna left.", {})]
        ['Ben sails.', 'Anna left.']
        >>> [piece.text for piece in quotable("**Who sails?** It is *Ben*.", {})]
        ['**Who sails?**', 'It is *Ben*.']
        >>> [piece.text for piece in quotable("[sea]\nhigh = 10\nlow = 4", {})]
        ['[sea] high = 10', '[sea] low = 4']
    """
    names = heading.rpartition(" > ")[2].split(COLUMNS)
    pieces = list(_pieces(text, columns, names))
    for i, piece in enumerate(pieces):
        yield _with_led_in(text, piece, pieces[i + 1 : i + 1 + MAX_LED_IN])


def _with_led_in(text: str, piece: Quotable, following: Sequence[Quotable]) -> Quotable:
    """Return a piece that leads in others with these: a list behind a colon, or the next piece."""
    ends_with_colon = piece.text.rstrip("*_ ").endswith((":", "："))
    if piece.is_row or not following or not (ends_with_colon or _is_term(text, piece)):
        return piece
    led_in, size = list[Quotable](), len(piece.text)
    for one in following:
        size += 1 + len(one.text)
        is_item = _LISTED.match(text, one.start) is not None
        if one.is_row or size > MAX_LIST or (led_in and not is_item):
            break
        led_in.append(one)
        if not (is_item and ends_with_colon):
            break
    if not led_in:
        return piece
    whole = " ".join(one.text for one in (piece, *led_in))
    return Quotable(piece.start, led_in[-1].end, whole, lead=piece.text, is_list=len(led_in) > 1)


def _is_term(text: str, piece: Quotable) -> bool:
    """Return whether a piece is a line by itself, such as the term above what it means."""
    if len(piece.text) > MAX_TERM or not piece.text[-1:].isalnum() or _LISTED.match(piece.text):
        return False
    begins = piece.start == 0 or text[piece.start - 1] == "\n"
    return begins and _EMPTY_LINE.match(text, piece.end) is not None


def _pieces(text: str, columns: Mapping[str, Any], names: Sequence[str]) -> Iterator[Quotable]:
    has_settings = not is_source_code("text", columns)
    if has_settings and not _MARKED_UP.search(text) and (found := settings_in(text, 0, len(text))):
        yield from _settings(text, found, ())
        return
    for begin, end in paragraphs(text):
        for _, run in groupby(lines(text, begin, end), lambda span: text[span[0]] == "|"):
            spans = list(run)
            rows = _table_rows([text[start:stop] for start, stop in spans], columns, names)
            for row in rows:
                yield Quotable(spans[row.first][0], spans[row.last][1], row.text, is_row=True)
            if not rows:
                yield from _sentences(text, (spans[0][0], spans[-1][1]), has_settings)


def without_speaker(text: str) -> str:
    """Return a message without the time and the speaker before it.

    Example:
        >>> without_speaker("[12:03] <anna> who sails"), without_speaker("Anna: who sails")
        ('who sails', 'who sails')
    """
    stamp = _STAMP.match(text)
    said = text[stamp.end() :].lstrip(" -–—|") if stamp else text
    speaker = _SPEAKER.match(said)
    return said[speaker.end() :] if speaker else said


def _table_rows(texts: Sequence[str], columns: Container[str], names: Sequence[str]) -> list[_Row]:
    """Return the rows of a table, each value behind the name of its column; none for no table.

    Lines of `column: value` are one row. Otherwise the lines of a table have equally many values,
    with the same sign between two. A piece of a long table has the columns of these names, where it
    has as many.
    """
    if columns and all(line.partition(":")[0] in columns for line in texts):
        whole = ", ".join(texts)
        if len(whole) <= MAX_LETTERS:
            return [_Row(0, len(texts) - 1, whole)]
        return [_Row(i, i, line) for i, line in enumerate(texts)]
    for sign in "|\t,;":
        if sign == "," and not any("," in _THOUSANDS.sub("", line) for line in texts):
            continue  # in numbers alone
        cells = [_cells(line, sign) for line in texts]
        in_prose = sign in ",;" and any(f"{sign} " in line for line in texts)
        equally_many = len(cells) > 1 and len({len(row) for row in cells}) == 1
        if equally_many and len(cells[0]) > 1 and not in_prose:
            return _named_rows(cells, sign, names)
        if sign == "|" and len(cells) == 1 and len(cells[0]) == len(names) > 1:
            return _named_rows(cells, sign, names)
    return []


def _cells(line: str, sign: str) -> list[str]:
    stripped = line.strip("| " if sign == "|" else " ")
    return [cell.strip() for cell in stripped.split(sign)]


def _named_rows(cells: list[list[str]], sign: str, above: Sequence[str]) -> list[_Row]:
    is_rule = [set("".join(row)) <= set("-: ") for row in cells]
    has_header = any(is_rule[1:2]) or sign != "|"  # a piece of a long table may have no header
    without = above if len(above) == len(cells[0]) else [""] * len(cells[0])
    names = cells[0] if has_header else without
    found = []
    for i in range(int(has_header), len(cells)):
        if not is_rule[i]:
            pairs = zip(names, cells[i], strict=True)
            values = [f"{name}: {cell}" if name else cell for name, cell in pairs if cell]
            found.append(_Row(i, i, ", ".join(values)))
    return found


def _settings(text: str, settings: Sequence[Setting], above: tuple[str, ...]) -> Iterator[Quotable]:
    """Yield settings, each behind the keys and sections that it is in.

    What is in a key, in an item of a list or in one of several sections of a name is one piece if
    it is not long: `name` and `port` of a server say little apart.
    """
    for one in settings:
        are_leaves = one.name != "" and not one.is_section
        are_leaves = are_leaves and all(not child.children for child in one.children)
        if not one.children or (are_leaves and one.end - one.start <= MAX_LETTERS):
            yield from _setting(text, (one.start, one.end), " ".join(above))
            continue
        if one.start < one.own:  # what is remarked on it
            yield from _setting(text, (one.start, one.stop), "")
        key = " ".join(text[one.own : one.stop].split())
        yield from _settings(text, one.children, (*above, key) if has_content(key) else above)


def _setting(text: str, span: Span, above: str) -> Iterator[Quotable]:
    """Yield a setting behind what it is in; a long one by its sentences; nothing for a sign."""
    if span[1] - span[0] > MAX_LETTERS:
        yield from _sentences(text, span, has_settings=False)
        return
    while len(above) > MAX_ABOVE:
        above = above.partition(" ")[2]
    written = " ".join(text[slice(*span)].split())
    if has_content(written):
        yield Quotable(*span, f"{above} {written}".lstrip(), is_row=True)


def _sentences(text: str, span: Span, has_settings: bool) -> Iterator[Quotable]:
    if has_settings and (settings := settings_in(text, *span)):
        yield from _settings(text, settings, ())
        return
    if entries := entries_in(text, *span):
        for start, end in entries:
            yield Quotable(start, end, text[start:end])
        return
    own = list(lines(text, *span))
    if _is_code(text, own):
        yield from _statements(text, own)
        return
    pairs = _paired_marks(text, span)
    for message in _messages(text, span):
        for begin, stop in sentences(text, *message, "en"):
            spans = [(begin, stop)] if stop - begin <= MAX_LETTERS else lines(text, begin, stop)
            for one in spans:
                yield from _without_single_marks(text, one, pairs)


def _is_code(text: str, spans: Sequence[Span]) -> bool:
    """Return whether lines are of a program whose statements end with a sign, and its remarks."""
    remarks = sum(bool(_REMARK.match(text, *span)) for span in spans)
    signs = sum(text[end - 1] in "{};" for _, end in spans)
    return signs >= MIN_STATEMENTS and signs + remarks >= MIN_CODE * len(spans)


def _statements(text: str, spans: Sequence[Span]) -> Iterator[Quotable]:
    """Yield each line of a program, and the sentences of remarks without the marks before lines."""
    for is_remark, run in groupby(spans, lambda span: bool(_REMARK.match(text, *span))):
        own = list(run)
        if not is_remark:
            yield from (Quotable(*span, text[slice(*span)]) for span in own)
            continue
        remark = " ".join(_REMARK.sub("", text[slice(*span)]).removesuffix("*/") for span in own)
        for begin, end in sentences(remark, 0, len(remark), "en"):
            yield Quotable(own[0][0], own[-1][1], remark[begin:end].strip())


def _messages(text: str, span: Span) -> Iterator[Span]:
    """Yield the messages of a chat and the entries of a log, and any other text as it is.

    One begins with a line that has a time or a speaker before it. A name with a colon is a speaker
    where it comes before several lines, which the name of a field does not.
    """
    begins = [begin for begin, _ in lines(text, *span)]
    found = (_SPEAKER.match(text, begin, span[1]) for begin in begins)
    speakers = [match and match.group() for match in found]
    counts = Counter(filter(None, speakers))
    talks = max(counts.values(), default=0) > 1
    bounds = [
        begin
        for begin, speaker in zip(begins, speakers, strict=True)
        if (talks and speaker) or _STAMP.match(text, begin, span[1])
    ]
    for begin, end in pairwise([span[0], *(one for one in bounds if one > span[0]), span[1]]):
        yield trim_span(text, begin, end)


class _Mark(NamedTuple):
    """A mark of emphasis or code: where it is, and where the one that it goes with starts."""

    start: int
    end: int
    other: int


def _paired_marks(text: str, span: Span) -> list[_Mark]:
    """Return the marks of emphasis and code that open or close something, in order."""
    paired, opened = list[_Mark](), dict[str, Span]()
    for match in _MARKS.finditer(text, *span):
        (start, end), mark = match.span(), match.group()
        before, behind = text[max(start - 1, span[0]) : start], text[end : min(end + 1, span[1])]
        if mark in opened and before.strip() and not behind.isalnum():
            paired += [_Mark(*opened[mark], start), _Mark(start, end, opened.pop(mark)[0])]
        elif not before.isalnum() and _may_open(mark, behind):
            opened[mark] = (start, end)
    return sorted(paired)


def _may_open(mark: str, behind: str) -> bool:
    """Return whether a mark may open something, by the sign behind it: "*.log" is no emphasis."""
    return behind.isalnum() or (bool(behind.strip()) and (mark[0] == "`" or behind in _OPENS))


def _without_single_marks(text: str, span: Span, paired: Sequence[_Mark]) -> Iterator[Quotable]:
    """Yield a piece without marks whose other one is outside; nothing where no more is in it."""
    begin, stop = span
    first, last = (bisect_left(paired, place, key=lambda mark: mark.start) for place in span)
    while last < len(paired) and paired[last].start == stop and begin <= paired[last].other < stop:
        stop, last = paired[last].end, last + 1  # it closes what is quoted
    single = [mark for mark in paired[first:last] if not begin <= mark.other < stop]
    bounds = [begin, *(place for mark in single for place in (mark.start, mark.end)), stop]
    parts = list(zip(bounds[::2], bounds[1::2], strict=True))
    filled = [part for part in (trim_span(text, *part) for part in parts) if part[0] < part[1]]
    if filled:
        left = "".join(text[start:end] for start, end in parts)
        yield Quotable(filled[0][0], filled[-1][1], left.strip())
