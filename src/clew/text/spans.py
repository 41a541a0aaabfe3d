"""The places where a text can be cut: between paragraphs, lines, sentences and words.

Sentences are found by sentencex, clauses and words by semchunk. A span is (start, end) in the text.
The spans of a text leave out nothing but white space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import cast

Span = tuple[int, int]

# Characters that a library reads at once. Its time, and the depth of its recursion, grow faster
# than the text does.
WINDOW = 4000
COLUMNS = " | "  # between the names of the columns of a table, in a heading
_PARAGRAPH_END = re.compile(r"(?:\r\n?|\n)[^\S\r\n]*(?:\r\n?|\n)\s*")
HALF_CHARACTER = re.compile("[\ud800-\udfff]")  # of a surrogate pair, as broken JSON has it
# What ends with a full stop that ends no sentence, unless a capital follows: sentencex has others.
_ABBREVIATION = re.compile(
    r"(?<!\w)(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun|Abs|[Aa]pprox|[Aa]vg|Bd|[Cc]h|[Ee]qs?|[Ee]st"
    r"|[Ee]xcl|[Ee]xt|[Ff]igs|[Hh]rs|[Ii]ncl|[Kk]ap|[Kk]l|[Mm]ax|[Mm]in|[Mm]isc|Nr|[Nn]úm|[Pp]ágs?"
    r"|[Pp]aras?|[Rr]efs|[Rr]esp|Str|[Tt]el|[Tt]emp|[Tt]lf|[Vv]ols?|[Ww]ks?|[Yy]rs?|Ziff)\.\s+\Z"
)
# Before a capital: what is said before a name, the number of an item of a list, and in German a
# number behind an article, as in "der 1. Vorsitzende".
_BEFORE_CAPITAL = re.compile(
    r"(?<!\w)(?:Dhr|Dña|Frl|Mevr|Srt?as?|[Ss]igg?)\.\s+\Z|^[ \t>]*\(?\d{1,3}\.[ \t]+\Z"
    r"|(?<!\w)(?:[Dd]as|[Dd]e[mnrs]|[Ii]m|[Vv]om|[Zz]u[mr]|[Jj]ede[mnrs]?)\s\d{1,3}\.\s+\Z",
    re.MULTILINE,
)
_DAY = re.compile(r"(?<![\w.])\d{1,2}\.\s+\Z")
_MONTHS = (
    *("Januar", "Jänner", "Februar", "Feber", "März", "April", "Mai", "Juni", "Juli", "August"),
    *("September", "Oktober", "November", "Dezember"),
)
MAX_ABBREVIATION = 24  # characters, with the space behind
_LINE_END = re.compile(r"\r\n?|\n")


def trim_span(text: str, start: int, end: int) -> Span:
    """Return the span without the white space at its ends; (start, start) for a blank one.

    Example:
        >>> trim_span("  one  ", 0, 7)
        (2, 5)
    """
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    return (start, start + len(part.strip()))


def pack_spans(
    atoms: Sequence[tuple[int, int, int]], max_tokens: int, count: Callable[[int, int], int]
) -> Iterator[Span]:
    """Yield the spans of runs of consecutive atoms, each run as long as it fits.

    Args:
        atoms: start, end and tokens of each piece that is not cut, in order.
        max_tokens: the largest number of tokens of a run. An atom that has more is a run by itself.
        count: (start, end) -> number of tokens of the text between.

    Example:
        >>> list(pack_spans([(0, 3, 3), (4, 7, 3), (8, 11, 3)], 7, lambda start, end: end - start))
        [(0, 7), (8, 11)]
    """
    i = 0
    while i < len(atoms):
        start, total, end = atoms[i][0], atoms[i][2], i + 1
        while True:
            next_end = end
            while next_end < len(atoms) and total + atoms[next_end][2] <= max_tokens:
                total += atoms[next_end][2]
                next_end += 1
            # The text between atoms counts too, and a tokenizer may add tokens to every text.
            while next_end > end and (total := count(start, atoms[next_end - 1][1])) > max_tokens:
                next_end -= 1
            if next_end == end:
                break
            end = next_end
        yield start, atoms[end - 1][1]
        i = end


def paragraphs(text: str) -> Iterator[Span]:
    r"""Yield the spans of the paragraphs of a plain text, which are separated by empty lines.

    Example:
        >>> list(paragraphs("one\ntwo\n\nthree"))
        [(0, 7), (9, 14)]
    """
    return _spans_between(text, 0, len(text), _PARAGRAPH_END)


def lines(text: str, start: int, end: int) -> Iterator[Span]:
    r"""Yield the spans of the lines in `text[start:end]` that are not blank.

    Example:
        >>> list(lines("one\n\ntwo", 0, 8))
        [(0, 3), (5, 8)]
    """
    return _spans_between(text, start, end, _LINE_END)


def sentences(text: str, start: int, end: int, language: str) -> Iterator[Span]:
    """Yield the spans of the sentences in `text[start:end]`.

    Args:
        text: the text.
        start: where to begin.
        end: where to end.
        language: an ISO 639-1 code, such as "en", for the abbreviations that end no sentence.

    Example:
        >>> list(sentences("Anna left. Ben stayed.", 0, 22, "en"))
        [(0, 10), (11, 22)]
    """
    from sentencex import get_sentence_boundaries

    while start < end:
        stop = _window_end(text, start, end)
        window = HALF_CHARACTER.sub("\ufffd", text[start:stop])  # which sentencex does not take
        boundaries = get_sentence_boundaries(language, window)
        places = (start + boundary["start_index"] for boundary in boundaries)
        begins = [place for place in places if place == start or not _goes_on(text, place)]
        if stop < end and begins[-1] > start + WINDOW // 2:
            stop = begins.pop()  # the last sentence may go on behind the window
        for begin, behind in zip(begins, [*begins[1:], stop], strict=True):
            span = trim_span(text, begin, behind)
            if span[0] < span[1]:
                yield span
        start = stop


def _goes_on(text: str, place: int) -> bool:
    """Return whether a sentence goes on at a place behind a full stop."""
    first = max(0, place - MAX_ABBREVIATION)
    if not text[place : place + 1].isupper():
        return _ABBREVIATION.search(text, first, place) is not None
    if _BEFORE_CAPITAL.search(text, first, place):
        return True
    return text.startswith(_MONTHS, place) and _DAY.search(text, first, place) is not None


def split_at_words(
    text: str, start: int, end: int, max_tokens: int, count: Callable[[str], int]
) -> Iterator[Span]:
    """Yield the spans of parts of `text[start:end]`, cut between clauses or words where possible.

    Args:
        text: the text.
        start: where to begin.
        end: where to end.
        max_tokens: the largest number of tokens of a part.
        count: the tokenizer, text -> number of tokens.

    Example:
        >>> list(split_at_words("one two three", 0, 13, 7, len))
        [(0, 7), (8, 13)]
    """
    from semchunk.semchunk import chunk

    def count_divisible(part: str) -> int:
        """A single character fits always: it cannot be cut, which the library does not see."""
        return count(part) if len(part) > 1 else 1

    while start < end:
        stop = _window_end(text, start, end)
        begin, behind = trim_span(text, start, stop)
        chunks = chunk(text[begin:behind], max_tokens, count_divisible, memoize=False, offsets=True)
        spans = cast("list[Span]", chunks[1])
        if stop < end and spans and begin + spans[-1][0] > start + WINDOW // 2:
            stop = begin + spans.pop()[0]  # the last part may go on behind the window
        for chunk_start, chunk_end in spans:
            yield begin + chunk_start, begin + chunk_end
        start = stop


def _window_end(text: str, start: int, end: int) -> int:
    """How far to read at once, up to a space."""
    if end - start <= WINDOW:
        return end
    space = max(text.rfind(sign, start + 1, start + WINDOW) for sign in " \n")
    return space if space > start else start + WINDOW


def _spans_between(text: str, start: int, end: int, separator: re.Pattern[str]) -> Iterator[Span]:
    begin = start
    for match in [*separator.finditer(text, start, end), None]:
        span = trim_span(text, begin, match.start() if match else end)
        if span[0] < span[1]:
            yield span
        begin = match.end() if match else end
