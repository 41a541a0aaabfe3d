"""The adjacency of a graph over chosen kinds of edge, in compressed rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.graph.columns import Floats, Ragged, Rows, Vectors, freeze, offsets_of, seal
from clew.graph.core import GraphColumns

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MIN_BY_SCIPY = 1_000_000  # pairs that scipy sorts; of fewer, it takes longer to load than it saves
DIGIT = 16  # bits of a number that numpy sorts by counting

Kinds = tuple[str | tuple[str, float], ...] | None


@dataclass(frozen=True, eq=False)
class Links:
    """The neighbours of every row, without self-loops and without parallel edges.

    The neighbours of row `i` are `targets[starts[i]:starts[i + 1]]`, ascending. The places in
    `targets` are the *slots*. Lengths or costs that belong to one question are a fresh array with
    an entry per slot, on this same structure.

    Attributes:
        starts: int64 [n + 1], the first slot of every row, and the number of slots.
        targets: int32 [slots], the row that each slot leads to.
        weights: float32 [slots], affinities, > 0.
        edges: the edges of the graph that each slot stands for.

    Example:
        >>> from clew.graph import Edges, Graph
        >>> links = Graph.of(["a", "b", "c"], edges=Edges.of("next", [0, 1], [1, 2])).links()
        >>> links.starts, links.targets
        (array([0, 1, 3, 4]), array([1, 0, 2, 1], dtype=int32))
    """

    starts: NDArray[np.int64]
    targets: Rows
    weights: Vectors
    edges: Ragged

    def __len__(self) -> int:
        return len(self.starts) - 1

    def neighbours(self, row: int) -> Rows:
        """Return the rows that this row is linked to, ascending."""
        return self.targets[self.starts[row] : self.starts[row + 1]]

    @property
    def sources(self) -> NDArray[np.int64]:
        """The row that each slot starts from, as long as `targets`."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def strengths(self) -> Floats:
        """Return the sum of the weights at every row, float64 [n]."""
        sums = np.bincount(self.sources, weights=self.weights, minlength=len(self))
        return sums.astype(np.float64)

    def matrix(
        self, values: ArrayLike | None = None, dtype: type[np.floating[Any]] = np.float64
    ) -> csr_array[Any, tuple[int, int]]:
        """Return the adjacency as a scipy CSR array.

        Args:
            values: one number per slot; None for the weights.
            dtype: the type of the numbers.
        """
        from scipy.sparse import csr_array

        data = np.asarray(self.weights if values is None else values, dtype)
        return csr_array((data, self.targets, self.starts), shape=(len(self), len(self)))


