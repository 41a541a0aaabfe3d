"""The adjacency of a graph over chosen kinds of edge, as compressed sparse rows whose slots still know their edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clew.graph.columns import Floats, Ragged, Rows, Vectors, freeze

if TYPE_CHECKING:
    from clew.graph.core import Graph


Kinds = tuple[str | tuple[str, float], ...] | None


@dataclass(frozen=True, eq=False)
class Links:
    """Compressed rows: the neighbours of row `i` are `targets[starts[i]:starts[i + 1]]`, ascending; no self-loops, no parallels.

    `weights` are affinities (float32, > 0). Slot `s` stands for the edges `edges[s]` of the graph. Lengths or costs that belong to one
    question are a fresh array as long as `targets`, on this same structure.
    """

    starts: NDArray[np.int64]
    targets: Rows
    weights: Vectors
    edges: Ragged

    def __len__(self) -> int:
        return len(self.starts) - 1

    def neighbours(self, row: int) -> Rows:
        return self.targets[self.starts[row] : self.starts[row + 1]]

    @property
    def sources(self) -> NDArray[np.int64]:
        """The row that each slot starts from, as long as `targets`."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def strengths(self) -> Floats:
        """Return the sum of weights at every row, float64 [n]."""
        return np.bincount(self.sources, weights=self.weights, minlength=len(self)).astype(
            np.float64
        )

    def matrix(self, values: Any = None, dtype: type[np.floating[Any]] = np.float64) -> Any:
        """Return a scipy CSR array of the weights, or of `values` on the same structure."""
        from scipy.sparse import csr_array

        data = self.weights if values is None else values
        return csr_array(
            (np.asarray(data, dtype), self.targets, self.starts), shape=(len(self), len(self))
        )


@dataclass(frozen=True)
class Adjacency:
    """The part that makes `Links`: see `Graph.links`."""

    kinds: tuple[str | tuple[str, float], ...] | None
    directed: bool
    merge: str

    def compute(self, graph: Graph) -> Links:
        return self._over(graph, 0)

    def grown(self, graph: Graph, base: Graph, before: Links) -> Links:
        """Return what `of` returns, from the links of a graph that this one has more nodes than, and more edges, all with an end at those.

        New neighbours have higher rows than old ones, so that they come last in each row: nothing is sorted again.
        """
        more = self._over(graph, len(base.edges))
        old = np.append(before.starts, np.full(len(graph) - len(base), before.starts[-1]))
        place = old[more.sources + 1]
        lengths = np.insert(before.edges.lengths, place, more.edges.lengths)
        values = np.insert(
            before.edges.values,
            np.repeat(before.edges.starts[place], more.edges.lengths),
            more.edges.values,
        )
        return Links(
            freeze(old + more.starts, np.int64),
            freeze(np.insert(before.targets, place, more.targets), np.int32),
            freeze(np.insert(before.weights, place, more.weights), np.float32),
            Ragged(freeze(np.append(0, np.cumsum(lengths)), np.int64), freeze(values, np.int32)),
        )

    def _over(self, graph: Graph, begin: int) -> Links:
        """The links of the graph's edges from one on."""
        if self.merge not in ("max", "sum"):
            raise ValueError(f"merge must be 'max' or 'sum', not {self.merge!r}")
        edges, n = graph.edges, len(graph)
        kinds = edges.kinds.names if self.kinds is None else self.kinds
        factors = dict((kind, 1.0) if isinstance(kind, str) else kind for kind in kinds)
        factor = np.array([factors.get(name, 0.0) for name in edges.kinds.names], np.float64)
        scale = factor[edges.kinds.codes] if len(edges) else np.zeros(0)
        rows = begin + np.flatnonzero(
            (scale[begin:] > 0) & (edges.tails[begin:] != edges.heads[begin:])
        )
        tails, heads = edges.tails[rows].astype(np.int64), edges.heads[rows].astype(np.int64)
        weights = edges.weights[rows] * scale[rows]
        if not self.directed:
            tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
            weights, rows = np.tile(weights, 2), np.tile(rows, 2)
        key = tails * n + heads
        order = np.argsort(key, kind="stable")
        first = np.flatnonzero(np.diff(key[order], prepend=-1))
        starts = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(tails[order][first], minlength=n), out=starts[1:])
        reduce = np.maximum if self.merge == "max" else np.add
        merged = reduce.reduceat(weights[order], first) if len(first) else weights
        return Links(
            freeze(starts, np.int64),
            freeze(heads[order][first], np.int32),
            freeze(merged, np.float32),
            Ragged(freeze(np.append(first, len(order)), np.int64), freeze(rows[order], np.int32)),
        )


def kinds_without(graph: Graph, kinds: Kinds, without: tuple[str, ...]) -> Kinds:
    """Return the kinds of edge, all of the graph's if None, without some; None where that leaves out nothing of all."""
    if kinds is None:
        kept = tuple(kind for kind in graph.edges.kinds.names if kind not in without)
        return None if len(kept) == len(graph.edges.kinds.names) else kept
    return tuple(
        kind for kind in kinds if (kind if isinstance(kind, str) else kind[0]) not in without
    )
