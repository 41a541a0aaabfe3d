"""Two seeds as one, by a weighted mean of their scaled scores.

Bruch, Gai and Ingber, "An analysis of fusion functions for hybrid retrieval", TOIS 2023.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.kernels.mixing import blended
from clew.graph import Floats, Graph
from clew.seed.bm25 import BM25
from clew.seed.dense import Dense
from clew.types import Query, Seed, Seeds


@dataclass(frozen=True)
class Blend:
    """Score by a weighted mean of two seeds, each scaled so that its best node has 1.

    Among the candidates of another retriever each weighs by its spread, too; see `share_by_spread`.
    The first seed weighs less or more where `Query.vector_weight` says so.

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

    def __post_init__(self) -> None:
        if not 0 <= self.dense_share <= 1:
            raise ValueError(
                "dense_share is the weight of the first seed, from 0, the second alone, to 1, the "
                f"first alone; got {self.dense_share}"
            )

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        bound = [seed.on(graph) for seed in self.seeds]

        def find_seeds(query: Query) -> Seeds:
            results = [seed(query) for seed in bound]
            notes = {key: note for result in results for key, note in result.notes.items()}
            first, second = (np.asarray(result.scores, np.float64) for result in results)
            bests = best_of(first), best_of(second)
            share = weighted_share(self.dense_share, query.vector_weight)
            if query.candidate_scores is not None:
                rows = list(query.candidate_scores)
                share = share_by_spread(share, first[rows] / bests[0], second[rows] / bests[1])
            return Seeds(blended(first, second, *bests, share), notes=notes)

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


def best_of(scores: Floats) -> float:
    """Return what `scale_to_best` divides by; 1 where all are zeros.

    Example:
        >>> import numpy as np
        >>> best_of(np.array([1.0, 4.0])), best_of(np.zeros(2))
        (4.0, 1.0)
    """
    highest = float(scores.max(initial=0))
    return highest if highest > 0 else 1.0


def weighted_share(share: float, weight: float) -> float:
    """Return a share of 1 when what has it weighs so much, and the rest as much as before.

    Example:
        >>> weighted_share(0.5, 1 / 3).__round__(2), weighted_share(1.0, 1 / 3)
        (0.25, 1.0)
    """
    own = share * weight
    return own / (own + (1 - share))


def share_by_spread(share: float, first: Floats, second: Floats) -> float:
    """Return the weight of the first scores by which both move a sum alike, where `share` is 0.5.

    That is the order by the sum of standard scores. Candidates were found by one of the two: its
    scores differ little among them, and those of the other would decide alone. Scores that are
    all equal decide nothing, with any weight.

    Args:
        share: the weight of the first where both are spread alike.
        first: of the candidates.
        second: of the same.

    Example:
        >>> import numpy as np
        >>> share_by_spread(0.5, np.array([0.9, 1.0]), np.array([0.0, 0.4])).__round__(2)
        0.8
    """
    own, other = share * float(second.std()), (1 - share) * float(first.std())
    return own / (own + other) if own > 0 and other > 0 else share
