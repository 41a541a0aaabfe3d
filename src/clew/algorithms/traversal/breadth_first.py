"""Breadth-first search over compressed rows: outward in waves; and paths with the fewest hops.

Moore (1959), "The shortest path through a maze". A wave over every link would soon be the whole
graph. So of a row's neighbours only the best are followed, by weight x relevance, where relevance
is max(0, cosine with the query). O(links of the rows reached), independent of the graph's size.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.algorithms.traversal.reached import LARGE, TraversalResult, relevance_arrays
from clew.graph import AnyVectors, Links, Rows, Vectors, freeze

MAX_SEARCHED_BACK = 64  # target rows; what is near to more of them is soon the whole graph
LONGEST_BACK = 250  # hops

NO_VECTORS: Vectors = freeze([], np.float32, (0, 0))


def search_breadth_first(  # noqa: PLR0913 - one for each limit of the search
    links: Links,
    start_rows: ArrayLike,
    *,
    vectors: AnyVectors = NO_VECTORS,
    query: ArrayLike | None = None,
    tokens: Rows | None = None,
    max_depth: int | None = 2,
    max_degree: int | None = 50,
    max_nodes: int | None = None,
    max_tokens: int | None = None,
) -> TraversalResult:
    """Return the rows within some hops of the start rows, wave by wave.

    The scores are weight x relevance, of a start row its relevance. Equal scores go to the lower
    row. With lower `max_nodes` or `max_tokens` the result is a prefix of that with higher ones.
    Without a limit the depths are the fewest hops.

    Args:
        links: the adjacency.
        start_rows: the start rows, in the order in which the search starts from them.
        vectors: float32 [n, d], unit rows or zeros. A row without a vector is as relevant as the
            row it is first seen from.
        query: [d], the query vector; None: all rows are equally relevant.
        tokens: int32 [n], the cost of each row.
        max_depth: in hops; None for no limit, here and below.
        max_degree: of every row, follow only so many unvisited neighbours.
        max_nodes: rows, at most.
        max_tokens: tokens of all rows together, at most.

    Example:
        >>> from clew.graph import Edges, Graph
        >>> links = Graph.of(list("abc"), edges=Edges.of("next", [0, 1], [1, 2])).links()
        >>> search_breadth_first(links, [0]).depths.tolist()
        [0, 1, 2]
    """
    from clew.algorithms.traversal.kernels import search

    depth, degree, nodes, spendable = (
        LARGE if limit is None else limit
        for limit in (max_depth, max_degree, max_nodes, max_tokens)
    )
    if degree < 1:
        depth = 0
    rows, depths, parents, scores, slots = search.breadth_first(
        search.WeightedLinks(
            freeze(links.starts, np.int64),
            freeze(links.targets, np.int32),
            freeze(links.weights, np.float32),
        ),
        relevance_arrays(vectors, query),
        freeze([] if tokens is None or max_tokens is None else tokens, np.int32),
        freeze(start_rows, np.int64),
        search.BreadthLimits(depth, degree, nodes, spendable),
    )
    return TraversalResult(freeze(rows, np.int32), depths, parents, slots, scores)


def shortest_paths(
    links: Links,
    start_rows: Collection[int],
    target_rows: Collection[int],
    max_hops: int,
    *,
    directed: bool = True,
) -> dict[int, list[int]]:
    """Return a path with the fewest hops to each target row within `max_hops` hops of a start row.

    Ties go to the first slot in the order of the rows before. O(edges of the rows reached).

    Args:
        links: the adjacency.
        start_rows: the start rows.
        target_rows: the target rows.
        max_hops: hops, at most.
        directed: links may lead in one direction only. False says that each leads back, too: few
            target rows are then searched for from both ends, which takes a fraction of the time.

    Returns:
        row -> the slots of its path, in walking order; a start row has an empty path.

    Example:
        >>> from clew.graph import Edges, Graph
        >>> links = Graph.of(list("abc"), edges=Edges.of("next", [0, 1], [1, 2])).links()
        >>> [links.targets[slots].tolist() for slots in shortest_paths(links, [0], [2], 3).values()]
        [[1, 2]]
    """
    from clew.algorithms.traversal.kernels.hops import reach

    sources = np.fromiter(dict.fromkeys(start_rows), np.int64)
    targets = np.fromiter(dict.fromkeys(target_rows), np.int64)
    nearby = 0 if directed or len(targets) > MAX_SEARCHED_BACK else min(max_hops // 2, LONGEST_BACK)
    origins = reach(links.starts, links.targets, sources, targets, max_hops, nearby)
    return {row: _path_to(links, origins, row) for row in targets.tolist() if origins[row]}


def _path_to(links: Links, origins: NDArray[np.int64], row: int) -> list[int]:
    from clew.algorithms.traversal.kernels.hops import SLOT

    path: list[int] = []
    while origins[row] >= SLOT:
        slot = int(origins[row]) - SLOT
        path.append(slot)
        row = int(np.searchsorted(links.starts, slot, side="right")) - 1
    return path[::-1]
