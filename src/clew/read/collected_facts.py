"""Facts and entities as they are read, and the columns that they become."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.graph import Facts, Labels, Ragged, freeze, offsets_of, seal


class ReadFact(NamedTuple):
    """A fact as it is read.

    Attributes:
        ends: Its two entities, with their case folded.
        names: These as they are written.
        relation: What is between them.
    """

    ends: tuple[str, str]
    names: tuple[str, str]
    relation: str


class CollectedFacts:
    """Facts and entities under construction, numbered in the order in which they come first.

    Attributes:
        names: The name of every entity as it is written first, by its name with its case folded.

    Example:
        >>> collected = CollectedFacts()
        >>> collected.add(("anna", "ben"), ("Anna", "Ben"), "met", passage=0)
        >>> collected.add(("anna", "ben"), ("ANNA", "Ben"), "met", passage=3)
        >>> collected.names, [passages.tolist() for passages in collected.named_in()]
        ({'anna': 'Anna', 'ben': 'Ben'}, [[0, 3], [0, 3]])
        >>> collected.as_facts(first_entity=4).texts
        ('Anna met Ben',)
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self._entities: dict[str, int] = {}
        self._relations: dict[str, int] = {}
        self._facts: dict[tuple[int, int, int], int] = {}
        # As whole numbers, one behind the other: a list for each would take much more.
        self._ends, self._stated, self._passages = array("i"), array("i"), array("i")

    def add(
        self, ends: tuple[str, str], names: tuple[str, str], relation: str, passage: int
    ) -> None:
        """Note that a passage states a fact; see `ReadFact`.

        Args:
            ends: Its two entities, with their case folded.
            names: These as they are written.
            relation: What is between them.
            passage: The row of the passage.
        """
        self.add_all([ReadFact(ends, names, relation)], passage)

    def add_all(self, read: Iterable[ReadFact], passage: int) -> None:
        """Note that a passage states some facts."""
        entities, relations, facts = self._entities, self._relations, self._facts
        rows, stated = list[int](), list[int]()
        for (first, second), names, relation in read:
            subject = entities.get(first)
            if subject is None:
                subject = self._new_entity(first, names[0])
            object = entities.get(second)
            if object is None:
                object = self._new_entity(second, names[1])
            fact = subject, relations.setdefault(relation, len(relations)), object
            rows += (subject, object)
            stated.append(facts.setdefault(fact, len(facts)))
        self._ends.extend(rows)
        self._stated.extend(stated)
        self._passages.extend([passage] * len(stated))

    def named_in(self) -> Ragged:
        """Return the passages that name each entity."""
        passages = np.repeat(np.array(self._passages, np.int32), 2)
        return _places(np.array(self._ends, np.int32), passages, len(self.names))

    def as_facts(self, first_entity: int) -> Facts:
        """Return the facts, without vectors.

        Args:
            first_entity: The row of the first entity; the others follow.
        """
        names, relations = [*self.names.values()], [*self._relations]
        parts = chain.from_iterable(self._facts)
        facts = np.fromiter(parts, np.int32, 3 * len(self._facts)).reshape(-1, 3)
        stated_in = np.array(self._passages, np.int32)
        return Facts(
            tuple([f"{names[a]} {relations[r]} {names[b]}" for a, r, b in self._facts]),
            freeze(np.zeros((len(facts), 0)), np.float32),
            freeze(first_entity + facts[:, 0], np.int32),
            freeze(first_entity + facts[:, 2], np.int32),
            Labels.of([relations[relation] for relation in facts[:, 1].tolist()]),
            _places(np.array(self._stated, np.int32), stated_in, len(facts)),
        )

    def _new_entity(self, end: str, name: str) -> int:
        self.names[end] = name
        number = self._entities[end] = len(self._entities)
        return number


def _places(things: NDArray[np.int32], passages: NDArray[np.int32], n: int) -> Ragged:
    """Return the passages of each of `n` things, each once, in the order of their coming.

    Args:
        things: int32 [m], things, as they come.
        passages: int32 [m], the passage that each is in.
        n: the number of things.
    """
    order = np.lexsort((passages, things))  # stable: of equal pairs, the first comes first
    again = np.zeros(len(order), np.bool_)
    again[1:] = (np.diff(things[order]) == 0) & (np.diff(passages[order]) == 0)
    first = np.sort(order[~again])
    by_thing = first[np.argsort(things[first], kind="stable")]
    lengths = np.bincount(things[first], minlength=n)
    return Ragged(seal(offsets_of(lengths)), seal(passages[by_thing]))
