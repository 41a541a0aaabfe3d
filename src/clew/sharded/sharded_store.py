"""Several graph stores as one: every call goes to all of them at once, and what comes is merged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.graph import Floats, Rows, Vectors, distinct, freeze
from clew.remote.corpus import CorpusFigures
from clew.remote.protocol import (
    Capabilities,
    Expansion,
    FoundSeeds,
    GraphStore,
    Near,
    PulledNodes,
    Wanted,
)
from clew.sharded.joined import join_pulled
from clew.sharded.numbering import ShardNumbers

Gather = Callable[[Sequence[Coroutine[Any, Any, Any]]], Awaitable[list[Any]]]
"""Runs calls of all shards at once, and returns what they return, in their order."""


@dataclass(frozen=True, eq=False)
class ShardedStore:
    """The shards of an index as one graph store.

    Attributes:
        stores: The shards.
        corpora: What is known of each.
        numbers: Their numbers.
        languages: Those of all shards.
        gather: How the shards are called.
        repeated: The nodes that may have an id of another node; None where nobody says.
    """

    stores: tuple[GraphStore, ...]
    corpora: tuple[CorpusFigures, ...]
    numbers: ShardNumbers
    languages: tuple[str, ...]
    gather: Gather
    repeated: Rows | None = None

    @property
    def capabilities(self) -> Capabilities:
        """What all shards can do."""
        each = [store.capabilities for store in self.stores]
        return Capabilities(
            enforces_where=all(one.enforces_where for one in each),
            searches_vectors=all(one.searches_vectors for one in each),
            snapshot=all(one.snapshot for one in each),
            is_async=all(one.is_async for one in each),
            spreads_masses=all(one.spreads_masses for one in each),
        )

    async def version(self) -> int:
        """Return the sum of the versions, which every write of a shard raises."""
        return int(sum(await self.gather([store.version() for store in self.stores])))

    async def seeds(
        self,
        vector: Vectors | None,
        stems: Sequence[bytes],
        passages: int,
        facts: int,
        where: Wanted | None = None,
    ) -> FoundSeeds:
        """Return what a question leads to directly; see `GraphStore`."""
        calls = [store.seeds(vector, stems, passages, facts, where) for store in self.stores]
        found: list[FoundSeeds] = await self.gather(calls)
        return FoundSeeds(
            sum(one.version for one in found),
            self._nearest([one.passages for one in found], passages),
            self._nearest_facts([one.facts for one in found], facts),
            self._postings(stems, found),
            self._allowed(found),
        )

    async def expand(
        self,
        numbers: Rows,
        per_node: int,
        without: Sequence[str] = (),
        where: Wanted | None = None,
        masses: Floats | None = None,
    ) -> Expansion:
        """Return the nodes that edges join with these; see `GraphStore`.

        An entity of several shards gives each of them the same part of its mass.
        """
        if not len(numbers):
            return Expansion(freeze([], np.int32), freeze([], np.float64), 0)
        found = [self.numbers.places_in_shard(numbers, i) for i in range(len(self.stores))]
        copies = np.zeros(len(numbers))
        for _, places in found:
            copies[places] += 1
        calls, asked = [], []
        for i, (own, places) in enumerate(found):
            if len(own):
                order = np.argsort(own)
                given = None if masses is None else (masses / np.maximum(copies, 1))[places][order]
                rows = freeze(own[order], np.int32)
                calls.append(_expand(self.stores[i], rows, per_node, without, where, given))
                asked.append(i)
        parts: list[Expansion] = await self.gather(calls)
        ends = [
            self.numbers.of_shard(part.numbers, i) for i, part in zip(asked, parts, strict=True)
        ]
        every = np.concatenate([_NONE, *ends])
        nodes, place = np.unique(every, return_inverse=True)
        weights = np.concatenate([np.zeros(0), *(part.weights for part in parts)])
        sums = np.bincount(place, weights, len(nodes)) if len(nodes) else np.zeros(0)
        cut = sum(part.cut for part in parts)
        return Expansion(freeze(nodes, np.int32), freeze(sums, np.float64), cut)

    async def nodes(
        self, numbers: Rows, fact_vectors: Rows | None = None, where: Wanted | None = None
    ) -> PulledNodes:
        """Return nodes with what contains them, and the facts and edges among them."""
        calls = []
        for i, store in enumerate(self.stores):
            wanted = fact_vectors
            if fact_vectors is not None:
                wanted = self.numbers.facts_in_shard(fact_vectors, i)
            calls.append(store.nodes(self.numbers.in_shard(numbers, i), wanted, where))
        parts: list[PulledNodes] = await self.gather(calls)
        return join_pulled(parts, self.numbers, self.corpora, self.languages, self.repeated)

    def _postings(
        self, stems: Sequence[bytes], found: Sequence[FoundSeeds]
    ) -> dict[bytes, tuple[Rows, Floats]]:
        each = []
        for i, one in enumerate(found):
            own = [one.postings.get(stem, (_NONE, np.zeros(0)))[0] for stem in stems]
            every = self.numbers.of_shard(np.concatenate([_NONE, *own]), i)
            each.append(np.split(every, np.cumsum([len(rows) for rows in own])[:-1]))
        postings = {}
        for n, stem in enumerate(stems):
            counts = [one.postings[stem][1] for one in found if stem in one.postings]
            if counts:
                numbers = np.concatenate([own[n] for own in each])
                postings[stem] = freeze(numbers, np.int32), np.concatenate(counts)
        return postings

    def _joined(self, parts: Sequence[Rows]) -> Rows:
        each = [self.numbers.of_shard(part, i) for i, part in enumerate(parts)]
        return freeze(np.concatenate(each), np.int32)

    def _allowed(self, found: Sequence[FoundSeeds]) -> Rows | None:
        """Return the passages that may be read; None where all may."""
        if all(one.allowed is None for one in found):
            return None
        return self._joined(
            [
                corpus.passages if one.allowed is None else one.allowed
                for one, corpus in zip(found, self.corpora, strict=True)
            ]
        )

    def _nearest(self, parts: Sequence[Near], k: int) -> Near:
        numbers = self._joined([part.numbers for part in parts])
        ends = freeze(distinct(self._joined([part.ends for part in parts])), np.int32)
        order, cosines = _best_first(parts)
        chosen = order[:k]
        near = freeze(cosines[chosen] if len(cosines) else [], np.float64)
        return Near(freeze(numbers[chosen], np.int32), ends, near)

    def _nearest_facts(self, parts: Sequence[Near], k: int) -> Near:
        """Return the nearest facts of all shards, and the farthest as the last."""
        each = [self.numbers.of_facts(part.numbers, i) for i, part in enumerate(parts)]
        numbers = np.concatenate([_NONE, *each])
        ends = freeze(distinct(self._joined([part.ends for part in parts])), np.int32)
        order, cosines = _best_first(parts)
        pairs = [
            np.stack([self.numbers.of_shard(part.pairs[:, end], i) for end in (0, 1)], axis=1)
            for i, part in enumerate(parts)
            if len(part.pairs)
        ]
        chosen = np.array(
            list(dict.fromkeys([*order[:k].tolist(), *order[-1:].tolist()])), np.int64
        )
        has_pairs = sum(map(len, pairs)) == len(numbers)
        whole = np.concatenate([np.zeros((0, 2), np.int32), *pairs])
        return Near(
            freeze(numbers[chosen], np.int32),
            ends,
            freeze(cosines[chosen] if len(cosines) else [], np.float64),
            freeze(whole[chosen] if has_pairs else np.zeros((0, 2)), np.int32),
        )


_NONE = freeze([], np.int32)


async def _expand(
    store: GraphStore,
    numbers: Rows,
    per_node: int,
    without: Sequence[str],
    where: Wanted | None,
    masses: Floats | None,
) -> Expansion:
    if masses is None:
        return await store.expand(numbers, per_node, without, where)
    return await store.expand(numbers, per_node, without, where, masses=masses)


def _best_first(parts: Sequence[Near]) -> tuple[Any, Floats]:
    """Return the order of what is near to a question in several shards, and the cosines.

    Where a shard does not say how near they are, the shards take turns.
    """
    known = all(len(part.cosines) == len(part.numbers) for part in parts)
    if known:
        cosines = np.concatenate([np.zeros(0), *(part.cosines for part in parts)])
        return np.argsort(-cosines, kind="stable"), cosines
    ranks = np.concatenate([np.arange(len(part.numbers)) for part in parts])
    return np.argsort(ranks, kind="stable"), np.zeros(0)
