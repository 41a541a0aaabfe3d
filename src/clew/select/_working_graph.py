"""The part of a graph that an exact method can afford to look at: the best candidates, and what joins them.

Chosen in this order until there are enough rows: the rows that the question is linked to; the best candidates by prize, two thirds of the
room; the fewest hops to each of them, best first; connectors that touch two or more of these, those that touch most first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.traversal.breadth_first import shortest_paths
from clew.graph import Graph, Links, Mask, Ragged, Rows, freeze

HOPS = 4  # a longer way joins nothing that a reader would see


@dataclass(frozen=True, eq=False)
class WorkingGraph:
    """An induced part of the links: `rows` of the graph (ascending), compressed rows over their places, and the links' own `slots`."""

    rows: Rows
    starts: NDArray[np.int64]
    targets: Rows
    slots: NDArray[np.int64]

    def places(self, rows: Rows) -> Rows:
        """Return where these rows of the graph are among the working ones; they must be."""
        return freeze(np.searchsorted(self.rows, rows), np.int32)


def working_graph(graph: Graph, links: Links, roots: Rows, core: Rows, most: int) -> WorkingGraph:
    """Return the working graph around `core` (best first), as seen from `roots`, of about `most` rows."""
    inside = np.zeros(len(graph), np.bool_)
    inside[roots] = True
    core = core[: max(1, most * 2 // 3)]
    inside[core] = True
    left = most - int(inside.sum())
    ways = shortest_paths(links, roots.tolist(), core.tolist(), HOPS)
    for row in core.tolist():
        new = [place for place in links.targets[ways.get(row, [])].tolist() if not inside[place]]
        if len(new) <= left:
            inside[new] = True
            left -= len(new)
    touched = links.targets[_slots(links, np.flatnonzero(inside))]
    near, times = np.unique(touched[~inside[touched] & ~graph.content[touched]], return_counts=True)
    near, times = near[times > 1], times[times > 1]
    inside[near[np.argsort(-times, kind="stable")][: max(0, left)]] = True
    return _induced(links, np.flatnonzero(inside))


def among(links: Links, offered: Mask) -> Links:
    """Return the links between offered rows alone."""
    kept = np.flatnonzero(offered[links.sources] & offered[links.targets])
    starts = np.zeros(len(links) + 1, np.int64)
    np.cumsum(np.bincount(links.sources[kept], minlength=len(links)), out=starts[1:])
    edges: Ragged = links.edges.take(kept)
    return Links(
        freeze(starts, np.int64),
        freeze(links.targets[kept], np.int32),
        freeze(links.weights[kept], np.float32),
        edges,
    )


def _slots(links: Links, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """All slots of these rows, in their order."""
    lengths = links.starts[rows + 1] - links.starts[rows]
    ends = np.cumsum(lengths)
    slots: NDArray[np.int64] = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
        links.starts[rows] - ends + lengths, lengths
    )
    return slots


def _induced(links: Links, rows: NDArray[np.int64]) -> WorkingGraph:
    slots = _slots(links, rows)
    places = np.searchsorted(rows, links.targets[slots])
    among = (
        (rows[np.minimum(places, len(rows) - 1)] == links.targets[slots])
        if len(rows)
        else np.zeros(0, np.bool_)
    )
    owners = np.repeat(np.arange(len(rows)), links.starts[rows + 1] - links.starts[rows])[among]
    starts = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(np.bincount(owners, minlength=len(rows)), out=starts[1:])
    return WorkingGraph(
        freeze(rows, np.int32),
        freeze(starts, np.int64),
        freeze(places[among], np.int32),
        slots[among],
    )
