"""The facts of a passage, kept for the next time that it is read.

A passage is read again beside other passages, as the candidates of one question and of the next.
What the corpus says of its words changes with them, but little of that is asked for. So its facts
are kept with what was asked, and are read anew only where the corpus says something else of it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from clew.read.extract.extractor import Triple
from clew.read.extract.name_rules import Rules
from clew.read.extract.passage_names import (
    WORDS,
    Evidence,
    NormalizedPassage,
    facts_of_mentions,
    find_evident_runs,
    find_mentions,
    without_overlaps,
)
from clew.read.extract.word_columns import TextWords
from clew.text.kept import MAX_KEPT_TEXT, Kept


class _Asked(AbstractSet[str]):
    """Words, and of those that somebody asked for, whether they are among them."""

    def __init__(self, words: AbstractSet[str]) -> None:
        self.words = words
        self.asked: dict[Any, bool] = {}  # no `dict[Any, bool]()`, which takes eight times as long

    def __contains__(self, word: object) -> bool:
        found = self.asked[word] = word in self.words
        return found

    def parts(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the words that were asked for: those that are among these, and the others."""
        asked = self.asked.items()
        return (
            tuple([word for word, is_there in asked if is_there]),
            tuple([word for word, is_there in asked if not is_there]),
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)


class KnownFacts(NamedTuple):
    """The facts of a passage, and what they depend on: words that were asked for.

    Attributes:
        small: Those that were `mostly_small`.
        not_small: Those that were not.
        capital: Those that were `capital`.
        not_capital: Those that were not.
        titles: Those that were `titles`.
        not_titles: Those that were not.
        facts: The facts.
    """

    small: tuple[str, ...]
    not_small: tuple[str, ...]
    capital: tuple[str, ...]
    not_capital: tuple[str, ...]
    titles: tuple[str, ...]
    not_titles: tuple[str, ...]
    facts: tuple[Triple, ...]

    def hold(self, small: frozenset[str], capital: frozenset[str], titles: frozenset[str]) -> bool:
        """Return whether the corpus says the same of the words that were asked for."""
        return (
            small.issuperset(self.small)
            and capital.issuperset(self.capital)
            and titles.issuperset(self.titles)
            and small.isdisjoint(self.not_small)
            and capital.isdisjoint(self.not_capital)
            and titles.isdisjoint(self.not_titles)
        )


class KnownPassage(NamedTuple):
    """What is known of a passage, whatever the corpus says of its words, and what by that.

    Attributes:
        runs: What may be a name, as the parts of each run, one behind the other, by the numbers of
            the words, of which the first behind the title is 0.
        known: Its facts, the newest first.
    """

    runs: array[int]
    known: tuple[KnownFacts, ...]


FACTS = Kept[Any, KnownPassage](4_096)  # by the passage and what else they depend on
BY_RUNS = Kept[Any, KnownPassage](4_096)
"""The same by the runs in the place of the titles of other passages: most make no other run."""
MAX_KNOWN = 4  # times that the facts of a passage are kept, each for other words beside it


def read_facts(
    passage: NormalizedPassage, evidence: Evidence, rules: Rules, words: TextWords | None = None
) -> tuple[Triple, ...]:
    """Return the facts of a passage: see `clew.read.extract.relations`.

    Args:
        passage: The passage.
        evidence: What the corpus says of its words.
        rules: What is a name, and what is a relation.
        words: Its words behind its title, where somebody has them.

    Example:
        >>> evidence = Evidence(*[frozenset()] * 4, (), (), *[frozenset()] * 2)
        >>> rules = Rules(6, 8, frozenset(), frozenset(), False)
        >>> read_facts(NormalizedPassage("She married Ben in Rome.", "Anna", 0), evidence, rules)
        (('Anna', 'She married', 'Ben'), ('Anna', '… in', 'Rome'))
    """
    decided = (
        frozenset(evidence.mostly_small),
        frozenset(evidence.capital),
        frozenset(evidence.titles),
    )
    key = *passage, rules, evidence.abbreviations, *evidence[4:]
    before = FACTS.get(key)
    known = () if before is None else before.known
    for one in known:
        if one.hold(*decided):
            return one.facts
    if words is None:
        words = WORDS.of(passage, evidence.abbreviations)
    begin = words.first  # the words of texts that are read together are numbered on
    if before is not None:
        parts = before.runs
        runs = [
            (first + begin, end + begin, bool(is_title))
            for first, end, is_title in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
        ]
        kept_runs = before.runs
    else:
        runs = find_evident_runs(words, evidence, rules)
        parts_of_runs = [n for a, b, title in runs for n in (a - begin, b - begin, title)]
        kept_runs = array("i", parts_of_runs)
        before = BY_RUNS.get((*key[:5], kept_runs.tobytes(), *key[6:]))
        if before is not None:
            known = before.known
            for one in known:
                if one.hold(*decided):
                    FACTS.put(key, before)
                    return one.facts
    traced = _Asked(decided[0]), _Asked(decided[1]), _Asked(decided[2])
    traceable = Evidence(
        evidence.abbreviations,
        traced[0],
        traced[1],
        traced[2],
        evidence.title_words,
        evidence.unspaced_titles,
        evidence.spaced_names,
        evidence.joined,
    )
    mentions = without_overlaps(find_mentions(passage, words, runs, traceable, rules))
    facts = facts_of_mentions(words.text, passage.title, mentions, rules)
    if len(passage.text) <= MAX_KEPT_TEXT:
        found = KnownFacts(*traced[0].parts(), *traced[1].parts(), *traced[2].parts(), facts)
        made = KnownPassage(kept_runs, (found, *known[: MAX_KNOWN - 1]))
        FACTS.put(key, made)
        BY_RUNS.put((*key[:5], kept_runs.tobytes(), *key[6:]), made)
    return facts
