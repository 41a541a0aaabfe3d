"""Entities with similar names: the similarity layer of DA-RAG's index.

The recipe `da_rag` computes this layer itself where a graph has no edges of this kind. Edges of
this kind are saved with the index, and other methods can follow them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from clew.graph import Edges, Graph
from clew.link._shared import nearest_edges

MIN_SIMILARITY = 1e-6  # a cosine of 0 joins nothing


def alike_edges(graph: Graph, k: int = 5) -> Edges:
    """Return the edges of the similarity layer; the weight is the cosine.

    Args:
        graph: the graph.
        k: the largest number of edges from an entity.

    Example:
        >>> graph = Graph.of(["Anna", "Anne"], kinds="entity", vectors=[[1, 0], [0.6, 0.8]])
        >>> alike_edges(graph).weights
        array([0.6, 0.6], dtype=float32)
    """
    return nearest_edges(graph, "alike", graph.rows("entity"), k, MIN_SIMILARITY)


@dataclass(frozen=True)
class Alike:
    """From each entity to those with the nearest names, at any distance; the weight is the cosine.

    Attributes:
        k: the largest number of edges from an entity.

    Example:
        >>> graph = Graph.of(["Anna", "Anne"], kinds="entity", vectors=[[1, 0], [0.6, 0.8]])
        >>> Alike().on(graph).heads
        array([1, 0], dtype=int32)
    """

    k: int = 5

    kind: ClassVar[str] = "alike"
    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        return alike_edges(graph, self.k)
