"""Best first, second best last, the least in the middle, where a language model looks least.

Liu et al., "Lost in the middle", TACL 2024.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clew.graph import Floats, Graph, heading_of
from clew.order._shared import content_by_prize, stated_facts
from clew.types import Query, Reading, Subgraph


@dataclass(frozen=True)
class Sandwich:
    """Read ranks 1, 3, 5, ..., 6, 4, 2, whether their number is odd or even; facts first.

    Attributes:
        by_heading: passages under one heading stay together, as in their document, with the rank of
            the best of them. So the heading is printed once.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Subgraph
        >>> order = Sandwich().on(Graph.of(["a", "b", "c", "d"]))
        >>> prizes = np.array([4.0, 3.0, 2.0, 1.0])
        >>> order(Query("?"), prizes, Subgraph(np.arange(4))).nodes.tolist()
        [0, 2, 3, 1]
    """

    by_heading: bool = False

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        by_prize = content_by_prize(graph)

        def arrange(query: Query, prizes: Floats, subgraph: Subgraph) -> Reading:
            ranked = by_prize(subgraph, prizes).tolist()
            runs = self._runs(graph, ranked)
            sandwich = [row for run in [*runs[0::2], *runs[1::2][::-1]] for row in run]
            return Reading.of(sandwich, stated_facts(graph, subgraph))

        return arrange

    def _runs(self, graph: Graph, ranked: list[int]) -> list[list[int]]:
        """Return the rows in runs that are read together, best first."""
        if not self.by_heading:
            return [[row] for row in ranked]
        runs = dict[str, list[int]]()
        for row in ranked:
            heading = heading_of(graph, row)
            runs.setdefault(heading or f"\n{row}", []).append(row)
        return [sorted(run) for run in runs.values()]
