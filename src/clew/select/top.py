"""The highest prizes that fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.last_result import remember_last
from clew.algorithms.ranking import reaches, top_k
from clew.graph import Floats, Graph, are_consecutive
from clew.select._shared import (
    narrow_to,
    places_left,
    required_content,
    required_rows,
    required_tokens,
    take_while_fitting,
)
from clew.types import Query, Seeds, Subgraph

RANKED_FIRST = 1000  # nearly every context holds fewer, and ranking all of a large graph takes long


@dataclass(frozen=True)
class Top:
    """Take content by falling prize while it fits; what does not fit is passed over and named.

    Rows that an earlier stage requires (bridges) come first, and always.

    Attributes:
        k: take at most so many; None for as many as fit.
        max_passed: stop when so many were passed over: something that still fits, but far down the
            ranking, is not worth its tokens.
        min_share: leave out what has less than this share of the highest prize, in [0, 1]. It
            counts where a prize says nothing but how like the question a passage is: in a graph
            without facts, since a walk over facts leaves what answers a small part of the highest,
            and where no number of passages is wanted. The trace says how many it left out.
        min_share_with_facts: the same in a graph with facts.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Seeds, Subgraph
        >>> graph, prizes = Graph.of(["a", "b", "c"], tokens=[9, 2, 2]), np.array([1.0, 0.5, 0.9])
        >>> select = Top().on(graph)
        >>> everything = Subgraph(np.arange(3))
        >>> select(Query("?"), Seeds(prizes), prizes, everything, 4).nodes.tolist()
        [2, 1]
    """

    k: int | None = None
    max_passed: int = 100
    min_share: float = 0.0
    min_share_with_facts: float = 0.0

    def __post_init__(self) -> None:
        if self.k is not None and self.k < 1:
            raise ValueError(f"k is a whole number of at least 1, or None; got {self.k}")
        for name in ("min_share", "min_share_with_facts"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(
                    f"{name} is a share of the highest prize, not {getattr(self, name)}"
                )

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        content = graph.content
        min_share = self.min_share_with_facts if len(graph.facts) else self.min_share

        def rank(query: Query, prizes: Floats, candidates: Subgraph) -> _Ranked:
            free = content & (prizes > 0)
            free[required_rows(candidates)] = False
            if len(candidates.nodes) == len(graph) and are_consecutive(candidates.nodes):
                rows: NDArray[np.integer] = np.flatnonzero(free)
            else:
                rows = candidates.nodes[free[candidates.nodes]]
            values = prizes[rows]
            if not (min_share and self.k is None and query.limit is None):
                return _Ranked(rows, values, {})
            highest = float(values.max(initial=0))
            near = reaches(values, min_share * highest, highest)
            notes = {"far below the best": len(rows) - int(np.count_nonzero(near))}
            return _Ranked(rows[near], values[near], notes)

        ranked_for = remember_last(rank)

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            ranked = ranked_for(query, prizes, candidates)
            taken = len(required_content(graph, candidates))
            chosen, passed = take_while_fitting(
                graph,
                ranked,
                places_left(len(ranked), taken, self.k, query.limit),
                budget - required_tokens(graph, candidates),
                self.max_passed,
            )
            return narrow_to(graph, candidates, chosen, passed, ranked.notes)

        return select


class _Ranked:
    """Rows by falling prize, ranked no further than somebody looks.

    Args:
        rows: the rows, in any order.
        prizes: of each.
        notes: on what was left out.
    """

    def __init__(self, rows: NDArray[np.integer], prizes: Floats, notes: Mapping[str, int]) -> None:
        self.notes, self._rows, self._prizes = notes, rows, prizes
        self._first: list[int] = []

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[int]:
        start, end = 0, RANKED_FIRST
        while start < len(self):
            if len(self._first) <= start:
                self._first = self._rows[top_k(self._prizes, end)].tolist()
            first = self._first  # one list throughout: another thread may make a longer one
            yield from first[start:]
            start, end = len(first), len(self)
