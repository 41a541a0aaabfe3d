"""The few places where a question touches a graph best, by their names: what a search begins from and what bridges join."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Graph, freeze
from clew.seed.dense import Dense
from clew.types import Query, Seeds


@dataclass(frozen=True)
class TopSeeds:
    """The terminals are the `k` best touches of another seed, `of`; its weights stay as they are."""

    k: int = 3
    seed: Any = Dense()

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k is the number of terminals, at least 1; got {self.k}")

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        seed = self.seed.on(graph)

        def touch(query: Query) -> Seeds:
            found: Seeds = seed(query)
            rows = top_k(found.scores, self.k)
            rows = rows[found.scores[rows] > 0]
            named = {
                "terminals": {
                    graph.ids[row]: round(float(found.scores[row]), 6) for row in rows.tolist()
                }
            }
            return replace(found, terminals=freeze(rows, np.int32), notes={**found.notes, **named})

        return touch
