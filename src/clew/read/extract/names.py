"""Names and facts without a language model.

A name is what is written with capitals, or quoted, or the title of a document; see `caseless` for
scripts without capitals. The corpus decides what one passage leaves open: a word that begins a
sentence is a name if it has a capital elsewhere too. Names are kept however rare they are: a name
that only one passage has leads a question to that passage. A fact is the words before a name, as a
statement about the title of the passage; facts are what a question is compared with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from clew.read.extract.corpus import FORM, TITLES, Corpus, CorpusCounts
from clew.read.extract.extractor import Passage, Triple
from clew.read.extract.knowledge import Knowledge, PassagesOf
from clew.read.extract.known_facts import read_facts
from clew.read.extract.many_passages import MANY, find_in_many
from clew.read.extract.passage_names import (
    WORDS,
    NormalizedPassage,
    Rules,
    Written,
    facts_of_mentions,
    normalize,
    without_overlaps,
)
from clew.read.extract.relations import Mention
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
        triples, known = self._read(_normalize_all(passages), None)
        return triples, known.in_order() if self.min_passages <= 1 else None

    def learn_more(
        self, passages: Sequence[Passage], known: Knowledge, passages_of: PassagesOf
    ) -> tuple[list[list[Triple]], Knowledge] | None:
        """Return the triples of passages that came, by how all passages write their words.

        See `LearningExtractor`.
        """
        return self._read(_normalize_all(passages), known)

    def forget(self, passages: Sequence[Passage], known: Knowledge) -> Knowledge | None:
        """Return what is known without some passages; see `LearningExtractor`."""
        normalized, counts = _normalize_all(passages), CorpusCounts(None)
        counts.add_passages(normalized, [WORDS.short_of(one.text) for one in normalized])
        counts.add_words([WORDS.written(one, ()).counted for one in normalized])
        return known.shrunk(counts.known())

    def names(self, passages: Sequence[Passage]) -> list[list[str]]:
        """Return the names in every passage, each once, as they are written there first."""
        results = list[list[str]]()
        for mentions in self._mentions(_normalize_all(passages), None)[1]:
            by_key = {fold_case(mention.name): mention.name for mention in reversed(mentions)}
            results.append(list(reversed(by_key.values())))
        return results

    @property
    def _rules(self) -> Rules:
        inner_words, list_words = frozenset(self.inner_words), frozenset(self.list_words)
        return Rules(
            self.max_relation_words, self.max_name_words, inner_words, list_words, self.years
        )

    def _read(
        self, passages: Sequence[NormalizedPassage], before: Knowledge | None
    ) -> tuple[list[list[Triple]], Knowledge]:
        """Return the triples of every passage, and what is known.

        Args:
            passages: The passages.
            before: What others have taught; None where there are no others.
        """
        rules = self._rules
        if len(passages) <= MANY and self.min_passages <= 1:
            corpus, written = _learn(passages, before)
            pairs = zip(passages, written, strict=True)
            facts = (read_facts(one, corpus.evidence(one, how), rules) for one, how in pairs)
        else:
            corpus, found = self._mentions(passages, before)
            both = zip(passages, found, strict=True)
            facts = (facts_of_mentions(one, mentions, rules) for one, mentions in both)
        return [list(of_one) for of_one in facts], corpus.known

    def _mentions(
        self, passages: Sequence[NormalizedPassage], before: Knowledge | None
    ) -> tuple[Corpus, Iterator[list[Mention]]]:
        """Return what is known, and the names in every passage, in the order of its text."""
        corpus, found = find_in_many(passages, before, self._rules)
        if self.min_passages <= 1:
            return corpus, map(without_overlaps, found)
        every = list(found)
        passages_with = Counter(
            key for mentions in every for key in {fold_case(mention.name) for mention in mentions}
        )

        def is_name(mention: Mention) -> bool:
            key = fold_case(mention.name)
            return key in corpus.titles or passages_with[key] >= self.min_passages

        return corpus, (without_overlaps(filter(is_name, mentions)) for mentions in every)


def _learn(
    passages: Sequence[NormalizedPassage], before: Knowledge | None
) -> tuple[Corpus, list[Written]]:
    """Return what is known with these passages, and how each of them writes its words."""
    counts = CorpusCounts(before)
    counts.add_passages(passages, [WORDS.short_of(passage.text) for passage in passages])
    abbreviations = counts.abbreviations()
    written = [WORDS.written(passage, abbreviations) for passage in passages]
    counts.add_words([one.counted for one in written])
    known = counts.known()
    decided = frozenset[str]().union(*(one.decided for one in written))
    starts = None
    if len(known.tables[TITLES]) > len(passages):  # of few passages most titles are not asked
        starts = frozenset(first for one in written for first, _ in one.starts)
    return Corpus(known, decided, starts), written


def _normalize_all(passages: Sequence[Passage]) -> list[NormalizedPassage]:
    return [normalize(_without_code(passage)) for passage in passages]


def _without_code(passage: Passage) -> Passage:
    """Return the passage, without its text where that is source code: see `clew.Symbols`."""
    return replace(passage, text="", title="") if passage.format in CODE_FORMATS else passage
