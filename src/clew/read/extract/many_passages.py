"""The names in many passages, of which each is cut into words once.

What may be a name does not depend on what the corpus says of its words. So it is found while words
are counted, and what is kept of a passage until all are counted is the places of a few words, as
whole numbers: an object for each would take a gigabyte for 100,000 passages, and the garbage
collector would go through all of them again and again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence

from clew.read.extract.caseless import caseless_words
from clew.read.extract.corpus import Corpus, CorpusCounts
from clew.read.extract.knowledge import Knowledge
from clew.read.extract.mentions import Run, find_short_words
from clew.read.extract.passage_names import (
    MOST_WRITTEN,
    NormalizedPassage,
    Rules,
    choose_mentions,
    count_words,
    find_passage_runs,
    find_passage_words,
)
from clew.read.extract.relations import Mention
from clew.read.extract.word_columns import Word

MANY = MOST_WRITTEN // 2
"""Passages above which nothing is kept of one for the next time: they would displace each other."""

BLOCK = 512  # passages that are counted in one call
OF_RUN, OF_WORD = 2, 4  # whole numbers


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
        short = [find_short_words(passage.text) for passage in block]
        counts.add_passages(block, short)
        stopped += [tuple(dict.fromkeys(words)) for _, words in short]
    abbreviations = counts.abbreviations()
    title_words = Corpus(counts.known()).title_words
    runs, with_caseless, number = list["array[int]"](), set[int](), 0
    for block in _blocks(passages):
        counted = []
        for passage in block:
            words = find_passage_words(passage, abbreviations.intersection(stopped[number]))
            caseless = caseless_words(passage.text, words)
            counted.append(count_words(words, caseless))
            runs.append(pack_runs(find_passage_runs(passage, words, title_words, rules)))
            if caseless:
                with_caseless.add(number)
            number += 1
        counts.add_words(counted)
    corpus = Corpus(counts.known())

    def mentions(number: int) -> list[Mention]:
        passage, own = passages[number], abbreviations.intersection(stopped[number])
        caseless = list[Word]()
        if number in with_caseless:
            caseless = caseless_words(passage.text, find_passage_words(passage, own))
        evidence = corpus.evidence_beside_titles(passage, own, caseless)
        found = list(unpack_runs(passage.text, runs[number]))
        return choose_mentions(passage, found, caseless, evidence, rules)

    return corpus, map(mentions, range(len(passages)))


def pack_runs(runs: Iterable[Run]) -> array[int]:
    """Return runs as whole numbers.

    Those of a run are how many words it has, whether it is a title, and of each word where it
    starts and ends, where its sentence starts, and whether it has a capital.

    Example:
        >>> word = Word(5, 9, "anna", False, True, 0)
        >>> list(pack_runs([Run((word,), is_title=False)]))
        [1, 0, 5, 9, 0, 1]
    """
    numbers = list[int]()
    for words, is_title in runs:
        numbers += len(words), is_title
        for word in words:
            numbers += word.start, word.end, word.sentence, word.capital
    return array("i", numbers)


def unpack_runs(text: str, packed: array[int]) -> Iterator[Run]:
    """Yield the runs that `pack_runs` has packed.

    Args:
        text: The text that they are in.
        packed: What `pack_runs` returned.

    Example:
        >>> [words[0].key for words, _ in unpack_runs("Then Anna", array("i", [1, 0, 5, 9, 0, 1]))]
        ['anna']
    """
    numbers, place = packed.tolist(), 0
    while place < len(numbers):
        n_words, is_title = numbers[place : place + OF_RUN]
        place += OF_RUN
        words = list[Word]()
        for at in range(place, place + n_words * OF_WORD, OF_WORD):
            start, end, sentence, capital = numbers[at : at + OF_WORD]
            key = text[start:end].casefold()
            words.append(Word(start, end, key, start == sentence, bool(capital), sentence))
        place += n_words * OF_WORD
        yield Run(tuple(words), bool(is_title))


def _blocks(passages: Sequence[NormalizedPassage]) -> Iterator[Sequence[NormalizedPassage]]:
    for start in range(0, len(passages), BLOCK):
        yield passages[start : start + BLOCK]
