"""The document hierarchy that a descent walks: successors of nodes, and vectors of containers.

The virtual root of the corpus leads to every node that nothing contains. A node leads to what it
contains and to nodes that are very similar, since a hierarchical document graph has semantic edges
too (Kurisu-G2, Algorithm 4). Passages of source code have these only where an index is made with
`clew.link.Similar()` among its links.

An edge of weight w has the strength p w, with the initial strength p, and an edge of the root that
of weight 1. What an edge of kind "learned" beside it has learnt, the difference from w / 2, is
added; the root's edge to a node is learnt as an edge from the node to itself. A learnt edge that
has no other edge beside it is a graft that was retained. See `clew.index.learning`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import reaches
from clew.graph import (
    Edges,
    Floats,
    Graph,
    Mask,
    Rows,
    Vectors,
    distinct,
    expand_ranges,
    freeze,
    has_vector,
    in_blocks,
    release_free_memory,
    seal,
    take_vectors,
)
from clew.methods.kurisu.edge_learning import BUILT_STRENGTH, LEARNED

SIMILAR = ("similar",)
BLOCK = 4096  # rows whose vectors are made at once, 12 MB of the embedded default
IntRows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DocumentTree:
    """Successors in compressed rows: those of row i are `heads[starts[i]:starts[i + 1]]`.

    Attributes:
        starts: int64 [n + 1].
        heads: the successors, ascending within each row.
        strengths: of each edge, float64, from 0 to 1.
        contains: True for the slots that lead from a container to its contents.
        top_rows: the rows that the root leads to.
        top_strengths: how strongly, float64.
        containers: the row of each node's container, or -1.
        container_vectors: unit vectors of containers by their contents, float32 [c, d].
        vector_rows: each node's row in `container_vectors`, or -1.
        root_vector: the mean direction of the corpus, float32 [d].
        levels: rows of equal depth, the deepest first, for sums from the leaves upwards.
    """

    starts: IntRows
    heads: Rows
    strengths: Floats
    contains: Mask
    top_rows: Rows
    top_strengths: Floats
    containers: Rows
    container_vectors: Vectors
    vector_rows: Rows
    root_vector: Vectors
    levels: tuple[Rows, ...]

    def slots(self, rows: IntRows) -> IntRows:
        """Return the slots of these rows, in their order."""
        if len(rows) == 1:
            return np.arange(self.starts[rows[0]], self.starts[rows[0] + 1])
        return expand_ranges(self.starts[rows], self.starts[rows + 1] - self.starts[rows])

    def sources(self, rows: IntRows) -> IntRows:
        """Return the row that each of `slots(rows)` starts from."""
        return np.repeat(rows, self.starts[rows + 1] - self.starts[rows])

    def content_within(self, rows: IntRows, content: Mask) -> IntRows:
        """Return the content of these nodes: a passage itself, a container's outermost passages."""
        if content[rows].all():
            return np.sort(rows)
        seen = np.zeros(len(content), np.bool_)
        frontier: NDArray[Any] = distinct(rows)
        while len(frontier):
            seen[frontier] = True
            slots = self.slots(frontier[~content[frontier]])
            frontier = distinct(self.heads[slots[self.contains[slots]]])
            frontier = frontier[~seen[frontier]]
        return np.flatnonzero(seen & content)

    def passages_of(self, rows: IntRows, content: Mask) -> IntRows:
        """Return for each of these rows the outermost content around it: itself, if it is that."""
        rows = rows.astype(np.int64)
        while True:
            around = self.containers[rows]
            is_part = (around >= 0) & content[around]
            if not is_part.any():
                return rows
            rows = np.where(is_part, around, rows)

    def with_sentences(self, rows: IntRows, content: Mask) -> IntRows:
        """Return these rows and, where they are content, what they contain, ascending."""
        slots = self.slots(rows[content[rows]])
        return np.union1d(rows, self.heads[slots[self.contains[slots]]]).astype(np.int64)

    def best_prizes(self, prizes: Floats) -> Floats:
        """Return for every node the highest of its own prize and those of its contents."""
        best = prizes.copy()
        for rows in self.levels:
            np.maximum.at(best, self.containers[rows], best[rows])
        return best

    def best_left(self, best: Floats, ended: IntRows) -> Floats:
        """Return the best prizes once paths have ended at some nodes, float64 [n].

        These nodes have 0. What is around them is as good as the best that is left inside.

        Args:
            best: of every node, as `best_prizes` or this function returned it.
            ended: the nodes at which paths ended.
        """
        left = best.copy()
        left[ended] = 0
        around = self.containers[ended]
        while len(around := distinct(around[around >= 0]).astype(np.int64)):
            for container in around.tolist():
                slots = self.slots(np.array([container]))
                inside = self.heads[slots[self.contains[slots]]]
                left[container] = left[inside].max(initial=0)
            around = self.containers[around]
        return left


