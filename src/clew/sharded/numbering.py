"""Numbers of nodes and facts that are those of no other shard; an entity of several has one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clew.graph import Rows, distinct, freeze
from clew.remote.corpus import CorpusFigures

NUMBERS = 2**30  # of all shards for entities, behind as many for all else


@dataclass(frozen=True, eq=False)
class ShardNumbers:
    """The numbers of what is in several shards.

    Every shard has a range of its own for its entities, and one for all else. Entities come behind,
    as in an index of all documents. An entity that several shards have is known by the number that
    it has in the first of them.

    Attributes:
        entities: of each shard, int32 [e], the numbers of its entities in it, ascending.
        twins: int32 [m], the numbers of entities that an earlier shard has, too, ascending.
        first: int32 [m], the number of each in the first shard that has it.

    Example:
        >>> shards = [(np.array([4]), np.array([77])), (np.array([9]), np.array([77]))]
        >>> numbers = ShardNumbers.of_entities(shards)
        >>> whole = numbers.of_shard(np.array([1, 9]), 1)
        >>> numbers.in_shard(whole, 0), numbers.in_shard(whole, 1)
        (array([4], dtype=int32), array([1, 9], dtype=int32))
    """

    entities: tuple[Rows, ...]
    twins: Rows
    first: Rows

    @classmethod
    def of(cls, corpora: Sequence[CorpusFigures]) -> ShardNumbers:
        """Return the numbers of shards."""
        return cls.of_entities([(one.entities, one.entity_keys) for one in corpora])

    @classmethod
    def of_entities(cls, shards: Sequence[tuple[Rows, NDArray[np.int64]]]) -> ShardNumbers:
        """Return the numbers of shards by the numbers and the keys of their entities.

        Args:
            shards: Of each, the numbers of its entities, ascending, and their keys.
        """
        none = freeze([], np.int32)
        alone = cls(tuple(freeze(rows, np.int32) for rows, _ in shards), none, none)
        own = [alone.of_shard(rows, i) for i, (rows, _) in enumerate(shards)]
        numbers = np.concatenate([none, *own])
        keys = np.concatenate([np.zeros(0, np.int64), *(keys for _, keys in shards)])
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        representatives = numbers[first][place] if len(keys) else numbers
        is_twin = representatives != numbers
        order = np.argsort(numbers[is_twin])
        twins, firsts = numbers[is_twin][order], representatives[is_twin][order]
        return replace(alone, twins=freeze(twins, np.int32), first=freeze(firsts, np.int32))

    @property
    def size(self) -> int:
        """How many numbers a shard has for its entities, and for all else."""
        return NUMBERS // max(1, len(self.entities))

    def of_shard(self, numbers: NDArray[np.integer], shard: int) -> Rows:
        """Return the numbers that those of one shard have among all; -1 stays.

        Args:
            numbers: Those in the shard.
            shard: Its place.

        Raises:
            ValueError: The shard has a number that is beyond its range.
        """
        own, entities = self._in_range(numbers, shard), self.entities[shard]
        if not len(entities) or numbers.max(initial=-1) < entities[0]:  # as those of passages
            return own
        is_entity = _places(entities, numbers) >= 0
        own = freeze(np.where(is_entity, own + NUMBERS, own), np.int32)
        if not len(self.twins):
            return own
        places = _places(self.twins, own)
        return freeze(np.where(places >= 0, self.first[places], own), np.int32)

    def repeated(self, ids: Sequence[Iterable[str]]) -> Rows:
        """Return the numbers of the nodes that may have an id of another node, ascending.

        An entity of several shards is one node.

        Args:
            ids: Of each shard, those of its nodes.

        Example:
            >>> one, two = np.array([4]), np.array([9])
            >>> numbers = ShardNumbers.of_entities([(one, np.array([7])), (two, np.array([8]))])
            >>> numbers.repeated([["sea", "isle"], ["port", "isle"]]) - numbers.size
            array([-536870911,          1], dtype=int32)
        """
        hashes = [np.fromiter(map(hash, own), np.int64) for own in ids]
        each = [self.of_shard(np.arange(len(own)), i) for i, own in enumerate(hashes)]
        numbers, first = np.unique(np.concatenate(each), return_index=True)
        own = np.concatenate(hashes)[first]
        order = np.argsort(own, kind="stable")
        alike = np.flatnonzero(own[order][1:] == own[order][:-1])
        found = distinct(numbers[order[np.concatenate([alike, alike + 1])]])
        return freeze(found, np.int32)

    def of_facts(self, numbers: NDArray[np.integer], shard: int) -> Rows:
        """Return the numbers that the facts of one shard have among all."""
        return self._in_range(numbers, shard)

    def facts_in_shard(self, numbers: Rows, shard: int) -> Rows:
        """Return the numbers in a shard of those facts that it has, ascending."""
        here = numbers[numbers // self.size == shard] - shard * self.size
        return freeze(np.sort(here), np.int32)

    def in_shard(self, numbers: Rows, shard: int) -> Rows:
        """Return the numbers in a shard of those nodes that it has, ascending.

        Args:
            numbers: Numbers among all.
            shard: The place of the shard.
        """
        return freeze(np.sort(self.places_in_shard(numbers, shard)[0]), np.int32)

    def places_in_shard(self, numbers: Rows, shard: int) -> tuple[Rows, NDArray[np.int64]]:
        """Return the numbers in a shard of those nodes that it has, and the places of these.

        Args:
            numbers: Numbers among all, each once.
            shard: The place of the shard.
        """
        here = np.flatnonzero(self._shard_of(numbers) == shard)
        twins = np.flatnonzero(self._shard_of(self.twins) == shard)
        order = np.argsort(numbers, kind="stable")
        at = _places(numbers[order], self.first[twins])
        places = np.concatenate([here, order[at[at >= 0]]])
        found = np.concatenate([numbers[here], self.twins[twins][at >= 0]])
        return freeze(found % NUMBERS - shard * self.size, np.int32), places

    def _shard_of(self, numbers: Rows) -> NDArray[np.int64]:
        return numbers.astype(np.int64) % NUMBERS // self.size

    def _in_range(self, numbers: NDArray[np.integer], shard: int) -> Rows:
        if len(numbers) and int(numbers.max()) >= self.size:
            raise ValueError(
                f"shard {shard} has a node or a fact of number {int(numbers.max())}, and each of "
                f"these shards has {self.size} numbers: ask fewer shards together, or save the "
                "index anew"
            )
        own = np.where(numbers >= 0, numbers.astype(np.int64) + shard * self.size, -1)
        return freeze(own, np.int32)


def _places(ascending: Rows, wanted: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the place of each number among those that ascend; -1 for one that is not there."""
    if not len(ascending):
        return np.full(len(wanted), -1, np.int64)
    places = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    found: NDArray[np.int64] = np.where(ascending[places] == wanted, places, -1)
    return found


def renumbered(rows: Rows, row_of: Rows) -> Rows:
    """Return the new numbers of rows; -1 for none stays.

    Args:
        rows: int32 [n], rows, or -1.
        row_of: int32, the new number of each row, or -1.

    Example:
        >>> renumbered(np.array([1, -1]), np.array([5, 7]))
        array([ 7, -1], dtype=int32)
    """
    if not len(row_of):
        return freeze(np.full(len(rows), -1), np.int32)
    return freeze(np.where(rows >= 0, row_of[rows], -1), np.int32)
