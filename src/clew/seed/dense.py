"""Dense retrieval: the cosine between the question and every passage, or the nearest alone by an approximate index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from clew.algorithms.cosines import cosines, same_width
from clew.algorithms.nearest.hnsw import HNSW
from clew.graph import Graph
from clew.types import Query, Seeds


@dataclass(frozen=True)
class Dense:
    """Weights are max(0, cos(question, node)) on nodes of the chosen kinds; candidates given with a score keep that score.

    Attributes:
        kinds: the kinds of node.
        index: how to find the `nearest` nodes without measuring all, for graphs of at least `exact_below` such nodes (needs the extra
            `ann`); others then have no weight, and now and then a near one is missed: see `clew.algorithms.nearest.hnsw.recall`. None measures
            all, exactly. nearest, exact_below: see there.
    """

    kinds: tuple[str, ...] = ("passage",)
    index: HNSW | None = None
    nearest: int = 200
    exact_below: int = 50_000

    def __post_init__(self) -> None:
        if self.nearest < 1:
            raise ValueError(
                f"nearest is the number of nodes to find, at least 1; got {self.nearest}"
            )

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        rows = graph.rows(*self.kinds)
        approximate = self.index is not None and len(rows) >= self.exact_below
        found_by = (
            graph.part(replace(self.index, kinds=self.kinds))
            if self.index is not None and approximate
            else None
        )
        vectors = graph.vectors if approximate or len(rows) == len(graph) else graph.vectors[rows]
        how: dict[str, str] = {}
        if found_by is not None:
            how = {
                "search": f"the {self.nearest} nearest by an approximate index, {self.index}; some may be missed"
            }
        elif self.index is not None:
            how = {"search": f"exact: {len(rows):,} nodes are fewer than {self.exact_below:,}"}

        def touch(query: Query) -> Seeds:
            weights = np.zeros(len(graph))
            if query.candidate_scores is not None:
                weights[list(query.candidate_scores)] = list(query.candidate_scores.values())
                return Seeds(weights, notes={"weights": "given with the candidates"})
            if query.vector is None or not query.vector.any():
                return Seeds(
                    weights,
                    notes={"fallback": "the question has no vector: dense retrieval finds nothing"},
                )
            if found_by is None:
                weights[rows] = np.maximum(cosines(vectors, query.vector), 0)
            else:
                same_width(vectors, query.vector)
                near = found_by.search(query.vector, self.nearest)[0]
                weights[near] = np.maximum(cosines(graph.vectors[near], query.vector), 0)
            return Seeds(weights, notes=how) if how else Seeds(weights)

        return touch
