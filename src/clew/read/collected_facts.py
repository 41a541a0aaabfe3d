"""Facts and entities as they are read, and the columns that they become."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain, count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.graph import Facts, Labels, Ragged, first_places, freeze, offsets_of, seal

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
        self._written: list[str] = []  # the name of every entity
        # What comes for the first time gets the next number as it is looked up.
        self._entities = defaultdict[str, int](count().__next__)
        self._relations = defaultdict[str, int](count().__next__)
        # As whole numbers, one behind the other: a list for each would take much more.
        self._ends, self._between, self._passages = array("i"), array("i"), array("i")
        self._new: list[ReadFacts] = []  # that are not numbered yet
        self._n_new = 0

    @property
    def names(self) -> Mapping[str, str]:
        """The name of every entity as it is written first, by its name with its case folded."""
        self._number()
        return dict(zip(self._entities, self._written, strict=True))

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
        known = len(self._entities)
        numbers = np.fromiter(map(self._entities.__getitem__, ends), np.int32, len(ends))
        first = first_places(numbers, len(self._entities))[known:]
        self._written += map(written.__getitem__, first.tolist())  # as it is written there
        self._ends.frombytes(numbers.tobytes())
        between = map(self._relations.__getitem__, relations)
        self._between.frombytes(np.fromiter(between, np.int32, len(relations)).tobytes())

    def named_in(self) -> Ragged:
        """Return the passages that name each entity."""
        self._number()
        passages = np.repeat(np.array(self._passages, np.int32), 2)
        return _places(np.array(self._ends, np.int32), passages, len(self._written))

    def as_facts(self, first_entity: int) -> Facts:
        """Return the facts, without vectors.

        Args:
            first_entity: The row of the first entity; the others follow.
        """
        self._number()
        names, relations = self._written, [*self._relations]
        in_order = tuple(sorted(relations))
        place = np.zeros(len(relations), np.int32)
        place[[self._relations[relation] for relation in in_order]] = np.arange(len(relations))
        ends = np.array(self._ends, np.int32).reshape(-1, 2)
        between = np.array(self._between, np.int32)
        numbers, first = _number_distinct(ends, between)
        ends, between = ends[first], between[first]
        parts = zip(ends[:, 0].tolist(), between.tolist(), ends[:, 1].tolist(), strict=True)
        stated_in = np.array(self._passages, np.int32)
        return Facts(
            tuple([f"{names[a]} {relations[r]} {names[b]}" for a, r, b in parts]),
            freeze(np.zeros((len(first), 0)), np.float32),
            freeze(first_entity + ends[:, 0], np.int32),
            freeze(first_entity + ends[:, 1], np.int32),
            Labels(in_order, freeze(place[between], np.int32)),
            _places(numbers, stated_in, len(first)),
        )


def _number_distinct(
    ends: NDArray[np.int32], between: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of each fact, in the order of coming, and the place of each number's first.

    Args:
        ends: int32 [m, 2], the entities of each fact.
        between: int32 [m], the relation of each.
    """
    pairs = ends[:, 0].astype(np.int64) * (int(between.max(initial=-1)) + 1) + between
    codes = _codes(pairs) * (int(ends[:, 1].max(initial=-1)) + 1) + ends[:, 1]
    by_code = _codes(codes)
    first = np.sort(first_places(by_code, int(by_code.max(initial=-1)) + 1))
    number_of = np.empty(len(first), np.int64)
    number_of[by_code[first]] = np.arange(len(first))
    return number_of[by_code], first


def _codes(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each value among all that there are, each once, in their order."""
    order = np.argsort(values, kind="stable")
    is_new = np.ones(len(values), np.bool_)
    np.not_equal(values[order[1:]], values[order[:-1]], out=is_new[1:])
    codes = np.empty(len(values), np.int64)
    codes[order] = np.cumsum(is_new) - 1
    return codes


def _places(things: NDArray[np.integer], passages: NDArray[np.int32], n: int) -> Ragged:
    """Return the passages of each of `n` things, each once, in the order of their coming.

    Args:
        things: int [m], things, as they come.
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
