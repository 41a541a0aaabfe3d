"""Words, and quotes made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

WORD = re.compile(r"[^\W_]+")  # in a script without spaces, a run between two marks
SENTENCE_END = re.compile(r"[.!?]\s+|\n\s*\n")


def quote_around(text: str, start: int, end: int, words: int = 12) -> str:
    """Return the words of text[start:end], with neighbours of its sentence up to a number of words.

    What is longer is cut at its end.
    """
    before = [match.end() for match in SENTENCE_END.finditer(text, 0, start)]
    after = SENTENCE_END.search(text, end)
    low, high = before[-1] if before else 0, after.start() if after else len(text)
    spans = [match.span() for match in WORD.finditer(text, low, high)]
    inside = [i for i, span in enumerate(spans) if span[0] < end and span[1] > start]
    if not inside:
        return ""
    first, last = inside[0], min(inside[-1], inside[0] + words - 1)
    room = words - (last - first + 1)
    first = max(0, first - room // 2)
    last = min(len(spans) - 1, first + words - 1)
    first = max(0, last - words + 1)
    return " ".join(text[spans[first][0] : spans[last][1]].split())


def quotes_along(
    segments: Iterable[str], *, words: int = 12, every: int = 60, min_words: int = 5
) -> Iterator[str]:
    """Yield a quote from the beginning of each segment, and one every some words after it."""
    for segment in segments:
        spans = [match.span() for match in WORD.finditer(segment)]
        for first in range(0, len(spans), every):
            last = min(first + words, len(spans)) - 1
            if last - first + 1 >= min_words:
                yield " ".join(segment[spans[first][0] : spans[last][1]].split())
