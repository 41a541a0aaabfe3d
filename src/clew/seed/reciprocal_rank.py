"""Several seeds as one, by the ranks that they give to a node.

    score(node) = sum over the seeds of 1 / (k + rank of the node in that seed)

Cormack, Clarke and Buettcher, "Reciprocal rank fusion", SIGIR 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Graph
from clew.seed.bm25 import BM25
from clew.seed.dense import Dense
from clew.types import Query, Seed, Seeds


@dataclass(frozen=True)
class ReciprocalRank:
    """Score by the sum of reciprocal ranks; a seed that gives a node no score adds nothing to it.

    Attributes:
        seeds: the seeds to fuse.
        k: the constant of the formula, >= 0; the larger, the less the first ranks stand out.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query
        >>> graph = Graph.of(["red fox", "blue sky"], vectors=[[1, 0], [0.6, 0.8]])
        >>> query = Query("sky", np.float32([1, 0]))
        >>> ReciprocalRank(k=1).on(graph)(query).scores.round(2).tolist()
        [0.5, 0.83]
    """

    seeds: tuple[Seed, ...] = (Dense(), BM25())
    k: int = 60

    def __post_init__(self) -> None:
        if not self.k >= 0:
            raise ValueError(f"k is added to every rank, at least 0; got {self.k}")

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        bound = [seed.on(graph) for seed in self.seeds]

        def find_seeds(query: Query) -> Seeds:
            fused, notes = np.zeros(len(graph)), dict[str, Any]()
            for seed in bound:
                result = seed(query)
                ranked = top_k(result.scores, int((result.scores > 0).sum()))
                fused[ranked] += 1 / (self.k + 1 + np.arange(len(ranked)))
                notes |= result.notes
            return Seeds(fused, notes=notes)

        return find_seeds
