"""Facts and entities as they are read, and the columns that they become.

Those of many texts are numbered as they come. Those of a few, such as candidates, have numbers
already, which all questions of this process share: then arrays do the rest.
"""

from __future__ import annotations

from array import array
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, compress, count
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from clew.graph import Facts, Labels, Ragged, freeze, offsets_of, seal
from clew.text.numbering import SharedNumbering

BLOCK = 16_384  # facts that are numbered at once
MAX_NUMBERED = 65_536  # about so many names and relations have numbers; then all is forgotten


class FactNumbers:
    """Numbers for entities and for relations, for several threads at once.

    Attributes:
        entities: Those of entities, by their names with the case folded.
        relations: Those of relations.

    Example:
        >>> FactNumbers().of(("anna", "ben", "ben", "anna"), ("met", "met"))
        array([[0, 0, 1],
               [1, 0, 0]], dtype=int32)
    """

    def __init__(self) -> None:
        self.entities, self.relations = SharedNumbering[str](), SharedNumbering[str]()

    def of(self, ends: Sequence[str], relations: Sequence[str]) -> NDArray[np.int32]:
        """Return facts by numbers, int32 [n, 3]; see `ReadFacts`."""
        numbers = np.empty((len(relations), 3), np.int32)
        numbers[:, ::2] = self.entities.array_of(ends).reshape(-1, 2)
        numbers[:, 1] = self.relations.array_of(relations)
        return numbers

    @property
    def is_full(self) -> bool:
        """Whether it is time to forget all."""
        return len(self.entities.things) + len(self.relations.things) > MAX_NUMBERED


class NumberedFacts(NamedTuple):
    """Facts by numbers.

    Attributes:
        numbering: What numbers them.
        facts: int32 [n, 3], the subject, the relation and the object of each.
    """

    numbering: FactNumbers
    facts: NDArray[np.int32]


class ReadFacts(NamedTuple):
    """Facts as they are read from one text.

    Attributes:
        ends: The two entities of each, one fact after the other, with their case folded.
        names: These as they are written.
        relations: What is between them.
        numbered: The same by numbers, where they are kept.
    """

    ends: tuple[str, ...]
    names: tuple[str, ...]
    relations: tuple[str, ...]
    numbered: NumberedFacts | None = None

    def each(self) -> Iterator[ReadFacts]:
        """Yield every fact by itself."""
        for i in range(len(self.relations)):
            both = slice(2 * i, 2 * i + 2)
            yield ReadFacts(self.ends[both], self.names[both], self.relations[i : i + 1])


class Collected(Protocol):
    """Facts and entities, from which the columns of a graph are made."""

    @property
    def names(self) -> Mapping[str, str]:
        """The name of every entity as it is written first, by its name with its case folded."""
        ...

    def named_in(self) -> Ragged:
        """Return the passages that name each entity."""
        ...

    def as_facts(self, first_entity: int) -> Facts:
        """Return the facts, without vectors.

        Args:
            first_entity: The row of the first entity; the others follow.
        """
        ...


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
        """Return the facts, without vectors; see `Collected`."""
        self._number()
        parts = chain.from_iterable(self._facts)
        return _as_facts(
            list(self._names.values()),
            list(self._relations),
            np.fromiter(parts, np.int32, 3 * len(self._facts)).reshape(-1, 3),
            _Stated(np.array(self._stated, np.int32), np.array(self._passages, np.int32)),
            first_entity,
        )


