"""Two seeds as one, by a weighted mean of their scaled scores.

Bruch, Gai and Ingber, "An analysis of fusion functions for hybrid retrieval", TOIS 2023.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clew.graph import Floats, Graph
from clew.seed.bm25 import BM25
from clew.seed.dense import Dense
from clew.types import Query, Seed, Seeds


@dataclass(frozen=True)
class Blend:
    """Score by a weighted mean of two seeds, each scaled so that its best node has 1.

    Attributes:
        seeds: the two seeds.
        dense_share: the weight of the first seed, in [0, 1]; the second has the rest.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query
        >>> graph = Graph.of(["red fox", "blue sky"], vectors=[[1, 0], [0.6, 0.8]])
        >>> query = Query("sky", np.float32([1, 0]))
        >>> Blend().on(graph)(query).scores.round(2).tolist()
        [0.5, 0.8]
    """

    seeds: tuple[Seed, Seed] = (Dense(), BM25())
    dense_share: float = 0.5

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        bound = [seed.on(graph) for seed in self.seeds]

        def find_seeds(query: Query) -> Seeds:
            results = [seed(query) for seed in bound]
            notes = {key: note for result in results for key, note in result.notes.items()}
            first, second = (scale_to_best(result.scores) for result in results)
            return Seeds(self.dense_share * first + (1 - self.dense_share) * second, notes=notes)

        return find_seeds


def scale_to_best(scores: Floats) -> Floats:
    """Return the scores (>= 0) divided by the highest of them; all zeros stay as they are.

    Example:
        >>> import numpy as np
        >>> scale_to_best(np.array([1.0, 4.0])).tolist()
        [0.25, 1.0]
    """
    highest = scores.max(initial=0)
    return scores / highest if highest > 0 else scores
