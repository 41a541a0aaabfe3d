"""A neighbourhood of the question, and a random walk that stays in it.

What a question is about lies near to where it touches the graph. A search outward finds that neighbourhood, and personalised PageRank on
the part of the graph that it spans ranks it: its cost goes with the neighbourhood and not with the graph.

    prizes = PageRank of the links among N, restarted at the seeds,   N = union of what the ways reach

A walk that starts again at a few seeds alone forgets what the question had to say of all else: what was worth a little and is linked to
nothing is then worth nothing. `touched` lets it start again at more nodes, each by its prize, and have these in its neighbourhood.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.algorithms.pagerank.full import build_walk, pagerank
from clew.algorithms.ranking import top_k
from clew.algorithms.traversal.reached import Reached, induced_links
from clew.graph import Floats, Graph, kinds_without
from clew.spread.traversal import BestFirst, BreadthFirst
from clew.types import Prizes, Query, Seeds, start_rows


@dataclass(frozen=True)
class LocalPageRank:
    """Prizes are the walk's probabilities in the neighbourhood of the best seeds, 0 elsewhere.

    Attributes:
        ways: how the neighbourhood is found, `Breadth` or `BestFirst` or both; it is the union.
        damping: probability of following an edge, in [0, 1).
        starts: from how many seeds: its terminals, where the seed names any, or else its best touches.
        kinds: the kinds of edge that the walk follows, or pairs of a kind and the factor on its weights; None for all.
        touched: so many of the best prizes are in the neighbourhood too, and the walk starts again at all of them, by their prizes.
        without: kinds of edge that the walk does not follow. What links passages by their vectors knows no more than a seed that
            compares these with the question, and leads to where many passages are alike.
    """

    searches: tuple[BreadthFirst | BestFirst, ...] = (BreadthFirst(),)
    damping: float = 0.85
    max_starts: int = 5
    kinds: tuple[str | tuple[str, float], ...] | None = None
    max_touched: int = 0
    excluded_kinds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.searches or self.max_starts < 1:
            raise ValueError(
                f"a neighbourhood wants at least one way and one start; got {self.searches} and {self.max_starts}"
            )
        if self.max_touched < 0:
            raise ValueError(f"touched is a number of nodes, 0 for none; got {self.max_touched}")

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats], Prizes]:
        links = graph.links(kinds_without(graph, self.kinds, self.excluded_kinds))
        ways = [(type(way).__name__, way.over(graph)) for way in self.searches]

        def spread(query: Query, seeds: Seeds, prizes: Floats) -> Prizes:
            starts = start_rows(seeds, prizes, self.max_starts)
            if not len(starts):
                return Prizes(
                    prizes, {"fallback": "the question touches nothing: there is no neighbourhood"}
                )
            found = [(name, way(query, starts)) for name, way in ways]
            more = top_k(prizes, self.max_touched)
            more = more[prizes[more] > 0]
            rows = np.unique(
                np.concatenate([starts, more, *(reached.rows for _, reached in found)])
            )
            part, _ = induced_links(links, rows)
            reset = np.zeros(len(rows))
            reset[np.searchsorted(rows, more)] = prizes[more]
            reset[np.searchsorted(rows, starts)] = np.where(prizes[starts] > 0, prizes[starts], 1.0)
            ranked = np.zeros(len(graph))
            ranked[rows] = pagerank(
                build_walk(part.matrix(dtype=np.float32), part.strengths()), reset, self.damping
            )
            notes = {
                "from": [graph.ids[row] for row in starts.tolist()],
                **_told(found),
                "nodes": len(rows),
                "links": len(part.targets) // 2,
            }
            return Prizes(ranked, notes)

        return spread


def _told(found: list[tuple[str, Reached]]) -> dict[str, Any]:
    """What each way came to, by hops, and what it has to say."""
    notes: dict[str, Any] = {}
    for name, reached in found:
        by_depth = Counter(reached.depths.tolist())
        notes[name] = {
            "reached": len(reached),
            "by hops": [by_depth[depth] for depth in sorted(by_depth)],
            **reached.notes,
        }
    return notes
