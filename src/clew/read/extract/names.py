"""Names and facts without a language model.

A name is what is written with capitals, or quoted, or the title of a document; see `caseless` for
scripts without capitals. The corpus decides what one passage leaves open: a word that begins a
sentence is a name if it has a capital elsewhere too. Names are kept however rare they are: a name
that only one passage has leads a question to that passage. A fact is the words before a name, as a
statement about the title of the passage; facts are what a question is compared with.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from clew.read.extract.caseless import MIN_JOINED, group_unspaced_titles, is_spaced_name
from clew.read.extract.extractor import Passage, Triple
from clew.read.extract.knowledge import Knowledge, PassagesOf
from clew.read.extract.known_facts import read_facts
from clew.read.extract.mentions import (
    choose_abbreviations,
    find_words,
    first_key,
    without_possessive,
)
from clew.read.extract.passage_names import (
    WORDS,
    Evidence,
    NormalizedPassage,
    Rules,
    Written,
    facts_of_mentions,
    find_mentions,
    normalize,
    without_overlaps,
)
from clew.read.extract.relations import Mention
from clew.read.formats.source_code import CODE_FORMATS
from clew.text.kept import MAX_KEPT_TEXT, Kept
from clew.text.words import fold_case

INNER_WORDS = (
    "of", "the", "de", "la", "las", "los", "del", "der", "den", "di", "da", "do", "dos", "das",
    "du", "des", "le", "van", "von", "zu", "bin", "ibn", "al", "el", "af", "av", "y",
)  # fmt: skip
LIST_WORDS = (
    "and", "or", "und", "oder", "et", "ou", "y", "e", "o", "en", "och", "og", "и", "или", "και",
    "ή",
)  # fmt: skip
FORM = "names 1"
"""How names are learnt: another number wherever the tables below count in another way."""
PASSAGES, TITLES = "names.passages", "names.titles"  # all passages, by ""; titles as they are shown
SHORT, STOPPED = "names.short", "names.stopped"  # short words, and those before a full stop
SMALL, CAPITAL = "names.small", "names.capital"  # words within sentences
CASELESS, PAIRS = "names.caseless", "names.pairs"  # passages that have a word, two words together
TABLES = (PASSAGES, TITLES, SHORT, STOPPED, SMALL, CAPITAL, CASELESS, PAIRS)
TITLE_KEYS = Kept[str, tuple[str, ...]](4_096)


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
        return triples, known if self.min_passages <= 1 else None

    def learn_more(
        self, passages: Sequence[Passage], known: Knowledge, passages_of: PassagesOf
    ) -> tuple[list[list[Triple]], Knowledge] | None:
        """Return the triples of passages that came, by how all passages write their words.

        See `LearningExtractor`.
        """
        return self._read(_normalize_all(passages), known)

    def forget(self, passages: Sequence[Passage], known: Knowledge) -> Knowledge | None:
        """Return what is known without some passages; see `LearningExtractor`."""
        normalized, lesson = _normalize_all(passages), _Lesson()
        lesson.add_passages(normalized)
        lesson.add_words([WORDS.written(passage, ()) for passage in normalized])
        return known.shrunk(lesson.knowledge())

    def names(self, passages: Sequence[Passage]) -> list[list[str]]:
        """Return the names in every passage, each once, as they are written there first."""
        normalized, results = _normalize_all(passages), list[list[str]]()
        corpus, written = _learn(normalized, None)
        for mentions in self._mentions(normalized, written, corpus):
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
        self, passages: Sequence[NormalizedPassage], known: Knowledge | None
    ) -> tuple[list[list[Triple]], Knowledge]:
        """Return the triples of every passage, and what is known.

        Args:
            passages: The passages.
            known: What others have taught; None where there are no others.
        """
        corpus, written = _learn(passages, known)
        rules = self._rules
        if self.min_passages <= 1:
            pairs = zip(passages, written, strict=True)
            facts = [read_facts(one, corpus.evidence(one, how), rules) for one, how in pairs]
        else:
            read = self._mentions(passages, written, corpus)
            both = zip(passages, read, strict=True)
            facts = [facts_of_mentions(one, mentions, rules) for one, mentions in both]
        return [list(of_one) for of_one in facts], corpus.known

    def _mentions(
        self,
        passages: Sequence[NormalizedPassage],
        written: Sequence[Written],
        corpus: _Corpus,
    ) -> list[list[Mention]]:
        """Return the names in every passage, in the order of its text."""
        rules = self._rules
        found = [
            find_mentions(passage, corpus.evidence(passage, how), rules)
            for passage, how in zip(passages, written, strict=True)
        ]
        passages_with = Counter(
            key for mentions in found for key in {fold_case(mention.name) for mention in mentions}
        )

        def is_name(mention: Mention) -> bool:
            key = fold_case(mention.name)
            return key in corpus.titles or passages_with[key] >= self.min_passages

        return [without_overlaps(filter(is_name, mentions)) for mentions in found]


def _learn(
    passages: Sequence[NormalizedPassage], known: Knowledge | None
) -> tuple[_Corpus, list[Written]]:
    """Return what is known with these passages, and how each of them writes its words."""
    lesson = _Lesson()
    lesson.add_passages(passages)
    if known is not None:
        known, lesson = known.grown(lesson.knowledge()), _Lesson()
    tables = lesson.tables if known is None else known.tables
    abbreviations = choose_abbreviations(tables[SHORT], tables[STOPPED])
    written = [WORDS.written(passage, abbreviations) for passage in passages]
    lesson.add_words(written)
    known = lesson.knowledge() if known is None else known.grown(lesson.knowledge())
    decided = frozenset[str]().union(*(one.decided for one in written))
    starts = None
    if len(known.tables[TITLES]) > len(passages):  # of few passages most titles are not asked
        starts = frozenset(first for one in written for first, _ in one.starts)
    return _Corpus(known, decided, starts), written


class _Lesson:
    """Counts what passages teach about how words are written; see `Written`."""

    def __init__(self) -> None:
        self.tables: dict[str, Counter[str]] = {name: Counter() for name in TABLES}

    def add_passages(self, passages: Sequence[NormalizedPassage]) -> None:
        """Count passages, their titles, and their short words."""
        if passages:
            self.tables[PASSAGES][""] += len(passages)
        self.tables[TITLES].update(passage.title for passage in passages if passage.title)
        short = [WORDS.short_of(passage.text) for passage in passages]
        self.tables[SHORT].update(chain.from_iterable(every for every, _ in short))
        self.tables[STOPPED].update(chain.from_iterable(stopped for _, stopped in short))

    def add_words(self, written: Sequence[Written]) -> None:
        """Count the words of passages."""
        self.tables[CAPITAL].update(chain.from_iterable(one.capital for one in written))
        self.tables[SMALL].update(chain.from_iterable(one.small for one in written))
        self.tables[CASELESS].update(chain.from_iterable(one.caseless for one in written))
        self.tables[PAIRS].update(chain.from_iterable(one.pairs for one in written))

    def knowledge(self) -> Knowledge:
        """Return what was counted."""
        return Knowledge(FORM, self.tables)


@dataclass(frozen=True)
class _Corpus:
    """What all passages teach of each.

    Attributes:
        known: What was counted.
        decided: The words of the passages that it decides on; see `Written`.
        starts: The words that titles are looked for by; None for all titles.
    """

    known: Knowledge
    decided: frozenset[str]
    starts: frozenset[str] | None

    def evidence(self, passage: NormalizedPassage, written: Written) -> Evidence:
        """Return what the corpus says of the words of a passage."""
        tables, title_words = self.known.tables, self._title_words
        starts = sorted(written.starts & title_words.keys()) if title_words else []
        titles = [
            (start, tuple([t for t in title_words[start] if f" {' '.join(t)}" in written.in_order]))
            for start in starts
        ]
        return Evidence(
            written.abbreviations,
            written.decided & self._mostly_small,
            written.decided & self._capital,
            written.singles & self.titles,
            tuple([(start, group) for start, group in titles if group]),
            self._unspaced_titles_in(passage.text),
            frozenset([word for word in written.caseless if self._is_spaced_name(word)]),
            frozenset([w for w in written.pairs if tables[PAIRS].get(w, 0) >= MIN_JOINED]),
        )

    @cached_property
    def _mostly_small(self) -> frozenset[str]:
        small, capital = self.known.tables[SMALL], self.known.tables[CAPITAL]
        return frozenset(w for w in small.keys() & self.decided if small[w] > capital.get(w, 0))

    @cached_property
    def _capital(self) -> frozenset[str]:
        return frozenset(self.known.tables[CAPITAL].keys() & self.decided)

    @cached_property
    def titles(self) -> frozenset[str]:
        """All titles, with their case folded."""
        return frozenset(fold_case(title) for title in self.known.tables[TITLES])

    @cached_property
    def _title_words(self) -> Mapping[tuple[str, str], tuple[tuple[str, ...], ...]]:
        titles, starts = self.known.tables[TITLES], self.starts
        return _group_titles(
            [title for title in titles if starts is None or first_key(title) in starts]
        )

    @cached_property
    def _unspaced_titles(self) -> Mapping[str, list[str]]:
        return group_unspaced_titles(list(self.known.tables[TITLES]))

    def _unspaced_titles_in(self, text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
        groups = self._unspaced_titles
        if not groups or text.isascii():
            return ()
        starts = {text[i : i + 2] for i in range(len(text) - 1)} & groups.keys()
        return tuple((start, tuple(groups[start])) for start in sorted(starts))

    def _is_spaced_name(self, word: str) -> bool:
        tables = self.known.tables
        n_passages = tables[PASSAGES].get("", 0)
        return word in self.titles or is_spaced_name(word, tables[CASELESS], n_passages)


def _normalize_all(passages: Sequence[Passage]) -> list[NormalizedPassage]:
    return [normalize(_without_code(passage)) for passage in passages]


def _without_code(passage: Passage) -> Passage:
    """Return the passage, without its text where that is source code: see `clew.Symbols`."""
    return replace(passage, text="", title="") if passage.format in CODE_FORMATS else passage


def _group_titles(titles: Sequence[str]) -> dict[tuple[str, str], tuple[tuple[str, ...], ...]]:
    """Return the words of titles that have several, by the first two; the longest first."""
    by_start: defaultdict[tuple[str, str], set[tuple[str, ...]]] = defaultdict(set)
    for title in titles:
        keys = _keys_of(title)
        if len(keys) > 1:
            by_start[keys[0], without_possessive(keys[1])].add(keys)
    return {
        start: tuple(sorted(group, key=lambda keys: (-len(keys), keys)))
        for start, group in by_start.items()
    }


def _keys_of(title: str) -> tuple[str, ...]:
    """Return the words of a title, with their case folded."""
    if (known := TITLE_KEYS.get(title)) is not None:
        return known
    keys = tuple(word.key for word in find_words(title))
    return TITLE_KEYS.put(title, keys) if len(title) <= MAX_KEPT_TEXT else keys
