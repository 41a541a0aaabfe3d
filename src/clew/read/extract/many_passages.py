"""The names in many passages, of which each is cut into words once.

What may be a name does not depend on what the corpus says of its words. So it is found while words
are counted, and what is kept of a passage until all are counted is the places of a few words, as
whole numbers: an object for each would take a gigabyte for 100,000 passages, and the garbage
collector would go through all of them again and again.

All is done batch by batch, in three rounds, and between them the corpus is counted. Where there is
an executor, it does the batches; where other processes have read files, they do a part of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain
from typing import Generic, NamedTuple, TypeVar

from clew.processes import SharedValue, begin_items, run_batches, works_elsewhere
from clew.read.extract.caseless import caseless_words
from clew.read.extract.corpus import Corpus, CorpusCounts, Decisions
from clew.read.extract.knowledge import Knowledge
from clew.read.extract.mentions import FirstWords, Run, TitleWords, first_words
from clew.read.extract.name_rules import Rules
from clew.read.extract.passage_names import (
    NormalizedPassage,
    choose_mentions,
    find_all_short,
    find_passage_runs,
    find_passage_words,
    find_words,
)
from clew.read.extract.relations import Mention
from clew.read.extract.word_columns import TextWords, Word, WordColumns

BLOCK = 128  # passages that are counted in one call
MIN_SENT = 200_000  # characters of the passages that an executor is sent at once
OF_WORD = 4  # whole numbers

Titles = tuple[TitleWords, FirstWords]
Found = TypeVar("Found")
Finish = Callable[[NormalizedPassage, list[Mention]], Found]


class Short(NamedTuple):
    """The short words of a batch: all, and of each passage those before a full stop."""

    every: list[str]
    stopped: list[tuple[str, ...]]


class WithAbbreviations(NamedTuple):
    """A batch of passages, each with its words whose full stop ends no sentence.

    Attributes:
        passages: The passages.
        own: Those words.
    """

    passages: Sequence[NormalizedPassage]
    own: list[frozenset[str]]


class Counted(NamedTuple):
    """The words of a batch that are counted, one passage after the other; see `CountedWords`.

    Attributes:
        runs: Of each passage, what may be a name, as the bytes of `pack_runs`.
        has_caseless: Of each, whether it has words in scripts without capitals.
        words: Words with capitals, small words, caseless words, and pairs of these.
    """

    runs: list[bytes]
    has_caseless: list[bool]
    words: tuple[list[str], list[str], list[str], list[str]]


class WithRuns(NamedTuple):
    """A batch of passages, each with what `Counted` has of it."""

    passages: Sequence[NormalizedPassage]
    own: list[frozenset[str]]
    runs: list[bytes]
    has_caseless: list[bool]


def find_in_many(
    passages: Sequence[NormalizedPassage],
    before: Knowledge | None,
    rules: Rules,
    finish: Finish[Found],
) -> tuple[Corpus, Iterator[Found]]:
    """Return what is known with these passages, and what is made of the names in each.

    Args:
        passages: The passages.
        before: What others have taught; None where there are no others.
        rules: What is a name.
        finish: Called with a passage and its names, which may overlap; it can be pickled.
    """
    counts, stopped = CorpusCounts(before), list[tuple[str, ...]]()
    alone = SharedValue(None)
    for some, short in _each(count_short, passages, lambda some: passages[some], alone):
        stops = tuple(chain.from_iterable(short.stopped))
        counts.add_passages(passages[some], [(short.every, stops)])
        stopped += [tuple(dict.fromkeys(words)) for words in short.stopped]
    abbreviations = counts.abbreviations()
    title_words = Corpus(counts.known()).title_words
    titles = SharedValue[Titles]((title_words, first_words(title_words)))

    def own(some: slice) -> list[frozenset[str]]:
        return [abbreviations.intersection(words) for words in stopped[some]]

    runs, has_caseless = list[bytes](), list[bool]()
    for _, counted in _each(
        _RunFinder(rules),
        passages,
        lambda some: WithAbbreviations(passages[some], own(some)),
        titles,
    ):
        counts.add_each(*counted.words)
        runs += counted.runs
        has_caseless += counted.has_caseless
    corpus = Corpus(counts.known())
    decisions = SharedValue(corpus.decisions())
    batches = _each(
        _NameFinder(rules, finish),
        passages,
        lambda some: WithRuns(passages[some], own(some), runs[some], has_caseless[some]),
        decisions,
    )
    return corpus, chain.from_iterable(found for _, found in batches)


def count_short(passages: Sequence[NormalizedPassage], _: None = None) -> Short:
    """Return the short words of a batch.

    Example:
        >>> count_short([NormalizedPassage("Mr. Bell is in.", "", 0)])
        Short(every=['mr', 'bell', 'is', 'in'], stopped=[('mr',)])
    """
    short = find_all_short([passage.text for passage in passages])
    every = list(chain.from_iterable(words for words, _ in short))
    return Short(every, [words for _, words in short])


@dataclass(frozen=True)
class _RunFinder:
    """Finds what may be a name in a batch, and the words that are counted."""

    rules: Rules

    def __call__(self, batch: WithAbbreviations, shared: Titles) -> Counted:
        (titles, firsts), runs, counted = shared, list[bytes](), []
        for words, its_counted in find_words(batch.passages, batch.own):
            counted.append(its_counted)
            found = find_passage_runs(words, titles, firsts, self.rules)
            runs.append(pack_runs(words, found).tobytes())
        return Counted(
            runs,
            [bool(one.caseless) for one in counted],
            (
                list(chain.from_iterable(one.capital for one in counted)),
                list(chain.from_iterable(one.small for one in counted)),
                list(chain.from_iterable(one.caseless for one in counted)),
                list(chain.from_iterable(one.pairs for one in counted)),
            ),
        )


@dataclass(frozen=True)
class _NameFinder(Generic[Found]):
    """Finds the names in a batch, by what the corpus has decided."""

    rules: Rules
    finish: Finish[Found]

    def __call__(self, batch: WithRuns, decisions: Decisions) -> list[Found]:
        results = list[Found]()
        for passage, own, packed, has_caseless in zip(
            batch.passages, batch.own, batch.runs, batch.has_caseless, strict=True
        ):
            caseless = list[Word]()
            if has_caseless:
                caseless = caseless_words(find_passage_words(passage, own))
            evidence = decisions.evidence(passage, own, caseless)
            words, runs = unpack_runs(passage.text, array("i", packed))
            mentions = choose_mentions(passage, words, runs, caseless, evidence, self.rules)
            results.append(self.finish(passage, mentions))
        return results


def pack_runs(words: TextWords, runs: Sequence[Run]) -> array[int]:
    """Return runs as whole numbers.

    These are the number of runs; how many words each has; whether each is a title; and of all words
    where they start, where they end, where their sentences start, and whether they have a capital.

    Example:
        >>> from clew.read.extract.word_columns import find_columns
        >>> words = TextWords.from_place("Then Anna", find_columns("Then Anna"), 0)
        >>> list(pack_runs(words, [(1, 2, False)]))
        [1, 1, 0, 5, 9, 0, 1]
    """
    start, (starts, ends, _, _, capitals, sentences, *_) = words.start, words.columns
    numbers = [i for first, end, _ in runs for i in range(first, end)]
    return array(
        "i",
        [
            len(runs),
            *[end - first for first, end, _ in runs],
            *[is_title for _, _, is_title in runs],
            *[starts[i] - start for i in numbers],
            *[ends[i] - start for i in numbers],
            *[sentences[i] - start for i in numbers],
            *[capitals[i] for i in numbers],
        ],
    )


def unpack_runs(text: str, packed: array[int]) -> tuple[TextWords, list[Run]]:
    """Return the runs that `pack_runs` has packed, and the words that they consist of.

    Args:
        text: The text that they are in.
        packed: What `pack_runs` returned.

    Example:
        >>> unpack_runs("Then Anna", array("i", [1, 1, 0, 5, 9, 0, 1]))[0].keys
        ['anna']
    """
    n_runs, *numbers = packed.tolist()
    behind = list(accumulate(numbers[:n_runs]))
    titles, first = numbers[n_runs : 2 * n_runs], 2 * n_runs
    runs = [
        (end - n_words, end, bool(title))
        for end, n_words, title in zip(behind, numbers, titles, strict=False)
    ]
    n = behind[-1] if behind else 0
    starts, ends, sentences, capitals = (
        (numbers[start : start + n] for start in range(first, first + OF_WORD * n, n or 1))
        if n
        else ([], [], [], [])
    )
    columns = WordColumns(
        starts,
        ends,
        [text[start:end].casefold() for start, end in zip(starts, ends, strict=True)],
        [start == sentence for start, sentence in zip(starts, sentences, strict=True)],
        list(map(bool, capitals)),
        sentences,
        [],
        [],
    )
    return TextWords(text, 0, columns, 0, n, ()), runs


Batch = TypeVar("Batch")
Shared = TypeVar("Shared")
Result = TypeVar("Result")


def _each(
    function: Callable[[Batch, Shared], Result],
    passages: Sequence[NormalizedPassage],
    batch_of: Callable[[slice], Batch],
    shared: SharedValue[Shared],
) -> Iterator[tuple[slice, Result]]:
    """Yield batches of passages, as slices of all, each with what a function returns of it.

    Args:
        function: The function, which can be pickled.
        passages: All passages.
        batch_of: What the function is called with, of the passages in a slice.
        shared: What else it is called with. An executor is sent no batch that is smaller.
    """
    sizes = [len(passage.text) for passage in passages]
    if works_elsewhere():
        slices = list(_slices(sizes, max(MIN_SENT, len(shared.packed))))
        batches = ((batch_of(some), shared) for some in slices)
        return zip(slices, run_batches(partial(_with_own, function), batches), strict=True)
    slices = [slice(i, i + BLOCK) for i in range(0, len(passages), BLOCK)]
    with_shared = partial(_with_shared, function, shared)
    begun = begin_items(
        with_shared, list(map(batch_of, slices)), sizes=[sum(sizes[some]) for some in slices]
    )
    found = map(with_shared, map(batch_of, slices)) if begun is None else begun.in_turn()
    return zip(slices, found, strict=True)


def _with_own(
    function: Callable[[Batch, Shared], Result], batch: tuple[Batch, SharedValue[Shared]]
) -> Result:
    own, shared = batch
    return function(own, shared.value)


def _with_shared(
    function: Callable[[Batch, Shared], Result], shared: SharedValue[Shared], batch: Batch
) -> Result:
    return function(batch, shared.value)


def _slices(sizes: Sequence[int], least: int) -> Iterator[slice]:
    """Yield neighbours that have at least some size together."""
    first, total = 0, 0
    for i, size in enumerate(sizes, 1):
        total += size
        if total >= least or i == len(sizes):
            yield slice(first, i)
            first, total = i, 0
