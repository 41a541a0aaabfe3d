"""Best first, second best last, the least in the middle, where a language model looks least.

Liu et al., "Lost in the middle", TACL 2024.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.graph import Floats, Graph
from clew.order.by_prize import content_of, facts_of, ranked
from clew.types import Query, Reading, Subgraph


@dataclass(frozen=True)
class Sandwich:
    """Ranks 1, 3, 5, ..., 6, 4, 2, whether their number is odd or even; facts first."""

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        def read(query: Query, prizes: Floats, chosen: Subgraph) -> Reading:
            falling = ranked(content_of(graph, chosen), prizes)
            return Reading.of(
                np.concatenate([falling[0::2], falling[1::2][::-1]]), facts_of(graph, chosen)
            )

        return read
