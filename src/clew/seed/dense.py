"""Dense retrieval: a node scores by its cosine with the question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from clew.algorithms.cosines import Compared, as_cosines, check_width, cosines
from clew.algorithms.nearest.hnsw import HNSW
from clew.graph import AnyVectors, Floats, Graph, Vectors
from clew.types import Query, Seeds


@dataclass(frozen=True)
class Dense:
    """Score nodes of the chosen kinds by max(0, cos(question, node)).

    Candidates that came from another retriever keep the scores that they came with.

    Attributes:
        kinds: the kinds of node that are searched.
        index: an approximate index, which finds the `nearest` nodes without measuring all (needs
            the extra `ann`). Only these nodes then have a score, and now and then a near one is
            missed: see `clew.algorithms.nearest.hnsw.recall`. None takes that of the index's
            configuration (`nearest` of `clew.Index.from_documents`) where that is over these kinds,
            and else measures all, exactly.
        nearest: how many nodes the approximate index looks for, at least 1.
        exact_below: a graph with fewer nodes of these kinds is measured exactly, unless the index
            is that of the configuration.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query
        >>> graph = Graph.of(["red", "pink", "blue"], vectors=[[1, 0], [0.8, 0.6], [-1, 0]])
        >>> Dense().on(graph)(Query("?", np.float32([1, 0]))).scores.round(2).tolist()
        [1.0, 0.8, 0.0]
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

        def find_seeds(query: Query) -> Seeds:
            scores = np.zeros(len(graph))
            if query.candidate_scores is not None:
                scores[list(query.candidate_scores)] = list(query.candidate_scores.values())
                return Seeds(scores, notes={"weights": "given with the candidates"})
            if query.vector is None or not query.vector.any():
                note = "the question has no vector: dense retrieval finds nothing"
                return Seeds(scores, notes={"fallback": note})
            # Candidates need none, so that those of the embedded default are not made for them.
            vectors = graph.vectors if approximate else graph.vectors_of(*self.kinds)
            options = self._options(query, len(rows))
            if options is None:
                scores[rows] = np.maximum(self._cosines(vectors, query.vector, query.compared), 0)
            else:
                check_width(vectors, query.vector)
                near = graph.part(options).search(query.vector, self.nearest)[0]
                scores[near] = np.maximum(cosines(graph.vectors[near], query.vector), 0)
            return Seeds(scores, notes=self._notes(options, len(rows)))

        return find_seeds

    def _cosines(self, vectors: AnyVectors, vector: Vectors, known: Compared | None) -> Floats:
        """Return the cosines of all nodes, of their products where these are known."""
        if known is not None and known.vectors is vectors and known.query is vector:
            return as_cosines(known.products)
        return cosines(vectors, vector)

    def _options(self, query: Query, count: int) -> HNSW | None:
        """Return the approximate index to search, or None for an exact search."""
        if self.index is not None:
            own = replace(self.index, kinds=self.kinds)
            return own if count >= self.exact_below else None
        configured = query.nearest
        return configured if configured is not None and configured.kinds == self.kinds else None

    def _notes(self, options: HNSW | None, count: int) -> Mapping[str, str]:
        """Return what the trace says of the search."""
        if options is not None:
            nearest = f"the {self.nearest} nearest by an approximate index, {options}"
            return {"search": f"{nearest}; some may be missed"}
        if self.index is not None:
            return {"search": f"exact: {count:,} nodes are fewer than {self.exact_below:,}"}
        return {}
