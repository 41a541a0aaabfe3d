"""The few best nodes of a seed, by name: a search starts from them, and bridges join them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Graph, freeze
from clew.seed.dense import Dense
from clew.types import Query, Seed, Seeds


@dataclass(frozen=True)
class TopSeeds:
    """Name the `k` best nodes of another seed as terminals; its scores stay as they are.

    Attributes:
        k: the number of terminals, at least 1.
        seed: the seed that scores the nodes.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query
        >>> graph = Graph.of(["red", "pink", "blue"], vectors=[[0.8, 0.6], [1, 0], [0, 1]])
        >>> TopSeeds(2).on(graph)(Query("?", np.float32([1, 0]))).terminals.tolist()
        [1, 0]
    """

    k: int = 3
    seed: Seed = Dense()

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k is the number of terminals, at least 1; got {self.k}")

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        seed = self.seed.on(graph)

        def find_seeds(query: Query) -> Seeds:
            result = seed(query)
            rows = top_k(result.scores, self.k)
            rows = rows[result.scores[rows] > 0]
            scores = {graph.ids[row]: round(float(result.scores[row]), 6) for row in rows.tolist()}
            notes = {**result.notes, "terminals": scores}
            return replace(result, terminals=freeze(rows, np.int32), notes=notes)

        return find_seeds
