"""The names in many passages, of which each is cut into words once.

What may be a name does not depend on what the corpus says of its words. So it is found while words
are counted, and what is kept of a passage until all are counted is the places of a few words, as
whole numbers: an object for each would take a gigabyte for 100,000 passages, and the garbage
collector would go through all of them again and again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate

from clew.read.extract.caseless import caseless_words
from clew.read.extract.corpus import Corpus, CorpusCounts
from clew.read.extract.knowledge import Knowledge
from clew.read.extract.mentions import Run, first_words
from clew.read.extract.name_rules import Rules
from clew.read.extract.passage_names import (
    MOST_WRITTEN,
    NormalizedPassage,
    choose_mentions,
    find_all_short,
    find_passage_runs,
    find_passage_words,
    find_words,
)
from clew.read.extract.relations import Mention
from clew.read.extract.word_columns import TextWords, Word, WordColumns

MANY = MOST_WRITTEN // 2
"""Passages above which nothing is kept of one for the next time: they would displace each other."""

BLOCK = 128  # passages that are counted in one call
OF_WORD = 4  # whole numbers


def find_in_many(
    passages: Sequence[NormalizedPassage], before: Knowledge | None, rules: Rules
) -> tuple[Corpus, Iterator[list[Mention]]]:
    """Return what is known with these passages, and what is a name in each; names may overlap.

    Args:
        passages: The passages.
        before: What others have taught; None where there are no others.
        rules: What is a name.
    """
    counts, stopped = CorpusCounts(before), list[tuple[str, ...]]()
    for block in _blocks(passages):
        short = find_all_short([passage.text for passage in block])
        counts.add_passages(block, short)
        stopped += [tuple(dict.fromkeys(words)) for _, words in short]
    abbreviations = counts.abbreviations()
    title_words = Corpus(counts.known()).title_words
    firsts = first_words(title_words)
    runs, with_caseless, number = list["array[int]"](), set[int](), 0
    for block in _blocks(passages):
        counted, own = [], [abbreviations.intersection(some) for some in stopped[number:][:BLOCK]]
        for words, its_counted in find_words(block, own):
            counted.append(its_counted)
            runs.append(pack_runs(words, find_passage_runs(words, title_words, firsts, rules)))
            if its_counted.caseless:
                with_caseless.add(number)
            number += 1
        counts.add_words(counted)
    corpus = Corpus(counts.known())

    def mentions(number: int) -> list[Mention]:
        passage, own = passages[number], abbreviations.intersection(stopped[number])
        caseless = list[Word]()
        if number in with_caseless:
            caseless = caseless_words(find_passage_words(passage, own))
        evidence = corpus.evidence_beside_titles(passage, own, caseless)
        words, found = unpack_runs(passage.text, runs[number])
        return choose_mentions(passage, words, found, caseless, evidence, rules)

    return corpus, map(mentions, range(len(passages)))


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


def _blocks(passages: Sequence[NormalizedPassage]) -> Iterator[Sequence[NormalizedPassage]]:
    for start in range(0, len(passages), BLOCK):
        yield passages[start : start + BLOCK]
