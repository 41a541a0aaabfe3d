"""Terms without capitals and without a language model: rare words and phrases that come back.

Prose in lower case shows no names. What links its passages are rare words and phrases. A phrase is
a run of words between punctuation and stop words, as in RAKE (Rose et al. 2010), and of phrases
within each other the longest that comes back counts, as C-value prefers it (Frantzi et al. 2000).
Words that many passages have are stop words here, too, so that a language needs no long list.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clew.read.extract.extractor import Passage, Triple
from clew.read.extract.passage_names import NormalizedPassage, normalize
from clew.read.extract.relations import UNKNOWN_RELATION
from clew.text.code_languages import CODE_FORMATS
from clew.text.function_words import function_words_of
from clew.text.stems import identify_each, stem_words

MIN_SHARED = 2  # passages: a term in one links nothing
MAX_LETTERS = 40  # of a word: what is longer is an address or data
SAMPLES = 60  # passages by which the language is identified
_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_SENTENCE_END = re.compile(r"[.!?;:](?=\s)|\n(?=\n)")

Phrase = tuple[str, ...]  # of stems


class _Word(NamedTuple):
    """A word in lower case, where it is written, and the number of words before it."""

    text: str
    start: int
    end: int
    place: int


class _Run(NamedTuple):
    """Words that nothing separates, and their stems."""

    words: Sequence[_Word]
    stems: Phrase

    @classmethod
    def of(cls, words: Sequence[_Word], stems: Mapping[str, str]) -> _Run:
        return cls(words, tuple(stems[word.text] for word in words))

    def phrases(self, n: int) -> list[Phrase]:
        """Return all phrases of `n` words, in their order."""
        return [self.stems[i : i + n] for i in range(len(self.stems) - n + 1)]


@dataclass(frozen=True)
class Terms:
    """Reads rare words and phrases in a corpus without capitals, as facts about titles of passages.

    Prose with capitals is left to `clew.Names`, and source code to `clew.Symbols`.

    Attributes:
        max_words: The number of words that a term may have.
        max_passages: The number of passages that a term may be in; it is in at least two.
        max_share: The share of the passages that a term, or a word of one, may be in. Of few
            passages, two may have it.
        max_capitals: The share of words with a capital up to which the corpus is read; with 1 any
            is.
        max_relation_words: The number of words that a relation may have; 0 makes every relation
            "mentions".

    Example:
        >>> passages = [
        ...     Passage("a", "a wing in a propeller slipstream was tested.", "lift"),
        ...     Passage("b", "the propeller slipstream delays the stall.", "stall"),
        ... ]
        >>> for triples in Terms().triples(passages):
        ...     print(triples)
        [('lift', 'a wing in a', 'propeller slipstream')]
        [('stall', 'the', 'propeller slipstream')]
    """

    max_words: int = 4
    max_passages: int = 10
    max_share: float = 0.05
    max_capitals: float = 0.02
    max_relation_words: int = 6

    def __post_init__(self) -> None:
        for name, least in (("max_words", 1), ("max_passages", 2), ("max_relation_words", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is at least {least}; got {getattr(self, name)}")
        for name in ("max_share", "max_capitals"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is a share, from 0 to 1; got {getattr(self, name)}")

    def triples(self, passages: Sequence[Passage]) -> list[list[Triple]]:
        """Return (title, words before the term, term) for every passage, each term once.

        Without a title, the first term of the passage is in its place. A term is written as the
        corpus writes it most often, in lower case.
        """
        read = {
            i: normalize(passage)
            for i, passage in enumerate(passages)
            if passage.format not in CODE_FORMATS
        }
        results = list[list[Triple]]([] for _ in passages)
        if _share_of_capitals([one.text for one in read.values()]) > self.max_capitals:
            return results
        words = {i: _words_of(one.text) for i, one in read.items()}
        stems, stops = self._stems_and_stops([one.text for one in read.values()], words.values())
        runs = {
            i: [_Run.of(run, stems) for run in _runs(read[i].text, own, stops)]
            for i, own in words.items()
        }
        most = min(self.max_passages, self._common(len(read)))
        rare = self._rare_phrases(runs.values(), most)
        names = self._names(runs.values(), rare)
        for i, passage in read.items():
            found = [
                (names[run.stems[begin:end]], run.words[begin])
                for run in runs[i]
                for begin, end in self._terms_in(run, rare)
            ]
            results[i] = list(self._facts(passage, words[i], found))
        return results

    def _stems_and_stops(
        self, texts: Sequence[str], words: Collection[Sequence[_Word]]
    ) -> tuple[Mapping[str, str], set[str]]:
        """Return the stem of each word, and the words that separate phrases."""
        passages_with = Counter(word for own in words for word in {word.text for word in own})
        languages = Counter(identify_each(texts[:: len(texts) // SAMPLES + 1]))
        language = min(languages, key=lambda one: (-languages[one], one), default="")
        stops = {word for word, n in passages_with.items() if n > self._common(len(texts))}
        listed = sorted(passages_with)
        stems = dict(zip(listed, stem_words(listed, language), strict=True))
        return stems, stops | function_words_of(language)

    def _common(self, n: int) -> int:
        """Return how many of `n` passages may have a term or a word of one."""
        return max(MIN_SHARED, int(self.max_share * n))

    def _rare_phrases(self, passages: Collection[Sequence[_Run]], most: int) -> set[Phrase]:
        """Return the phrases that are in two passages or more, and in no more than `most`.

        A phrase is in two only if all within it are, so that few long ones are looked at.
        """
        rare, shared = set[Phrase](), set[Phrase]()
        for n in range(1, self.max_words + 1):
            passages_with = Counter(
                phrase
                for runs in passages
                for phrase in {
                    phrase
                    for run in runs
                    for phrase in run.phrases(n)
                    if n == 1 or (phrase[1:] in shared and phrase[:-1] in shared)
                }
            )
            shared = {phrase for phrase, m in passages_with.items() if m >= MIN_SHARED}
            rare.update(phrase for phrase in shared if passages_with[phrase] <= most)
        return rare

    def _names(
        self, passages: Collection[Sequence[_Run]], rare: Collection[Phrase]
    ) -> dict[Phrase, str]:
        """Return how phrases are written most often; of two, the first by the alphabet."""
        written = Counter(
            (phrase, " ".join(word.text for word in run.words[i : i + n]))
            for runs in passages
            for run in runs
            for n in range(1, self.max_words + 1)
            for i, phrase in enumerate(run.phrases(n))
            if phrase in rare
        )
        names = dict[Phrase, str]()
        for (phrase, name), _ in sorted(written.items(), key=lambda one: (-one[1], one[0][1])):
            names.setdefault(phrase, name)
        return names

    def _terms_in(self, run: _Run, rare: Collection[Phrase]) -> list[tuple[int, int]]:
        """Return where terms begin and end in a run; of two, the longer or earlier stays."""
        is_free = [True] * len(run.words)
        found = list[tuple[int, int]]()
        for n in range(self.max_words, 0, -1):
            for i, phrase in enumerate(run.phrases(n)):
                if phrase in rare and all(is_free[i : i + n]):
                    is_free[i : i + n] = [False] * n
                    found.append((i, i + n))
        return sorted(found)

    def _facts(
        self,
        passage: NormalizedPassage,
        words: Sequence[_Word],
        terms: Sequence[tuple[str, _Word]],
    ) -> Iterator[Triple]:
        """Yield a fact for each term, given as it is named and with its first word."""
        ends = [end.start() for end in _SENTENCE_END.finditer(passage.text)]
        starts = [word.start for word in words]
        seen = {passage.title.lower()}
        subject = passage.title
        for name, first in terms:
            subject = subject or name
            if name in seen or name == subject:
                continue
            seen.add(name)
            sentence = bisect_left(ends, first.start)  # the number of sentences before
            begin = bisect_left(starts, ends[sentence - 1]) if sentence else 0
            begin = max(begin, first.place - self.max_relation_words)
            before = [passage.text[word.start : word.end] for word in words[begin : first.place]]
            yield subject, " ".join(before) or UNKNOWN_RELATION, name


def _share_of_capitals(texts: Sequence[str]) -> float:
    """Return the share of words with a capital; a letter without case counts as one.

    `clew.Names` reads what is written in scripts that have no capitals, too.
    """
    firsts = [word[0][0] for text in texts for word in _WORD.finditer(text)]
    letters = [letter for letter in firsts if letter.isalpha()]
    return 1 - sum(map(str.islower, letters)) / len(letters) if letters else 0.0


def _words_of(text: str) -> list[_Word]:
    return [
        _Word(one[0].lower(), one.start(), one.end(), i)
        for i, one in enumerate(_WORD.finditer(text))
    ]


def _runs(text: str, words: Sequence[_Word], stops: Collection[str]) -> Iterator[list[_Word]]:
    """Yield the runs of words between stop words and punctuation; a line may end within one."""
    run = list[_Word]()
    for word in words:
        if run and text[run[-1].end : word.start].strip(" \t") not in ("", "\n", "\r\n"):
            yield run
            run = []
        if word.text not in stops and _may_be_in_a_term(word.text):
            run.append(word)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _may_be_in_a_term(word: str) -> bool:
    return 1 < len(word) <= MAX_LETTERS and not word.replace("-", "").isdigit()
