"""Passages that speak of the same things, the rarer the stronger.

weight(p, q) = 1 - product over shared entities e of (1 - 1 / number of passages that mention e)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from clew.graph import Edges, Graph


@dataclass(frozen=True)
class Shared:
    """Between passages that mention the same entity; entities in more than `most` passages join nothing (hubs tell nothing apart)."""

    max_passages: int = 20

    kind: ClassVar[str] = "shared"
    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        apart: dict[tuple[int, int], float] = {}
        for entity in graph.rows("entity").tolist():
            passages = sorted(set(graph.read_from[entity].tolist()))
            if 2 <= len(passages) <= self.max_passages:
                for pair in combinations(passages, 2):
                    apart[pair] = apart.get(pair, 1.0) * (1 - 1 / len(passages))
        pairs = np.array(sorted(apart), np.int64).reshape(-1, 2)
        return Edges.of(
            self.kind, pairs[:, 0], pairs[:, 1], [1 - apart[a, b] for a, b in pairs.tolist()]
        )
