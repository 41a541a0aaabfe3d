"""The highest prizes that fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clew.algorithms.ranking import top_k
from clew.graph import Floats, Graph
from clew.select._shared import narrow_to, required_rows, tokens_spent
from clew.types import Query, Seeds, Subgraph

FIRST = 1000  # ranking all of a large graph costs more than ranking as many as nearly every context holds


@dataclass(frozen=True)
class Top:
    """Take candidates of the content kinds by falling prize while they fit; one that does not fit is passed over, and said.

    Nodes that must be kept (bridges) come first and for sure.

    Attributes:
        k: take at most so many; None for as many as fit.
        reach: pass over at most so many in all: something that still fits, but far down the ranking, is not worth its tokens.
    """

    k: int | None = None
    reach: int = 100

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        content = graph.content

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            kept, free = required_rows(candidates), content & (prizes > 0)
            free[kept] = False
            kept = kept[content[kept]]
            rows = candidates.nodes[free[candidates.nodes]]
            most = min(
                [len(rows), *(k - len(kept) for k in (self.k, query.limit) if k is not None)]
            )
            ranked, at = rows[top_k(prizes[rows], FIRST)], 0
            chosen: list[int] = []
            passed: list[tuple[int, str]] = []
            left, before_last = budget - tokens_spent(graph, candidates), 0
            while len(chosen) < most and len(passed) < self.reach and at < len(rows):
                if at == len(ranked):
                    ranked = rows[top_k(prizes[rows])]
                row, tokens = int(ranked[at]), int(graph.tokens[ranked[at]])
                at += 1
                if tokens > left:
                    passed.append((row, f"its {tokens} tokens do not fit in the {left} left"))
                    continue
                chosen.append(row)
                left -= tokens
                before_last = len(passed)
            # Of those behind the last one taken, only the first was kept out by the budget alone.
            return narrow_to(graph, candidates, chosen, passed[: before_last + 1])

        return select
