"""The names and facts of one passage, by what the corpus says of the words of this passage.

Nothing else of the corpus counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import compress, pairwise
from operator import not_
from typing import NamedTuple

from clew.read.extract.caseless import (
    MIN_JOINED,
    blank_unspaced,
    caseless_words,
    find_spaced_mentions,
    find_unspaced_mentions,
    keys_of_pairs,
)
from clew.read.extract.extractor import Passage, Triple
from clew.read.extract.mentions import (
    Run,
    ShortWords,
    TitleWords,
    find_quoted,
    find_runs,
    find_short_words,
    without_possessive,
)
from clew.read.extract.relations import Mention, find_facts
from clew.read.extract.word_columns import Word, WordColumns, find_columns
from clew.read.formats.markdown import front_matter_end, front_matter_title
from clew.text.kept import MAX_KEPT_TEXT, Kept
from clew.text.words import fold_case

MAX_TITLE_LENGTH = 100  # characters of a first line that is taken for a title
YEAR_DIGITS = 4
_IN_BRACKETS = re.compile(r"(?<!\s)\s*+\([^()]*\)$")


class NormalizedPassage(NamedTuple):
    """The text of a passage in NFKC, its title without brackets, and the place behind its title."""

    text: str
    title: str
    start: int


class Rules(NamedTuple):
    """What is a name, and what is a relation; see `clew.Names`."""

    max_relation_words: int
    max_name_words: int
    inner_words: frozenset[str]
    list_words: frozenset[str]
    years: bool


class CountedWords(NamedTuple):
    """The words of a passage that are counted.

    No count depends on another, nor on other passages: a word behind a full stop is not counted,
    whether the stop ends a sentence or not. So counts can be added, and taken away.

    Attributes:
        capital: Words within sentences that have a capital, as often as they come.
        small: Words within sentences that have none.
        caseless: Words in scripts without capitals, each once.
        pairs: Two of these together, each once.
    """

    capital: tuple[str, ...]
    small: tuple[str, ...]
    caseless: frozenset[str]
    pairs: frozenset[str]


class Written(NamedTuple):
    """How the words of a passage are written.

    Attributes:
        abbreviations: Its words whose full stop ends no sentence.
        counted: Those that are counted.
        decided: Words that the corpus decides on: those with a capital, and those behind the full
            stop of an abbreviation.
        singles: Those with a capital, without the ending of a possessive.
        starts: The first two words of what may be the title of another passage.
        in_order: All words, each behind a space: a title that is not in there is not in the text.
    """

    abbreviations: frozenset[str]
    counted: CountedWords
    decided: frozenset[str]
    singles: frozenset[str]
    starts: frozenset[tuple[str, str]]
    in_order: str


class Evidence(NamedTuple):
    """What the corpus says of the words of one passage.

    Attributes:
        abbreviations: Those whose full stop ends no sentence.
        mostly_small: Those that are mostly written small.
        capital: Those that have a capital within some sentence.
        titles: Those that are a title by themselves.
        title_words: Titles of several words that may be here, by the first two.
        unspaced_titles: Titles in scripts without spaces, by the first two letters.
        spaced_names: Those without capitals that are names.
        joined: Two of these that come together again elsewhere.
    """

    abbreviations: frozenset[str]
    mostly_small: AbstractSet[str]
    capital: AbstractSet[str]
    titles: AbstractSet[str]
    title_words: tuple[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]], ...]
    unspaced_titles: tuple[tuple[str, tuple[str, ...]], ...]
    spaced_names: frozenset[str]
    joined: frozenset[str]


class KeptWords:
    """The words of passages, found once for each.

    Those of the last passages are kept, and what is known of how more passages write theirs.
    """

    def __init__(self, most_words: int, most_written: int) -> None:
        self._words = Kept[tuple[str, int, frozenset[str]], WordColumns](most_words)
        self._written = Kept[tuple[str, int, frozenset[str]], Written](most_written)
        self._short = Kept[str, ShortWords](most_written)

    def written(self, passage: NormalizedPassage, abbreviations: Collection[str]) -> Written:
        """Return how the words of a passage are written.

        Args:
            passage: The passage.
            abbreviations: Those of the corpus.
        """
        own = frozenset(self.short_of(passage.text)[1]).intersection(abbreviations)
        key = passage.text, passage.start, own
        if (known := self._written.get(key)) is not None:
            return known
        written = _written(passage.text, self.of(passage, own), own)
        return self._written.put(key, written) if _is_kept(passage) else written

    def of(self, passage: NormalizedPassage, abbreviations: frozenset[str]) -> WordColumns:
        """Return the words of a passage behind its title.

        Args:
            passage: The passage.
            abbreviations: Its own.
        """
        key = passage.text, passage.start, abbreviations
        if (known := self._words.get(key)) is not None:
            return known
        words = find_passage_words(passage, abbreviations)
        return self._words.put(key, words) if _is_kept(passage) else words

    def short_of(self, text: str) -> ShortWords:
        """Return the short words of a text, and those with a full stop, as often as they come.

        Others than the latter are no abbreviations of its own, whatever other texts say.
        """
        if (known := self._short.get(text)) is not None:
            return known
        short = find_short_words(text)
        return self._short.put(text, short) if len(text) <= MAX_KEPT_TEXT else short


MOST_WRITTEN = 4_096
WORDS = KeptWords(512, MOST_WRITTEN)


def facts_of_mentions(
    passage: NormalizedPassage, mentions: Sequence[Mention], rules: Rules
) -> tuple[Triple, ...]:
    """Return the facts of a passage whose names are known."""
    limit, list_words = rules.max_relation_words, rules.list_words
    return tuple(find_facts(passage.text, passage.title, mentions, limit, list_words))


def find_mentions(passage: NormalizedPassage, evidence: Evidence, rules: Rules) -> list[Mention]:
    """Return what is a name in a passage; names may overlap."""
    words = WORDS.of(passage, evidence.abbreviations)
    runs = find_passage_runs(passage, words, dict(evidence.title_words), rules)
    caseless = caseless_words(passage.text, words)
    return choose_mentions(passage, runs, caseless, evidence, rules)


def find_passage_words(passage: NormalizedPassage, abbreviations: Collection[str]) -> WordColumns:
    """Return the words of a passage behind its title.

    Args:
        passage: The passage.
        abbreviations: Its words whose full stop ends no sentence.

    Example:
        >>> find_passage_words(NormalizedPassage("Moon. It is far.", "Moon", 4), ()).keys
        ['it', 'is', 'far']
    """
    return find_columns(blank_unspaced(passage.text), abbreviations).from_place(passage.start)


def find_passage_runs(
    passage: NormalizedPassage, words: WordColumns, titles: TitleWords, rules: Rules
) -> list[Run]:
    """Return what may be a name in a passage, whatever the corpus says of its words.

    Args:
        passage: The passage.
        words: Its words.
        titles: The words of titles by their first two, the longest title first.
        rules: What is a name.
    """
    text, inner_words = passage.text, rules.inner_words
    runs = list(find_runs(text, words, titles, inner_words, rules.max_name_words))
    if rules.years:
        years = [words.word(i) for i, key in enumerate(words.keys) if _is_year(key)]
        runs += [Run((year,), is_title=True) for year in years]
    return runs


def choose_mentions(
    passage: NormalizedPassage,
    runs: Sequence[Run],
    caseless: Sequence[Word],
    evidence: Evidence,
    rules: Rules,
) -> list[Mention]:
    """Return what is a name in a passage, by what the corpus says; names may overlap.

    Args:
        passage: The passage.
        runs: What `find_passage_runs` returns.
        caseless: What `caseless_words` returns.
        evidence: What the corpus says; its `abbreviations` and `title_words` are in `runs` already.
        rules: What is a name.
    """
    text = passage.text
    mentions = [*_mentions_of_runs(text, runs, evidence, rules), *_quoted_mentions(passage, runs)]
    if text.isascii():
        return mentions
    pairs = dict.fromkeys(evidence.joined, MIN_JOINED)
    mentions += find_unspaced_mentions(text, passage.start, dict(evidence.unspaced_titles))
    mentions += find_spaced_mentions(text, caseless, evidence.spaced_names, pairs)
    return mentions


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


def normalize(passage: Passage) -> NormalizedPassage:
    """Return a passage as names are looked for in it."""
    text = unicodedata.normalize("NFKC", passage.text)
    title, start = find_passage_title(text, passage)
    return NormalizedPassage(text, _IN_BRACKETS.sub("", title), start)


def without_overlaps(mentions: Iterable[Mention]) -> list[Mention]:
    """Return mentions in the order of the text, without those that overlap.

    The earlier of two stays; the longer, if both begin at one place.

    Example:
        >>> pair = [Mention("York", 4, 8, 0), Mention("New York", 0, 8, 0)]
        >>> [mention.name for mention in without_overlaps(pair)]
        ['New York']
    """
    mentions = list(mentions)
    if all(one.end <= other.start for one, other in pairwise(mentions)):
        return mentions
    separate: list[Mention] = []
    for mention in sorted(mentions, key=lambda mention: (mention.start, -mention.end)):
        if not separate or mention.start >= separate[-1].end:
            separate.append(mention)
    return separate


def _is_kept(passage: NormalizedPassage) -> bool:
    return len(passage.text) <= MAX_KEPT_TEXT


def count_words(words: WordColumns, caseless: Sequence[Word]) -> CountedWords:
    """Return the words of a passage that are counted.

    Args:
        words: All.
        caseless: Those in scripts without capitals.

    Example:
        >>> count_words(find_columns("Then Anna left. Ben came."), [])[:2]
        (('anna',), ('left', 'came'))
    """
    within = [
        not (begins or stop) for begins, stop in zip(words.begins, words.behind_stop, strict=True)
    ]
    keys, capitals = list(compress(words.keys, within)), list(compress(words.capitals, within))
    return CountedWords(
        tuple(compress(keys, capitals)),
        tuple(compress(keys, map(not_, capitals))),
        frozenset([word.key for word in caseless]),
        frozenset(keys_of_pairs(caseless)),
    )


def _written(text: str, words: WordColumns, abbreviations: frozenset[str]) -> Written:
    keys, begins = words.keys, words.begins
    cased = [i for i in words.openings if words.capitals[i]]
    doubtful = [i for i in compress(range(len(keys)), words.behind_stop) if not begins[i]]
    last = len(keys) - 1
    starts = [(keys[i], without_possessive(keys[i + 1])) for i in words.openings if i < last]
    return Written(
        abbreviations,
        count_words(words, caseless_words(text, words)),
        frozenset([keys[i] for i in (*cased, *doubtful)]),
        frozenset(
            [
                keys[i]
                if (key := keys[i]).isascii() and "'" not in key
                else _single(text[words.starts[i] : words.ends[i]], key)
                for i in cased
            ]
        ),
        frozenset(starts),
        f" {' '.join(keys)}" if keys else "",
    )


def _single(word: str, key: str) -> str:
    """Return the name that a word with a capital is by itself, with its case folded."""
    return key if word.isascii() and "'" not in word else fold_case(without_possessive(word))


def _is_year(key: str) -> bool:
    return len(key) == YEAR_DIGITS and key.isdigit()


def _mentions_of_runs(
    text: str, runs: Sequence[Run], evidence: Evidence, rules: Rules
) -> Iterator[Mention]:
    """Yield the names in runs of capitalised words."""
    small, capital, titles = evidence.mostly_small, evidence.capital, evidence.titles
    for run in runs:
        parts = [run.words] if run.is_title else _cut_at_openings(text, run.words, evidence, rules)
        for words in parts:
            first = words[0]
            name = without_possessive(text[first.start : words[-1].end])
            if len(words) == 1 and not run.is_title:
                opens_only = first.begins and first.key not in capital
                if (opens_only or first.key in small) and fold_case(name) not in titles:
                    continue
            yield Mention(name, first.start, words[-1].end, first.sentence)


def _quoted_mentions(passage: NormalizedPassage, runs: Sequence[Run]) -> Iterator[Mention]:
    """Yield what is quoted; its sentence is that of the last run before it."""
    sentences = [run.words[0].sentence for run in runs]
    for start, end, name in find_quoted(passage.text, passage.start):
        before = (sentence for sentence in sentences if sentence <= start)
        yield Mention(name, start, end, max(before, default=passage.start))


def _cut_at_openings(
    text: str, words: Sequence[Word], evidence: Evidence, rules: Rules
) -> list[Sequence[Word]]:
    """Return the parts of a run between words that have a capital only for their place.

    Such a word comes first, or behind a full stop, and is mostly written small elsewhere.
    """
    parts, first, small = list[Sequence[Word]](), 0, evidence.mostly_small
    for i, word in enumerate(words):
        opens = word.begins or (i > 0 and text[words[i - 1].end : word.start] == ". ")
        if opens and word.key in small:
            if i > first:
                parts.append(words[first:i])
            first = i + 1
        elif (
            i == first
            and word.key in rules.inner_words
            and (not word.capital or (word.begins and word.key not in evidence.capital))
        ):
            first = i + 1
    if first < len(words):
        parts.append(words[first:] if first else words)
    return parts
