"""The few places where a question touches a graph best, by their names: what a search begins from and what bridges join."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clew.algorithms.rank import best
from clew.graph import Graph, Query, Seeds, frozen
from clew.seed.dense import Dense


@dataclass(frozen=True)
class Best:
    """The terminals are the `k` best touches of another seed, `of`; its weights stay as they are."""

    k: int = 3
    of: Any = Dense()

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k is the number of terminals, at least 1; got {self.k}")

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        seed = self.of.on(graph)

        def touch(query: Query) -> Seeds:
            found: Seeds = seed(query)
            rows = best(found.weights, self.k)
            rows = rows[found.weights[rows] > 0]
            named = {"terminals": {graph.ids[row]: round(float(found.weights[row]), 6) for row in rows.tolist()}}
            return replace(found, terminals=frozen(rows, np.int32), notes={**found.notes, **named})

        return touch
