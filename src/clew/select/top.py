"""The highest prizes that fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.rank import best
from clew.graph import Floats, Graph, Query, Seeds, Subgraph, frozen


@dataclass(frozen=True)
class Top:
    """Take candidates of the content kinds by falling prize while they fit; one that does not fit is passed over, and said.

    Attributes:
        k: take at most so many; None for as many as fit.
    """

    k: int | None = None

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        content = graph.content

        def select(query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int) -> Subgraph:
            rows = candidates.nodes[content[candidates.nodes] & (prizes[candidates.nodes] > 0)]
            most = min([len(rows), *(k for k in (self.k, query.limit) if k is not None)])
            chosen: list[int] = []
            dropped: list[tuple[int, str]] = []
            left = budget
            for row in rows[best(prizes[rows])].tolist():
                if len(chosen) == most or left <= 0:
                    break
                tokens = int(graph.tokens[row])
                if tokens <= left:
                    chosen.append(row)
                    left -= tokens
                elif len(dropped) < MAX_DROPPED:
                    dropped.append((row, f"its {tokens} tokens do not fit in the {left} left"))
            return Subgraph(frozen(chosen, np.int32), kept=candidates.kept, dropped=tuple(dropped))

        return select


MAX_DROPPED = 20  # once the budget is nearly full, everything is passed over: the first ones tell enough
