"""Names and facts without a language model: an extractor for whoever has none.

A name is what is written with capitals, or quoted, or the title of a document; see `caseless` for scripts without capitals. What one
passage leaves open the corpus decides: a word that begins a sentence is a name if it is written with a capital elsewhere too. Names are
kept however rare: a name that only one passage has leads a question to that passage. Facts are what is said before a name, about the
passage's title: they are what a question is compared with.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from clew.read.extract.caseless import (
    is_caseless,
    spaced_mentions,
    unspaced_mentions,
    unspaced_titles,
    without_unspaced,
)
from clew.read.extract.extractor import Passage, Triple
from clew.read.extract.mentions import (
    POSSESSIVE,
    Run,
    Word,
    abbreviations,
    quoted,
    runs_of,
    words_of,
)
from clew.read.extract.relations import Mention, facts_of
from clew.read.formats.markdown import front_matter, front_title
from clew.text.words import fold_case

INSIDE = (
    "of",
    "the",
    "de",
    "la",
    "las",
    "los",
    "del",
    "der",
    "den",
    "di",
    "da",
    "do",
    "dos",
    "das",
    "du",
    "des",
    "le",
    "van",
    "von",
    "zu",
    "bin",
    "ibn",
    "al",
    "el",
    "af",
    "av",
    "y",
)
LISTS = (
    "and",
    "or",
    "und",
    "oder",
    "et",
    "ou",
    "y",
    "e",
    "o",
    "en",
    "och",
    "og",
    "и",
    "или",
    "και",
    "ή",
)
LONGEST_TITLE = 100  # letters of a first line that is taken for a title
IN_BRACKETS = re.compile(r"\s*\([^()]*\)$")


@dataclass(frozen=True)
class Names:
    """Reads names, and what is said before them, as facts about the passage's title.

    Attributes:
        least: passages that a name must be in, unless it is a title. relation: the most words of a relation; 0 for "mentions" alone.
        longest: words in a name. inside: small words inside names. lists: words between the members of a list.
        years: whether numbers of four digits are names too.
    """

    least: int = 1
    relation: int = 6
    longest: int = 8
    inside: tuple[str, ...] = INSIDE
    lists: tuple[str, ...] = LISTS
    years: bool = False

    def triples(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        """Return (title, words before the name, name) for every passage; see `clew.read.extract.relations`."""
        texts, titles, found = self._found(passages)
        parts = zip(texts, titles, found, strict=True)
        return [
            list(facts_of(text, title, mentions, self.relation, self.lists))
            for text, title, mentions in parts
        ]

    def names(self, passages: Sequence[Passage]) -> list[list[str]]:
        """Return the names in every passage, each once, as they are written there first."""
        found = [
            {fold_case(mention.name): mention.name for mention in reversed(mentions)}
            for mentions in self._found(passages)[2]
        ]
        return [list(reversed(names.values())) for names in found]

    def _found(
        self, passages: Sequence[Passage]
    ) -> tuple[list[str], list[str], list[list[Mention]]]:
        inside = frozenset(self.inside)
        texts = [unicodedata.normalize("NFKC", passage.text) for passage in passages]
        headed = [title_of(text, passage) for text, passage in zip(texts, passages, strict=True)]
        titles = [IN_BRACKETS.sub("", title) for title, _ in headed]
        short = abbreviations(texts)
        by_start = _by_start(titles)
        small, large = Counter[str](), Counter[str]()
        runs, caseless = list[list[Run]](), list[list[Word]]()
        for text, (_, start) in zip(texts, headed, strict=True):
            words = [
                word for word in words_of(without_unspaced(text), short) if word.start >= start
            ]
            caseless.append(
                [] if text.isascii() else [word for word in words if is_caseless(text, word)]
            )
            for word in words:
                if not word.begins and text[word.start - 2 : word.start] != ". ":
                    (large if word.capital else small)[word.key] += 1
            found = list(runs_of(text, words, by_start, inside, self.longest))
            if self.years:
                found += [
                    Run((word,), True)
                    for word in words
                    if len(word.key) == 4 and word.key.isdigit()
                ]
            runs.append(found)
        known = {fold_case(title) for title in titles if title}
        unspaced, spaced = unspaced_titles(titles), spaced_mentions(texts, caseless, known)
        candidates = [
            [
                *_candidates(text, some, start, small, large, known, inside),
                *unspaced_mentions(text, start, unspaced),
                *others,
            ]
            for text, some, (_, start), others in zip(texts, runs, headed, spaced, strict=True)
        ]
        passages_with = Counter(
            name for some in candidates for name in {fold_case(mention.name) for mention in some}
        )
        kept = [
            [
                m
                for m in some
                if passages_with[fold_case(m.name)] >= self.least or fold_case(m.name) in known
            ]
            for some in candidates
        ]
        return texts, titles, [apart(some) for some in kept]


def title_of(text: str, passage: Passage) -> tuple[str, int]:
    """Return the title of a passage, and where what is read begins: a short first line that is followed by more is a title too."""
    if passage.title.strip():
        return " ".join(unicodedata.normalize("NFKC", passage.title).split()), 0
    start = front_matter(text)
    if said := front_title(text):
        return " ".join(said.split()), start
    first, line_end, rest = text[start:].partition("\n")
    title = " ".join(first.strip("#*=_- \t\r").split())
    is_title = (
        line_end
        and rest.strip()
        and 0 < len(title) <= LONGEST_TITLE
        and not title.endswith((".", "。", ":", ","))
    )
    return (title, start + len(first)) if is_title else ("", start)


def _by_start(titles: Sequence[str]) -> dict[tuple[str, ...], list[tuple[str, ...]]]:
    """The words of titles that have several, by the first two; the longest first."""
    found: defaultdict[tuple[str, ...], set[tuple[str, ...]]] = defaultdict(set)
    for title in titles:
        keys = tuple(word.key for word in words_of(title))
        if len(keys) > 1:
            found[keys[0], POSSESSIVE.sub("", keys[1])].add(keys)
    return {
        first: sorted(some, key=lambda keys: (-len(keys), keys)) for first, some in found.items()
    }


def _candidates(
    text: str,
    runs: Sequence[Run],
    start: int,
    small: Counter[str],
    large: Counter[str],
    known: set[str],
    inside: Collection[str],
) -> Iterator[Mention]:
    for run in runs:
        for words in [run.words] if run.titled else _cut(text, run.words, small, large, inside):
            name = POSSESSIVE.sub("", text[words[0].start : words[-1].end])
            key = words[0].key
            unsure = (
                not run.titled
                and len(words) == 1
                and (small[key] > large[key] or (words[0].begins and not large[key]))
            )
            if not unsure or fold_case(name) in known:
                yield Mention(name, words[0].start, words[-1].end, words[0].sentence)
    for begin, end, name in quoted(text, start):
        yield Mention(
            name,
            begin,
            end,
            max(
                (run.words[0].sentence for run in runs if run.words[0].sentence <= begin),
                default=start,
            ),
        )


def _cut(
    text: str,
    words: tuple[Word, ...],
    small: Counter[str],
    large: Counter[str],
    inside: Collection[str],
) -> Iterator[tuple[Word, ...]]:
    """Leave out words whose capital is there for the sentence's sake: first, or behind a full stop, and mostly small elsewhere."""
    first = 0
    for i, word in enumerate(words):
        starts = word.begins or (i > 0 and text[words[i - 1].end : word.start] == ". ")
        if starts and small[word.key] > large[word.key]:
            if i > first:
                yield words[first:i]
            first = i + 1
        elif (
            i == first
            and word.key in inside
            and (not word.capital or (word.begins and not large[word.key]))
        ):
            first = i + 1
    if first < len(words):
        yield words[first:]


def apart(mentions: Sequence[Mention]) -> list[Mention]:
    """Return mentions in the order of the text; of two that overlap the earlier, and of two that begin at one place the longer."""
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda m: (m.start, -m.end)):
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return kept
