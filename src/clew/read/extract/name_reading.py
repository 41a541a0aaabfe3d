"""How `clew.Names` reads passages: all of them, or those that came to others that are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from clew.read.extract.corpus import TITLES, Corpus, CorpusCounts, FewCounts
from clew.read.extract.extractor import Passage, Triple
from clew.read.extract.knowledge import Knowledge
from clew.read.extract.known_facts import read_facts
from clew.read.extract.name_rules import Rules
from clew.read.extract.passage_names import (
    MOST_WRITTEN,
    WORDS,
    NormalizedPassage,
    Written,
    facts_of_mentions,
    normalize,
    without_overlaps,
)
from clew.read.extract.relations import Mention
from clew.read.extract.word_columns import TextWords
from clew.text.code_languages import CODE_FORMATS
from clew.text.kept import MAX_KEPT_TEXT, Kept
from clew.text.words import fold_case

MANY = MOST_WRITTEN // 2
"""Passages above which nothing is kept of one for the next time: they would displace each other."""


def read_names(
    passages: Sequence[Passage], before: Knowledge | None, rules: Rules, min_passages: int
) -> tuple[list[list[Triple]], Knowledge]:
    """Return the triples of every passage, and what is known.

    Args:
        passages: The passages.
        before: What others have taught; None where there are no others.
        rules: What is a name.
        min_passages: As in `clew.Names`.
    """
    normalized = _normalize_all(passages)
    facts: Iterator[Sequence[Triple]]
    if len(normalized) <= MANY and min_passages <= 1:
        corpus, known, written, words = _learn(normalized, before)
        evidence = corpus.evidence(normalized, written)
        facts = (
            read_facts(one, shown, rules, its_words)
            for one, shown, its_words in zip(normalized, evidence, words, strict=True)
        )
    elif min_passages <= 1:
        from clew.read.extract.many_passages import find_in_many  # which few passages need not

        corpus, facts = find_in_many(normalized, before, rules, _FactsOf(rules))
        known = corpus.known
    else:
        corpus, found = _mentions(normalized, before, rules, min_passages)
        known = corpus.known
        both = zip(normalized, found, strict=True)
        facts = (facts_of_mentions(one.text, one.title, some, rules) for one, some in both)
    return [list(of_one) for of_one in facts], known


class CasedWords(NamedTuple):
    """How many words of texts are within sentences, and how many of these have a capital.

    Attributes:
        n: Those in scripts with capitals.
        capital: Different words with a capital, added up over the texts.
    """

    n: int
    capital: int


def count_cased_words(passages: Sequence[Passage]) -> CasedWords:
    """Return how many words of passages are names by their looks; it takes no reading of names.

    Example:
        >>> count_cased_words([Passage("a", "It was directed by Ben Okri in Rome.")])
        CasedWords(n=7, capital=3)
    """
    normalized = _normalize_all(passages)
    short = WORDS.short_of([passage.text for passage in normalized])
    written, _ = WORDS.written(normalized, FewCounts(normalized, short).abbreviations())
    numbered = [one.numbered for one in written]
    return CasedWords(
        sum(len(one.capital) + len(one.small) for one in numbered),
        sum(len(set(one.capital.tolist())) for one in numbered),
    )


def forget_passages(passages: Sequence[Passage], known: Knowledge) -> Knowledge | None:
    """Return what is known without some passages."""
    normalized, counts = _normalize_all(passages), CorpusCounts(None)
    short = WORDS.short_of([one.text for one in normalized])
    counts.add_passages(normalized, [one.words() for one in short])
    counts.add_words([one.counted for one in WORDS.written(normalized, frozenset())[0]])
    return known.shrunk(counts.known())


def find_names(passages: Sequence[Passage], rules: Rules, min_passages: int) -> list[list[str]]:
    """Return the names in every passage, each once, as they are written there first."""
    results = list[list[str]]()
    for mentions in _mentions(_normalize_all(passages), None, rules, min_passages)[1]:
        by_key = {fold_case(mention.name): mention.name for mention in reversed(mentions)}
        results.append(list(reversed(by_key.values())))
    return results


@dataclass(frozen=True)
class _FactsOf:
    """Makes facts of the names in a passage, which may overlap."""

    rules: Rules

    def __call__(self, passage: NormalizedPassage, mentions: list[Mention]) -> tuple[Triple, ...]:
        names = without_overlaps(mentions)
        return facts_of_mentions(passage.text, passage.title, names, self.rules)


def _names_of(_: NormalizedPassage, mentions: list[Mention]) -> list[Mention]:
    return mentions


def _mentions(
    passages: Sequence[NormalizedPassage],
    before: Knowledge | None,
    rules: Rules,
    min_passages: int,
) -> tuple[Corpus, Iterator[list[Mention]]]:
    """Return what is known, and the names in every passage, in the order of its text."""
    from clew.read.extract.many_passages import find_in_many

    corpus, found = find_in_many(passages, before, rules, _names_of)
    if min_passages <= 1:
        return corpus, map(without_overlaps, found)
    every = list(found)
    passages_with = Counter(
        key for mentions in every for key in {fold_case(mention.name) for mention in mentions}
    )

    def is_name(mention: Mention) -> bool:
        key = fold_case(mention.name)
        return key in corpus.titles or passages_with[key] >= min_passages

    return corpus, (without_overlaps(filter(is_name, mentions)) for mentions in every)


def _learn(
    passages: Sequence[NormalizedPassage], before: Knowledge | None
) -> tuple[Corpus, Knowledge, list[Written], list[TextWords | None]]:
    """Return what passages teach, what is known with them, and what `WORDS.written` returns."""
    short = WORDS.short_of([passage.text for passage in passages])
    if before is None:
        few = FewCounts(passages, short)
        written, words = WORDS.written(passages, few.abbreviations())
        return few.corpus(written), few.known(written), written, words
    counts = CorpusCounts(before)
    counts.add_passages(passages, [one.words() for one in short])
    written, words = WORDS.written(passages, counts.abbreviations())
    counts.add_words([one.counted for one in written])
    known = counts.known()
    decided = frozenset[str]().union(*(one.decided for one in written))
    starts = None
    if len(known.tables[TITLES]) > len(passages):  # of few passages most titles are not asked
        starts = frozenset(start.partition(" ")[0] for one in written for start in one.starts)
    return Corpus(known, decided, starts), known, written, words


NORMALIZED = Kept[tuple[str, str, str], NormalizedPassage](4_096)
"""Passages as names are looked for in them, by what they are made of."""


def _normalize_all(passages: Sequence[Passage]) -> list[NormalizedPassage]:
    normalized = list[NormalizedPassage]()
    for passage in passages:
        key = passage.text, passage.title, passage.format
        known = NORMALIZED.get(key)
        if known is None:
            known = normalize(_without_code(passage))
            if len(passage.text) <= MAX_KEPT_TEXT:
                NORMALIZED.put(key, known)
        normalized.append(known)
    return normalized


def _without_code(passage: Passage) -> Passage:
    """Return the passage, without its text where that is source code: see `clew.Symbols`."""
    return replace(passage, text="", title="") if passage.format in CODE_FORMATS else passage
