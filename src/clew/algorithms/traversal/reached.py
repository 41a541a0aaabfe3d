"""The result of a search, the links among some rows, and what the compiled searches take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.algorithms.cosines import as_compared, check_width
from clew.graph import EMPTY, AnyVectors, Floats, Links, Ragged, Rows, Vectors, distinct, freeze

LARGE = 2**31 - 1  # more than there are rows, hops or tokens


@dataclass(frozen=True, eq=False)
class TraversalResult:
    """The rows that a search took, in that order: a forest rooted at its start rows.

    Attributes:
        rows: int32 [k].
        depths: int32 [k], hops from the root.
        parents: int32 [k], the place in `rows` of each row's parent; -1 at a start row.
        slots: int64 [k], the slot of the link by which each row was reached; -1 at a start row.
        scores: float64 [k], the priority with which each row was taken.
        notes: what was left out, and why.
    """

    rows: Rows
    depths: Rows
    parents: Rows
    slots: NDArray[np.int64]
    scores: Floats
    notes: Mapping[str, object] = field(default_factory=lambda: EMPTY)

    def __len__(self) -> int:
        return len(self.rows)


def induced_links(
    links: Links, rows: ArrayLike, *, edges: bool = True
) -> tuple[Links, NDArray[np.int64]]:
    """Return the links among some rows, and the slot that each of them was.

    The rows are numbered by their places in ascending order. Time and memory depend on the links of
    these rows, not on the graph.

    Args:
        links: the adjacency.
        rows: the rows, in any order.
        edges: the new links know their edges; without, which is faster, they know none.

    Example:
        >>> from clew.graph import Edges, Graph
        >>> links = Graph.of(list("abc"), edges=Edges.of("next", [0, 1], [1, 2])).links()
        >>> inner, slots = induced_links(links, [1, 2])
        >>> inner.targets.tolist(), slots.tolist()
        ([1, 0], [2, 3])
    """
    from clew.algorithms.traversal.kernels.search import induced

    own = np.asarray(rows, np.int64)
    if not (own[1:] > own[:-1]).all():
        own = distinct(own)
    starts, targets, slots = induced(
        freeze(links.starts, np.int64), freeze(links.targets, np.int32), own
    )
    weights = np.asarray(links.weights[slots], np.float32)
    for array in (starts, targets, weights):  # they are new, so that they need no copy to freeze
        array.flags.writeable = False
    slot_edges = links.edges.take(slots) if edges else Ragged.empty(len(slots))
    return Links(starts, targets, weights, slot_edges), slots


def relevance_arrays(vectors: AnyVectors, query: ArrayLike | None) -> tuple[Vectors, Vectors]:
    """Return the rows' vectors and the query vector as the compiled searches take them.

    Without a query vector, or with one of zeros, both are empty: all rows are equally relevant.

    Args:
        vectors: float32 [n, d], unit rows or zeros.
        query: [d], a unit vector; or None.

    Raises:
        ValueError: the query vector is not as wide as the rows.
    """
    if query is None or not np.any(query):
        return freeze([], np.float32, (0, 0)), freeze([], np.float32)
    unit = freeze(query, np.float32)
    check_width(vectors, unit)
    rows, unit = as_compared(vectors, unit)
    return freeze(rows, np.float32), unit
