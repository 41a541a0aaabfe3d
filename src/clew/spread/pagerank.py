"""Prizes by personalised PageRank: a random walk that starts again at the seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.pagerank.full import WalkPart, pagerank
from clew.algorithms.pagerank.top import top_pagerank
from clew.graph import Floats, Graph, kinds_without
from clew.types import Query, Seeds

ACCURACY = 1e-4  # of the prizes when only the best are wanted, beside a sum of 1


@dataclass(frozen=True)
class PageRank:
    """Spread the seeds' prizes over the links; prizes are the walk's probabilities and sum to 1.

    Attributes:
        damping: probability of following an edge; networkx calls it alpha, others call 1 - damping the teleport probability.
        kinds: the kinds of edge, or pairs of a kind and the factor on its weights; None for all.
        top: give prizes to so many nodes only, the best, which are proven to be (see `clew.algorithms.pagerank.top`); their prizes may
            be up to 1e-4 too low. On a large graph with few seeds this takes a fraction of the time. None for all nodes.
        directed: follow edges from tail to head only.
        without: kinds of edge that the walk does not follow; see `Nearby`.
    """

    damping: float = 0.5
    kinds: tuple[str | tuple[str, float], ...] | None = None
    top: int | None = None
    directed: bool = False
    excluded_kinds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.top is not None and self.top < 1:
            raise ValueError(
                f"top is the number of nodes that get a prize, at least 1, or None for all; got {self.top}"
            )

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats], Floats]:
        walk = graph.part(
            WalkPart(kinds_without(graph, self.kinds, self.excluded_kinds), directed=self.directed)
        )

        def spread(query: Query, seeds: Seeds, prizes: Floats) -> Floats:
            if not prizes.any():
                return prizes
            if self.top is None:
                return pagerank(walk, prizes, self.damping)
            found = top_pagerank(walk, prizes, self.top, self.damping, accuracy=ACCURACY)
            best = np.zeros(len(graph))
            best[found.rows] = found.scores
            return best

        return spread
