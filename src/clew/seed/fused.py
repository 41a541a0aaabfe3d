"""Several seeds as one: by their ranks, or by their scaled scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Floats, Graph
from clew.seed.bm25 import BM25
from clew.seed.dense import Dense
from clew.types import Query, Seeds


@dataclass(frozen=True)
class ReciprocalRank:
    """Reciprocal rank fusion: the weight of a node is the sum over the seeds of 1 / (k + its rank there).

    Cormack, Clarke and Buettcher, SIGIR 2009.
    """

    seeds: tuple[Dense | BM25, ...] = (Dense(), BM25())
    k: int = 60

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        bound = [seed.on(graph) for seed in self.seeds]

        def touch(query: Query) -> Seeds:
            weights, notes = np.zeros(len(graph)), dict[str, Any]()
            for seed in bound:
                found = seed(query)
                ranked = top_k(found.scores, int((found.scores > 0).sum()))
                weights[ranked] += 1 / (self.k + 1 + np.arange(len(ranked)))
                notes |= found.notes
            return Seeds(weights, notes=notes)

        return touch


@dataclass(frozen=True)
class Blend:
    """A weighted mean of scores, each scaled to [0, 1] over the nodes it touches: `share` of the first seed, the rest of the second.

    Bruch, Gai and Ingber, "An analysis of fusion functions for hybrid retrieval", TOIS 2023.
    """

    seeds: tuple[Dense | BM25, Dense | BM25] = (Dense(), BM25())
    dense_share: float = 0.7

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        bound = [seed.on(graph) for seed in self.seeds]

        def touch(query: Query) -> Seeds:
            found = [seed(query) for seed in bound]
            notes = {key: value for seeds in found for key, value in seeds.notes.items()}
            first, second = (scale_to_best(seeds.scores) for seeds in found)
            return Seeds(self.dense_share * first + (1 - self.dense_share) * second, notes=notes)

        return touch


def scale_to_best(weights: Floats) -> Floats:
    """Return the weights over the largest of them."""
    top = weights.max(initial=0)
    return weights / top if top > 0 else weights
