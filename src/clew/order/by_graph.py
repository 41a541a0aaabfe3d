"""Neighbours together: breadth first from the best item over the chosen part of the graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.graph import Floats, Graph, distinct
from clew.order._shared import by_falling_prize, content_rows, stated_facts
from clew.types import Query, Reading, Subgraph


@dataclass(frozen=True)
class ByGraph:
    """Read the best item, then what is joined to it, then what is joined to that; facts first.

    Two items are joined by a link of the graph, or by two over a chosen connector. In a wave the
    higher prize comes first. Parts that are not joined follow one another, the one with the best
    item first.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Subgraph
        >>> from clew.graph import Edges
        >>> order = ByGraph().on(Graph.of(["a", "b", "c"], edges=Edges.of("next", [0], [2])))
        >>> prizes = np.array([3.0, 2.0, 1.0])
        >>> order(Query("?"), prizes, Subgraph(np.arange(3))).nodes.tolist()
        [0, 2, 1]
    """

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        links = graph.links()

        def arrange(query: Query, prizes: Floats, subgraph: Subgraph) -> Reading:
            content = set(content_rows(graph, subgraph).tolist())
            rows = distinct(subgraph.nodes)
            inside = set(rows.tolist())
            ranked = by_falling_prize(rows, prizes).tolist()
            rank = {row: place for place, row in enumerate(ranked)}
            order: list[int] = []
            visited: set[int] = set()
            for start in ranked:
                if start in visited or start not in content:
                    continue
                wave = [start]
                visited.add(start)
                while wave:
                    order += [row for row in wave if row in content]
                    neighbours = {int(near) for row in wave for near in links.neighbours(row)}
                    next_rows = (neighbours & inside) - visited
                    visited |= next_rows
                    wave = sorted(next_rows, key=rank.__getitem__)
            return Reading.of(np.array(order, np.int32), stated_facts(graph, subgraph))

        return arrange
