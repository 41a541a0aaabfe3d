"""Names and facts without a language model.

A name is what is written with capitals, or quoted, or the title of a document; see `caseless` for
scripts without capitals. The corpus decides what one passage leaves open: a word that begins a
sentence is a name if it has a capital elsewhere too. Names are kept however rare they are: a name
that only one passage has leads a question to that passage. A fact is the words before a name, as a
statement about the title of the passage; facts are what a question is compared with.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from clew.read.extract.caseless import (
    blank_unspaced,
    find_spaced_mentions,
    find_unspaced_mentions,
    group_unspaced_titles,
    is_caseless,
    is_spaced_name,
    keys_of_pairs,
)
from clew.read.extract.extractor import Passage, Triple
from clew.read.extract.knowledge import Knowledge, PassagesOf
from clew.read.extract.mentions import (
    POSSESSIVE,
    Run,
    Word,
    choose_abbreviations,
    count_short_words,
    find_quoted,
    find_runs,
    find_words,
    first_key,
)
from clew.read.extract.relations import Mention, find_facts
from clew.read.formats.markdown import front_matter_end, front_matter_title
from clew.read.formats.source_code import CODE_FORMATS
from clew.text.words import fold_case

INNER_WORDS = (
    "of", "the", "de", "la", "las", "los", "del", "der", "den", "di", "da", "do", "dos", "das",
    "du", "des", "le", "van", "von", "zu", "bin", "ibn", "al", "el", "af", "av", "y",
)  # fmt: skip
LIST_WORDS = (
    "and", "or", "und", "oder", "et", "ou", "y", "e", "o", "en", "och", "og", "и", "или", "και",
    "ή",
)  # fmt: skip
MAX_TITLE_LENGTH = 100  # characters of a first line that is taken for a title
YEAR_DIGITS = 4
FORM = "names 1"
"""How names are learnt: another number wherever the tables below count in another way."""
PASSAGES, TITLES = "names.passages", "names.titles"  # all passages, by ""; titles as they are shown
SHORT, STOPPED = "names.short", "names.stopped"  # short words, and those before a full stop
SMALL, CAPITAL = "names.small", "names.capital"  # words within sentences
CASELESS, PAIRS = "names.caseless", "names.pairs"  # passages that have a word, two words together
KEPT_TEXTS = 512  # whose words are kept: what one question finds, the next one finds, too
MAX_KEPT_TEXT = 4_000  # letters
TABLES = (PASSAGES, TITLES, SHORT, STOPPED, SMALL, CAPITAL, CASELESS, PAIRS)
_IN_BRACKETS = re.compile(r"(?<!\s)\s*+\([^()]*\)$")


@dataclass(frozen=True)
class Names:
    """Reads names, and the words before them, as facts about the title of the passage.

    Source code has no names of this kind: it is left to `clew.Symbols`.

    Attributes:
        min_passages: The number of passages that a name must be in, unless it is a title.
        max_relation_words: The number of words that a relation may have; 0 makes every relation
            "mentions".
        max_name_words: The number of words that a name may have.
        inner_words: Small words inside names.
        list_words: Words between the members of a list.
        years: Whether numbers of four digits are names too.

    Example:
        >>> Names().triples([Passage("a", "Anna married Ben in Rome.", "Anna")])
        [[('Anna', 'married', 'Ben'), ('Anna', '… in', 'Rome')]]
    """

    min_passages: int = 1
    max_relation_words: int = 6
    max_name_words: int = 8
    inner_words: tuple[str, ...] = INNER_WORDS
    list_words: tuple[str, ...] = LIST_WORDS
    years: bool = False

    @property
    def knowledge_form(self) -> str:
        """The form of what passages teach; see `LearningExtractor`."""
        return FORM

    def triples(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        """Return (title, words before the name, name) for every passage.

        See `clew.read.extract.relations`.
        """
        return self.learn(passages)[0]

    def learn(self, passages: Sequence[Passage]) -> tuple[list[list[Triple]], Knowledge | None]:
        """Return the triples of every passage, and how all passages write their words.

        With `min_passages` above 1 a change has to read everything again: a name may become one, or
        none, in passages that are there.
        """
        normalized = _normalize_all(passages)
        read, known = self._read(normalized, None)
        return self._facts(read), known if self.min_passages <= 1 else None

    def learn_more(
        self, passages: Sequence[Passage], known: Knowledge, passages_of: PassagesOf
    ) -> tuple[list[list[Triple]], Knowledge] | None:
        """Return the triples of passages that came, by how all passages write their words.

        See `LearningExtractor`.
        """
        read, known = self._read(_normalize_all(passages), known)
        return self._facts(read), known

    def forget(self, passages: Sequence[Passage], known: Knowledge) -> Knowledge | None:
        """Return what is known without some passages; see `LearningExtractor`."""
        lesson = _Lesson()
        normalized = _normalize_all(passages)
        lesson.add_passages(normalized)
        for text, _, start in normalized:
            lesson.add_words(text, _words_of(text, start, ()))
        return known.shrunk(lesson.knowledge())

    def names(self, passages: Sequence[Passage]) -> list[list[str]]:
        """Return the names in every passage, each once, as they are written there first."""
        results = []
        for _, mentions in self._read(_normalize_all(passages), None)[0]:
            by_key = {fold_case(mention.name): mention.name for mention in reversed(mentions)}
            results.append(list(reversed(by_key.values())))
        return results

    def _facts(
        self, read: Sequence[tuple[_NormalizedPassage, Sequence[Mention]]]
    ) -> list[list[Triple]]:
        limit, list_words = self.max_relation_words, self.list_words
        return [
            list(find_facts(passage.text, passage.title, mentions, limit, list_words))
            for passage, mentions in read
        ]

    def _read(
        self, passages: Sequence[_NormalizedPassage], known: Knowledge | None
    ) -> tuple[list[tuple[_NormalizedPassage, list[Mention]]], Knowledge]:
        """Return every passage with the names in it, in the order of its text, and what is known.

        Args:
            passages: The passages.
            known: What others have taught; None where there are no others.
        """
        lesson = _Lesson()
        lesson.add_passages(passages)
        so_far = lesson.knowledge() if known is None else known.grown(lesson.knowledge())
        candidates, knowledge = self._candidates(passages, so_far)
        titles = _folded_titles(knowledge)
        passages_with = Counter(
            key for mentions in candidates for key in {fold_case(m.name) for m in mentions}
        )

        def is_name(mention: Mention) -> bool:
            key = fold_case(mention.name)
            return key in titles or passages_with[key] >= self.min_passages

        read = [
            (passage, without_overlaps(filter(is_name, mentions)))
            for passage, mentions in zip(passages, candidates, strict=True)
        ]
        return read, knowledge

    def _candidates(
        self, passages: Sequence[_NormalizedPassage], known: Knowledge
    ) -> tuple[list[list[Mention]], Knowledge]:
        """Return what may be a name in every passage, and what is known with their words.

        Args:
            passages: The passages.
            known: What all passages teach, without the words of these within sentences.
        """
        inner_words = frozenset(self.inner_words)
        abbreviations = choose_abbreviations(known.tables[SHORT], known.tables[STOPPED])
        title_words = _group_titles(_titles_that_may_come(known, passages))
        lesson = _Lesson()
        runs: list[list[Run]] = []
        caseless: list[list[Word]] = []
        for text, _, start in passages:
            words = _words_of(text, start, abbreviations)
            caseless.append(lesson.add_words(text, words))
            found_runs = find_runs(text, words, title_words, inner_words, self.max_name_words)
            runs.append(list(found_runs))
            if self.years:
                runs[-1] += [Run((word,), is_title=True) for word in words if _is_year(word)]
        known = known.grown(lesson.knowledge())
        titles, tables = _folded_titles(known), known.tables
        cases = _Cases(tables[SMALL], tables[CAPITAL], inner_words)
        unspaced_titles = group_unspaced_titles(list(tables[TITLES]))
        n_passages = tables[PASSAGES].get("", 0)
        spaced_names = {
            key
            for key in {word.key for words in caseless for word in words}
            if key in titles or is_spaced_name(key, tables[CASELESS], n_passages)
        }
        candidates = [
            [
                *_mentions_of_runs(passage.text, passage_runs, cases, titles),
                *_quoted_mentions(passage, passage_runs),
                *find_unspaced_mentions(passage.text, passage.start, unspaced_titles),
                *find_spaced_mentions(passage.text, words, spaced_names, tables[PAIRS]),
            ]
            for passage, passage_runs, words in zip(passages, runs, caseless, strict=True)
        ]
        return candidates, known


class _Lesson:
    """Counts what passages teach about how words are written.

    No count depends on another, nor on other passages: a word behind a full stop is not counted,
    whether the stop ends a sentence or not. So counts can be added, and taken away.
    """

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in TABLES}

    def add_passages(self, passages: Sequence[_NormalizedPassage]) -> None:
        """Count passages, their titles, and their short words."""
        if passages:
            self._counts[PASSAGES][""] += len(passages)
        self._counts[TITLES].update(passage.title for passage in passages if passage.title)
        short, stopped = count_short_words(passage.text for passage in passages)
        self._counts[SHORT].update(short)
        self._counts[STOPPED].update(stopped)

    def add_words(self, text: str, words: Sequence[Word]) -> list[Word]:
        """Count the words of a text, and return those without capitals.

        Of the others, those within sentences count, unless they follow a full stop.
        """
        inside = [
            word for word in words if not word.begins and text[word.start - 2 : word.start] != ". "
        ]
        self._counts[CAPITAL].update([word.key for word in inside if word.capital])
        self._counts[SMALL].update([word.key for word in inside if not word.capital])
        if text.isascii():
            return []
        caseless = [word for word in words if is_caseless(text, word)]
        self._counts[CASELESS].update({word.key for word in caseless})
        self._counts[PAIRS].update(keys_of_pairs(caseless))
        return caseless

    def knowledge(self) -> Knowledge:
        """Return what was counted."""
        return Knowledge(FORM, self._counts)


class _NormalizedPassage(NamedTuple):
    """The text of a passage in NFKC, its title without brackets, and the place behind its title."""

    text: str
    title: str
    start: int


class _Cases(NamedTuple):
    """How often words within sentences are written small and with a capital, by key.

    `inner_words` are the small words inside names.
    """

    small: Mapping[str, int]
    capital: Mapping[str, int]
    inner_words: frozenset[str]

    def mostly_small(self, key: str) -> bool:
        return self.small.get(key, 0) > self.capital.get(key, 0)


def find_passage_title(text: str, passage: Passage) -> tuple[str, int]:
    r"""Return the title of a passage, and the place where the rest of its text begins.

    Without a title of its own, a passage has that of its front matter, else its first line, if that
    is short and is followed by more.

    Args:
        text: The text of the passage in NFKC.
        passage: The passage.

    Example:
        >>> text = "# Moon\nIt is far."
        >>> find_passage_title(text, Passage("a", text))
        ('Moon', 6)
    """
    if passage.title.strip():
        return " ".join(unicodedata.normalize("NFKC", passage.title).split()), 0
    start = front_matter_end(text)
    if declared := front_matter_title(text):
        return " ".join(declared.split()), start
    first, line_end, rest = text[start:].partition("\n")
    title = " ".join(first.strip("#*=_- \t\r").split())
    is_title = (
        line_end
        and rest.strip()
        and 0 < len(title) <= MAX_TITLE_LENGTH
        and not title.endswith((".", "。", ":", ","))
    )
    return (title, start + len(first)) if is_title else ("", start)


def without_overlaps(mentions: Iterator[Mention] | Sequence[Mention]) -> list[Mention]:
    """Return mentions in the order of the text, without those that overlap.

    The earlier of two stays; the longer, if both begin at one place.

    Example:
        >>> pair = [Mention("York", 4, 8, 0), Mention("New York", 0, 8, 0)]
        >>> [mention.name for mention in without_overlaps(pair)]
        ['New York']
    """
    separate: list[Mention] = []
    for mention in sorted(mentions, key=lambda mention: (mention.start, -mention.end)):
        if not separate or mention.start >= separate[-1].end:
            separate.append(mention)
    return separate


def _normalize_all(passages: Sequence[Passage]) -> list[_NormalizedPassage]:
    return [_normalize(_without_code(passage)) for passage in passages]


def _normalize(passage: Passage) -> _NormalizedPassage:
    text = unicodedata.normalize("NFKC", passage.text)
    title, start = find_passage_title(text, passage)
    return _NormalizedPassage(text, _IN_BRACKETS.sub("", title), start)


def _without_code(passage: Passage) -> Passage:
    """Return the passage, without its text where that is source code: see `clew.Symbols`."""
    return replace(passage, text="", title="") if passage.format in CODE_FORMATS else passage


def _words_of(text: str, start: int, abbreviations: Collection[str]) -> list[Word]:
    """Return the words of a text from a place on."""
    if len(text) > MAX_KEPT_TEXT:
        return _read_words(text, start, abbreviations)
    own = frozenset(abbreviations) & _stopped_words(text) if abbreviations else frozenset[str]()
    return list(_kept_words(text, start, own))


def _read_words(text: str, start: int, abbreviations: Collection[str]) -> list[Word]:
    words = find_words(blank_unspaced(text), abbreviations)
    return [word for word in words if word.start >= start]


@lru_cache(KEPT_TEXTS)
def _kept_words(text: str, start: int, abbreviations: frozenset[str]) -> tuple[Word, ...]:
    return tuple(_read_words(text, start, abbreviations))


@lru_cache(KEPT_TEXTS)
def _stopped_words(text: str) -> frozenset[str]:
    """Return the short words of a text that have a full stop somewhere: its abbreviations, if any.

    Others are none of them, whatever other texts say.
    """
    return frozenset(count_short_words([text])[1])


def _folded_titles(known: Knowledge) -> set[str]:
    return {fold_case(title) for title in known.tables[TITLES]}


def _titles_that_may_come(known: Knowledge, passages: Sequence[_NormalizedPassage]) -> list[str]:
    """Return the titles that may be in passages: where these are few, by the first word alone."""
    titles = known.tables[TITLES]
    if len(titles) <= len(passages):
        return list(titles)
    keys = {word.key for text, _, _ in passages for word in find_words(blank_unspaced(text))}
    return [title for title in titles if first_key(title) in keys]


def _is_year(word: Word) -> bool:
    return len(word.key) == YEAR_DIGITS and word.key.isdigit()


def _group_titles(titles: Sequence[str]) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the words of titles that have several, by the first two; the longest first."""
    by_start: defaultdict[tuple[str, ...], set[tuple[str, ...]]] = defaultdict(set)
    for title in titles:
        keys = tuple(word.key for word in find_words(title))
        if len(keys) > 1:
            by_start[keys[0], POSSESSIVE.sub("", keys[1])].add(keys)
    return {
        start: sorted(group, key=lambda keys: (-len(keys), keys))
        for start, group in by_start.items()
    }


