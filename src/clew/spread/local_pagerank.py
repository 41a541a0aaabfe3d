"""PageRank in the neighbourhood of the question: its cost goes with that, not with the graph.

What a question is about lies near to where it touches the graph. A search outward finds that
neighbourhood, and personalised PageRank on the links inside it ranks it:

    N      = union of what the searches reach from the start rows
    prizes = PageRank of the links among N, restarted at the start rows

A walk that restarts at a few rows alone forgets the prizes of all others: a passage with a low
prize and no links gets a prize of 0. With `max_restart_rows` the walk restarts at more rows, each
by its prize, and the neighbourhood includes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.algorithms.pagerank.full import build_walk, pagerank
from clew.algorithms.ranking import top_k
from clew.algorithms.traversal.reached import TraversalResult, induced_links
from clew.graph import Floats, Graph, Kinds, distinct, kinds_without
from clew.spread._searches import BreadthFirst, Search
from clew.types import Prizes, Query, Seeds


@dataclass(frozen=True)
class LocalPageRank:
    """Replace the prizes by the walk's probabilities in the neighbourhood, and by 0 elsewhere.

    Attributes:
        searches: what finds the neighbourhood, `BreadthFirst`, `BestFirst` or several; it is the
            union of what they reach.
        damping: the probability of following an edge, in [0, 1).
        max_start_rows: from how many rows the searches start: the seed's terminals, where it names
            any, or else the highest prizes.
        kinds: the kinds of edge that the walk follows, or pairs of a kind and the factor on its
            weights; None for all.
        max_restart_rows: so many of the highest prizes are in the neighbourhood too, and the walk
            restarts at them.
        excluded_kinds: kinds of edge that the walk does not follow. Links by likeness of vectors
            know no more than a seed that compares these vectors with the question, and lead to
            where many passages are alike.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Seeds
        >>> from clew.graph import Edges
        >>> graph = Graph.of(["a", "b", "c"], edges=Edges.of("next", [0], [1]))
        >>> prizes = np.array([1.0, 0.0, 0.5])
        >>> spread = LocalPageRank(damping=0.5, max_start_rows=1).on(graph)
        >>> spread(Query("?"), Seeds(prizes), prizes).values.round(2).tolist()
        [0.67, 0.33, 0.0]
    """

    searches: tuple[Search, ...] = (BreadthFirst(),)
    damping: float = 0.85
    max_start_rows: int = 5
    kinds: Kinds = None
    max_restart_rows: int = 0
    excluded_kinds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.searches or self.max_start_rows < 1:
            raise ValueError(
                "a neighbourhood needs at least one search and one start row; "
                f"got {self.searches} and {self.max_start_rows}"
            )
        if self.max_restart_rows < 0:
            raise ValueError(
                f"max_restart_rows is a number of rows, 0 for none; got {self.max_restart_rows}"
            )

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats], Prizes]:
        links = graph.links(kinds_without(graph, self.kinds, self.excluded_kinds))
        searches = [(type(search).__name__, search.bind(graph)) for search in self.searches]

        def spread(query: Query, seeds: Seeds, prizes: Floats) -> Prizes:
            starts = seeds.start_rows(prizes, self.max_start_rows)
            if not len(starts):
                note = "the question touches nothing: there is no neighbourhood"
                return Prizes(prizes, {"fallback": note})
            results = [(name, search(query, starts)) for name, search in searches]
            restarts = top_k(prizes, self.max_restart_rows)
            restarts = restarts[prizes[restarts] > 0]
            reached = [result.rows for _, result in results]
            rows = distinct(np.concatenate([starts, restarts, *reached]))
            local, _ = induced_links(links, rows, edges=False)
            reset = np.zeros(len(rows))
            reset[np.searchsorted(rows, restarts)] = prizes[restarts]
            reset[np.searchsorted(rows, starts)] = np.where(prizes[starts] > 0, prizes[starts], 1.0)
            walk = build_walk(local.matrix(dtype=np.float32), local.strengths())
            ranked = np.zeros(len(graph))
            ranked[rows] = pagerank(walk, reset, self.damping)
            notes = {
                "from": [graph.ids[row] for row in starts.tolist()],
                **{name: _notes(result) for name, result in results},
                "nodes": len(rows),
                "links": len(local.targets) // 2,
            }
            return Prizes(ranked, notes)

        return spread


def _notes(result: TraversalResult) -> dict[str, Any]:
    """Return what the trace says of one search: how many rows it reached, in all and by hops."""
    by_depth = Counter(result.depths.tolist())
    return {
        "reached": len(result),
        "by hops": [by_depth[depth] for depth in sorted(by_depth)],
        **result.notes,
    }
