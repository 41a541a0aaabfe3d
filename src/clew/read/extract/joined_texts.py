"""The words of several texts, found together: what `word_columns` finds in each, by arrays.

Most texts are of scripts in which the looks of a sign say all: whether it is in a word, and whether
it is a capital. Such texts are joined, and looked up sign by sign in one table. What is left to do
for each word is little, as the words come out of one call that splits all of them.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress, pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from clew.read.extract.mentions import MAX_SHORT, KeptShortWords, ShortWords
from clew.read.extract.word_columns import JOINERS, TextWords, WordColumns, ends_sentence
from clew.text.words import OTHER_SCRIPT, text_of_signs

_N_SIGNS = 0x2C00  # where the last of the scripts ends that are no other
_IN_WORD, _LETTER, _CAPITAL, _NO_CASE, _JOINER = 1, 2, 4, 8, 16
_SPACE, _STOP, _COMMA, _UNDERSCORE, _LAST_ASCII = map(ord, " .,_\x7f")
_BETWEEN = "\n"  # two texts: it is in no word, and joins none
_END = ord(_BETWEEN)

MAX_TEXTS, MAX_SIGNS = 64, 60_000  # that are joined; more take no less time for each

Thing = TypeVar("Thing")
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


class PlacedWords(NamedTuple):
    """The words of a text, and the numbers of those that are counted; see `CountedWords`.

    Attributes:
        words: All.
        capital: int64, those within sentences that have a capital.
        small: int64, those within sentences that have none.
        decided: int64, those that the corpus decides on; see `Written.decided`.
        has_caseless: Whether there may be words in letters without capitals.
    """

    words: TextWords
    capital: NDArray[np.int64]
    small: NDArray[np.int64]
    decided: NDArray[np.int64]
    has_caseless: bool


class _ShortRuns(NamedTuple):
    """Where short words are.

    Attributes:
        starts: int64 [words], where each starts; of a longer word, where its end does.
        ends: int64 [words], where each ends.
        inside: bool [signs], whether each sign is in one.
        stopped: bool [words], whether each is before a full stop.
    """

    starts: Numbers
    ends: Numbers
    inside: Mask
    stopped: Mask


@dataclass(frozen=True, eq=False)
class JoinedTexts:
    """Texts of plain scripts, one behind the other.

    Attributes:
        text: The texts, with a sign between two of them.
        signs: uint8 or uint32 [n], the code of each sign.
        looks: uint8 [n], what each sign may be.
        starts: int64 [texts], where each starts.
    """

    text: str
    signs: NDArray[np.unsignedinteger]
    looks: NDArray[np.uint8]
    starts: Numbers

    @classmethod
    def of(cls, texts: Sequence[str]) -> JoinedTexts:
        """Join texts, at least one, each of which `is_plain`.

        Example:
            >>> JoinedTexts.of(["Then Anna left.", "Öst won."]).short_words()[1]
            (('öst', 'won'), ())
        """
        text = _BETWEEN.join(texts)
        if text.isascii():
            signs: NDArray[np.unsignedinteger] = np.frombuffer(text.encode("ascii"), np.uint8)
            looks = _looks(_LAST_ASCII + 1)
        else:
            signs = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
            looks = _looks(_N_SIGNS)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        return cls(
            text,
            signs,
            looks.take(signs, mode="clip"),
            np.cumsum(lengths + 1) - lengths - 1,
        )

    def words(
        self, places: Sequence[int], abbreviations: Sequence[Collection[str]]
    ) -> list[PlacedWords]:
        """Return the words of each text that start at a place or behind it.

        Args:
            places: The places, each from the start of its text.
            abbreviations: Of each text, the words whose full stop ends no sentence.
        """
        in_word, joins = (self.looks & _IN_WORD) != 0, (self.looks & _JOINER) != 0
        inside = in_word.copy()
        inside[1:-1] |= joins[1:-1] & in_word[:-2] & in_word[2:]
        starts, ends = _runs(inside)
        keys = self._folded(inside)
        all_first = np.searchsorted(starts, self.starts)
        begins, behind_stop = self._sentences(starts, ends, keys, all_first, abbreviations)
        numbers = np.arange(len(starts))
        sentences = starts[np.maximum.accumulate(np.where(begins, numbers, 0))]
        looks = self.looks[starts]
        n_capitals = np.cumsum((self.looks & _CAPITAL) != 0, dtype=np.int32)
        capitals = n_capitals[ends - 1] > np.append(np.int32(0), n_capitals)[starts]

        end = np.append(all_first[1:], len(starts))
        first = np.searchsorted(starts, self.starts + np.array(places, np.int64))
        is_shown = np.ones(len(starts), np.bool_)
        for start, behind in zip(all_first.tolist(), first.tolist(), strict=True):
            is_shown[start:behind] = False
        openings = (capitals | ((looks & _NO_CASE) != 0)) & is_shown
        no_case = (looks & (_NO_CASE | _LETTER)) == (_NO_CASE | _LETTER)
        caseless = no_case & is_shown & (self.signs[starts] > _LAST_ASCII)
        within = is_shown & ~(begins | behind_stop)
        columns = WordColumns(
            array("q", starts.tobytes()),
            array("q", ends.tobytes()),
            tuple(keys),
            begins.tobytes(),
            capitals.tobytes(),
            array("q", sentences.tobytes()),
            behind_stop.tobytes(),
            (),
        )
        decided = is_shown & (capitals | (behind_stop & ~begins))
        parts = zip(
            self.starts.tolist(),
            first.tolist(),
            end.tolist(),
            *(
                _numbers(mask, end)
                for mask in (openings, within & capitals, within & ~capitals, decided, caseless)
            ),
            strict=True,
        )
        return [
            PlacedWords(
                TextWords(self.text, start, columns, begin, behind, tuple(opening.tolist()), True),
                capital,
                small,
                of_decided,
                bool(len(without_case)),
            )
            for start, begin, behind, opening, capital, small, of_decided, without_case in parts
        ]

    def short_words(self) -> list[ShortWords]:
        """Return what `find_short_words` returns of each text."""
        runs = self._short_runs()
        words = self._folded(runs.inside)
        end = np.append(np.searchsorted(runs.starts, self.starts[1:]), len(runs.starts))
        every = map(tuple, _pieces(words, np.arange(len(words)), end))
        return list(zip(every, map(tuple, _chosen(words, runs.stopped, end)), strict=True))

    def kept_short_words(self) -> list[KeptShortWords]:
        """Return what `short_words` returns, with no text for each word."""
        runs = self._short_runs()
        kept = np.where(runs.inside, self.signs, self.signs.dtype.type(_SPACE))
        kept[self.starts[1:] - 1] = _END
        folded = text_of_signs(kept).casefold().split(chr(_END))
        starts, ends = runs.starts[runs.stopped], runs.ends[runs.stopped]
        bounds = zip(starts.tolist(), ends.tolist(), strict=True)
        words = [self.text[start:end].casefold() for start, end in bounds]
        end = np.append(np.searchsorted(starts, self.starts[1:]), len(starts))
        stopped = _pieces(words, np.arange(len(words)), end)
        return [
            KeptShortWords(f" {every} ", tuple(some))
            for every, some in zip(folded, stopped, strict=True)
        ]

    def _short_runs(self) -> _ShortRuns:
        """Return where the short words are."""
        starts, ends = _runs((self.looks & _LETTER) != 0)
        signs, looks = np.zeros(len(self.signs) + 2, self.signs.dtype), np.append(self.looks, 0)
        signs[:-2] = self.signs
        is_whole = ((looks[ends] & _IN_WORD) == 0) & (signs[ends] != _UNDERSCORE)
        is_short = (ends - starts > 1) & is_whole
        starts, ends = starts[is_short], ends[is_short]
        begins = np.maximum(starts, ends - MAX_SHORT)
        steps = np.zeros(len(signs), np.int8)
        steps[begins], steps[ends] = 1, -1
        stopped = (signs[ends] == _STOP) & (signs[ends + 1] == _SPACE)
        return _ShortRuns(begins, ends, np.cumsum(steps[:-2], dtype=np.int8) > 0, stopped)

    def _folded(self, inside: Mask) -> list[str]:
        """Return the runs of signs, with their case folded, which puts no space into a word."""
        kept = np.where(inside, self.signs, self.signs.dtype.type(_SPACE))
        return text_of_signs(kept).casefold().split()

    def _sentences(
        self,
        starts: Numbers,
        ends: Numbers,
        keys: Sequence[str],
        first: Numbers,
        abbreviations: Sequence[Collection[str]],
    ) -> tuple[Mask, Mask]:
        """Return whether each word is the first of its sentence, and whether it is behind a stop.

        Args:
            starts: Where the words start.
            ends: Where they end.
            keys: The words with their case folded.
            first: The first word of each text, or of the next that has one.
            abbreviations: As in `words`.
        """
        begins, behind_stop = np.zeros(len(starts), np.bool_), np.zeros(len(starts), np.bool_)
        if not len(starts):
            return begins, behind_stop
        signs, gap_starts = self.signs, np.append(0, ends[:-1])
        lengths, is_comma = starts - gap_starts, signs[gap_starts] == _COMMA
        is_plain = (lengths == 1) | ((lengths == 2) & is_comma)  # a gap, as most are
        is_plain &= signs[starts - 1] == _SPACE
        firsts = first[first < len(starts)]
        is_plain[firsts], begins[firsts] = False, True
        looked_at = np.flatnonzero(~is_plain)
        text_of = np.searchsorted(first, looked_at, side="right") - 1
        reached = starts[looked_at]
        behind_stop[looked_at] = (
            (reached - self.starts[text_of] > 1)
            & (signs[reached - 1] == _SPACE)
            & (signs[np.maximum(reached - 2, 0)] == _STOP)
        )
        is_single, inner, text = (ends - starts == 1).tolist(), ~begins[looked_at], self.text
        others = looked_at[inner]
        gaps = zip(
            others.tolist(),
            gap_starts[others].tolist(),
            starts[others].tolist(),
            text_of[inner].tolist(),
            strict=True,
        )
        ending = [
            i
            for i, start, end, number in gaps
            if ends_sentence(text[start:end], keys[i - 1], abbreviations[number], is_single[i - 1])
        ]
        begins[ending] = True
        return begins, behind_stop


def plain_blocks(texts: Sequence[str]) -> Iterator[list[int]]:
    """Yield the numbers of the texts that can be joined, for as many at once as is worth it.

    Example:
        >>> list(plain_blocks(["Öst", "北京", "og vest"]))
        [[0, 2]]
    """
    block, size = list[int](), 0
    for number, text in enumerate(texts):
        if not is_plain(text):
            continue
        if block and (len(block) == MAX_TEXTS or size + len(text) > MAX_SIGNS):
            yield block
            block, size = [], 0
        block.append(number)
        size += len(text)
    if block:
        yield block


def is_plain(text: str) -> bool:
    """Return whether the looks of the signs of a text say what its words are.

    Example:
        >>> is_plain("Öst og vest"), is_plain("北京")
        (True, False)
    """
    return text.isascii() or not OTHER_SCRIPT.search(text)


def _runs(mask: Mask) -> tuple[Numbers, Numbers]:
    """Return where the runs of what is true start, and where they end."""
    inside = np.zeros(len(mask) + 2, np.bool_)
    inside[1:-1] = mask
    changes = np.flatnonzero(inside[1:] != inside[:-1])
    return changes[::2], changes[1::2]


def _chosen(words: Sequence[str], chosen: Mask, end: Numbers) -> list[list[str]]:
    """Return those of the words of each text that are chosen.

    Args:
        words: The words of all texts.
        chosen: Which are chosen.
        end: Where the words of each text end.
    """
    return _pieces(list(compress(words, chosen.tolist())), np.flatnonzero(chosen), end)


def _numbers(chosen: Mask, end: Numbers) -> list[Numbers]:
    """Return the numbers of the chosen words of each text, whose words end somewhere."""
    numbers = np.flatnonzero(chosen)
    bounds = [0, *np.searchsorted(numbers, end).tolist()]
    return [numbers[a:b] for a, b in pairwise(bounds)]


def _pieces(things: list[Thing], numbers: Numbers, end: Numbers) -> list[list[Thing]]:
    """Divide things of words with ascending numbers among the texts, whose words end somewhere."""
    bounds = [0, *np.searchsorted(numbers, end).tolist()]
    return [things[a:b] for a, b in pairwise(bounds)]


@lru_cache(maxsize=2)
def _looks(n: int) -> NDArray[np.uint8]:
    """What each of the first signs may be, by its code; those behind these are in no word.

    Those of ASCII take a hundredth of the time of all.
    """
    every = list(map(chr, range(n)))
    looks = np.zeros(n + 1, np.uint8)
    plain = OTHER_SCRIPT.sub("", "".join(every))
    for pattern, look in ((r"[^\W_]", _IN_WORD), (r"[^\W\d_]", _LETTER), (f"[{JOINERS}]", _JOINER)):
        allowed = set(re.findall(pattern, plain))
        looks[:-1] |= np.array([look * (sign in allowed) for sign in every], np.uint8)
    folded = [sign.casefold()[0] for sign in every]
    no_case = [_NO_CASE * (sign.lower() == sign.upper()) for sign in folded]
    capital = [_CAPITAL * sign.isupper() for sign in every]
    looks[:-1] |= np.array(capital, np.uint8) | np.array(no_case, np.uint8)
    return looks