def _mentions_of_runs(
    text: str, runs: Sequence[Run], cases: _Cases, titles: Collection[str]
) -> Iterator[Mention]:
    """Yield the names in runs of capitalised words."""
    for run in runs:
        for words in [run.words] if run.is_title else _cut_at_openings(text, run.words, cases):
            first = words[0]
            name = POSSESSIVE.sub("", text[first.start : words[-1].end])
            opens_only = first.begins and first.key not in cases.capital
            doubtful = (
                not run.is_title
                and len(words) == 1
                and (cases.mostly_small(first.key) or opens_only)
            )
            if not doubtful or fold_case(name) in titles:
                yield Mention(name, first.start, words[-1].end, first.sentence)


def _quoted_mentions(passage: _NormalizedPassage, runs: Sequence[Run]) -> Iterator[Mention]:
    """Yield what is quoted; its sentence is that of the last run before it."""
    sentences = [run.words[0].sentence for run in runs]
    for start, end, name in find_quoted(passage.text, passage.start):
        before = (sentence for sentence in sentences if sentence <= start)
        yield Mention(name, start, end, max(before, default=passage.start))


def _cut_at_openings(text: str, words: Sequence[Word], cases: _Cases) -> Iterator[Sequence[Word]]:
    """Yield the parts of a run between words that have a capital only for their place.

    Such a word comes first, or behind a full stop, and is mostly written small elsewhere.
    """
    first = 0
    for i, word in enumerate(words):
        after_stop = i > 0 and text[words[i - 1].end : word.start] == ". "
        if (word.begins or after_stop) and cases.mostly_small(word.key):
            if i > first:
                yield words[first:i]
            first = i + 1
        elif (
            i == first
            and word.key in cases.inner_words
            and (not word.capital or (word.begins and word.key not in cases.capital))
        ):
            first = i + 1
    if first < len(words):
        yield words[first:]
