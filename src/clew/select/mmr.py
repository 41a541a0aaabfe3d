"""Maximal marginal relevance within a budget: relevant, and unlike what is read already.

See `clew.algorithms.mmr.mmr`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.mmr.mmr import mean_cosine, select_mmr
from clew.algorithms.ranking import min_max_scale, top_k
from clew.graph import Floats, Graph, Vectors
from clew.select._shared import (
    narrow_to,
    places_left,
    required_content,
    required_tokens,
    similarities,
)
from clew.types import Query, Seeds, Subgraph

RELEVANCES = ("prize", "similarity")
ALL_EQUAL = 0.999  # the mean cosine is cut here, since a floor must lie below 1


@dataclass(frozen=True)
class MMR:
    """Take content one by one by marginal relevance while it fits.

    Rows that an earlier stage requires (bridges) come first, and always.

    Attributes:
        lambda_mult: the weight of relevance against difference, in [0, 1]; 1 is relevance alone.
        k: take at most so many; None for as many as fit.
        fetch_k: look among so many of the highest prizes; None for all.
        relevance: "prize", scaled to [0, 1] over the candidates, or "similarity", the cosine with
            the question as it is.
        similarity_floor: from which likeness on two count as alike, in [0, 1): 0 is what two
            candidates have in common on average, 1 is to be the same, and what lies above counts
            from 0 to 1. None counts the whole cosine, by which passages on one topic already
            displace each other.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Seeds, Subgraph
        >>> vectors = [[1, 0], [1, 0], [0, 1]]
        >>> graph = Graph.of(["cat", "a cat", "dog"], vectors=vectors)
        >>> prizes = np.array([1.0, 0.9, 0.8])
        >>> select = MMR(k=2).on(graph)
        >>> select(Query("?"), Seeds(prizes), prizes, Subgraph(np.arange(3)), 99).nodes.tolist()
        [0, 2]
    """

    lambda_mult: float = 0.5
    k: int | None = None
    fetch_k: int | None = 200
    relevance: str = "prize"
    similarity_floor: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.lambda_mult <= 1:
            raise ValueError(
                "lambda_mult is from 0, difference alone, to 1, relevance alone; "
                f"got {self.lambda_mult}"
            )
        for name in ("k", "fetch_k"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise ValueError(f"{name} is a whole number of at least 1, or None; got {number}")
        if self.relevance not in RELEVANCES:
            raise ValueError(
                f"unknown relevance {self.relevance!r}; known: {', '.join(RELEVANCES)}"
            )
        if self.similarity_floor is not None and not 0 <= self.similarity_floor < 1:
            raise ValueError(
                "similarity_floor is from 0, as alike as any two, to below 1, the same; or None; "
                f"got {self.similarity_floor}"
            )

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        content = graph.content

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            required = required_content(graph, candidates)
            rows = candidates.nodes
            rows = rows[content[rows] & (prizes[rows] > 0) & ~np.isin(rows, required)]
            rows = rows[top_k(prizes[rows], self.fetch_k)]
            vectors, tokens = graph.vectors[rows], graph.tokens[rows]
            relevance = (
                min_max_scale(prizes[rows])
                if self.relevance == "prize"
                else similarities(vectors, query.vector)
            )
            result = select_mmr(
                vectors,
                relevance,
                self.lambda_mult,
                max(0, places_left(len(rows), len(required), self.k, query.limit)),
                costs=tokens,
                budget=budget - required_tokens(graph, candidates),
                selected=graph.vectors[required],
                floor=self._cosine_floor(vectors),
            )
            dropped = [
                (int(rows[place]), f"its {int(tokens[place])} tokens do not fit in the {room} left")
                for place, room in zip(result.passed.tolist(), result.left.tolist(), strict=True)
            ]
            return narrow_to(graph, candidates, rows[result.chosen], dropped)

        return select

    def _cosine_floor(self, vectors: Vectors) -> float | None:
        """Return the cosine from which on two candidates count as alike."""
        if self.similarity_floor is None:
            return None
        usual = min(mean_cosine(vectors), ALL_EQUAL)
        return usual + self.similarity_floor * (1 - usual)
