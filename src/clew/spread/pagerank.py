"""Prizes by personalised PageRank: a random walk that starts again at the seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clew.algorithms.pagerank import WalkOver, pagerank
from clew.graph import Floats, Graph, Query, Seeds


@dataclass(frozen=True)
class PageRank:
    """Spread the seeds' prizes over the links; prizes are the walk's probabilities and sum to 1.

    Attributes:
        damping: probability of following an edge; networkx calls it alpha, others call 1 - damping the teleport probability.
        kinds: the kinds of edge, or pairs of a kind and the factor on its weights; None for all.
    """

    damping: float = 0.5
    kinds: tuple[str | tuple[str, float], ...] | None = None

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats], Floats]:
        walk = graph.part(WalkOver(self.kinds))

        def spread(query: Query, seeds: Seeds, prizes: Floats) -> Floats:
            return pagerank(walk, prizes, self.damping) if prizes.any() else prizes

        return spread
