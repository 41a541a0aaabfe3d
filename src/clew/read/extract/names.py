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
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from clew.read.extract.caseless import (
    blank_unspaced,
    find_spaced_mentions,
    find_unspaced_mentions,
    group_unspaced_titles,
    is_caseless,
)
from clew.read.extract.extractor import Passage, Triple
from clew.read.extract.mentions import (
    POSSESSIVE,
    Run,
    Word,
    find_abbreviations,
    find_quoted,
    find_runs,
    find_words,
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

    def triples(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        """Return (title, words before the name, name) for every passage.

        See `clew.read.extract.relations`.
        """
        results: list[list[Triple]] = []
        for passage, mentions in self._read([_without_code(passage) for passage in passages]):
            title, limit = passage.title, self.max_relation_words
            results.append(list(find_facts(passage.text, title, mentions, limit, self.list_words)))
        return results

    def names(self, passages: Sequence[Passage]) -> list[list[str]]:
        """Return the names in every passage, each once, as they are written there first."""
        results = []
        for _, mentions in self._read([_without_code(passage) for passage in passages]):
            by_key = {fold_case(mention.name): mention.name for mention in reversed(mentions)}
            results.append(list(reversed(by_key.values())))
        return results

    def _read(self, passages: Sequence[Passage]) -> list[tuple[_NormalizedPassage, list[Mention]]]:
        """Return every passage with the names in it, in the order of its text."""
        normalized = [_normalize(passage) for passage in passages]
        titles = {fold_case(passage.title) for passage in normalized if passage.title}
        candidates = self._candidates(normalized, titles)
        passages_with = Counter(
            key for mentions in candidates for key in {fold_case(m.name) for m in mentions}
        )

        def is_name(mention: Mention) -> bool:
            key = fold_case(mention.name)
            return key in titles or passages_with[key] >= self.min_passages

        return [
            (passage, without_overlaps(filter(is_name, mentions)))
            for passage, mentions in zip(normalized, candidates, strict=True)
        ]

    def _candidates(
        self, passages: Sequence[_NormalizedPassage], titles: set[str]
    ) -> list[list[Mention]]:
        """Return what may be a name in every passage, by what all passages have seen."""
        texts = [passage.text for passage in passages]
        own_titles = [passage.title for passage in passages]
        inner_words = frozenset(self.inner_words)
        abbreviations = find_abbreviations(texts)
        title_words = _group_titles(list(dict.fromkeys(own_titles)))
        cases = _Cases(Counter(), Counter(), inner_words)
        runs: list[list[Run]] = []
        caseless: list[list[Word]] = []
        for text, _, start in passages:
            words = find_words(blank_unspaced(text), abbreviations)
            words = [word for word in words if word.start >= start]
            cases.add_words(text, words)
            may_be_caseless = [] if text.isascii() else words
            caseless.append([word for word in may_be_caseless if is_caseless(text, word)])
            found_runs = find_runs(text, words, title_words, inner_words, self.max_name_words)
            runs.append(list(found_runs))
            if self.years:
                runs[-1] += [Run((word,), is_title=True) for word in words if _is_year(word)]
        unspaced_titles = group_unspaced_titles(own_titles)
        spaced = find_spaced_mentions(texts, caseless, titles)
        return [
            [
                *_mentions_of_runs(passage.text, passage_runs, cases, titles),
                *_quoted_mentions(passage, passage_runs),
                *find_unspaced_mentions(passage.text, passage.start, unspaced_titles),
                *spaced_mentions,
            ]
            for passage, passage_runs, spaced_mentions in zip(passages, runs, spaced, strict=True)
        ]


class _NormalizedPassage(NamedTuple):
    """The text of a passage in NFKC, its title without brackets, and the place behind its title."""

    text: str
    title: str
    start: int


class _Cases(NamedTuple):
    """How often words within sentences are written small and with a capital, by key.

    `inner_words` are the small words inside names.
    """

    small: Counter[str]
    capital: Counter[str]
    inner_words: frozenset[str]

    def add_words(self, text: str, words: Sequence[Word]) -> None:
        """Count the words of a text, unless they follow a full stop."""
        inside = [
            word for word in words if not word.begins and text[word.start - 2 : word.start] != ". "
        ]
        self.capital.update([word.key for word in inside if word.capital])
        self.small.update([word.key for word in inside if not word.capital])

    def mostly_small(self, key: str) -> bool:
        return self.small[key] > self.capital[key]


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


def _normalize(passage: Passage) -> _NormalizedPassage:
    text = unicodedata.normalize("NFKC", passage.text)
    title, start = find_passage_title(text, passage)
    return _NormalizedPassage(text, _IN_BRACKETS.sub("", title), start)


def _without_code(passage: Passage) -> Passage:
    """Return the passage, without its text where that is source code: see `clew.Symbols`."""
    return replace(passage, text="", title="") if passage.format in CODE_FORMATS else passage


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
            opens_only = first.begins and not cases.capital[first.key]
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
            and (not word.capital or (word.begins and not cases.capital[word.key]))
        ):
            first = i + 1
    if first < len(words):
        yield words[first:]
