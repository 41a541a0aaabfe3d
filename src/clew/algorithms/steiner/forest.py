"""Steiner trees: the cheapest way to join some rows of a graph, with edge lengths of one query.

The methods of `steiner_forest`, for k terminals:

- `mehlhorn`: one search from all terminals at once, which ends as soon as they are joined. Its cost
  is at most 2 (1 - 1/k) times the optimum. Mehlhorn, Inf. Proc. Letters 27 (1988).
- `kou`: shortest paths between all terminals, a minimum spanning tree of these, the union of its
  paths, pruned. The same bound. Kou, Markowsky and Berman, Acta Informatica 15 (1981).
- `takahashi`: grow a tree by the nearest terminal; the best of all terminals is the root. The same
  bound, 1 to 3 % above the optimum in practice. Takahashi and Matsuyama, Math. Japonica 24 (1980).
- `exact`: dynamic programming over sets of terminals; optimal, for up to a dozen terminals. Dreyfus
  and Wagner, Networks 1 (1971).

The answer is a forest: one tree for each connected component that holds terminals. Its leaves are
terminals. The pairs of terminals that no path joins are named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.algorithms.steiner.lengths import EdgeLengths, LazyLengths, edge_lengths, read_only
from clew.deadline import current
from clew.graph import Floats, Links, Mask, Rows, distinct, freeze

MAX_EXACT_TERMINALS = 12  # the work triples with each
MAX_EXACT_CELLS = 20_000_000  # sets of terminals times rows, of 16 bytes each

Slots = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SteinerForest:
    """A Steiner forest.

    Attributes:
        nodes: rows of the forest, ascending.
        slots: one slot of the links per edge, from the edge's lower row, ascending.
        cost: sum of the edges' lengths.
        missing: a pair of terminals for every tree after the first: the lowest terminal of the
            first tree and the lowest of that one.
    """

    nodes: Rows
    slots: Slots
    cost: float
    missing: tuple[tuple[int, int], ...] = ()


def steiner_forest(
    links: Links,
    lengths: Floats | LazyLengths,
    terminals: Sequence[int] | Rows,
    method: str = "mehlhorn",
    *,
    max_edge: float = np.inf,
    max_path: float = np.inf,
    exhaustive: bool = False,
) -> SteinerForest:
    """Return a forest that joins the terminals as far as the links allow.

    Args:
        links: undirected adjacency.
        lengths: float64, one per slot, > 0, the same for both slots of an edge; inf forbids an
            edge. Of `LazyLengths`, "mehlhorn" measures only what it needs and the other methods
            all.
        terminals: rows, in any order; duplicates count once.
        method: "mehlhorn", "kou", "takahashi" or "exact".
        max_edge: longer edges are not used.
        max_path: only for "mehlhorn" and "kou". Terminals no farther apart than this are
            neighbours. Two terminals are in one tree exactly if a chain of neighbours leads from
            one to the other, and such a chain also exists along the tree. Terminals joined over a
            junction may be farther apart.
        exhaustive: "mehlhorn" searches the whole graph and does not stop early; the forest is the
            same.

    Raises:
        TypeError: the terminals are not whole numbers.
        ValueError: an unknown method; terminals that are no rows; a length that a search meets and
            that is not positive; a limit that is not positive or not for this method; more
            terminals than "exact" can join.

    Example:
        Rows 0 - 1 - 2 form a path; its four slots all have length 1.

        >>> import numpy as np
        >>> from clew.graph import Links, Ragged
        >>> starts, targets = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)
        >>> links = Links(starts, targets, np.ones(4, np.float32), Ragged.empty(4))
        >>> forest = steiner_forest(links, np.ones(4), [0, 2])
        >>> forest.nodes.tolist(), forest.cost
        ([0, 1, 2], 2.0)
    """
    _check_limits(method, max_edge, max_path)
    rows = _terminal_rows(terminals, len(links))
    if len(lengths) != len(links.targets):
        raise ValueError(
            f"there must be one length for each of the {len(links.targets)} slots;"
            f" got {len(lengths)}"
        )
    if len(rows) < 2:
        return SteinerForest(freeze(rows, np.int32), np.zeros(0, np.int64), 0.0)
    if method != "mehlhorn" and isinstance(lengths, LazyLengths):
        lengths = lengths.measure_all(links)
    search = _Search(
        read_only(links.starts, np.int64),
        read_only(links.targets, np.int32),
        edge_lengths(lengths, max_edge),
    )
    if exhaustive and method == "mehlhorn":
        slots = search.mehlhorn(rows, max_path, exhaustive=True)
        spanning = search.spanning_forest(rows, slots, max_path == np.inf)
    else:
        spanning = METHODS[method](search, rows, max_path)
    ends = [slot_sources(links, spanning.slots), links.targets[spanning.slots].astype(np.int64)]
    nodes = distinct(np.concatenate([*ends, rows]))
    firsts = np.sort(rows[np.unique(spanning.trees, return_index=True)[1]])
    missing = tuple((int(firsts[0]), int(row)) for row in firsts[1:])
    return SteinerForest(freeze(nodes, np.int32), spanning.slots, float(spanning.cost), missing)


def slot_sources(links: Links, slots: ArrayLike) -> NDArray[np.int64]:
    """Return the row that each slot starts from."""
    rows: NDArray[np.int64] = np.searchsorted(links.starts, slots, side="right") - 1
    return rows


class SearchLabels(NamedTuple):
    """What Mehlhorn's search writes for every row.

    Attributes:
        distances: float64 [n], from the nearest terminal.
        arrivals: int64 [n], the slot by which the row was reached; -1 at terminals.
        cells: int32 [n], i + 1 for a row reached from terminal i, -i - 1 once it is settled, else
            0.
    """

    distances: Floats
    arrivals: Slots
    cells: Rows


class SpanningForest(NamedTuple):
    """A minimum spanning forest.

    Attributes:
        slots: one per edge, from the edge's lower row, ascending.
        cost: sum of the edges' lengths.
        trees: for each terminal, a number of its tree.
    """

    slots: Slots
    cost: float
    trees: NDArray[np.int64]


@dataclass(frozen=True)
class _Search:
    """One graph with one query's lengths, as the kernels take them."""

    starts: NDArray[np.int64]
    targets: Rows
    lengths: EdgeLengths

    def mehlhorn(
        self, terminals: NDArray[np.int64], max_path: float = np.inf, exhaustive: bool = False
    ) -> Slots:
        """Return the slots of Mehlhorn's tree, not yet pruned."""
        from clew.algorithms.steiner.kernels.searches import bridge_paths, mehlhorn

        n = len(self.starts) - 1
        # The system hands out zeros by the page: rows that the search does not reach cost nothing.
        labels = SearchLabels(np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int32))
        bridges, _ = mehlhorn(
            self.starts, self.targets, self.lengths, terminals, float(max_path), exhaustive, labels
        )
        slots: Slots = bridge_paths(self.starts, self.targets, bridges, labels.arrivals)
        return slots

    def spanning_forest(
        self, terminals: NDArray[np.int64], slots: Slots, induced: bool
    ) -> SpanningForest:
        """Return a minimum spanning forest of the slots, or of all edges between their rows."""
        from clew.algorithms.steiner.kernels.spanning import spanning_forest

        return SpanningForest(
            *spanning_forest(self.starts, self.targets, self.lengths, terminals, slots, induced)
        )

    def reverse_slots(self, slots: Slots) -> Slots:
        """Return for each slot the slot of the same edge in the other direction."""
        from clew.algorithms.steiner.kernels.spanning import reverse_slots

        reverse: Slots = reverse_slots(self.starts, self.targets, slots)
        return reverse

    def marked(self, rows: NDArray[np.int64]) -> Mask:
        """Return a mask of these rows."""
        mask = np.zeros(len(self.starts) - 1, np.bool_)
        mask[rows] = True
        return mask


