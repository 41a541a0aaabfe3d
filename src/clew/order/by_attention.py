"""The best where the model looks most, by a position-bias curve that its user has measured.

A curve gives, for equal steps from the beginning of a context to its end, how much a model makes of
what stands there: for instance its accuracy when the answer is placed there (Liu et al., "Lost in
the middle", TACL 2024, figure 1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Floats, Graph
from clew.order._shared import content_by_prize, stated_facts
from clew.types import Query, Reading, Subgraph


@dataclass(frozen=True)
class ByAttention:
    """Read the best item at the highest place of the curve, the second at the next; facts first.

    The middle of an item's place counts, and items count as equally long. Of equal places the one
    nearer to the front is filled first.

    Attributes:
        curve: two or more finite values, from the first place to the last, on any scale; linear in
            between.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Subgraph
        >>> order = ByAttention((1.0, 0.0, 0.9)).on(Graph.of(["a", "b", "c"]))
        >>> prizes = np.array([3.0, 2.0, 1.0])
        >>> order(Query("?"), prizes, Subgraph(np.arange(3))).nodes.tolist()
        [0, 2, 1]
    """

    curve: tuple[float, ...] = (1.0, 0.0)

    def __post_init__(self) -> None:
        if len(self.curve) < 2 or not np.isfinite(self.curve).all():
            raise ValueError(
                "a curve has at least two finite values, from the first place to the last; "
                f"got {self.curve!r}"
            )

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        steps, by_prize = np.linspace(0, 1, len(self.curve)), content_by_prize(graph)

        def arrange(query: Query, prizes: Floats, subgraph: Subgraph) -> Reading:
            ranked = by_prize(subgraph, prizes)
            n = len(ranked)
            places = (np.arange(n) + 0.5) / max(n, 1)
            rank_at_place = np.empty(n, np.int64)
            rank_at_place[top_k(np.interp(places, steps, self.curve))] = np.arange(n)
            return Reading.of(ranked[rank_at_place], stated_facts(graph, subgraph))

        return arrange
