"""Names that probably mean the same entity.

After Gutiérrez et al., "From RAG to Memory" (HippoRAG 2), arXiv 2502.14802: an edge for a cosine of
at least 0.8, at most 100 edges from a name. Names are never merged: an edge can be removed again, a
merge cannot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from clew.graph import Edges, Graph, Mask
from clew.link._shared import from_long_names, grown_edges, nearest_edges, shrunk_edges


@dataclass(frozen=True)
class Synonym:
    """From each entity to others with a similar name; the weight is the cosine.

    Attributes:
        min_similarity: the lowest cosine of an edge, > 0.
        k: the largest number of edges from an entity.
        min_letters: a name with fewer letters and digits has no edges from it: two letters are
            similar by chance.

    Example:
        >>> graph = Graph.of(
        ...     ["Anna Bell", "Ann Bell"], kinds="entity", vectors=[[1, 0], [0.96, 0.28]]
        ... )
        >>> Synonym().on(graph).weights
        array([0.96, 0.96], dtype=float32)
    """

    min_similarity: float = 0.8
    k: int = 100
    min_letters: int = 3

    kind: ClassVar[str] = "synonym"
    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        rows = graph.rows("entity")
        edges = nearest_edges(graph, self.kind, rows, self.k, self.min_similarity)
        return from_long_names(graph, edges, self.min_letters)

    def grow(self, graph: Graph, before: Edges, n_before: int) -> Edges:
        rows = graph.rows("entity")
        edges = grown_edges(graph, before, n_before, self.kind, rows, self.k, self.min_similarity)
        return from_long_names(graph, edges, self.min_letters, before)

    def shrink(self, graph: Graph, left: Edges, bereft: Mask) -> Edges:
        rows = graph.rows("entity")
        edges = shrunk_edges(graph, left, bereft, self.kind, rows, self.k, self.min_similarity)
        return from_long_names(graph, edges, self.min_letters)
