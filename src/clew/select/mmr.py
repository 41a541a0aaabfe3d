"""Maximal marginal relevance within a budget: worth reading, and not like what is read already. See `clew.algorithms.mmr.mmr`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.mmr.mmr import mean_cosine, select_mmr
from clew.algorithms.ranking import min_max_scale, top_k
from clew.graph import Floats, Graph
from clew.select._costs import similarities
from clew.select._shared import narrow_to, required_rows, tokens_spent
from clew.types import Query, Seeds, Subgraph

WORTHS = ("prize", "similarity")
SAME = 0.999  # all candidates are one; a floor lies below 1


@dataclass(frozen=True)
class MMR:
    """Take candidates one by one by marginal relevance while they fit; nodes that must be kept (bridges) come first and for sure.

    Attributes:
        share: 1 is worth alone, 0 is difference alone; in [0, 1].
        k: take at most so many; None for as many as fit.
        fetch: look among so many of the best candidates by prize; None for all.
        worth: "prize", scaled to [0, 1] over those, or "similarity", the cosine with the question as it is.
        floor: from which likeness on two are too alike: 0 is what two of those have in common on average, 1 is to be the same, and what
            lies above counts from 0 to 1. None counts the whole cosine, by which passages on one topic already displace each other.
    """

    lambda_mult: float = 0.5
    k: int | None = None
    fetch_k: int | None = 200
    relevance: str = "prize"
    similarity_floor: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.lambda_mult <= 1:
            raise ValueError(
                f"share is from 0, difference alone, to 1, worth alone; got {self.lambda_mult}"
            )
        if self.relevance not in WORTHS:
            raise ValueError(f"unknown worth {self.relevance!r}; known: {', '.join(WORTHS)}")
        if self.similarity_floor is not None and not 0 <= self.similarity_floor < 1:
            raise ValueError(
                f"floor is from 0, as alike as any two, to below 1, the same; or None; got {self.similarity_floor}"
            )

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        content = graph.content

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            inside = candidates.nodes
            kept = required_rows(candidates)
            kept = kept[content[kept]]
            rows = inside[content[inside] & (prizes[inside] > 0) & ~np.isin(inside, kept)]
            rows = rows[top_k(prizes[rows], self.fetch_k)]
            limits = [max(0, k - len(kept)) for k in (self.k, query.limit) if k is not None]
            worth = (
                min_max_scale(prizes[rows])
                if self.relevance == "prize"
                else similarities(graph.vectors[rows], query.vector)
            )
            left = budget - tokens_spent(graph, candidates)
            vectors, costs = graph.vectors[rows], graph.tokens[rows]
            most, usual = (
                min([len(rows), *limits]),
                0.0 if self.similarity_floor is None else min(mean_cosine(vectors), SAME),
            )
            floor = (
                None
                if self.similarity_floor is None
                else usual + self.similarity_floor * (1 - usual)
            )
            found = select_mmr(
                vectors,
                worth,
                self.lambda_mult,
                most,
                costs=costs,
                budget=left,
                before=graph.vectors[kept],
                floor=floor,
            )
            dropped = [
                (int(rows[place]), f"its {int(costs[place])} tokens do not fit in the {room} left")
                for place, room in zip(found.passed.tolist(), found.left.tolist(), strict=True)
            ]
            return narrow_to(graph, candidates, rows[found.chosen], dropped)

        return select
