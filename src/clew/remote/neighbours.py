"""Following the edges of nodes whose neighbours are there, the strongest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.graph import Rows, Vectors, offsets_of


@dataclass(frozen=True, eq=False)
class Followed:
    """The edges of some nodes that are followed.

    Attributes:
        owners: int64 [m], the place of the node that each edge is followed from.
        numbers: int32 [m], the node that it leads to.
        weights: float32 [m].
        is_cut: bool [n], which nodes have more edges than are followed.
    """

    owners: NDArray[np.int64]
    numbers: Rows
    weights: Vectors
    is_cut: NDArray[np.bool_]


def in_order(owners: NDArray[np.int64], entries: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the neighbours of nodes, of each the strongest first, of equal ones the lowest number.

    Args:
        owners: int64 [m], the place of the node of each.
        entries: int32 [m, 3], as `PackedRows.rows` has them, in any order.
    """
    weights = np.ascontiguousarray(entries[:, 1]).view("<f4")
    return entries[np.lexsort((entries[:, 0], -weights, owners))]


def follow(
    entries: NDArray[np.int32], lengths: NDArray[np.int64], per_node: int, without: Sequence[int]
) -> Followed:
    """Return the strongest edges of nodes, in each direction so many of each.

    Args:
        entries: int32 [m, 3], the neighbours of one node after the other, the strongest first, as
            `PackedRows.rows` has them.
        lengths: int64 [n], how many each node has.
        per_node: How many are followed.
        without: The codes of kinds that are not followed.

    Example:
        >>> entries = np.array([[7, 0, 1], [8, 0, 1], [9, 0, -1]], "<i4")
        >>> entries[:, 1] = np.array([0.9, 0.5, 0.2], "<f4").view("<i4")
        >>> found = follow(entries, np.array([3]), 1, [])
        >>> found.numbers.tolist(), found.is_cut.tolist()
        ([7, 9], [True])
    """
    n = len(lengths)
    owners, kinds = np.repeat(np.arange(n), lengths), np.abs(entries[:, 2])
    is_followed = np.ones(len(entries), np.bool_)
    for kind in without:
        is_followed &= kinds != kind
    chosen = np.zeros(len(entries), np.bool_)
    is_cut = np.zeros(n, np.bool_)
    for of_direction in (entries[:, 2] > 0, entries[:, 2] < 0):
        places = np.flatnonzero(is_followed & of_direction)
        own = owners[places]
        each = np.bincount(own, minlength=n)
        rank = np.arange(len(places)) - offsets_of(each)[own]
        chosen[places[rank < per_node]] = True
        is_cut |= each > per_node
    return Followed(
        owners[chosen],
        entries[chosen, 0],
        np.ascontiguousarray(entries[chosen, 1]).view("<f4"),
        is_cut,
    )
