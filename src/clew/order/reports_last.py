"""Details first, then the reports on the whole: at the end, where attention is high again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clew.graph import Floats, Graph
from clew.order._shared import reports_outside
from clew.order.by_prize import ByPrize
from clew.types import Order, Query, Reading, Subgraph


@dataclass(frozen=True)
class ReportsLast:
    """Read what another order reads, then the reports, the best of them last.

    Without it a pipeline puts reports first, the best before the others.

    Attributes:
        rest: the order of all that is no report.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Subgraph
        >>> graph = Graph.of(["a", "report"], kinds=["passage", "report"], generated=[0, 1])
        >>> subgraph = Subgraph(np.array([1, 0]), required=np.array([1]))
        >>> ReportsLast().on(graph)(Query("?"), np.ones(2), subgraph).nodes.tolist()
        [0, 1]
    """

    rest: Order = ByPrize()

    def __post_init__(self) -> None:
        if not callable(getattr(self.rest, "on", None)):
            raise TypeError(
                f"rest is an order, such as ByPrize(); got a {type(self.rest).__name__}"
            )

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        rest = self.rest.on(graph)

        def arrange(query: Query, prizes: Floats, subgraph: Subgraph) -> Reading:
            details = rest(query, prizes, subgraph)
            reports = reports_outside(graph, subgraph, details)
            return Reading.join([details, Reading.of(reports[::-1])])

        return arrange
