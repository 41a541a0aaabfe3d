"""Best first, second best last, the least in the middle, where a language model looks least.

Liu et al., "Lost in the middle", TACL 2024.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.graph import Floats, Graph
from clew.order._shared import content_by_prize, stated_facts
from clew.types import Query, Reading, Subgraph


@dataclass(frozen=True)
class Sandwich:
    """Read ranks 1, 3, 5, ..., 6, 4, 2, whether their number is odd or even; facts first.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Subgraph
        >>> order = Sandwich().on(Graph.of(["a", "b", "c", "d"]))
        >>> prizes = np.array([4.0, 3.0, 2.0, 1.0])
        >>> order(Query("?"), prizes, Subgraph(np.arange(4))).nodes.tolist()
        [0, 2, 3, 1]
    """

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        def arrange(query: Query, prizes: Floats, subgraph: Subgraph) -> Reading:
            ranked = content_by_prize(graph, subgraph, prizes)
            sandwich = np.concatenate([ranked[0::2], ranked[1::2][::-1]])
            return Reading.of(sandwich, stated_facts(graph, subgraph))

        return arrange
