"""Along the links: after each item the one that it is tied to most strongly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.ranking import best_row
from clew.graph import Floats, Graph, Links, Mask, Rows
from clew.order._shared import content_by_prize, stated_facts
from clew.types import Query, Reading, Subgraph


@dataclass(frozen=True)
class Thread:
    """Read the best item, then again and again the one with the strongest tie to the last one.

    A tie is a link, or two over one connector. Where nothing unread is tied to the last item, the
    one before it counts, and so on back; then comes the best unread item. Facts first.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Subgraph
        >>> from clew.graph import Edges
        >>> order = Thread().on(Graph.of(["a", "b", "c"], edges=Edges.of("next", [0], [2])))
        >>> prizes = np.array([3.0, 2.0, 1.0])
        >>> order(Query("?"), prizes, Subgraph(np.arange(3))).nodes.tolist()
        [0, 2, 1]
    """

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        links, by_prize = graph.links(), content_by_prize(graph)

        def arrange(query: Query, prizes: Floats, subgraph: Subgraph) -> Reading:
            ranked = by_prize(subgraph, prizes)
            order = _thread(_ties(links, ranked, ~graph.content))
            return Reading.of(ranked[order], stated_facts(graph, subgraph))

        return arrange


def _thread(ties: list[dict[int, float]]) -> list[int]:
    """Return all ranks, each after the one that it is tied to most strongly."""
    unread = dict.fromkeys(range(len(ties)))
    path, order = list[int](), list[int]()
    while unread:
        tied: dict[int, float] = {}
        while path and not tied:
            tied = {rank: tie for rank, tie in ties[path[-1]].items() if rank in unread}
            if not tied:
                path.pop()
        following = best_row(tied, 1.0) if tied else next(iter(unread))
        del unread[following]
        path.append(following)
        order.append(following)
    return order


def _ties(links: Links, rows: Rows, connectors: Mask) -> list[dict[int, float]]:
    """Return the ties of every one of `rows` to others, by their positions.

    A tie is the weight of a link, or the product of two over a connector; of several the highest.
    """
    position = {row: i for i, row in enumerate(rows.tolist())}
    ties: list[dict[int, float]] = [{} for _ in position]
    at_connector: dict[int, list[tuple[int, float]]] = {}
    counts = connectors.copy()
    counts[rows] = True
    for i, row in enumerate(rows.tolist()):
        slots = slice(links.starts[row], links.starts[row + 1])
        # A hub has many links, and few of them lead to what is read.
        useful = counts[links.targets[slots]]
        targets = links.targets[slots][useful].tolist()
        weights = links.weights[slots][useful].astype(np.float64).tolist()
        for target, weight in zip(targets, weights, strict=True):
            if target in position:
                j = position[target]
                ties[i][j] = max(weight, ties[i].get(j, 0.0))
            else:
                at_connector.setdefault(target, []).append((i, weight))
    for ends in at_connector.values():
        for i, first in ends:
            for j, second in ends:
                if i != j:
                    ties[i][j] = max(first * second, ties[i].get(j, 0.0))
    return ties
