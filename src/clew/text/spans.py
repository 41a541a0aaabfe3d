"""Where a text can be cut: between paragraphs, lines, sentences (sentencex) and words (semchunk). Spans leave out nothing but space."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

WINDOW = 4000  # characters
_PARAGRAPH_END = re.compile(r"(?:\r\n?|\n)[^\S\r\n]*(?:\r\n?|\n)\s*")
_LINE_END = re.compile(r"\r\n?|\n")


def trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without the space at its ends; (start, start) if there is nothing else."""
    said = text[start:end]
    start += len(said) - len(said.lstrip())
    return (start, start + len(said.strip()))


def pack_spans(
    atoms: Sequence[tuple[int, int, int]], most: int, size: Callable[[int, int], int]
) -> Iterator[tuple[int, int]]:
    """Return the spans of runs of atoms (start, end, tokens), each run as long as it fits into `most` tokens by `size`."""
    i = 0
    while i < len(atoms):
        start, total, j = atoms[i][0], atoms[i][2], i + 1
        while True:
            k = j
            while k < len(atoms) and total + atoms[k][2] <= most:
                total += atoms[k][2]
                k += 1
            # What stands between atoms counts too, and a tokenizer may add something to every text it is given.
            while k > j and (total := size(start, atoms[k - 1][1])) > most:
                k -= 1
            if k == j:
                break
            j = k
        yield start, atoms[j - 1][1]
        i = j


def paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Return the spans of the paragraphs of a plain text: what stands between empty lines."""
    return _between(text, 0, len(text), _PARAGRAPH_END)


def lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Return the spans of the lines in text[start:end] that are not empty."""
    return _between(text, start, end, _LINE_END)


def sentences(text: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    """Return the spans of the sentences in text[start:end]; they leave out nothing but space."""
    from sentencex import get_sentence_boundaries

    while start < end:
        stop = _stop(text, start, end)
        begins = [
            start + found["start_index"]
            for found in get_sentence_boundaries(language, text[start:stop])
        ]
        if stop < end and begins[-1] > start + WINDOW // 2:
            stop = begins.pop()  # the last may go on
        for a, b in zip(begins, [*begins[1:], stop], strict=True):
            a, b = trim_span(text, a, b)
            if a < b:
                yield a, b
        start = stop


def split_at_words(
    text: str, start: int, end: int, most: int, count: Callable[[str], int]
) -> Iterator[tuple[int, int]]:
    """Return the spans of text[start:end] cut, best between its clauses or words, into parts of at most `most` tokens."""
    from semchunk.semchunk import chunk

    def at_least_a_sign(
        text: str,
    ) -> int:  # a single sign that does not fit cannot be cut, which the library does not see
        return count(text) if len(text) > 1 else 1

    while start < end:
        stop = _stop(text, start, end)
        begin, behind = trim_span(text, start, stop)
        spans: Any = chunk(text[begin:behind], most, at_least_a_sign, memoize=False, offsets=True)[
            1
        ]
        yield from ((begin + a, begin + b) for a, b in spans)
        start = stop


def _stop(text: str, start: int, end: int) -> int:
    """How far to read at once, up to a space: the libraries' time, and depth of recursion, grow faster than some texts do."""
    if end - start <= WINDOW:
        return end
    space = max(text.rfind(sign, start + 1, start + WINDOW) for sign in " \n")
    return space if space > start else start + WINDOW


def _between(text: str, start: int, end: int, mark: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    at = start
    for found in [*mark.finditer(text, start, end), None]:
        a, b = trim_span(text, at, found.start() if found else end)
        if a < b:
            yield a, b
        at = found.end() if found else end
