"""The words of a text, with what their looks say: capitals, and where sentences begin.

They are found in columns, a list for each thing that is known of a word. Most words are counted and
never looked at again, and an object for each would take most of the time, of the garbage collector
above all.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from clew.text.words import OTHER_SCRIPT, PLAIN_SIGN

# signs that Python does not count among letters
MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0903"
    "\u093a-\u094f\u0951-\u0957\u0962\u0963\u0980-\u0d4f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
)
_LETTERS = rf"[^\W_]+(?:[{MARKS}]+[^\W_]*)*"
JOINERS = r"'’.&/\-‐‑·"  # signs that may be inside of a word, one at a time
_ASCII_WORD = re.compile(r"([A-Za-z0-9]+(?:['.&/\-][A-Za-z0-9]+)*)")
_SENTENCE_END = re.compile(r"[.!?…؟।۔։።][\"'”’»)\]]*(?:\s|$)|[。！？]|\n")
MAX_KEPT_GAP = 8  # signs between two words of which it is kept whether they end a sentence
_STOP = ". "  # behind a word; it may end a sentence, or an abbreviation


class Word(NamedTuple):
    """A word in a text.

    Attributes:
        start: Where the word starts.
        end: Where it ends.
        key: The word with its case folded.
        begins: Whether it is the first of its sentence.
        capital: Whether it has a capital.
        sentence: Where its sentence starts.
    """

    start: int
    end: int
    key: str
    begins: bool
    capital: bool
    sentence: int


class WordColumns(NamedTuple):
    """The words of a text: entry `i` of every column is of word `i`; see `Word`.

    They are arrays, bytes and tuples where they are kept: at every entry of a list the garbage
    collector looks again and again.

    Attributes:
        starts: Where each starts.
        ends: Where each ends.
        keys: Each with its case folded.
        begins: Whether each is the first of its sentence.
        capitals: Whether each has a capital.
        sentences: Where the sentence of each starts.
        behind_stop: Whether a full stop and a space stand before each.
        openings: The numbers of the words that a name may begin with: those that have a capital,
            or whose first letter has no case.
    """

    starts: Sequence[int]
    ends: Sequence[int]
    keys: Sequence[str]
    begins: Sequence[int]
    capitals: Sequence[int]
    sentences: Sequence[int]
    behind_stop: Sequence[int]
    openings: Sequence[int]

    def as_kept(self) -> WordColumns:
        """Return these columns as they are kept."""
        return WordColumns(
            array("q", self.starts),
            array("q", self.ends),
            tuple(self.keys),
            bytes(self.begins),
            bytes(self.capitals),
            array("q", self.sentences),
            bytes(self.behind_stop),
            array("q", self.openings),
        )

    def word(self, i: int) -> Word:
        """Return the object for a word.

        Example:
            >>> find_columns("Anna left.").word(1)
            Word(start=5, end=9, key='left', begins=False, capital=False, sentence=0)
        """
        return Word(
            self.starts[i],
            self.ends[i],
            self.keys[i],
            bool(self.begins[i]),
            bool(self.capitals[i]),
            self.sentences[i],
        )


class TextWords(NamedTuple):
    """The words of a text that starts somewhere in another one, from some word on.

    Attributes:
        text: The other one, in which all places are meant.
        start: Where the text starts in it.
        columns: The words of the other one, and these among them; the `openings` are not used.
        first: The number of the first word of the text that counts.
        end: The number behind its last word.
        openings: The numbers of those that a name may begin with; see `WordColumns`.
        is_plain: Whether the looks of its signs are known to say all; see `joined_texts.is_plain`.
    """

    text: str
    start: int
    columns: WordColumns
    first: int
    end: int
    openings: Sequence[int]
    is_plain: bool = False

    @classmethod
    def from_place(cls, text: str, columns: WordColumns, place: int) -> TextWords:
        """Return the words of a whole text that start at a place or behind it.

        Example:
            >>> text = "Anna left."
            >>> TextWords.from_place(text, find_columns(text), 1).keys
            ['left']
        """
        first = bisect_left(columns.starts, place)
        openings = columns.openings
        if first:
            openings = openings[bisect_left(openings, first) :]
        return cls(text, 0, columns, first, len(columns.starts), openings)

    @property
    def keys(self) -> list[str]:
        """The words with their case folded."""
        return list(self.columns.keys[self.first : self.end])


def find_columns(text: str, abbreviations: Collection[str] = ()) -> WordColumns:
    """Return the words of a text as columns.

    Args:
        text: The text, in NFKC.
        abbreviations: Words with their case folded whose full stop ends no sentence.

    Example:
        >>> found = find_columns("Anna left. Ben came.")
        >>> found.keys, found.begins
        (['anna', 'left', 'ben', 'came'], [True, False, True, False])
        >>> find_columns("in 1990 Anna left").openings
        [1, 2]
    """
    is_ascii = text.isascii()
    parts = _pattern_for(text).split(text)  # gap, word, gap, word, ..., gap
    gaps, found = parts[:-1:2], parts[1::2]
    places = list(accumulate(map(len, parts)))
    starts, ends = places[:-1:2], places[1::2]
    if is_ascii:
        keys = list(map(str.lower, found))
        capitals = [word != key for word, key in zip(found, keys, strict=True)]
        looks = enumerate(zip(keys, capitals, strict=True))
        openings = [i for i, (key, capital) in looks if capital or key < "a"]  # begins with a digit
    else:
        keys = list(map(str.casefold, found))
        capitals = [
            word != key if word.isascii() else not word.islower() and any(map(str.isupper, word))
            for word, key in zip(found, keys, strict=True)
        ]
        looks = enumerate(zip(keys, capitals, strict=True))
        openings = [
            i
            for i, (key, capital) in looks
            if capital or not ("a" <= key[0] <= "z" or key[0].lower() != key[0].upper())
        ]
    begins, behind_stop = [False] * len(found), [False] * len(found)
    sentences, first = list[int](), 0
    for i in [i for i, gap in enumerate(gaps) if gap != " " or not i]:
        gap = gaps[i]
        if gap == ", " and i:
            continue
        behind_stop[i] = gap.endswith(_STOP)
        if not i or ends_sentence(gap, keys[i - 1], abbreviations, len(found[i - 1]) == 1):
            begins[i] = True
            sentences += starts[first : first + 1] * (i - first)
            first = i
    sentences += starts[first : first + 1] * (len(found) - first)
    return WordColumns(starts, ends, keys, begins, capitals, sentences, behind_stop, openings)


def first_key(text: str) -> str:
    """Return the key of the first word of a text, or "".

    Example:
        >>> first_key("“The Tempest”"), first_key("...")
        ('the', '')
    """
    begin = text.partition(" ")[0]  # of most texts beside ASCII, that is ASCII, too
    match = _ASCII_WORD.search(begin) if begin.isascii() else None
    match = match or _pattern_for(text).search(text)
    return match[0].casefold() if match else ""


def _pattern_for(text: str) -> re.Pattern[str]:
    """Return the quickest pattern that finds the words of a text as `_word` does."""
    if text.isascii():
        return _ASCII_WORD
    return _word() if OTHER_SCRIPT.search(text) else _plain_word()


@lru_cache(maxsize=1)
def _word() -> re.Pattern[str]:
    """The pattern of a word of any script."""
    return re.compile(rf"({_LETTERS}(?:[{JOINERS}]{_LETTERS})*)")


@lru_cache(maxsize=1)
def _plain_word() -> re.Pattern[str]:
    """The pattern of a word beside ASCII, where no script is another."""
    return re.compile(rf"([{PLAIN_SIGN}]++(?:[{JOINERS}][{PLAIN_SIGN}][{PLAIN_SIGN}]*+)*+)")


def ends_sentence(
    gap: str, before: str, abbreviations: Collection[str], is_single: bool = False
) -> bool:
    """Return whether a sentence ends in the gap behind a word, which is more than a space.

    Args:
        gap: The gap.
        before: The word before it, with its case folded.
        abbreviations: Words whose full stop ends no sentence.
        is_single: Whether that word is a single letter.

    Example:
        >>> ends_sentence(". ", "st", ["st"]), ends_sentence(". ", "sea", ["st"])
        (False, True)
    """
    if gap == _STOP:
        return not (is_single or "." in before or before in abbreviations)
    return _has_end(gap) if len(gap) <= MAX_KEPT_GAP else _SENTENCE_END.search(gap) is not None


@lru_cache(4096)  # most gaps are one of a few
def _has_end(gap: str) -> bool:
    return _SENTENCE_END.search(gap) is not None