def _check_limits(method: str, max_edge: float, max_path: float) -> None:
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; known: {', '.join(METHODS)}")
    if not (max_edge > 0 and max_path > 0):
        raise ValueError(f"max_edge and max_path must be positive; got {max_edge} and {max_path}")
    if max_path < np.inf and method in ("takahashi", "exact"):
        raise ValueError(f"max_path is for 'mehlhorn' and 'kou'; {method!r} came with {max_path}")


def _terminal_rows(terminals: ArrayLike, n: int) -> NDArray[np.int64]:
    """Return the terminals, ascending, each once."""
    array = np.asarray(terminals)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"terminals must be rows, whole numbers; got {array.dtype}")
    rows = distinct(array.astype(np.int64))
    if len(rows) and not 0 <= rows[0] <= rows[-1] < n:
        raise ValueError(f"terminals must be rows from 0 to {n - 1}; got {rows[0]} to {rows[-1]}")
    return rows


def _mehlhorn(search: _Search, terminals: NDArray[np.int64], max_path: float) -> SpanningForest:
    slots = search.mehlhorn(terminals, max_path)
    return search.spanning_forest(terminals, slots, max_path == np.inf)


def _kou(search: _Search, terminals: NDArray[np.int64], max_path: float) -> SpanningForest:
    """Return a forest of the union of the paths in a minimum spanning forest of all pairs."""
    from clew.algorithms.steiner.kernels.searches import path_back, shortest_paths_from

    goal, trees = search.marked(terminals), {int(row): {int(row)} for row in terminals}
    searches = dict[int, tuple[Floats, Slots]]()
    for row in terminals:
        current().check()
        found = shortest_paths_from(search.starts, search.targets, search.lengths, row, goal)
        searches[int(row)] = found
    pairs = sorted((float(searches[a][0][b]), a, b) for a, b in combinations(trees, 2))
    paths = [np.zeros(0, np.int64)]
    for cost, a, b in pairs:
        if cost < np.inf and cost <= max_path and trees[a] is not trees[b]:
            trees[a] |= trees[b]
            trees |= dict.fromkeys(trees[b], trees[a])
            paths.append(path_back(search.starts, searches[a][1], b))
    union = distinct(np.concatenate(paths))
    if max_path == np.inf:
        return search.spanning_forest(terminals, union, True)
    # In a spanning tree of the union, the path between two terminals may be longer than their
    # distance. In Mehlhorn's tree of the union it is not.
    lengths = np.full(len(search.targets), np.inf)
    reverse = search.reverse_slots(union)
    lengths[union], lengths[reverse] = search.lengths.fixed[union], search.lengths.fixed[reverse]
    inside = _Search(search.starts, search.targets, edge_lengths(lengths, np.inf))
    return inside.spanning_forest(terminals, inside.mehlhorn(terminals), False)


