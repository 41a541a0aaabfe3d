"""Prizes by rank: what a passage is worth falls with its place, whatever its score.

A selection that adds prizes up needs numbers that stand for chances: two passages of half the prize
are to be as likely needed as one of the whole. Scores do not stand for that. Those of a blend lie
near together, those of a walk fall off by powers of ten, so that no power of them serves both. The
chance that a passage is needed falls with its rank much alike in both, about as 1 / rank: the
reciprocal rank, by which rankings are measured (Voorhees 1999, TREC-8 question answering) and fused
(Cormack et al., SIGIR 2009).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.ranking import dense_ranks
from clew.graph import Floats, Graph
from clew.types import Query, Seeds


@dataclass(frozen=True)
class RankDiscount:
    """Replace every prize by (1 / rank) ** exponent; the order stays, and what has no prize.

    Equal prizes have the same rank. Passages are ranked among passages, what is no content, such as
    entities, among itself.

    Attributes:
        exponent: above 0; the higher it is, the less counts what is not among the first.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Seeds
        >>> prizes = np.array([0.5, 0.9, 0.0, 0.5, 0.1])
        >>> spread = RankDiscount().on(Graph.of(["a", "b", "c", "d", "e"]))
        >>> spread(Query("?"), Seeds(prizes), prizes).round(2).tolist()
        [0.5, 1.0, 0.0, 0.5, 0.33]
    """

    exponent: float = 1.0

    def __post_init__(self) -> None:
        if not self.exponent > 0:
            raise ValueError(f"exponent must be above 0, not {self.exponent}")

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats], Floats]:
        def spread(query: Query, seeds: Seeds, prizes: Floats) -> Floats:
            by_rank = np.zeros(len(prizes))
            largest = float(prizes.max(initial=0))
            for alike in (graph.content, ~graph.content):
                rows = np.flatnonzero(alike & (prizes > 0))
                ranks = 1 + dense_ranks(prizes[rows], largest)
                by_rank[rows] = (1.0 / ranks) ** self.exponent
            return by_rank

        return spread
