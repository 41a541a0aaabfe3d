"""Passages that are similar in meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from clew.graph import Edges, Graph, Mask
from clew.link._shared import grown_edges, nearest_edges, shrunk_edges


@dataclass(frozen=True)
class Similar:
    """From each passage to its nearest others by cosine, which is the weight.

    Of more than 20,000 passages, some 99 in 100 of these edges are found, and edges to others a
    little farther in the place of the rest; see `clew.algorithms.nearest.pivots`.

    Attributes:
        k: the largest number of edges from a passage.
        min_similarity: the lowest cosine of an edge, > 0.
        kinds: the kinds of node that are compared with each other.

    Example:
        >>> graph = Graph.of(["a", "b", "c"], vectors=[[1, 0], [0.8, 0.6], [0, 1]])
        >>> edges = Similar(k=1).on(graph)
        >>> edges.tails, edges.heads
        (array([0, 1, 2], dtype=int32), array([1, 0, 1], dtype=int32))
    """

    k: int = 5
    min_similarity: float = 0.1
    kinds: tuple[str, ...] = ("passage",)

    kind: ClassVar[str] = "similar"
    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        return nearest_edges(graph, self.kind, graph.rows(*self.kinds), self.k, self.min_similarity)

    def grow(self, graph: Graph, before: Edges, n_before: int) -> Edges:
        rows = graph.rows(*self.kinds)
        return grown_edges(graph, before, n_before, self.kind, rows, self.k, self.min_similarity)

    def shrink(self, graph: Graph, left: Edges, bereft: Mask) -> Edges:
        rows = graph.rows(*self.kinds)
        return shrunk_edges(graph, left, bereft, self.kind, rows, self.k, self.min_similarity)
