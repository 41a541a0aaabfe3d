"""Steiner trees: the cheapest way to join some nodes of a graph, with this question's edge lengths and no graph rebuilt.

- `mehlhorn`: one search from all terminals at once, ended as soon as they are joined; within 2 (1 - 1/k) of the optimum.
  Mehlhorn, Inf. Proc. Letters 27 (1988).
- `kou`: shortest paths between all terminals, a minimum spanning tree of these, their union, pruned; the same bound.
  Kou, Markowsky and Berman, Acta Informatica 15 (1981).
- `takahashi`: grow a tree by the nearest terminal, from the best of all terminals as the root; the same bound, 1 to 3 % off in practice.
  Takahashi and Matsuyama, Math. Japonica 24 (1980).
- `exact`: dynamic programming over sets of terminals; optimal, for up to a dozen. Dreyfus and Wagner, Networks 1 (1971).

Each answers with a forest, one tree for each part of the graph that holds terminals: where they hang together they are joined, and the
pairs that no way joins are named. Its leaves are terminals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Floats, Links, Ragged, Rows, Vectors, freeze

MOST_EXACT = 12  # terminals; the work triples with each
MOST_CELLS = 20_000_000  # sets of terminals times rows, of 16 bytes each


@dataclass(frozen=True, eq=False)
class SteinerForest:
    """A Steiner forest: its `nodes` (rows, ascending), one slot of the links per edge (from its lesser row, ascending), and its `cost`.

    `missing` holds a pair of terminals for every tree after the first: the least of the first tree and the least of that one.
    """

    nodes: Rows
    slots: NDArray[np.int64]
    cost: float
    missing: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, eq=False)
class LazyLengths:
    """Lengths by a question, each measured only when a search comes by it: (1 - cos(question, fact)) / 2, at least 1e-6 and at most 1.

    AGRAG (arXiv 2511.05549), eq. 6. A slot with several facts has the length of the nearest.

    Attributes:
        facts: for each slot, rows of `vectors`; the same both ways. vectors: float32 [f, d]; they need not be unit vectors.
        question: [d]. neutral: the length of slots without a fact, > 0; inf forbids them.
        nodes: float32 [n, d], unit rows or zeros; with these the length of slots without a fact is (1 - weight x mean cosine of both ends
            with the question) / 2, in the same range. weights: float32, one per slot. asked: [d], the question beside the nodes.
    """

    facts: Ragged
    vectors: Vectors
    question: Any
    neutral: float = 0.5
    nodes: Vectors | None = None
    weights: Vectors | None = None
    asked: Any = None

    def __post_init__(self) -> None:
        wide, question = np.shape(self.vectors), np.asarray(self.question, np.float64)
        if len(wide) != 2 or question.shape != wide[1:]:
            raise ValueError(
                f"vectors must be [f, d] and the question [d]; got {wide} and {question.shape}"
            )
        weighted = self.weights is not None and self.weights.shape == (len(self.facts),)
        if self.nodes is not None and not (
            weighted and np.shape(self.asked) == self.nodes.shape[1:]
        ):
            raise ValueError(
                f"nodes of {self.nodes.shape} want one weight per slot and a question as wide as they are"
            )
        if not np.isfinite(question).all() or not self.neutral > 0:
            raise ValueError(
                f"the question must be finite and neutral > 0; got a question of {question} and {self.neutral}"
            )

    def __len__(self) -> int:
        return len(self.facts)

    def all(self, links: Links) -> Floats:
        """Return the lengths of all slots of the links, float64."""
        from clew.algorithms.steiner.kernels.lengths import all_lengths

        lengths: Floats = all_lengths(
            _plain(links.sources, np.int64), _plain(links.targets, np.int32), _costs(self, np.inf)
        )
        return lengths


def steiner_forest(
    links: Links,
    lengths: Floats | LazyLengths,
    terminals: Sequence[int] | Rows,
    method: str = "mehlhorn",
    *,
    most_edge: float = np.inf,
    most_path: float = np.inf,
    whole: bool = False,
) -> SteinerForest:
    """Return a forest that joins the terminals as far as the links go.

    Args:
        links: undirected adjacency. lengths: float64, one per slot, > 0, the same both ways, where inf forbids an edge; or `Lazy`, of
            which "mehlhorn" measures what it needs and the others everything.
        terminals: rows, in any order; what comes twice counts once. method: "mehlhorn", "kou", "takahashi" or "exact".
        most_edge: longer edges are not used.
        most_path: two terminals are in one tree just when they can be reached from one another by way of terminals without a way longer
            than this between any two, and the same then holds along the tree ("mehlhorn" and "kou" only). Terminals that are joined
            over a junction may be farther from one another than this.
        whole: let "mehlhorn" search the whole graph in the place of stopping when it may; the forest is the same.

    Raises:
        ValueError: for an unknown method, terminals that are no rows, a length that a search meets and that is not positive, a limit
            that is not positive or that the method does not know, or more than "exact" can do.
    """
    from clew.algorithms.steiner.kernels import spanning
    from clew.algorithms.steiner.kernels import trees as steiner

    if method not in ("mehlhorn", "kou", "takahashi", "exact"):
        raise ValueError(f"unknown method {method!r}; known: mehlhorn, kou, takahashi, exact")
    wanted = _wanted(terminals, len(links))
    if len(lengths) != len(links.targets):
        raise ValueError(
            f"there must be one length for each of the {len(links.targets)} slots; got {len(lengths)}"
        )
    if not (most_edge > 0 and most_path > 0):
        raise ValueError(
            f"most_edge and most_path must be positive; got {most_edge} and {most_path}"
        )
    if most_path < np.inf and method in ("takahashi", "exact"):
        raise ValueError(f"most_path is for 'mehlhorn' and 'kou'; {method!r} came with {most_path}")
    if len(wanted) < 2:
        return SteinerForest(freeze(wanted, np.int32), np.zeros(0, np.int64), 0.0)
    task = _Task(
        steiner,
        spanning,
        _plain(links.starts, np.int64),
        _plain(links.targets, np.int32),
        _costs(lengths, most_edge),
    )
    if method == "mehlhorn":
        found = task.tidied(wanted, task.mehlhorn(wanted, most_path, whole), most_path == np.inf)
    else:
        if isinstance(lengths, LazyLengths):
            task = _Task(
                steiner, spanning, task.starts, task.targets, _costs(lengths.all(links), most_edge)
            )
        found = {"kou": _kou, "takahashi": _takahashi, "exact": _exact}[method](
            task, wanted, most_path
        )
    slots, cost, trees = found
    nodes = np.unique(
        np.concatenate([slot_sources(links, slots), links.targets[slots].astype(np.int64), wanted])
    )
    heads = wanted[np.sort(np.unique(trees, return_index=True)[1])].tolist()
    return SteinerForest(
        freeze(nodes, np.int32), slots, float(cost), tuple((heads[0], other) for other in heads[1:])
    )


def slot_sources(links: Links, slots: Any) -> NDArray[np.int64]:
    """Return the row that each slot starts from."""
    rows: NDArray[np.int64] = np.searchsorted(links.starts, slots, side="right") - 1
    return rows


def _wanted(terminals: Any, n: int) -> NDArray[np.int64]:
    rows = np.asarray(terminals)
    if rows.size and rows.dtype.kind not in "iu":
        raise TypeError(f"terminals must be rows, whole numbers; got {rows.dtype}")
    wanted = np.unique(rows.astype(np.int64))
    if len(wanted) and not 0 <= wanted[0] <= wanted[-1] < n:
        raise ValueError(
            f"terminals must be rows from 0 to {n - 1}; got {wanted[0]} to {wanted[-1]}"
        )
    return wanted


def _plain(values: Any, dtype: Any) -> NDArray[Any]:
    """Values as the one kind of array that the kernels are compiled for: contiguous, aligned, read-only."""
    array: NDArray[Any] = np.require(values, dtype, ["C", "A"]).view()
    array.flags.writeable = False
    return array


def _costs(lengths: Floats | LazyLengths, most_edge: float) -> tuple[Any, ...]:
    """What `kernels.steiner.length_of` reads."""
    from clew.algorithms.kernels.settling import room_for

    lazy = isinstance(lengths, LazyLengths)
    facts = (
        lengths
        if isinstance(lengths, LazyLengths)
        else LazyLengths(Ragged.empty(0), np.zeros((0, 0), np.float32), np.zeros(0), 1.0)
    )
    read = _plain(np.zeros(0) if lazy else lengths, np.float64)
    vectors = _plain(facts.vectors, np.float32)
    starts, values = _plain(facts.facts.starts, np.int64), _plain(facts.facts.values, np.int32)
    limit = min(float(most_edge), float(np.finfo(np.float64).max))
    nodes = _plain(np.zeros((0, 0)) if facts.nodes is None else facts.nodes, np.float32)
    weights = _plain(np.zeros(0) if facts.weights is None else facts.weights, np.float32)
    asked = _unit(np.zeros(0) if facts.nodes is None else facts.asked)
    own = nodes, weights, asked, np.zeros(len(nodes)), np.zeros(room_for(len(nodes) + len(vectors)))
    return (
        read,
        limit,
        starts,
        values,
        vectors,
        _unit(facts.question),
        float(facts.neutral),
        np.zeros(len(vectors)),
        *own,
    )


def _unit(question: Any) -> NDArray[np.float32]:
    vector = np.asarray(question, np.float64)
    return _plain(vector / max(float(np.linalg.norm(vector)), 1e-300), np.float32)


@dataclass(frozen=True)
class _Task:
    """One graph with one question's lengths, as the kernels take them."""

    kernels: Any
    spanning: Any
    starts: NDArray[np.int64]
    targets: Rows
    costs: tuple[Any, ...]

    def mehlhorn(
        self, wanted: NDArray[np.int64], most_path: float = np.inf, whole: bool = False
    ) -> NDArray[np.int64]:
        """Mehlhorn's tree, as slots; zeros are handed out by the page, so that what a search does not touch costs nothing."""
        n = len(self.starts) - 1
        labels = np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int32)
        bridges, _ = self.kernels.mehlhorn(
            self.starts, self.targets, self.costs, wanted, float(most_path), whole, *labels
        )
        slots: NDArray[np.int64] = self.kernels.walked(
            self.starts, self.targets, bridges, labels[1]
        )
        return slots

    def tidied(
        self, wanted: NDArray[np.int64], slots: NDArray[np.int64], induced: bool
    ) -> tuple[NDArray[np.int64], float, Any]:
        found: tuple[NDArray[np.int64], float, Any] = self.spanning.tidied(
            self.starts, self.targets, self.costs, wanted, slots, induced
        )
        return found

    def goal(self, wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
        marked = np.zeros(len(self.starts) - 1, np.bool_)
        marked[wanted] = True
        return marked


def _kou(task: _Task, wanted: NDArray[np.int64], most_path: float) -> Any:
    """The distances of all pairs, a minimum spanning forest of these, the ways it stands for, and a spanning forest of their union."""
    goal, parts = task.goal(wanted), {int(row): {int(row)} for row in wanted}
    searches = {
        int(row): task.kernels.from_one(task.starts, task.targets, task.costs, row, goal)
        for row in wanted
    }
    pairs = sorted((float(searches[a][0][b]), a, b) for a in parts for b in parts if a < b)
    ways = [np.zeros(0, np.int64)]
    for cost, a, b in pairs:
        if cost < np.inf and cost <= most_path and parts[a] is not parts[b]:
            parts[a] |= parts[b]
            parts |= dict.fromkeys(parts[b], parts[a])
            ways.append(task.kernels.way_back(task.starts, searches[a][1], b))
    union = np.unique(np.concatenate(ways))
    if most_path == np.inf:
        return task.tidied(wanted, union, True)
    # a spanning tree of the union may go a longer way between two terminals; Mehlhorn's tree in the union goes the shortest
    lengths = np.full(len(task.targets), np.inf)
    back = task.spanning.reverse_of(task.starts, task.targets, union)
    lengths[union], lengths[back] = task.costs[0][union], task.costs[0][back]
    inside = _Task(task.kernels, task.spanning, task.starts, task.targets, _costs(lengths, np.inf))
    return inside.tidied(wanted, inside.mehlhorn(wanted), False)


def _takahashi(task: _Task, wanted: NDArray[np.int64], _: float) -> Any:
    """Part by part of the graph, the cheapest of the trees grown from each terminal."""
    goal, left, forest = task.goal(wanted), wanted, [np.zeros(0, np.int64)]
    while len(left):
        best, reached = np.inf, left[:1]
        for start in left:
            if start not in reached:
                continue
            slots = task.kernels.grown(task.starts, task.targets, task.costs, start, goal)
            if start == left[0] and len(slots):
                reached = np.intersect1d(
                    left,
                    task.targets[
                        np.concatenate(
                            [slots, task.spanning.reverse_of(task.starts, task.targets, slots)]
                        )
                    ],
                )
            tree, cost, _ = task.tidied(reached, slots, True)
            if cost < best:
                best, chosen = cost, tree
        forest.append(chosen)
        left = np.setdiff1d(left, reached)
    return task.tidied(wanted, np.concatenate(forest), False)


def _exact(task: _Task, wanted: NDArray[np.int64], _: float) -> Any:
    """An optimal tree for each part of the graph that holds terminals; Mehlhorn's tree bounds the search."""
    forest = [np.zeros(0, np.int64)]
    trees = task.tidied(wanted, task.mehlhorn(wanted), True)[2]
    for tree in np.unique(trees):
        together = wanted[trees == tree]
        if len(together) > MOST_EXACT or (len(task.starts) << len(together) >> 1) > MOST_CELLS:
            raise ValueError(
                f"an exact tree joins at most {MOST_EXACT} terminals, and 2 ^ (terminals - 1) times the rows must be at most {MOST_CELLS}; "
                f"{len(together)} terminals among {len(task.starts) - 1} rows came: use method='takahashi', or a part of the graph"
            )
        if len(together) > 1:
            most = task.tidied(together, task.mehlhorn(together), True)[1]
            forest.append(
                task.kernels.dreyfus_wagner(
                    task.starts, task.targets, task.costs, together, float(most) * (1 + 1e-9)
                )
            )
    return task.tidied(wanted, np.concatenate(forest), False)
