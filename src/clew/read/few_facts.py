"""The facts of a few texts that come again, such as candidates, by numbers that are kept.

What is among the candidates of one question is soon among those of another. The names, relations
and facts of a text are numbered once. To put those of several texts together is then done on
arrays, without a look at a name, which is mostly far away in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.graph import Facts, Labels, Ragged, freeze, seal
from clew.read.collected_facts import ReadFacts, places_of
from clew.text.numbering import SharedNumbering

MAX_NUMBERED = 65_536  # about so many names and relations have numbers; then all is forgotten


class NumberedFacts(NamedTuple):
    """The facts of one text by numbers.

    Attributes:
        numbering: What numbers names and relations.
        numbers: int32 [facts, 5], of each fact the two entities, their names as they are written,
            and the relation.
        texts: The facts as they are written there.
    """

    numbering: SharedNumbering[str]
    numbers: NDArray[np.int32]
    texts: tuple[str, ...]


class KeptNumbering:
    """A numbering that is used for long, and then forgotten.

    Args:
        most: About how many texts have numbers; then another one begins.
    """

    def __init__(self, most: int = MAX_NUMBERED) -> None:
        self._most = most
        self._numbering = SharedNumbering[str]()

    def current(self) -> SharedNumbering[str]:
        """Return the numbering by which the facts of a few texts are put together."""
        if len(self._numbering.numbers) > self._most:
            self._numbering = SharedNumbering()
        return self._numbering


NUMBERS = KeptNumbering()
"""The one that all questions of this process share."""


def number_facts(read: Sequence[ReadFacts], numbering: SharedNumbering[str]) -> list[NumberedFacts]:
    """Return the facts of each text by numbers.

    Args:
        read: The facts of each.
        numbering: What numbers names and relations.
    """
    ends, names, relations = (list(chain.from_iterable(one[i] for one in read)) for i in range(3))
    n = len(relations)
    found = numbering.array_of_new([*ends, *names, *relations])
    numbers = np.empty((n, 5), np.int32)
    numbers[:, :2] = found[: 2 * n].reshape(-1, 2)
    numbers[:, 2:4] = found[2 * n : 4 * n].reshape(-1, 2)
    numbers[:, 4] = found[4 * n :]
    texts = list(map(" ".join, zip(names[::2], relations, names[1::2], strict=True)))
    bounds = pairwise(accumulate((len(one.relations) for one in read), initial=0))
    return [NumberedFacts(numbering, numbers[a:b], tuple(texts[a:b])) for a, b in bounds]


class FewFacts:
    """What `CollectedFacts` is, of texts whose facts are numbered by one numbering.

    Args:
        facts: The facts of each text.
        passages: The row of each text.

    Example:
        >>> numbering = KeptNumbering().current()
        >>> written = ("Anna", "Ben"), ("ANNA", "Ben")
        >>> met = [ReadFacts(("anna", "ben"), names, ("met",)) for names in written]
        >>> few = FewFacts(number_facts(met, numbering), [0, 3])
        >>> few.names, [passages.tolist() for passages in few.named_in()]
        ({'anna': 'Anna', 'ben': 'Ben'}, [[0, 3], [0, 3]])
        >>> few.as_facts(first_entity=4).texts
        ('Anna met Ben',)
    """

    def __init__(self, facts: Sequence[NumberedFacts], passages: Sequence[int]) -> None:
        self._things = facts[0].numbering.things if facts else {}
        numbers = np.concatenate([np.zeros((0, 5), np.int32), *(one.numbers for one in facts)])
        self._passages = np.repeat(
            np.array(passages, np.int32), [len(one.numbers) for one in facts]
        )
        self._texts = list(chain.from_iterable(one.texts for one in facts))
        ends, self._written = numbers[:, :2].ravel(), numbers[:, 2:4].ravel()
        self._entities, self._first = _number_again(ends)
        self._ends, n_entities = ends[self._first], len(self._first)
        self._relations, first_relations = _number_again(numbers[:, 4])
        self._relation_names = self._names_of(numbers[first_relations, 4])
        subjects, objects = self._entities[::2], self._entities[1::2]
        pairs = subjects * np.int64(n_entities) + objects
        facts_as_numbers = pairs * len(first_relations) + self._relations
        _, first, again = np.unique(facts_as_numbers, return_index=True, return_inverse=True)
        order = np.argsort(first)  # in which they come
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        self._stated, self._first_stated = place[again], first[order]

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The name of every entity as it is written first, by its name with its case folded."""
        written = self._names_of(self._written[self._first])
        return dict(zip(self._names_of(self._ends), written, strict=True))

    def named_in(self) -> Ragged:
        """Return the passages that name each entity."""
        return places_of(self._entities, np.repeat(self._passages, 2), len(self._first))

    def as_facts(self, first_entity: int) -> Facts:
        """Return the facts, without vectors.

        Args:
            first_entity: The row of the first entity; the others follow.
        """
        first, relations = self._first_stated, self._relation_names
        ends, between = self._entities.reshape(-1, 2)[first], self._relations[first]
        texts = list(map(self._texts.__getitem__, first.tolist()))
        is_first = self._written == self._written[self._first][self._entities]
        others = np.flatnonzero(~is_first.reshape(-1, 2).all(axis=1)[first]).tolist()
        if others:  # where a name is written in another case first
            names = [*self.names.values()]
            for i, (a, b), r in zip(
                others, ends[others].tolist(), between[others].tolist(), strict=True
            ):
                texts[i] = f"{names[a]} {relations[r]} {names[b]}"
        order = sorted(range(len(relations)), key=relations.__getitem__)
        place = np.zeros(len(relations), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return Facts(
            tuple(texts),
            freeze(np.zeros((len(texts), 0)), np.float32),
            seal(first_entity + ends[:, 0]),
            seal(first_entity + ends[:, 1]),
            Labels(tuple([relations[i] for i in order]), seal(place[between])),
            places_of(self._stated, self._passages, len(first)),
        )

    def _names_of(self, numbers: NDArray[np.int32]) -> list[str]:
        return list(map(self._things.__getitem__, numbers.tolist()))


def _number_again(
    numbers: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return numbers in the place of others, from 0 on, in the order in which these come first.

    Returns:
        int32 [n], the new number of each, and int64, where each comes first.
    """
    n = len(numbers)
    first = np.full(int(numbers.max(initial=-1)) + 1, n, np.int32)
    np.minimum.at(first, numbers, np.arange(n, dtype=np.int32))
    place = first[numbers]  # of the first one like it
    is_first = place == np.arange(n)
    number_of = np.cumsum(is_first, dtype=np.int32) - np.int32(1)
    return number_of[place], np.flatnonzero(is_first)
