"""Breadth-first search over compressed rows: outward in waves, and the fewest hops from some rows to others.

Moore (1959), "The shortest path through a maze". A wave that went over every link would soon be the graph: of a row's neighbours only the
best are followed, by weight x relevance, where relevance is max(0, cosine with the question). O(links touched), none of it by the graph.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.traversal.reached import LARGE, Reached, kernel_question
from clew.graph import Links, Rows, Vectors, freeze

NO_VECTORS: Vectors = freeze([], np.float32, (0, 0))
SOURCE, FROM = 1, 2  # how a row was come to; 0 is not yet


def breadth_first(
    links: Links,
    sources: Any,
    *,
    vectors: Vectors = NO_VECTORS,
    question: Any = None,
    tokens: Rows | None = None,
    max_depth: int | None = 2,
    max_degree: int | None = 50,
    max_nodes: int | None = None,
    most_tokens: int | None = None,
) -> Reached:
    """Return the rows within some hops of the sources, wave by wave; `scores` are weight x relevance, of a source its relevance.

    A row with less in every limit is a prefix of one with more in `max_nodes` or `most_tokens`. Without a limit depths are the fewest
    hops. Equal scores go to the lower row.

    Args:
        links: the adjacency. sources: rows, in the order in which they are begun from.
        vectors: float32 [n, d], unit rows or zeros, and the `question`, [d] or None, to which all rows are equally relevant. A row
            without a vector is as relevant as the one it is first seen from.
        tokens: int32 [n], what each row costs. max_depth: in hops. max_degree: of every row, follow only so many unvisited neighbours.
        max_nodes, most_tokens: end before there are more of these. None is no limit.
    """
    from clew.algorithms.traversal.kernels.search import breadth_first as compiled

    limits = [
        LARGE if limit is None else limit
        for limit in (max_depth, max_degree, max_nodes, most_tokens)
    ]
    costs = freeze([] if tokens is None or most_tokens is None else tokens, np.int32)
    begun = freeze(sources, np.int64)
    plain = (
        freeze(links.starts, np.int64),
        freeze(links.targets, np.int32),
        freeze(links.weights, np.float32),
    )
    found = compiled(*plain, *kernel_question(vectors, question), costs, begun, *limits)
    rows, depths, parents, scores, slots = found
    return Reached(freeze(rows, np.int32), depths, parents, slots, scores)


def shortest_paths(
    links: Links, sources: Collection[int], wanted: Collection[int], most: int
) -> dict[int, list[int]]:
    """Return for each wanted row within `most` hops of a source the slots of a way with the fewest hops, in walking order.

    A source itself has an empty way. Ties go to the first slot in the order of the rows before. O(edges touched), one numpy step per hop.
    """
    came = np.zeros(
        len(links), np.int64
    )  # FROM and the slot by which a row was reached: zeros take no memory before they are touched
    frontier: NDArray[np.int64] = np.fromiter(sources, np.int64, len(sources))
    targets = np.fromiter(wanted, np.int64, len(wanted))
    came[frontier] = SOURCE
    for _ in range(most):
        if not len(frontier) or came[targets].all():
            break
        lengths = links.starts[frontier + 1] - links.starts[frontier]
        ends = np.cumsum(lengths)
        slots = np.arange(ends[-1]) + np.repeat(links.starts[frontier] - ends + lengths, lengths)
        slots = slots[came[links.targets[slots]] == 0]
        reached = links.targets[slots]
        came[reached[::-1]] = (
            slots[::-1] + FROM
        )  # of several slots to one row the first is written last, and stays
        frontier = reached[came[reached] == slots + FROM].astype(np.int64)
    return {int(row): _back(links, came, int(row)) for row in targets.tolist() if came[row]}


def _back(links: Links, came: NDArray[np.int64], row: int) -> list[int]:
    way: list[int] = []
    while came[row] >= FROM:
        slot = int(came[row]) - FROM
        way.append(slot)
        row = int(np.searchsorted(links.starts, slot, side="right")) - 1
    return way[::-1]
