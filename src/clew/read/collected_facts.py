"""Facts and entities as they are read, and the columns that they become."""

from __future__ import annotations

from array import array
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from itertools import chain, count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.graph import Facts, Labels, Ragged, freeze, offsets_of, seal

BLOCK = 16_384  # facts that are numbered at once


class ReadFacts(NamedTuple):
    """Facts as they are read from one text.

    Attributes:
        ends: The two entities of each, one fact after the other, with their case folded.
        names: These as they are written.
        relations: What is between them.
    """

    ends: tuple[str, ...]
    names: tuple[str, ...]
    relations: tuple[str, ...]

    def each(self) -> Iterator[ReadFacts]:
        """Yield every fact by itself."""
        for i in range(len(self.relations)):
            both = slice(2 * i, 2 * i + 2)
            yield ReadFacts(self.ends[both], self.names[both], self.relations[i : i + 1])


class CollectedFacts:
    """Facts and entities under construction, numbered in the order in which they come first.

    They are numbered many at once, which takes a third of the time.

    Example:
        >>> collected = CollectedFacts()
        >>> collected.add(ReadFacts(("anna", "ben"), ("Anna", "Ben"), ("met",)), passage=0)
        >>> collected.add(ReadFacts(("anna", "ben"), ("ANNA", "Ben"), ("met",)), passage=3)
        >>> collected.names, [passages.tolist() for passages in collected.named_in()]
        ({'anna': 'Anna', 'ben': 'Ben'}, [[0, 3], [0, 3]])
        >>> collected.as_facts(first_entity=4).texts
        ('Anna met Ben',)
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        # What comes for the first time gets the next number as it is looked up.
        self._entities = defaultdict[str, int](count().__next__)
        self._relations = defaultdict[str, int](count().__next__)
        self._facts = defaultdict[tuple[int, int, int], int](count().__next__)
        # As whole numbers, one behind the other: a list for each would take much more.
        self._ends, self._stated, self._passages = array("i"), array("i"), array("i")
        self._new: list[ReadFacts] = []  # that are not numbered yet
        self._n_new = 0

    @property
    def names(self) -> Mapping[str, str]:
        """The name of every entity as it is written first, by its name with its case folded."""
        self._number()
        return self._names

    def add(self, read: ReadFacts, passage: int) -> None:
        """Note that a passage states some facts.

        Args:
            read: The facts.
            passage: The row of the passage.
        """
        n = len(read.relations)
        self._new.append(read)
        self._passages.extend([passage] * n)
        self._n_new += n
        if self._n_new >= BLOCK:
            self._number()

    def _number(self) -> None:
        """Number the facts that came, their entities and their relations."""
        ends = list(chain.from_iterable(one.ends for one in self._new))
        written = list(chain.from_iterable(one.names for one in self._new))
        relations = list(chain.from_iterable(one.relations for one in self._new))
        self._new.clear()
        self._n_new = 0
        deque(map(self._names.setdefault, ends, written), maxlen=0)  # the first one stays
        rows = list(map(self._entities.__getitem__, ends))
        between = map(self._relations.__getitem__, relations)
        facts = zip(rows[::2], between, rows[1::2], strict=True)
        self._ends.extend(rows)
        self._stated.extend(map(self._facts.__getitem__, facts))

    def named_in(self) -> Ragged:
        """Return the passages that name each entity."""
        self._number()
        passages = np.repeat(np.array(self._passages, np.int32), 2)
        return _places(np.array(self._ends, np.int32), passages, len(self._names))

    def as_facts(self, first_entity: int) -> Facts:
        """Return the facts, without vectors.

        Args:
            first_entity: The row of the first entity; the others follow.
        """
        self._number()
        names, relations = [*self._names.values()], [*self._relations]
        in_order = tuple(sorted(relations))
        place = np.zeros(len(relations), np.int32)
        place[[self._relations[relation] for relation in in_order]] = np.arange(len(relations))
        parts = chain.from_iterable(self._facts)
        facts = np.fromiter(parts, np.int32, 3 * len(self._facts)).reshape(-1, 3)
        stated_in = np.array(self._passages, np.int32)
        return Facts(
            tuple([f"{names[a]} {relations[r]} {names[b]}" for a, r, b in self._facts]),
            freeze(np.zeros((len(facts), 0)), np.float32),
            freeze(first_entity + facts[:, 0], np.int32),
            freeze(first_entity + facts[:, 2], np.int32),
            Labels(in_order, freeze(place[facts[:, 1]], np.int32)),
            _places(np.array(self._stated, np.int32), stated_in, len(facts)),
        )


def _places(things: NDArray[np.int32], passages: NDArray[np.int32], n: int) -> Ragged:
    """Return the passages of each of `n` things, each once, in the order of their coming.

    Args:
        things: int32 [m], things, as they come.
        passages: int32 [m], the passage that each is in.
        n: the number of things.
    """
    order = np.lexsort((passages, things))  # stable: of equal pairs, the first comes first
    again = np.zeros(len(order), np.bool_)
    ordered, their_passages = things[order], passages[order]
    again[1:] = (ordered[1:] == ordered[:-1]) & (their_passages[1:] == their_passages[:-1])
    first = np.sort(order[~again])
    by_thing = first[np.argsort(things[first], kind="stable")]
    lengths = np.bincount(things[first], minlength=n)
    return Ragged(seal(offsets_of(lengths)), seal(passages[by_thing]))
