"""Edges to nearest neighbours, which `Similar`, `Synonym` and `Alike` make."""

from __future__ import annotations

from clew.algorithms.nearest.exact import nearest_pairs
from clew.graph import Edges, Graph, Rows


def nearest_edges(graph: Graph, kind: str, rows: Rows, k: int, min_similarity: float) -> Edges:
    """Return edges from each of the rows to its nearest others; the weight is the cosine.

    Args:
        graph: the graph.
        kind: the kind of the edges.
        rows: the nodes that are compared with each other. One without a vector has no edges.
        k: the largest number of edges from a node.
        min_similarity: the lowest cosine of an edge, > 0.
    """
    tails, heads, cosines = nearest_pairs(graph.vectors[rows], k, min_similarity)
    return Edges.of(kind, rows[tails], rows[heads], cosines)
