"""Dense retrieval: the cosine between the question and every passage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.graph import Floats, Graph, Query, Seeds


@dataclass(frozen=True)
class Dense:
    """Weights are max(0, cos(question, node)) on nodes of the chosen kinds; candidates given with a score keep that score."""

    kinds: tuple[str, ...] = ("passage",)

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        rows = graph.rows(*self.kinds)
        vectors = graph.vectors if len(rows) == len(graph) else graph.vectors[rows]

        def touch(query: Query) -> Seeds:
            weights = np.zeros(len(graph))
            if query.given is not None:
                weights[list(query.given)] = list(query.given.values())
                return Seeds(weights, notes={"weights": "given with the candidates"})
            if query.vector is None or not query.vector.any():
                return Seeds(weights, notes={"fallback": "the question has no vector: dense retrieval finds nothing"})
            weights[rows] = np.maximum(cosines(vectors, query.vector), 0)
            return Seeds(weights)

        return touch


def cosines(vectors: np.ndarray, query: np.ndarray) -> Floats:
    """Return the cosine of every unit row with a unit vector; equal rows have equal cosines, wherever they stand and on any machine."""
    if vectors.shape[1] != len(query):
        raise ValueError(
            f"the question's vector has {len(query)} dimensions and the graph's have {vectors.shape[1]}: embed both with one model"
        )
    # Not `@`: BLAS sums in an order that depends on the row's place and the number of threads, and ties would fall with it.
    found: Floats = np.einsum("ij,j->i", vectors, query.astype(np.float32)).astype(np.float64)
    return found
