"""What all passages teach of each: how their words are written, and which titles there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.read.extract.caseless import (
    MIN_JOINED,
    group_unspaced_titles,
    is_spaced_name,
    keys_of_pairs,
)
from clew.read.extract.knowledge import NAMES_FORM, Knowledge, LateTables
from clew.read.extract.learnt_titles import LearntTitles, learnt_titles
from clew.read.extract.mentions import (
    MIN_ABBREVIATED,
    KeptShortWords,
    choose_abbreviations,
    without_possessive,
)
from clew.read.extract.passage_names import (
    NOTHING,
    CountedNumbers,
    CountedWords,
    Evidence,
    NormalizedPassage,
    Written,
)
from clew.read.extract.word_columns import Word, find_columns
from clew.text.kept import MAX_KEPT_TEXT, Kept
from clew.text.words import fold_case

"""How names are learnt: another number wherever the tables below count in another way."""
PASSAGES, TITLES = "names.passages", "names.titles"  # all passages, by ""; titles as they are shown
SHORT, STOPPED = "names.short", "names.stopped"  # short words, and those before a full stop
SMALL, CAPITAL = "names.small", "names.capital"  # words within sentences
CASELESS, PAIRS = "names.caseless", "names.pairs"  # passages that have a word, two words together
TABLES = (PASSAGES, TITLES, SHORT, STOPPED, SMALL, CAPITAL, CASELESS, PAIRS)
TITLE_WORDS = Kept[str, tuple[tuple[str, ...], str, str]](4_096)
FOLDED_TITLES = Kept[str, str](4_096)


class CorpusCounts:
    """Counts what passages teach about how words are written.

    Args:
        before: What others have taught; None where there are no others.
    """

    def __init__(self, before: Knowledge | None) -> None:
        self._before = before
        self._tables: dict[str, Counter[str]] = {name: Counter() for name in TABLES}

    def add_passages(
        self,
        passages: Sequence[NormalizedPassage],
        short: Iterable[tuple[Iterable[str], Iterable[str]]],
    ) -> None:
        """Count passages, their titles, and their short words.

        Args:
            passages: The passages.
            short: The short words of each, or of all together, and those before a full stop.
        """
        if passages:
            self._tables[PASSAGES][""] += len(passages)
        self._tables[TITLES].update(passage.title for passage in passages if passage.title)
        for every, stopped in short:
            self._tables[SHORT].update(every)
            self._tables[STOPPED].update(stopped)

    def add_words(self, counted: Sequence[CountedWords]) -> None:
        """Count the words of passages."""
        self.add_each(
            chain.from_iterable(one.capital for one in counted),
            chain.from_iterable(one.small for one in counted),
            chain.from_iterable(one.caseless for one in counted),
            chain.from_iterable(one.pairs for one in counted),
        )

    def add_each(
        self,
        capital: Iterable[str],
        small: Iterable[str],
        caseless: Iterable[str],
        pairs: Iterable[str],
    ) -> None:
        """Count words, all of some passages one after the other; see `CountedWords`."""
        self._tables[CAPITAL].update(capital)
        self._tables[SMALL].update(small)
        self._tables[CASELESS].update(caseless)
        self._tables[PAIRS].update(pairs)

    def abbreviations(self) -> frozenset[str]:
        """Return the short words whose full stop ends no sentence."""
        tables = self.known().tables
        return choose_abbreviations(tables[SHORT], tables[STOPPED])

    def known(self) -> Knowledge:
        """Return what is known with all that was counted until now."""
        counted = Knowledge(NAMES_FORM, self._tables)
        if self._before is None:
            return counted
        self._before = self._before.grown(counted)
        self._tables = {name: Counter() for name in TABLES}
        return self._before


class FewCounts:
    """Counts what a few passages teach, which read each other and no others.

    Of all their words, only those are counted that something is decided by: a word that is nowhere
    before a full stop is no abbreviation however often it comes, and a small word that never has a
    capital is no name.

    Args:
        passages: The passages.
        short: What `KeptWords.short_of` returns of each.
    """

    def __init__(
        self, passages: Sequence[NormalizedPassage], short: Sequence[KeptShortWords]
    ) -> None:
        self._passages, self._short = passages, short

    def abbreviations(self) -> frozenset[str]:
        """Return the short words whose full stop ends no sentence."""
        stopped = Counter(chain.from_iterable(one.stopped for one in self._short))
        often = {word: n for word, n in stopped.items() if n >= MIN_ABBREVIATED}
        if not often:
            return NOTHING
        # Twice as many without a full stop decide. Most words have more, which shows soon.
        total = {word: self._times(word, 2 * n) for word, n in often.items()}
        return choose_abbreviations(total, often)

    def _times(self, word: str, enough: int) -> int:
        """Return how often a short word comes, as far as it takes to find so many."""
        found = 0
        for one in self._short:
            found += one.times(word)
            if found >= enough:
                break
        return found

    def corpus(self, written: Sequence[Written]) -> Corpus:
        """Return what the passages teach of each; of words, of those that are decided on.

        Args:
            written: How the words of each are written.
        """
        tables: dict[str, Mapping[str, int]] = {
            PASSAGES: {"": len(self._passages)},
            TITLES: Counter(passage.title for passage in self._passages if passage.title),
            CASELESS: {},
            PAIRS: {},
        }
        if some := [one for one in written if one.caseless]:  # else there are no pairs
            tables[CASELESS] = Counter(chain.from_iterable(one.caseless for one in some))
            tables[PAIRS] = Counter(chain.from_iterable(one.pairs for one in some))
        return Corpus(
            Knowledge(NAMES_FORM, tables), words=_judge([one.numbered for one in written])
        )

    def known(self, written: Sequence[Written]) -> Knowledge:
        """Return what is known: all counts, which are made when one is first asked for.

        Args:
            written: How the words of each passage are written.
        """

        def tables() -> Mapping[str, Mapping[str, int]]:
            counts = CorpusCounts(None)
            counts.add_passages(self._passages, [one.words() for one in self._short])
            counts.add_words([one.counted for one in written])
            return counts.known().tables

        return Knowledge(NAMES_FORM, LateTables(TABLES, tables))


class JudgedWords(NamedTuple):
    """What passages decide on words; see `Decisions`.

    Attributes:
        mostly_small: Words that are mostly written small.
        capital: Those that have a capital within some sentence, and are not mostly written small.
    """

    mostly_small: frozenset[str]
    capital: frozenset[str]


def _judge(passages: Sequence[CountedNumbers]) -> JudgedWords:
    """Return what passages decide on their words that something is decided by.

    Args:
        passages: The words of each, by the numbers of one numbering.
    """
    if not passages:
        return JudgedWords(NOTHING, NOTHING)
    every = np.concatenate([one.decided for one in passages])
    size = int(every.max(initial=-1)) + 1
    is_decided = np.zeros(size, np.bool_)
    is_decided[every] = True
    decided = np.flatnonzero(is_decided)
    place_of = np.full(size + 1, len(decided), np.int32)  # of all others, the last
    place_of[decided] = np.arange(len(decided), dtype=np.int32)

    def times(numbers: Sequence[NDArray[np.int32]]) -> NDArray[np.int64]:
        places = place_of.take(np.concatenate(numbers), mode="clip")
        return np.bincount(places, minlength=len(decided) + 1)[: len(decided)]

    small = times([one.small for one in passages])
    capital = times([one.capital for one in passages])
    things = passages[0].numbering.things
    return JudgedWords(
        frozenset(map(things.__getitem__, decided[small > capital].tolist())),
        frozenset(map(things.__getitem__, decided[(capital > 0) & (small <= capital)].tolist())),
    )


@dataclass(frozen=True)
class Corpus:
    """What all passages teach of each.

    Attributes:
        known: What was counted.
        decided: The words that it decides on, of passages that are read; None for all words.
        starts: The words that titles are looked for by; None for all titles.
        words: What is decided on words, where it is known already; else `known` decides.
    """

    known: Knowledge
    decided: frozenset[str] | None = None
    starts: frozenset[str] | None = None
    words: JudgedWords | None = None

    def evidence(
        self, passages: Sequence[NormalizedPassage], written: Sequence[Written]
    ) -> Iterator[Evidence]:
        """Yield what the corpus says of the words of each passage.

        Args:
            passages: The passages.
            written: How the words of each are written.
        """
        small, capital, all_titles = self._mostly_small, self._capital, self.titles
        is_start, unspaced = self._title_starts.__contains__, self._unspaced_titles
        of_most = Evidence(NOTHING, small, capital, all_titles, (), (), NOTHING, NOTHING)
        for passage, one in zip(passages, written, strict=True):
            starts = list(filter(is_start, one.starts))
            if not (starts or one.abbreviations or one.caseless or unspaced):
                yield of_most
                continue
            caseless = NOTHING, NOTHING
            if one.caseless:  # else there are no pairs
                caseless = self._of_caseless(one.caseless, one.pairs)
            yield Evidence(
                one.abbreviations,
                small,
                capital,
                all_titles,
                self._titles_in(one, starts) if starts else (),
                _unspaced_titles_in(unspaced, passage.text) if unspaced else (),
                caseless[0],
                caseless[1],
            )

    def _titles_in(
        self, written: Written, starts: Sequence[str]
    ) -> tuple[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]], ...]:
        """Return the titles of several words in a passage, as `Evidence` has them.

        Args:
            written: How its words are written.
            starts: The first two words of titles that may be there.
        """
        titles = []
        for start in starts if len(starts) == 1 else sorted(set(starts)):
            known = self._title_starts[start]
            if group := [keys for keys, text in known if text in written.in_order]:
                titles.append((_start_of(group[0]), tuple(group)))
        return tuple(titles)

    def decisions(self) -> Decisions:
        """Return what the corpus decides on all words, for passages whose titles are found."""
        tables = self.known.tables
        caseless = filter(self._is_spaced_name, tables[CASELESS])
        joined = (pair for pair, together in tables[PAIRS].items() if together >= MIN_JOINED)
        return Decisions(
            self._mostly_small,
            self._capital,
            self.titles,
            self._unspaced_titles,
            frozenset(caseless),
            frozenset(joined),
        )

    @cached_property
    def _mostly_small(self) -> frozenset[str]:
        if self.words is not None:
            return self.words.mostly_small
        small, capital = self.known.tables[SMALL], self.known.tables[CAPITAL]
        words = small.keys() if self.decided is None else self.decided
        return frozenset(word for word in words if small.get(word, 0) > capital.get(word, 0))

    @cached_property
    def _capital(self) -> frozenset[str]:
        if self.words is not None:
            return self.words.capital
        capital = self.known.tables[CAPITAL]
        if self.decided is None:
            return frozenset(capital) - self._mostly_small
        return frozenset(filter(capital.__contains__, self.decided - self._mostly_small))

    @cached_property
    def titles(self) -> frozenset[str]:
        """All titles, with their case folded."""
        if self.starts is None:
            return frozenset(map(_folded_title, self.known.tables[TITLES]))
        return frozenset(self._learnt_titles.folded)

    @cached_property
    def _learnt_titles(self) -> LearntTitles:
        return learnt_titles(self.known.tables[TITLES].keys())

    @cached_property
    def title_words(self) -> Mapping[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """The words of titles that have several, by the first two; the longest first."""
        return {
            _start_of(group[0][0]): tuple([keys for keys, _ in group])
            for group in self._title_starts.values()
        }

    @cached_property
    def _title_starts(self) -> Mapping[str, Sequence[tuple[tuple[str, ...], str]]]:
        """The titles of several words, by the first two; each with its words behind spaces."""
        titles: Iterable[str] = self.known.tables[TITLES]
        if self.starts is not None:
            titles = self._learnt_titles.beginning_with(self.starts)
        by_start: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for title in titles:
            keys, start, text = _words_of_title(title)
            if len(keys) > 1:
                by_start.setdefault(start, []).append((keys, text))
        return {
            start: group
            if len(group) == 1
            else sorted(set(group), key=lambda title: (-len(title[0]), title[0]))
            for start, group in by_start.items()
        }

    @cached_property
    def _unspaced_titles(self) -> Mapping[str, list[str]]:
        return group_unspaced_titles(list(self.known.tables[TITLES]))

    def _of_caseless(
        self, words: frozenset[str], pairs: frozenset[str]
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Return which caseless words are names, and which pairs of these come together again."""
        together = self.known.tables[PAIRS]
        return (
            frozenset([word for word in words if self._is_spaced_name(word)]),
            frozenset([pair for pair in pairs if together.get(pair, 0) >= MIN_JOINED]),
        )

    def _is_spaced_name(self, word: str) -> bool:
        tables = self.known.tables
        n_passages = tables[PASSAGES].get("", 0)
        return word in self.titles or is_spaced_name(word, tables[CASELESS], n_passages)


