"""Best first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clew.graph import Floats, Graph
from clew.order._shared import content_by_prize, stated_facts
from clew.types import Query, Reading, Subgraph


@dataclass(frozen=True)
class ByPrize:
    """Read the facts that the edges state, then the content by falling prize.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Subgraph
        >>> order = ByPrize().on(Graph.of(["a", "b", "c"]))
        >>> order(Query("?"), np.array([0.1, 0.9, 0.5]), Subgraph(np.arange(3))).nodes.tolist()
        [1, 2, 0]
    """

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        by_prize = content_by_prize(graph)

        def arrange(query: Query, prizes: Floats, subgraph: Subgraph) -> Reading:
            content = by_prize(subgraph, prizes)
            return Reading.of(content, stated_facts(graph, subgraph))

        return arrange
