"""Passages that mention the same entities.

weight(p, q) = 1 - product over shared entities e of (1 - 1 / number of passages that mention e)

The rarer a shared entity is, the heavier is the edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from clew.graph import Edges, Graph


@dataclass(frozen=True)
class Shared:
    """Between passages that mention the same entity.

    Attributes:
        max_passages: an entity in more passages joins none: a hub does not tell passages apart.

    Example:
        >>> from clew.graph import Ragged
        >>> graph = Graph.of(
        ...     ["Anna left.", "Anna came.", "Anna"],
        ...     kinds=["passage", "passage", "entity"],
        ...     read_from=Ragged.of([[], [], [0, 1]]),
        ... )
        >>> Shared().on(graph).weights
        array([0.5], dtype=float32)
    """

    max_passages: int = 20

    kind: ClassVar[str] = "shared"
    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        products: dict[tuple[int, int], float] = {}
        for entity in graph.rows("entity").tolist():
            passages = sorted(set(graph.read_from[entity].tolist()))
            if 2 <= len(passages) <= self.max_passages:
                for pair in combinations(passages, 2):
                    products[pair] = products.get(pair, 1.0) * (1 - 1 / len(passages))
        pairs = sorted(products)
        rows = np.array(pairs, np.int64).reshape(-1, 2)
        return Edges.of(self.kind, rows[:, 0], rows[:, 1], [1 - products[pair] for pair in pairs])