@dataclass(frozen=True)
class Decisions:
    """What all passages decide on their words, where the titles in them are found already.

    Attributes:
        mostly_small: Words that are mostly written small.
        capital: Those that have a capital within some sentence, and are not mostly written small.
        titles: All titles, with their case folded.
        unspaced_titles: Titles in scripts without spaces, by the first two letters.
        spaced_names: Words without capitals that are names.
        joined: Two of these that come together again.
    """

    mostly_small: frozenset[str]
    capital: frozenset[str]
    titles: frozenset[str]
    unspaced_titles: Mapping[str, Sequence[str]]
    spaced_names: frozenset[str]
    joined: frozenset[str]

    def evidence(
        self, passage: NormalizedPassage, abbreviations: frozenset[str], caseless: Sequence[Word]
    ) -> Evidence:
        """Return what the corpus says of a passage.

        Args:
            passage: The passage.
            abbreviations: Its own.
            caseless: Its words in scripts without capitals.
        """
        return Evidence(
            abbreviations,
            self.mostly_small,
            self.capital,
            self.titles,
            (),
            _unspaced_titles_in(self.unspaced_titles, passage.text),
            self.spaced_names.intersection(word.key for word in caseless),
            self.joined.intersection(keys_of_pairs(caseless)),
        )


def _unspaced_titles_in(
    groups: Mapping[str, Sequence[str]], text: str
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the titles that may be in a text, by the first two letters."""
    if not groups or text.isascii():
        return ()
    starts = {text[i : i + 2] for i in range(len(text) - 1)} & groups.keys()
    return tuple((start, tuple(groups[start])) for start in sorted(starts))


def _start_of(keys: tuple[str, ...]) -> tuple[str, str]:
    """Return the first two words of a title, by which it is found."""
    return keys[0], without_possessive(keys[1])


def _folded_title(title: str) -> str:
    if (known := FOLDED_TITLES.get(title)) is not None:
        return known
    folded = fold_case(title)
    return FOLDED_TITLES.put(title, folded) if len(title) <= MAX_KEPT_TEXT else folded


def _words_of_title(title: str) -> tuple[tuple[str, ...], str, str]:
    """Return the words of a title, with their case folded.

    Returns:
        The words; the first two with a space between, "" where there is one; and all behind spaces.
    """
    if (known := TITLE_WORDS.get(title)) is not None:
        return known
    if title.replace(" ", "").isalnum():  # as most are: words between spaces
        keys = tuple(title.casefold().split())
    else:
        keys = tuple(find_columns(title).keys)
    made = keys, " ".join(_start_of(keys)) if len(keys) > 1 else "", f" {' '.join(keys)}"
    return TITLE_WORDS.put(title, made) if len(title) <= MAX_KEPT_TEXT else made
