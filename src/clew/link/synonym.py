"""Names that probably mean the same entity.

After Gutiérrez et al., "From RAG to Memory" (HippoRAG 2), arXiv 2502.14802: an edge for a cosine of
at least 0.8, at most 100 edges from a name. Names are never merged: an edge can be removed again, a
merge cannot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from clew.graph import Edges, Graph, Mask, row_mask
from clew.link._shared import grown_edges, nearest_edges, shrunk_edges


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
        return self._of_long_names(
            graph, nearest_edges(graph, self.kind, rows, self.k, self.min_similarity)
        )

    def grow(self, graph: Graph, before: Edges, n_before: int) -> Edges:
        rows = graph.rows("entity")
        return self._of_long_names(
            graph,
            grown_edges(graph, before, n_before, self.kind, rows, self.k, self.min_similarity),
            before,
        )

    def shrink(self, graph: Graph, left: Edges, bereft: Mask) -> Edges:
        rows = graph.rows("entity")
        return self._of_long_names(
            graph, shrunk_edges(graph, left, bereft, self.kind, rows, self.k, self.min_similarity)
        )

    def _of_long_names(self, graph: Graph, edges: Edges, known: Edges | None = None) -> Edges:
        """The edges from names that are long enough, as those are that known edges come from."""
        is_known = row_mask([] if known is None else known.tails, len(graph))
        others = np.flatnonzero(row_mask(edges.tails, len(graph)) & ~is_known).tolist()
        too_short = [
            row for row in others if sum(map(str.isalnum, graph.texts[row])) < self.min_letters
        ]
        return edges.take(np.flatnonzero(~row_mask(too_short, len(graph))[edges.tails]))
