"""What the reports say of the whole, then the details in any order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.graph import Floats, Graph, Query, Reading, Subgraph, frozen
from clew.order.by_prize import ByPrize


@dataclass(frozen=True)
class ReportsFirst:
    """The reports of the subgraph in the order in which they were chosen, before what `rest` reads; no other order reads reports.

    Attributes:
        rest: the order of all else.
        last: read the reports at the end, the best of them last.
    """

    rest: Any = ByPrize()
    last: bool = False

    def __post_init__(self) -> None:
        if not callable(getattr(self.rest, "on", None)):
            raise TypeError(f"rest is an order, such as ByPrize(); got a {type(self.rest).__name__}")

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        rest, reports = self.rest.on(graph), graph.kinds.mask("report")

        def read(query: Query, prizes: Floats, chosen: Subgraph) -> Reading:
            others: Reading = rest(query, prizes, chosen)
            told = chosen.nodes[reports[chosen.nodes] & ~np.isin(chosen.nodes, others.nodes)]
            if not len(told):
                return others
            nodes = [told, others.nodes] if not self.last else [others.nodes, told[::-1]]
            nothing = np.full(len(told), -1, np.int32)
            facts = [nothing, others.facts] if not self.last else [others.facts, nothing]
            return Reading(frozen(np.concatenate(nodes), np.int32), frozen(np.concatenate(facts), np.int32))

        return read