@dataclass(frozen=True)
class DocumentTreePart:
    """The part that builds a `DocumentTree`.

    Attributes:
        min_weight: semantic edges have at least this weight.
        similar: the kinds of semantic edges.
        initial_strength: p, the strength of an edge of weight 1 before anything is learnt.

    Example:
        >>> from clew.graph import Graph
        >>> graph = Graph.of(["A", "one", "two"], kinds=["section", "passage", "passage"],
        ...                  parents=[-1, 0, -1])
        >>> tree = graph.part(DocumentTreePart())
        >>> tree.top_rows.tolist(), tree.heads[tree.slots(np.array([0]))].tolist()
        ([0, 2], [1])
    """

    min_weight: float = 0.8
    similar: tuple[str, ...] = SIMILAR
    initial_strength: float = BUILT_STRENGTH

    def compute(self, graph: Graph) -> DocumentTree:
        learned = _learned_edges(graph)
        edges = self._directed_edges(graph, learned)
        starts = np.zeros(len(graph) + 1, np.int64)
        np.cumsum(np.bincount(edges.tails, minlength=len(graph)), out=starts[1:])
        containers = graph.parents.astype(np.int64)
        by_edge_alone = edges.contains & (containers[edges.heads] < 0)
        containers[edges.heads[by_edge_alone][::-1]] = edges.tails[by_edge_alone][::-1]
        top_rows, levels = _depths(containers, ~graph.kinds.mask("entity"))
        vectors, vector_rows, root_vector = _container_vectors(graph, containers, len(levels))
        root_strengths = np.full(len(graph), self.initial_strength)
        of_root = learned.tails == learned.heads
        root_strengths[learned.heads[of_root]] += learned.weights[of_root] - BUILT_STRENGTH
        root_strengths = np.clip(root_strengths, 0, 1)
        return DocumentTree(
            starts,
            freeze(edges.heads, np.int32),
            freeze(edges.strengths, np.float64),
            freeze(edges.contains, np.bool_),
            freeze(top_rows, np.int32),
            freeze(root_strengths[top_rows], np.float64),
            freeze(containers, np.int32),
            vectors,
            vector_rows,
            root_vector,
            tuple(freeze(rows, np.int32) for rows in levels),
        )

    def _directed_edges(self, graph: Graph, learned: Edges) -> _DirectedEdges:
        """Return the edges that a descent follows, by tail and head; of parallel ones the first.

        Contained edges come first, then those of the documents' parents, which a graph without
        edges has all the same, then semantic edges, then grafts.
        """
        edges, n = graph.edges, len(graph)
        contained = similar = np.zeros(0, np.int64)
        if len(edges):
            proper = edges.tails != edges.heads
            contained = np.flatnonzero(edges.kinds.mask("contains") & proper)
            near = reaches(edges.weights, self.min_weight)
            similar = np.flatnonzero(edges.kinds.mask(*self.similar) & near & proper)
        children = np.flatnonzero(graph.parents >= 0)
        one, other = edges.tails[similar], edges.heads[similar]
        is_graft = learned.tails != learned.heads
        graft_tails = learned.tails[is_graft].astype(np.int64)
        graft_heads = learned.heads[is_graft].astype(np.int64)
        tails = np.concatenate(
            [edges.tails[contained], graph.parents[children], one, other, graft_tails]
        ).astype(np.int64)
        heads = np.concatenate([edges.heads[contained], children, other, one, graft_heads]).astype(
            np.int64
        )
        weights = np.concatenate(
            [
                edges.weights[contained],
                np.ones(len(children)),
                np.tile(edges.weights[similar], 2),
                np.zeros(len(graft_tails)),
            ]
        )
        contains = np.arange(len(tails)) < len(contained) + len(children)
        keys, first = np.unique(tails * n + heads, return_index=True)
        strengths = self.initial_strength * weights[first]
        slots = np.searchsorted(keys, graft_tails * n + graft_heads)
        strengths[slots] += learned.weights[is_graft] - BUILT_STRENGTH * weights[first][slots]
        strengths = np.clip(strengths, 0, 1)
        return _DirectedEdges(tails[first], heads[first], strengths, contains[first])


class _DirectedEdges(NamedTuple):
    """Edges in rising order of tail and head: their ends, strengths, and which of them contain."""

    tails: IntRows
    heads: IntRows
    strengths: Floats
    contains: Mask


def node_vectors(graph: Graph, tree: DocumentTree, rows: IntRows) -> Vectors:
    """Return the vectors of these rows; a container without one has that of its contents."""
    vectors: Vectors = graph.vectors[rows]
    vector_rows = tree.vector_rows[rows]
    if (vector_rows >= 0).any():
        vectors[vector_rows >= 0] = tree.container_vectors[vector_rows[vector_rows >= 0]]
    return vectors


def _learned_edges(graph: Graph) -> Edges:
    if not len(graph.edges):
        return graph.edges
    return graph.edges.take(np.flatnonzero(graph.edges.kinds.mask(LEARNED)))


