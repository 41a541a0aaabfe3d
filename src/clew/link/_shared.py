"""Edges to nearest neighbours, which `Similar`, `Synonym` and `Alike` make."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.nearest.exact import Neighbours, nearest_of_some, nearest_pairs, with_newer
from clew.algorithms.ranking import TOLERANCE
from clew.graph import (
    AnyVectors,
    Edges,
    Floats,
    Graph,
    Mask,
    Rows,
    VectorColumn,
    in_temporary_file,
    release_free_memory,
    row_mask,
    take_vectors,
)

MANY_VECTORS = 20_000
MAX_REMEMBERED = 512  # vectors that a column makes and keeps
SURELY = 4 * TOLERANCE  # by which a cosine is above another, however both are rounded
PAIRS_AT_ONCE = 2048  # whose vectors are copied, some 20 MB where they have 512 numbers


def nearest_edges(graph: Graph, kind: str, rows: Rows, k: int, min_similarity: float) -> Edges:
    """Return edges from each of the rows to its nearest others; the weight is the cosine.

    Args:
        graph: the graph.
        kind: the kind of the edges.
        rows: the nodes that are compared with each other. One without a vector has no edges.
        k: the largest number of edges from a node.
        min_similarity: the lowest cosine of an edge, > 0.
    """
    chosen = take_vectors(graph.vectors, rows)
    if len(chosen) > MANY_VECTORS:
        vectors = in_temporary_file(chosen)
        release_free_memory()  # what it took to make these
    else:
        vectors = np.asarray(chosen)
    tails, heads, _ = nearest_pairs(vectors, k, min_similarity)
    return Edges.of(kind, rows[tails], rows[heads], _cosines_of_pairs(vectors, tails, heads))


def edges_from(
    graph: Graph, kind: str, rows: Rows, some: Rows, k: int, min_similarity: float
) -> Edges:
    """Return those of the edges of `nearest_edges` that leave some nodes, by all cosines of these.

    Args:
        graph: as in `nearest_edges`.
        kind: as in `nearest_edges`.
        rows: as in `nearest_edges`, ascending.
        some: the nodes; those that are not compared have no edges.
        k: as in `nearest_edges`.
        min_similarity: as in `nearest_edges`.
    """
    chosen = np.flatnonzero(row_mask(some, len(graph))[rows])
    if not len(chosen):
        return Edges.of(kind, [], [])
    vectors = take_vectors(graph.vectors, rows)
    pairs = nearest_of_some(vectors, chosen, k, min_similarity)
    cosines = _cosines_of_pairs(vectors, pairs.rows, pairs.others)
    return Edges.of(kind, rows[pairs.rows], rows[pairs.others], cosines)


def grown_edges(
    graph: Graph, before: Edges, n_before: int, kind: str, rows: Rows, k: int, min_similarity: float
) -> Edges:
    """Return what `nearest_edges` returns, from its result for a graph without the last nodes.

    Args:
        graph: the graph.
        before: the edges of the graph before.
        n_before: the number of its nodes, which come first.
        kind: as in `nearest_edges`.
        rows: as in `nearest_edges`, ascending.
        k: as in `nearest_edges`.
        min_similarity: as in `nearest_edges`.
    """
    old = int(np.searchsorted(rows, n_before))
    known = _pairs_of(before, rows)
    pairs = with_newer(graph.vectors, rows, old, known, k, min_similarity)
    tails, heads, cosines = rows[pairs.rows], rows[pairs.others], pairs.cosines.copy()
    new = np.flatnonzero((pairs.rows >= old) | (pairs.others >= old))
    cosines[new] = _cosines_of_pairs(graph.vectors, tails[new], heads[new])
    return Edges.of(kind, tails, heads, cosines)


def shrunk_edges(
    graph: Graph, left: Edges, bereft: Mask, kind: str, rows: Rows, k: int, min_similarity: float
) -> Edges:
    """Return what `nearest_edges` returns, from its result for a graph of more nodes.

    Args:
        graph: the graph of the nodes that stay.
        left: the edges between them.
        bereft: bool [nodes], True for a node that had an edge to one that is gone.
        kind: as in `nearest_edges`.
        rows: as in `nearest_edges`.
        k: as in `nearest_edges`.
        min_similarity: as in `nearest_edges`.
    """
    chosen = np.flatnonzero(bereft[rows])
    kept = left.take(np.flatnonzero(~bereft[left.tails]))
    vectors = take_vectors(graph.vectors, rows)
    pairs = nearest_of_some(vectors, chosen, k, min_similarity)
    cosines = _cosines_of_pairs(vectors, pairs.rows, pairs.others)
    again = Edges.of(kind, rows[pairs.rows], rows[pairs.others], cosines)
    edges = Edges.join([kept, again])
    return edges.take(np.argsort(edges.tails, kind="stable"))


def exchanged_edges(
    graph: Graph,
    left: Edges,
    lowest: Floats,
    kind: str,
    rows: Rows,
    k: int,
    min_similarity: float,
) -> Edges:
    """Return what `nearest_edges` returns, from its result for a graph with other nodes.

    A node that has lost a neighbour needs no search where new ones are as near as that was: among
    the others none is nearer than its last neighbour.

    Args:
        graph: the graph.
        left: the edges between the nodes that stay, which come first.
        lowest: float64 [nodes that stay], the lowest weight of the edges from a node that has lost
            one of `k`; 0 for another.
        kind: as in `nearest_edges`.
        rows: as in `nearest_edges`, ascending.
        k: as in `nearest_edges`.
        min_similarity: as in `nearest_edges`.
    """
    old = int(np.searchsorted(rows, len(lowest)))
    bounds, known = lowest[rows[:old]], _pairs_of(left, rows)
    pairs = with_newer(graph.vectors, rows, old, known, k, min_similarity, bounds)
    places, others, cosines = pairs.rows, pairs.others, pairs.cosines.copy()
    new = np.flatnonzero((places >= old) | (others >= old))
    cosines[new] = _cosines_of_pairs(graph.vectors, rows[places[new]], rows[others[new]])
    at_least = np.append(bounds, np.zeros(len(rows) - old))[places] + SURELY
    is_sure = (others < old) | (cosines >= at_least)  # what was a neighbour before is one still
    lacking = np.flatnonzero(
        (bounds > 0) & (np.bincount(places[is_sure], minlength=len(rows))[:old] < k)
    )
    if len(lacking):
        vectors = take_vectors(graph.vectors, rows)
        again = nearest_of_some(vectors, lacking, k, min_similarity)
        stays = ~row_mask(lacking, len(rows))[places]
        parts = [(places[stays], again.rows), (others[stays], again.others)]
        places, others = map(np.concatenate, parts)
        found = _cosines_of_pairs(vectors, again.rows, again.others)
        cosines = np.concatenate([cosines[stays], found])
        order = np.argsort(places, kind="stable")
        places, others, cosines = places[order], others[order], cosines[order]
    return Edges.of(kind, rows[places], rows[others], cosines)


def _cosines_of_pairs(
    vectors: AnyVectors, first: NDArray[np.integer], second: NDArray[np.integer]
) -> Floats:
    """Return the cosine of each pair, which depends on its two vectors alone.

    By a product of matrices it depends on how many rows these have, too: some processors add in
    another order then, and a change of one document would change the weights of others.
    """
    cosines = np.empty(len(first))
    for start in range(0, len(first), PAIRS_AT_ONCE):
        some = slice(start, start + PAIRS_AT_ONCE)
        both = np.concatenate([first[some], second[some]])
        rows, places = np.unique(both, return_inverse=True)  # each is made once, all together
        # Of a column, its own segments make them, which remember those that were just compared.
        of_column = isinstance(vectors, VectorColumn) and len(rows) <= MAX_REMEMBERED
        made = vectors[rows] if of_column else np.asarray(take_vectors(vectors, rows))
        left, right = np.split(places, 2)
        cosines[some] = np.einsum("ij,ij->i", made[left], made[right])
    return np.clip(cosines, np.finfo(np.float32).tiny, 1.0)  # of unit vectors, but for rounding


def _pairs_of(edges: Edges, rows: Rows) -> Neighbours:
    """The edges as pairs of places among the rows."""
    place_of = np.zeros(int(rows.max(initial=-1)) + 1, np.int64)
    place_of[rows] = np.arange(len(rows))
    tails, heads = place_of[edges.tails], place_of[edges.heads]
    return Neighbours(tails, heads, edges.weights.astype(np.float64))