def _takahashi(search: _Search, terminals: NDArray[np.int64], _: float) -> SpanningForest:
    """Return for each component the cheapest of the trees that grow from its terminals."""
    from clew.algorithms.steiner.kernels.searches import grow_tree

    goal, remaining, forest = search.marked(terminals), terminals, [np.zeros(0, np.int64)]
    while len(remaining):
        best, component = np.inf, remaining[:1]
        for start in remaining:
            if start not in component:
                continue
            current().check()
            slots = grow_tree(search.starts, search.targets, search.lengths, start, goal)
            if start == remaining[0] and len(slots):
                both_ways = np.concatenate([slots, search.reverse_slots(slots)])
                component = np.intersect1d(remaining, search.targets[both_ways])
            tree = search.spanning_forest(component, slots, True)
            if tree.cost < best:
                best, cheapest = tree.cost, tree.slots
        forest.append(cheapest)
        remaining = np.setdiff1d(remaining, component)
    return search.spanning_forest(terminals, np.concatenate(forest), False)


def _exact(search: _Search, terminals: NDArray[np.int64], _: float) -> SpanningForest:
    """Return an optimal tree for each component. The cost of Mehlhorn's tree bounds the search."""
    from clew.algorithms.steiner.kernels.searches import dreyfus_wagner

    forest = [np.zeros(0, np.int64)]
    trees = search.spanning_forest(terminals, search.mehlhorn(terminals), True).trees
    for tree in distinct(trees):
        current().check()
        together = terminals[trees == tree]
        _check_exact(len(together), len(search.starts) - 1)
        if len(together) > 1:
            bound = search.spanning_forest(together, search.mehlhorn(together), True).cost
            max_cost = float(bound) * (1 + 1e-9)
            forest.append(
                dreyfus_wagner(search.starts, search.targets, search.lengths, together, max_cost)
            )
    return search.spanning_forest(terminals, np.concatenate(forest), False)


def _check_exact(terminals: int, rows: int) -> None:
    if terminals > MAX_EXACT_TERMINALS or ((rows + 1) << terminals >> 1) > MAX_EXACT_CELLS:
        raise ValueError(
            f"an exact tree joins at most {MAX_EXACT_TERMINALS} terminals, and"
            f" 2 ^ (terminals - 1) times the rows must be at most {MAX_EXACT_CELLS};"
            f" {terminals} terminals among {rows} rows came:"
            " use method='takahashi', or a part of the graph"
        )


METHODS: dict[str, Callable[[_Search, NDArray[np.int64], float], SpanningForest]] = {
    "mehlhorn": _mehlhorn,
    "kou": _kou,
    "takahashi": _takahashi,
    "exact": _exact,
}