def _depths(containers: IntRows, is_top: Mask) -> tuple[IntRows, list[IntRows]]:
    """Return the rows without a container, and the other rows by falling depth.

    A ring of containers is cut open at its lowest row; `containers` is changed there.
    """
    depth = np.full(len(containers), -1)
    depth[containers < 0] = 0
    while (depth < 0).any():
        known = (depth < 0) & (depth[containers] >= 0)
        if known.any():
            depth[known] = depth[containers[known]] + 1
            continue
        lowest = min(_ring(containers, int(np.flatnonzero(depth < 0)[0])))
        containers[lowest], depth[lowest] = -1, 0
    deepest = int(depth.max(initial=0))
    levels = [np.flatnonzero(depth == level) for level in range(deepest, 0, -1)]
    return np.flatnonzero((depth == 0) & is_top), levels


def _ring(containers: IntRows, row: int) -> list[int]:
    """Return the ring of containers that a row leads into: walk up until a row comes again."""
    seen: dict[int, None] = {}
    while row not in seen:
        seen[row] = None
        row = int(containers[row])
    walked = list(seen)
    return walked[walked.index(row) :]


def _container_vectors(
    graph: Graph, containers: IntRows, max_depth: int
) -> tuple[Vectors, Rows, Vectors]:
    """Return `container_vectors`, `vector_rows` and `root_vector` of the hierarchy.

    The vector of a container is the sum over its outermost content, each passage by its tokens.
    """
    content = graph.content
    outer = np.flatnonzero(content & ~((containers >= 0) & content[containers]))
    around, inside = _ancestors(containers, outer, max_depth)
    bare, vector_rows = distinct(around), np.full(len(graph), -1, np.int32)
    bare = bare[~has_vector(take_vectors(graph.vectors, bare))]
    vector_rows[bare] = np.arange(len(bare))
    retained = np.flatnonzero(vector_rows[around] >= 0)
    retained = retained[np.argsort(inside[retained], kind="stable")]
    places = vector_rows[around[retained]], inside[retained]
    sums, total = _weighted_sums(graph, outer, places, len(bare))
    has_sum = has_vector(sums)
    vector_rows[bare] = np.where(has_sum, np.cumsum(has_sum) - 1, -1)
    vectors = _unit_rows(sums if has_sum.all() else sums[has_sum])
    root = _unit_rows(total)[0]
    return seal(vectors), freeze(vector_rows, np.int32), freeze(root, np.float32)


def _weighted_sums(
    graph: Graph, rows: IntRows, places: tuple[NDArray[np.integer], IntRows], n: int
) -> tuple[Vectors, Vectors]:
    """Return sums of the vectors of some rows, each times its tokens, as if all were there at once.

    Args:
        graph: the graph.
        rows: the rows.
        places: the sum that each entry is added to, and its place among `rows`, ascending.
        n: the number of sums.

    Returns:
        float32 [n, d], and the sum of all rows, float32 [1, d].
    """
    from scipy.sparse import csr_array

    into, inside = places
    sums, total = (np.zeros((m, graph.vectors.shape[1]), np.float32) for m in (n, 1))
    for start, block in in_blocks(rows, BLOCK):
        tokens = np.maximum(graph.tokens[block], 1).astype(np.float32)
        weighted = graph.vectors[block] * tokens[:, None]
        first, last = np.searchsorted(inside, [start, start + len(block)])
        own_sums = distinct(into[first:last])
        m = len(own_sums)
        # A sum so far comes first, and then what is added to it: rounded as in one run.
        columns = np.concatenate([np.arange(m), m + inside[first:last] - start])
        owners = np.concatenate([np.arange(m), np.searchsorted(own_sums, into[first:last])])
        entries = np.ones(len(columns), np.float32), (owners, columns)
        so_far = np.concatenate([sums[own_sums], weighted])
        sums[own_sums] = csr_array(entries, (m, len(so_far))) @ so_far
        total = np.concatenate([total, weighted]).sum(axis=0, keepdims=True)
        if len(block) == BLOCK:
            release_free_memory()  # what it took to make these
    return sums, total


def _ancestors(containers: IntRows, rows: IntRows, max_depth: int) -> tuple[IntRows, IntRows]:
    """Return every pair of a row and a container around it: containers, and places in `rows`."""
    around, inside = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    nodes, places = rows, np.arange(len(rows))
    for _ in range(max_depth):  # each round one container further out
        contained = containers[nodes] >= 0
        nodes, places = containers[nodes][contained], places[contained]
        around.append(nodes)
        inside.append(places)
    return np.concatenate(around), np.concatenate(inside)


def _unit_rows(rows: Vectors) -> Vectors:
    """Make rows unit vectors, in place, and return them; rows without a length become zeros."""
    for _, block in in_blocks(rows, BLOCK):
        lengths = np.linalg.norm(block, axis=1, keepdims=True)
        np.divide(block, lengths, out=block, where=lengths > 0)
        block[lengths[:, 0] <= 0] = 0
    return rows
