"""Neighbours together: breadth first from the best item over the chosen part of the graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.graph import Floats, Graph
from clew.order.by_prize import content_of, facts_of, ranked
from clew.types import Query, Reading, Subgraph


@dataclass(frozen=True)
class ByGraph:
    """The best item, then what is joined to it, then what is joined to that; among equals the higher prize first; facts first.

    Two items are joined by a link of the graph, or by two over a chosen connector. Parts that are not joined follow one another, the one
    with the best item first.
    """

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        links = graph.links()

        def read(query: Query, prizes: Floats, chosen: Subgraph) -> Reading:
            content = set(content_of(graph, chosen).tolist())
            rows = np.unique(chosen.nodes)  # ties by row
            inside = set(rows.tolist())
            falling = ranked(rows, prizes).tolist()
            rank = {row: i for i, row in enumerate(falling)}
            order: list[int] = []
            seen: set[int] = set()
            for start in falling:
                if start in seen or start not in content:
                    continue
                wave = [start]
                seen.add(start)
                while wave:
                    order += [row for row in wave if row in content]
                    reached = {
                        int(t)
                        for row in wave
                        for t in links.neighbours(row)
                        if int(t) in inside and int(t) not in seen
                    }
                    seen |= reached
                    wave = sorted(reached, key=rank.__getitem__)
            return Reading.of(np.array(order, np.int32), facts_of(graph, chosen))

        return read
