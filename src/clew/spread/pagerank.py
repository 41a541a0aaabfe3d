"""Prizes by personalised PageRank: a random walk over the links that restarts at the prizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.pagerank.full import WalkPart, pagerank
from clew.algorithms.pagerank.top import approximate_pagerank, top_pagerank
from clew.graph import Floats, Graph, Kinds, kinds_without, names_of
from clew.types import Query, Seeds

MAX_ERROR = 1e-6  # of all prizes together, which sum to 1: scores are compared no more closely
ACCURACY = 1e-4  # of the prizes where only the best are wanted; all prizes sum to 1


@dataclass(frozen=True)
class PageRank:
    """Replace the prizes by the probabilities of the walk, which sum to 1.

    Attributes:
        damping: the probability of following an edge, in [0, 1). networkx calls it alpha; others
            call 1 - damping the teleport probability.
        kinds: the kinds of edge that the walk follows, or pairs of a kind and the factor on its
            weights; None for all.
        top: how many nodes get a prize, or None for all. They are proven to be the best (see
            `clew.algorithms.pagerank.top`), and their prizes may be up to 1e-4 too low. On a large
            graph with few seeds this takes a fraction of the time.
        directed: follow edges from tail to head only.
        excluded_kinds: kinds of edge that the walk does not follow.
        tolerance: mass of at most this, a unit of the sum of a node's weights, is not moved on: the
            walk stays near its start, and its cost does not grow with the graph (see
            `clew.algorithms.pagerank.top.approximate_pagerank`). A graph that has no more links
            than such a walk may go over is walked as a whole; None walks every graph so.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Seeds
        >>> from clew.graph import Edges
        >>> graph = Graph.of(["a", "b", "c"], edges=Edges.of("next", [0], [1]))
        >>> prizes = np.array([1.0, 0.0, 0.0])
        >>> PageRank(0.5).on(graph)(Query("?"), Seeds(prizes), prizes).round(2).tolist()
        [0.67, 0.33, 0.0]
    """

    damping: float = 0.5
    kinds: Kinds = None
    top: int | None = None
    directed: bool = False
    excluded_kinds: tuple[str, ...] = ()
    tolerance: float | None = None

    def __post_init__(self) -> None:
        if self.top is not None and self.top < 1:
            raise ValueError(
                "top is the number of nodes that get a prize, at least 1, or None for all; "
                f"got {self.top}"
            )
        if self.tolerance is not None and not self.tolerance > 0:
            raise ValueError(
                "tolerance is the mass that is not moved on, above 0, or None to move all; "
                f"got {self.tolerance}"
            )
        if self.tolerance is not None and self.top is not None:
            raise ValueError(
                "top proves the best of the whole walk, which a tolerance leaves; give one of them"
            )

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats], Floats]:
        kinds = kinds_without(graph, self.kinds, self.excluded_kinds)
        if self.top is None and not _has_edges(graph, kinds):
            return _stay  # where nothing is linked, no walk needs to be solved
        walk = graph.part(WalkPart(kinds, directed=self.directed))
        tolerance = self.tolerance if self._stays_near(len(walk.out[1])) else None

        def spread(query: Query, seeds: Seeds, prizes: Floats) -> Floats:
            if not prizes.any():
                return prizes
            if tolerance is not None:
                near = approximate_pagerank(walk, prizes, self.damping, tolerance)
                near /= near.sum()
                return near
            if self.top is None:
                return pagerank(walk, prizes, self.damping, MAX_ERROR)
            best = top_pagerank(walk, prizes, self.top, self.damping, accuracy=ACCURACY)
            only_best = np.zeros(len(graph))
            only_best[best.rows] = best.scores
            return only_best

        return spread

    def _stays_near(self, links: int) -> bool:
        """Return whether a walk over so many links may spare some of them by the tolerance."""
        return self.tolerance is not None and links * (1 - self.damping) * self.tolerance > 1


def _has_edges(graph: Graph, kinds: Kinds) -> bool:
    names = names_of(kinds)
    found = graph.edges.of_kinds(names).kinds.names
    return len(found) > 0 if names is None else not names.isdisjoint(found)


def _stay(_query: Query, _seeds: Seeds, prizes: Floats) -> Floats:
    """Return the distribution of a walk that starts by these prizes and can go nowhere."""
    total = float(prizes.sum())
    return prizes / total if total > 0 else prizes
