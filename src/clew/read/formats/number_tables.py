"""Whether a table holds numbers and no words: nobody asks for one of its rows in words.

A row says something in words by a word that tells it from the others. Numbers, dates and codes do
not, nor does a word of every row, such as a unit: such rows are found as well among others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

MIN_ROWS = 10  # fewer are too few to tell by which words every row has
MAX_JUDGED = 1000  # rows, evenly spaced, by which a table is judged
MAX_TELLING = 0.1  # share of rows with words of their own, such as remarks between the numbers
IN_EVERY_ROW = 0.5  # share of rows from which on a word tells nothing
# Two letters, or one of other scripts than the Latin; with a digit it is a number or a code.
_WORD = re.compile(r"\b(?!\w*\d)\w*(?:[a-z]{2}|[^\W\d_a-z])\w*")
_NO_WORDS = frozenset(("false", "inf", "infinity", "na", "nan", "none", "null", "true"))


def holds_only_numbers(rows: Sequence[Iterable[object]]) -> bool:
    """Return whether the rows of a table hold numbers and no words that tell one from another.

    Args:
        rows: The values of each row, without the names of the columns.

    Example:
        >>> tides = [[1900 + year, f"{year / 7:.2f} metres", "0xbeef"] for year in range(99)]
        >>> holds_only_numbers(tides)
        True
        >>> places = ("Anna Bay", "Ben Quay", "Cape Cod")
        >>> holds_only_numbers([[*tide, places[i % 3]] for i, tide in enumerate(tides)])
        False
    """
    if len(rows) < MIN_ROWS:
        return False
    judged = rows[:: -(-len(rows) // MAX_JUDGED)]
    words_of = [words_in(" ".join(map(str, row)).lower()) for row in judged]
    rows_with = Counter(word for words in words_of for word in words)
    common = {word for word, n in rows_with.items() if n >= IN_EVERY_ROW * len(judged)}
    return sum(not words <= common for words in words_of) <= MAX_TELLING * len(judged)


def words_in(text: str) -> set[str]:
    """Return the words of a text in lower case that are no numbers or codes.

    Example:
        >>> sorted(words_in("np.float32, 0x3f6fd5c8, 1.5e-07, nan, 2026-11-23, low tide"))
        ['low', 'np', 'tide']
    """
    return set(_WORD.findall(text)) - _NO_WORDS
