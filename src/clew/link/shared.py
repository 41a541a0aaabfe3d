"""Passages that mention the same entities.

weight(p, q) = 1 - product over shared entities e of (1 - 1 / number of passages that mention e)

The rarer a shared entity is, the heavier is the edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from clew.graph import Edges, Graph, Mask, NodeChange, Ragged, Rows, distinct, row_mask

MAX_PLAIN = 4_000  # mentions that are gone through one by one


@dataclass(frozen=True)
class Shared:
    """Between passages that mention the same entity.

    Attributes:
        max_passages: an entity in more passages joins none: a hub does not tell passages apart.

    Example:
        >>> from clew.graph import Ragged
        >>> graph = Graph.of(
        ...     ["Anna left.", "Anna came.", "Anna"],
        ...     kinds=["passage", "passage", "entity"],
        ...     read_from=Ragged.of([[], [], [0, 1]]),
        ... )
        >>> Shared().on(graph).weights
        array([0.5], dtype=float32)
    """

    max_passages: int = 20

    kind: ClassVar[str] = "shared"
    corpus_wide: ClassVar[bool] = True
    by_sources: ClassVar[bool] = True  # who has lost a passage counts, not who has lost an edge

    def on(self, graph: Graph) -> Edges:
        return self._edges_of(graph, graph.rows("entity"))

    def grow(self, graph: Graph, before: Edges, n_before: int) -> Edges:
        """Return the edges of a graph with more nodes, from those of the graph before.

        Edges change between passages that share an entity which a new passage mentions.
        """
        return self._exchanged(graph, before, np.zeros(n_before, np.bool_))

    def shrink(self, graph: Graph, left: Edges, bereft: Mask) -> Edges:
        """Return the edges of a graph of fewer nodes: an entity in fewer passages weighs more.

        Args:
            graph: The graph.
            left: Those of the edges before whose ends are still there.
            bereft: bool [nodes], True for an entity that is in fewer passages than before.
        """
        return self._exchanged(graph, left, bereft)

    def exchange(self, change: NodeChange, left: Edges, bereft: Mask) -> Edges:
        """Return the edges of a graph from which nodes are gone, and to which others came."""
        return self._exchanged(change.graph, left, bereft)

    def _exchanged(self, graph: Graph, left: Edges, bereft: Mask) -> Edges:
        """Return the edges of a graph from which nodes are gone, and to which others came.

        Args:
            graph: The graph, with the new nodes last.
            left: Those of the edges before whose ends are still there.
            bereft: bool [nodes that are not new], True for an entity that has lost a passage.
        """
        n_before = len(bereft)
        bereft = np.append(bereft, np.zeros(len(graph) - n_before, np.bool_))
        mentioned = graph.read_from.owners_of(np.arange(len(graph)) >= n_before)
        changed = row_mask(mentioned, len(graph)) | bereft
        entities = np.flatnonzero(changed & graph.kinds.mask("entity"))
        return self._changed(graph, left, entities[self._may_join(graph, entities, n_before)])

    def _may_join(self, graph: Graph, entities: NDArray[np.int64], n_before: int) -> Mask:
        """Return which of some entities join passages, or did so before a change.

        Those do not that are in too many of the passages that stay: they were and they are.

        Args:
            graph: The graph, with the new nodes last.
            entities: The entities, ascending.
            n_before: The number of nodes that are not new.
        """
        read_from = graph.read_from.take(entities)
        is_old = read_from.values < n_before
        owners, passages = read_from.owners[is_old], read_from.values[is_old]
        once = distinct(owners * len(graph) + passages)
        n_passages = np.bincount(once // max(len(graph), 1), minlength=len(entities))
        joins: Mask = n_passages <= self.max_passages
        return joins

    def _changed(self, graph: Graph, before: Edges, changed: NDArray[np.int64]) -> Edges:
        """Return the edges where some entities are in more passages or in fewer than before.

        All edges between the passages that mention these are made again, of all entities that they
        mention.
        """
        if not len(changed):
            return before
        read_from, is_entity = graph.read_from, graph.kinds.mask("entity")
        affected = row_mask(read_from.take(changed).values, len(graph))
        entities = distinct(read_from.owners_of(affected))
        again = self._edges_of(graph, entities[is_entity[entities]].astype(np.int32))
        again = again.take(np.flatnonzero(affected[again.tails] & affected[again.heads]))
        left = before.take(np.flatnonzero(~(affected[before.tails] & affected[before.heads])))
        edges = Edges.join([left, again])
        pairs = edges.tails.astype(np.int64) * len(graph) + edges.heads
        return edges.take(np.argsort(pairs, kind="stable"))

    def _edges_of(self, graph: Graph, entities: Rows) -> Edges:
        """Return the edges that some entities make, which are in ascending order."""
        n, read_from = len(graph), graph.read_from.take(entities)
        if len(read_from.values) <= MAX_PLAIN:
            return self._edges_of_few(read_from)
        mentions = distinct(read_from.owners * n + read_from.values)  # each once, in order
        owners, passages = np.divmod(mentions, max(n, 1))
        lengths = np.bincount(owners, minlength=len(entities))
        keys, orders, factors = [], [], []
        for size in distinct(lengths[(lengths >= 2) & (lengths <= self.max_passages)]).tolist():
            chosen = np.flatnonzero(lengths == size)
            groups = passages[lengths[owners] == size].reshape(-1, size)
            tails, heads = np.triu_indices(size, 1)
            keys.append((groups[:, tails] * n + groups[:, heads]).ravel())
            orders.append(np.repeat(chosen, len(tails)))
            factors.append(np.full(keys[-1].shape, 1 - 1 / size))
        if not keys:
            return Edges.of(self.kind, [], [], [])
        pairs, order = np.concatenate(keys), np.concatenate(orders)
        by_pair = np.lexsort((order, pairs))  # every product in the order of the entities
        pairs = pairs[by_pair]
        starts = np.flatnonzero(np.diff(pairs, prepend=-1))
        products = np.multiply.reduceat(np.concatenate(factors)[by_pair], starts)
        return Edges.of(self.kind, pairs[starts] // n, pairs[starts] % n, 1 - products)

    def _edges_of_few(self, read_from: Ragged) -> Edges:
        """Return what `_edges_of` returns, of few mentions in less time than arrays take."""
        starts, values = read_from.starts, read_from.values.tolist()
        left = dict[tuple[int, int], float]()  # the product of each pair
        again = np.flatnonzero(read_from.lengths > 1)  # few are named again
        for start, end in zip(starts[again].tolist(), starts[again + 1].tolist(), strict=True):
            passages = sorted(set(values[start:end]))
            size = len(passages)
            if 2 <= size <= self.max_passages:
                factor = 1 - 1 / size
                for pair in combinations(passages, 2):
                    left[pair] = left.get(pair, 1.0) * factor
        pairs = sorted(left)
        weights = 1 - np.array([left[pair] for pair in pairs], np.float64)
        ends = np.array(pairs, np.int64).reshape(-1, 2)
        return Edges.of(self.kind, ends[:, 0], ends[:, 1], weights)