class FewFacts:
    """Facts and entities of a few texts, whose facts are numbered already, each in one passage.

    Args:
        read: The facts of each text, all by one numbering.
        passages: The row of the passage of each.

    Example:
        >>> numbering = FactNumbers()
        >>> ends = "anna", "ben"
        >>> numbered = NumberedFacts(numbering, numbering.of(ends, ("met",)))
        >>> few = FewFacts(
        ...     [ReadFacts(ends, names, ("met",), numbered) for names in (("Anna", "Ben"), ends)],
        ...     passages=[0, 3],
        ... )
        >>> few.names, [passages.tolist() for passages in few.named_in()]
        ({'anna': 'Anna', 'ben': 'Ben'}, [[0, 3], [0, 3]])
        >>> few.as_facts(first_entity=4).texts
        ('Anna met Ben',)
    """

    def __init__(self, read: Sequence[ReadFacts], passages: Sequence[int]) -> None:
        numbered = [one.numbered for one in read if one.numbered is not None]
        numbering = numbered[0].numbering if numbered else FactNumbers()
        none = np.zeros((0, 3), np.int32)
        every = np.concatenate([none, *(one.facts for one in numbered)])
        ends, are_new = _in_order(every[:, ::2].ravel())
        relations, is_new = _in_order(every[:, 1])
        self.names = dict(
            zip(
                _things(numbering.entities, every[:, ::2].ravel()[are_new]),
                compress(chain.from_iterable(one.names for one in read), are_new.tolist()),
                strict=True,
            )
        )
        self._relations = _things(numbering.relations, every[is_new, 1])
        facts = np.stack([ends[::2], relations, ends[1::2]], axis=1)
        n, m = len(self.names), len(self._relations)
        _, distinct = np.unique((facts[:, 0] * m + relations) * n + facts[:, 2], return_inverse=True)
        stated, is_fact = _in_order(distinct)
        self._ends, self._facts = ends, facts[is_fact]
        lengths = [len(one.relations) for one in read]
        self._stated = _Stated(stated, np.repeat(np.array(passages, np.int32), lengths))

    def named_in(self) -> Ragged:
        """Return the passages that name each entity."""
        return _places(self._ends, np.repeat(self._stated.passages, 2), len(self.names))

    def as_facts(self, first_entity: int) -> Facts:
        """Return the facts, without vectors; see `Collected`."""
        names = list(self.names.values())
        return _as_facts(names, self._relations, self._facts, self._stated, first_entity)


class _Stated(NamedTuple):
    """Which facts passages state.

    Attributes:
        facts: int [m], the number of a fact for each time that it comes.
        passages: int32 [m], the passage that it comes in.
    """

    facts: NDArray[np.integer]
    passages: NDArray[np.int32]


def _in_order(numbers: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return new numbers in the order in which they come first, and where that is.

    Example:
        >>> [part.tolist() for part in _in_order(np.array([7, 3, 7]))]
        [[0, 1, 0], [True, True, False]]
    """
    places, first_at = np.arange(len(numbers)), np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    first_at[numbers[::-1]] = places[::-1]  # of the places of one, the first is put there last
    first_of_each = first_at[numbers]
    is_first = first_of_each == places
    return (np.cumsum(is_first) - 1)[first_of_each], is_first


def _things(numbering: SharedNumbering[str], numbers: NDArray[np.int32]) -> list[str]:
    return list(map(numbering.things.__getitem__, numbers.tolist()))


def _as_facts(
    names: Sequence[str],
    relations: Sequence[str],
    facts: NDArray[np.integer],
    stated: _Stated,
    first_entity: int,
) -> Facts:
    """Return the columns of facts, without vectors.

    Args:
        names: The names of the entities.
        relations: The relations.
        facts: int [n, 3], the subject, the relation and the object of each.
        stated: Which of them passages state.
        first_entity: The row of the first entity.
    """
    in_order = tuple(sorted(relations))
    place_of = {relation: place for place, relation in enumerate(in_order)}
    place = np.fromiter(map(place_of.__getitem__, relations), np.int32, len(relations))
    each = zip(*(column.tolist() for column in facts.T), strict=True)
    return Facts(
        tuple([f"{names[a]} {relations[r]} {names[b]}" for a, r, b in each]),
        freeze(np.zeros((len(facts), 0)), np.float32),
        freeze(first_entity + facts[:, 0], np.int32),
        freeze(first_entity + facts[:, 2], np.int32),
        Labels(in_order, freeze(place[facts[:, 1]], np.int32)),
        _places(stated.facts, stated.passages, len(facts)),
    )


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
