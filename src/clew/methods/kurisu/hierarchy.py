"""What a descent through documents needs once per graph: what every node leads to, where the way in is, and a vector for every container.

The virtual root of a corpus leads to every node that nothing contains. A node leads to what it contains and, since a hierarchical
document graph has semantic edges too (Kurisu-G2, algorithm 4), to what is very similar. An edge of weight w exists as strongly as w / 2,
and the root's own as one of weight 1, unless an edge of kind "learned" beside it says otherwise; the root's lead from a node to itself.
One that has no other beside it is a graft that was kept. See `clew.index.learning`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import reaches
from clew.graph import Floats, Graph, Mask, Rows, Vectors, freeze
from clew.methods.kurisu.edge_learning import BUILT_STRENGTH

LEARNED = "learned"
SIMILAR = ("similar",)


@dataclass(frozen=True, eq=False)
class DocumentTree:
    """Successors in compressed rows: those of row i are `heads[starts[i]:starts[i + 1]]`, with their `strengths`, float64 in (0, 1].

    Attributes:
        tops, entrances: rows that the root leads to, and how strongly. above: row of the container, or -1. contains: True for the
            slots that lead from a container to what is in it.
        means, place: unit vectors of containers by what is in them, float32 [c, d], and the row of each node in it, or -1.
        root: the mean of all. order: rows in falling depth, for sums from the leaves upwards.
    """

    starts: NDArray[np.int64]
    heads: Rows
    strengths: Floats
    contains: Mask
    tops: Rows
    entrances: Floats
    above: Rows
    means: Vectors
    place: Rows
    root: Vectors
    order: tuple[Rows, ...]

    def slots(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the slots of these rows, in their order."""
        if len(rows) == 1:
            return np.arange(self.starts[rows[0]], self.starts[rows[0] + 1])
        lengths = self.starts[rows + 1] - self.starts[rows]
        ends = np.cumsum(lengths)
        found: NDArray[np.int64] = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
            self.starts[rows] - ends + lengths, lengths
        )
        return found

    def sources(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row that each of `slots(rows)` starts from."""
        return np.repeat(rows, self.starts[rows + 1] - self.starts[rows])

    def within(self, rows: NDArray[np.int64], content: Mask) -> NDArray[np.int64]:
        """Return the content nodes that are in these: a content node itself, and the outermost ones in a container."""
        if content[rows].all():
            return np.sort(rows)
        seen = np.zeros(len(content), np.bool_)
        frontier = np.unique(rows)
        while len(frontier):
            seen[frontier] = True
            slots = self.slots(frontier[~content[frontier]])
            frontier = np.unique(self.heads[slots[self.contains[slots]]])
            frontier = frontier[~seen[frontier]].astype(np.int64)
        return np.flatnonzero(seen & content)

    def highest(self, prizes: Floats) -> Floats:
        """Return for every node the highest of its own prize and those of what is in it."""
        found = prizes.copy()
        for rows in self.order:
            np.maximum.at(found, self.above[rows], found[rows])
        return found


@dataclass(frozen=True)
class DocumentTreePart:
    """The part that makes a `Tree`; semantic edges are those of the `similar` kinds with a weight of at least `least`."""

    least: float = 0.8
    similar: tuple[str, ...] = SIMILAR

    def compute(self, graph: Graph) -> DocumentTree:
        edges, n = graph.edges, len(graph)
        inner = (
            np.flatnonzero(edges.kinds.mask("contains") & (edges.tails != edges.heads))
            if len(edges)
            else np.zeros(0, np.int64)
        )
        said = np.flatnonzero(
            graph.parents >= 0
        )  # a graph without edges has its documents' structure all the same
        alike = np.zeros(0, np.int64)
        if len(edges):
            alike = np.flatnonzero(
                edges.kinds.mask(*self.similar)
                & reaches(edges.weights, self.least)
                & (edges.tails != edges.heads)
            )
        taught = np.flatnonzero(edges.kinds.mask(LEARNED)) if len(edges) else np.zeros(0, np.int64)
        grafts = taught[edges.tails[taught] != edges.heads[taught]]
        near, far = edges.tails[alike].astype(np.int64), edges.heads[alike].astype(np.int64)
        tails = np.concatenate(
            [edges.tails[inner], graph.parents[said], near, far, edges.tails[grafts]]
        ).astype(np.int64)
        heads = np.concatenate([edges.heads[inner], said, far, near, edges.heads[grafts]]).astype(
            np.int64
        )
        weights = np.concatenate(
            [
                edges.weights[inner],
                np.ones(len(said)),
                np.tile(edges.weights[alike], 2),
                np.zeros(len(grafts)),
            ]
        )
        contains = np.arange(len(tails)) < len(inner) + len(said)
        keys, first = np.unique(
            tails * n + heads, return_index=True
        )  # of parallel edges the first: contains before parents before similar
        tails, heads, weights, contains = (
            tails[first],
            heads[first],
            BUILT_STRENGTH * weights[first],
            contains[first],
        )
        weights[
            np.searchsorted(keys, edges.tails[grafts].astype(np.int64) * n + edges.heads[grafts])
        ] = edges.weights[grafts]
        starts = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(tails, minlength=n), out=starts[1:])

        above = graph.parents.astype(np.int64)
        bare = contains & (above[heads] < 0)
        above[heads[bare][::-1]] = tails[bare][::-1]
        tops, order = _depths(above, ~graph.kinds.mask("entity"))
        means, place, root = _means(graph, above, len(order))
        strength, own = (
            np.full(n, BUILT_STRENGTH),
            taught[edges.tails[taught] == edges.heads[taught]],
        )
        strength[edges.heads[own]] = edges.weights[own]
        return DocumentTree(
            starts,
            freeze(heads, np.int32),
            freeze(weights, np.float64),
            freeze(contains, np.bool_),
            freeze(tops, np.int32),
            freeze(strength[tops], np.float64),
            freeze(above, np.int32),
            means,
            place,
            root,
            tuple(freeze(rows, np.int32) for rows in order),
        )


def _depths(
    above: NDArray[np.int64], wanted: Mask
) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """The rows without a container, and the others in groups of falling depth; a ring of containers is cut open at its lowest row."""
    n = len(above)
    depth = np.full(n, -1)
    depth[above < 0] = 0
    while (depth < 0).any():
        known = (depth < 0) & (depth[above] >= 0)
        if known.any():
            depth[known] = depth[above[known]] + 1
            continue
        lowest = int(
            np.flatnonzero(depth < 0)[0]
        )  # all that is left leads into rings: walk up from it until a row comes again
        seen: dict[int, None] = {}
        while lowest not in seen:
            seen[lowest] = None
            lowest = int(above[lowest])
        ring = list(seen)[list(seen).index(lowest) :]
        above[min(ring)], depth[min(ring)] = -1, 0
    deepest = int(depth.max(initial=0))
    return np.flatnonzero((depth == 0) & wanted), [
        np.flatnonzero(depth == level) for level in range(deepest, 0, -1)
    ]


def _means(graph: Graph, above: NDArray[np.int64], depth: int) -> tuple[Vectors, Rows, Vectors]:
    """Unit vectors of the nodes that have none, by what is in them: the sum over the outermost content, each by its tokens."""
    from scipy.sparse import csr_array

    content = graph.content
    outer = np.flatnonzero(content & ~((above >= 0) & content[above]))
    weighted = graph.vectors[outer] * np.maximum(graph.tokens[outer], 1).astype(np.float32)[:, None]
    containers, members, at, left = (
        list[NDArray[np.int64]](),
        list[NDArray[np.int64]](),
        outer,
        np.arange(len(outer)),
    )
    for _ in range(depth):  # each round one container further out
        left, at = left[above[at] >= 0], above[at][above[at] >= 0]
        containers, members = [*containers, at], [*members, left]
    around, inside = (
        np.concatenate([np.zeros(0, np.int64), *rows]) for rows in (containers, members)
    )
    bare, place = np.unique(around), np.full(len(graph), -1)
    bare = bare[~graph.vectors[bare].any(axis=1)]
    place[bare] = np.arange(len(bare))
    kept = place[around] >= 0
    shape = len(bare), len(outer)
    sums = (
        csr_array(
            (np.ones(int(kept.sum()), np.float32), (place[around[kept]], inside[kept])), shape
        )
        @ weighted
    )
    told = sums.any(axis=1)
    place[bare] = np.where(told, np.cumsum(told) - 1, -1)
    root = _unit(weighted.sum(axis=0, keepdims=True))[0]
    return freeze(_unit(sums[told]), np.float32), freeze(place, np.int32), freeze(root, np.float32)


def _unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return units