@dataclass(frozen=True)
class Adjacency:
    """The part that computes `Links`.

    Attributes:
        kinds: the kinds of edge, or pairs of a kind and a factor for its weights; None for all.
        directed: follow edges from tail to head only.
        merge: the weight of parallel edges, "max" or "sum".

    Example:
        >>> from clew.graph import Edges, Graph
        >>> graph = Graph.of(["a", "b"], edges=Edges.of("next", [0], [1]))
        >>> graph.part(Adjacency(None, directed=True, merge="max")).neighbours(1)
        array([], dtype=int32)
    """

    kinds: Kinds
    directed: bool
    merge: str

    def compute(self, graph: GraphColumns) -> Links:
        return self._links_of(graph, first_edge=0)

    def extend(self, graph: GraphColumns, base: GraphColumns, before: Links) -> Links:
        """Return the links of a graph with more nodes and edges than `base`; see `Overlay`.

        Every new edge has a new node at one of its ends. New nodes have higher rows than old ones,
        so that they come last among the neighbours of each row: nothing is sorted again.
        """
        added = self._links_of(graph, first_edge=len(base.edges))
        new_rows = np.full(len(graph) - len(base), before.starts[-1])
        old_starts = np.append(before.starts, new_rows)
        slots = old_starts[added.sources + 1]  # behind the old neighbours of the slot's source
        values = np.insert(
            before.edges.values,
            np.repeat(before.edges.starts[slots], added.edges.lengths),
            added.edges.values,
        )
        lengths = np.insert(before.edges.lengths, slots, added.edges.lengths)
        return Links(
            freeze(old_starts + added.starts, np.int64),
            freeze(np.insert(before.targets, slots, added.targets), np.int32),
            freeze(np.insert(before.weights, slots, added.weights), np.float32),
            Ragged(freeze(offsets_of(lengths), np.int64), freeze(values, np.int32)),
        )

    def _links_of(self, graph: GraphColumns, first_edge: int) -> Links:
        """The links of the graph's edges from `first_edge` on."""
        if self.merge not in ("max", "sum"):
            raise ValueError(f"merge must be 'max' or 'sum', not {self.merge!r}")
        tails, heads, weights, rows = self._chosen_edges(graph, first_edge)
        m = len(rows)
        if not self.directed:
            tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        order = _order_of_pairs(tails, heads, len(graph))
        tails = tails[order]
        heads = heads[order]
        if m:
            np.remainder(order, np.int32(m), out=order)  # of both directions, the edge
        is_first = np.ones(len(order), np.bool_)
        is_first[1:] = (tails[1:] != tails[:-1]) | (heads[1:] != heads[:-1])
        starts = offsets_of(np.bincount(tails[is_first], minlength=len(graph)))
        heads = heads[is_first]
        del tails
        of_slots = np.append(np.flatnonzero(is_first), len(order))  # runs of parallel edges
        reduce = np.maximum if self.merge == "max" else np.add
        weights = weights[order]
        merged = reduce.reduceat(weights, of_slots[:-1]) if len(heads) else weights
        return Links(
            seal(starts),
            seal(heads),
            seal(merged.astype(np.float32)),
            Ragged(seal(of_slots), seal(rows[order].astype(np.int32, copy=False))),
        )

    def _chosen_edges(
        self, graph: GraphColumns, first_edge: int
    ) -> tuple[Rows, Rows, Floats, Rows]:
        """Tails, heads, scaled weights and rows of the chosen edges."""
        edges = graph.edges
        kinds = edges.kinds.names if self.kinds is None else self.kinds
        factor_of = dict((kind, 1.0) if isinstance(kind, str) else kind for kind in kinds)
        factors = np.array([factor_of.get(name, 0.0) for name in edges.kinds.names], np.float64)
        chosen = edges.tails[first_edge:] != edges.heads[first_edge:]  # no loops
        if len(edges):
            chosen &= (factors > 0)[edges.kinds.codes[first_edge:]]
        rows = (first_edge + np.flatnonzero(chosen)).astype(np.int32)
        weights = edges.weights[rows] * factors[edges.kinds.codes[rows]]
        return edges.tails[rows], edges.heads[rows], weights, rows


def _order_of_pairs(tails: Rows, heads: Rows, n: int) -> Rows:
    """Return what `np.lexsort((heads, tails))` does, of many in linear time and little memory."""
    if len(tails) >= MIN_BY_SCIPY:
        by_head = _order_of(heads, n)
        order: Rows = by_head[_order_of(tails[by_head], n)]
        return order
    pairs = tails.astype(np.int64) * n + heads
    places = np.argsort(pairs.astype(np.uint16), kind="stable")
    for shift in range(DIGIT, max(n * n - 1, 1).bit_length(), DIGIT):
        digits = (pairs >> shift).astype(np.uint16)
        places = places[np.argsort(digits[places], kind="stable")]
    return places.astype(np.int32)


def _order_of(rows: Rows, n: int) -> Rows:
    """Return the stable order of numbers below n: a sort by counting, which scipy has compiled."""
    from scipy.sparse import csr_array

    m = len(rows)
    one_each = (np.zeros(m, np.bool_), rows, np.arange(m + 1, dtype=np.int32))
    order: Rows = csr_array(one_each, shape=(m, n)).tocsc().indices
    return order


def kinds_without(graph: GraphColumns, kinds: Kinds, excluded: tuple[str, ...]) -> Kinds:
    """Return the chosen kinds of edge without the excluded ones.

    Args:
        graph: its kinds are all kinds.
        kinds: the chosen kinds, as in `Graph.links`; None for all.
        excluded: the kinds to leave out.

    Returns:
        The kinds that are left; None where that is all kinds of the graph.

    Example:
        >>> from clew.graph import Graph
        >>> kinds_without(Graph.of(["a"]), ("next", ("similar", 0.5)), ("next",))
        (('similar', 0.5),)
    """
    if kinds is None:
        left = tuple(kind for kind in graph.edges.kinds.names if kind not in excluded)
        return None if len(left) == len(graph.edges.kinds.names) else left
    return tuple(
        kind for kind in kinds if (kind if isinstance(kind, str) else kind[0]) not in excluded
    )
