"""Along the links: after each item the one it is tied to most strongly, so that what belongs together is read together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.ranking import foremost
from clew.graph import Floats, Graph, Links, Rows
from clew.order.by_prize import content_of, facts_of, ranked
from clew.types import Query, Reading, Subgraph


@dataclass(frozen=True)
class Thread:
    """Start at the best; go on to the unread item with the strongest tie to what was read last, directly or over one connector.

    Where nothing unread is tied to it, to what was read before it, and so on back; then to the best unread. Facts first.
    """

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        links = graph.links()

        def read(query: Query, prizes: Floats, chosen: Subgraph) -> Reading:
            falling = ranked(content_of(graph, chosen), prizes)
            strength = _strengths(links, falling, ~graph.content)
            unread, path, order = dict.fromkeys(range(len(falling))), list[int](), list[int]()
            while unread:
                tied: list[int] = []
                while path and not (
                    tied := [other for other in strength[path[-1]] if other in unread]
                ):
                    path.pop()
                if path:
                    ties = strength[path[-1]]
                    following = foremost({other: ties[other] for other in tied}, 1.0)
                else:
                    following = next(iter(unread))  # positions are ranks
                del unread[following]
                path.append(following)
                order.append(following)
            return Reading.of(falling[order], facts_of(graph, chosen))

        return read


def _strengths(links: Links, rows: Rows, connector: np.ndarray) -> list[dict[int, float]]:
    """For every position in `rows`, the strength of its tie to others: an edge's weight, or the product of two over a connector."""
    position = {row: i for i, row in enumerate(rows.tolist())}
    strengths: list[dict[int, float]] = [{} for _ in position]
    through: dict[int, list[tuple[int, float]]] = {}
    near = connector.copy()
    near[rows] = True
    for i, row in enumerate(rows.tolist()):
        span = slice(links.starts[row], links.starts[row + 1])
        told = near[
            links.targets[span]
        ]  # a hub has many links, and few of them lead to what is read
        weights = links.weights[span][told].astype(np.float64)
        for target, weight in zip(
            links.targets[span][told].tolist(), weights.tolist(), strict=True
        ):
            if target in position:
                strengths[i][position[target]] = max(
                    weight, strengths[i].get(position[target], 0.0)
                )
            else:
                through.setdefault(target, []).append((i, weight))
    for ends in through.values():
        for i, one in ends:
            for j, other in ends:
                if i != j:
                    strengths[i][j] = max(one * other, strengths[i].get(j, 0.0))
    return strengths
