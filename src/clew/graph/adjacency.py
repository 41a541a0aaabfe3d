"""The adjacency of a graph over chosen kinds of edge, in compressed rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.graph.columns import (
    Floats,
    Ragged,
    Rows,
    Vectors,
    freeze,
    offsets_of,
    row_blocks,
    seal,
)
from clew.graph.core import GraphColumns
from clew.graph.deferred_edges import LateLists
from clew.graph.edges import Edges

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MIN_BY_SCIPY = 1_000_000  # pairs that scipy sorts; of fewer, it takes longer to load than it saves
DIGIT = 16  # bits of a number that numpy sorts by counting
BLOCK = 2**19  # slots whose weights or sources are made at once, of 8 bytes and more each

Numbers = NDArray[np.signedinteger[Any]]
SortedPairs = tuple[Numbers, Rows, Numbers]
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
        sums = np.zeros(len(self))
        for first, last in row_blocks(self.starts, BLOCK):
            of_rows = np.repeat(np.arange(last - first), np.diff(self.starts[first : last + 1]))
            weights = self.weights[self.starts[first] : self.starts[last]]
            sums[first:last] = np.bincount(of_rows, weights, last - first)
        return sums

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
        self._check_merge()
        for part, known in getattr(graph, "kept_parts", list)():  # which columns do not have
            if isinstance(part, Adjacency) and part._links_alike(self, graph):
                return self._links_like(graph, part, known)
        return self._links_of(graph, first_edge=0)

    def _links_alike(self, other: Adjacency, graph: GraphColumns) -> bool:
        """Return whether the links of another one differ in nothing but their weights."""
        own, others = (one._factor_of(graph.edges.kind_names) for one in (self, other))
        return self.directed == other.directed and own.keys() == others.keys()

    def _links_like(self, graph: GraphColumns, other: Adjacency, known: Links) -> Links:
        """Return the links, by others that `_links_alike` knows: they share all but the weights."""
        own, others = (one._factor_of(graph.edges.kind_names) for one in (self, other))
        is_single = known.edges.starts[-1] == len(known.targets)  # no parallel edges to merge
        if own == others and (is_single or self.merge == other.merge):
            return known
        edges, of_slots = graph.edges, known.edges
        if isinstance(of_slots, LateLists):
            edges, of_slots = of_slots.where_made(edges)
        return replace(known, weights=self._merged_weights(edges, of_slots))

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
        self._check_merge()
        edges = graph.edges if first_edge else graph.edges.of_kinds(names_of(self.kinds))
        tails, heads, rows = self._chosen_edges(edges, first_edge)
        m = len(tails)
        if not self.directed:
            tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        row_starts, heads, order = _sorted_pairs(tails, heads, len(graph))
        del tails
        if m:
            np.remainder(order, order.dtype.type(m), out=order)  # of both directions, the edge
        if rows is not None:
            order = rows[order]
        is_first = np.ones(len(heads) + 1, np.bool_)  # of parallel edges; the last one is the end
        np.not_equal(heads[1:], heads[:-1], out=is_first[1:-1])
        is_first[row_starts] = True
        of_slots = np.flatnonzero(is_first)  # runs of parallel edges
        if len(of_slots) < len(is_first):
            row_starts = np.searchsorted(of_slots, row_starts)
            heads = heads[is_first[:-1]]
        slots = Ragged(seal(of_slots), seal(order.astype(np.int32, copy=False)))
        return Links(
            seal(row_starts.astype(np.int64, copy=False)),
            seal(heads.astype(np.int32, copy=False)),
            self._merged_weights(edges, slots),
            graph.edges.in_whole(edges, slots),
        )

    def _check_merge(self) -> None:
        if self.merge not in ("max", "sum"):
            raise ValueError(f"merge must be 'max' or 'sum', not {self.merge!r}")

    def _chosen_edges(self, edges: Edges, first_edge: int) -> tuple[Rows, Rows, Rows | None]:
        """Tails, heads and rows of the chosen edges; None for the rows where these are all."""
        factors = self._factors(edges)
        chosen = edges.tails[first_edge:] != edges.heads[first_edge:]  # no loops
        if not (factors > 0).all():
            chosen &= (factors > 0)[edges.kinds.codes[first_edge:]]
        if first_edge == 0 and chosen.all():
            return edges.tails, edges.heads, None
        rows = np.flatnonzero(chosen).astype(np.int32)
        rows += np.int32(first_edge)
        return edges.tails[rows], edges.heads[rows], rows

    def _factors(self, edges: Edges) -> Floats:
        """The factor on the weights of each kind of edge, 0 for a kind that is not chosen."""
        factor_of = self._factor_of(edges.kinds.names)
        return np.array([factor_of.get(name, 0.0) for name in edges.kinds.names], np.float64)

    def _factor_of(self, names: Sequence[str]) -> dict[str, float]:
        """The factor on the weights of each chosen kind of edge, of those that there are."""
        kinds = names if self.kinds is None else self.kinds
        factor_of = dict((kind, 1.0) if isinstance(kind, str) else kind for kind in kinds)
        return {kind: factor for kind, factor in factor_of.items() if factor > 0 and kind in names}

    def _merged_weights(self, edges: Edges, of_slots: Ragged) -> Vectors:
        """The weight of each slot, of the edges that it stands for."""
        factors = self._factors(edges)
        # `np.unique` imports masked arrays, a fiftieth of the time until the first answer.
        of_chosen = np.array(sorted({*factors[factors > 0].tolist()}))
        reduce = np.maximum if self.merge == "max" else np.add
        merged = np.empty(len(of_slots), np.float32)
        for first in range(0, len(merged), BLOCK):
            starts = of_slots.starts[first : first + BLOCK + 1]
            rows = of_slots.values[starts[0] : starts[-1]]
            weights = edges.weights[rows] * (
                of_chosen if len(of_chosen) == 1 else factors[edges.kinds.codes[rows]]
            )
            if len(rows) > len(starts) - 1:
                weights = reduce.reduceat(weights, starts[:-1] - starts[0])
            merged[first : first + BLOCK] = weights
        return seal(merged)


def _sorted_pairs(tails: Rows, heads: Rows, n: int) -> SortedPairs:
    """Return where each tail's pairs start, the heads in order of tail and head, and that order.

    Of many it takes linear time and little memory. Equal pairs stay in their order.
    """
    if len(tails) >= MIN_BY_SCIPY:
        return _sorted_by_scipy(tails, heads, n)
    pairs = tails.astype(np.int64) * n + heads
    places = np.argsort(pairs.astype(np.uint16), kind="stable")
    for shift in range(DIGIT, max(n * n - 1, 1).bit_length(), DIGIT):
        digits = (pairs >> shift).astype(np.uint16)
        places = places[np.argsort(digits[places], kind="stable")]
    starts = offsets_of(np.bincount(tails, minlength=n))
    return starts, heads[places], places.astype(np.int32)


def _sorted_by_scipy(tails: Rows, heads: Rows, n: int) -> SortedPairs:
    """Return what `_sorted_pairs` does, by two sorts by counting, which scipy has compiled.

    From compressed rows to compressed columns keeps the order of the rows in each column. So the
    pairs are sorted by their heads, which are then the rows of a matrix that is turned once more.
    """
    from scipy.sparse import csr_array

    m = len(tails)
    starts = np.arange(m + 1, dtype=np.int32 if m < 2**31 - 1 else np.int64)
    rows: tuple[Any, ...] = (np.zeros(m, np.bool_), heads, starts)  # one pair each
    by_head = csr_array(rows, shape=(m, n)).tocsc()
    del starts
    rows = (by_head.indices, tails[by_head.indices], by_head.indptr)
    del by_head
    by_tail = csr_array(rows, shape=(n, n)).tocsc()
    return by_tail.indptr, by_tail.indices, by_tail.data


def names_of(kinds: Kinds) -> frozenset[str] | None:
    """Return the chosen kinds of edge without their factors; None for all.

    Example:
        >>> sorted(names_of(("next", ("similar", 0.5))))
        ['next', 'similar']
    """
    if kinds is None:
        return None
    return frozenset(kind if isinstance(kind, str) else kind[0] for kind in kinds)


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
        left = tuple(kind for kind in graph.edges.kind_names if kind not in excluded)
        return None if len(left) == len(graph.edges.kind_names) else left
    return tuple(
        kind for kind in kinds if (kind if isinstance(kind, str) else kind[0]) not in excluded
    )
