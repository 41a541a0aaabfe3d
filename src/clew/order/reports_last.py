"""The details in any order, then what the reports say of the whole: at the end, where a model's attention is high again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.graph import Floats, Graph
from clew.order.by_prize import ByPrize
from clew.types import Query, Reading, Subgraph


@dataclass(frozen=True)
class ReportsLast:
    """What `rest` reads, then the reports, the best of them last; in all other orders they come first, the best before the others."""

    rest: Any = ByPrize()

    def __post_init__(self) -> None:
        if not callable(getattr(self.rest, "on", None)):
            raise TypeError(
                f"rest is an order, such as ByPrize(); got a {type(self.rest).__name__}"
            )

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        rest = self.rest.on(graph)

        def read(query: Query, prizes: Floats, chosen: Subgraph) -> Reading:
            others: Reading = rest(query, prizes, chosen)
            told = chosen.nodes[
                graph.generated[chosen.nodes]
                & np.isin(chosen.nodes, chosen.required)
                & ~np.isin(chosen.nodes, others.nodes)
            ]
            return Reading.join([others, Reading.of(told[::-1])])

        return read
