"""A truss as the kernels of Q-Peel take it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.graph import Rows


class TrussArrays(NamedTuple):
    """A k-truss of n nodes and m edges, whose triangles are listed.

    Attributes:
        rows: int32 [n], the rows of the links that are its nodes, ascending.
        starts: int64 [n + 1], of its compressed rows, which number the nodes from 0.
        targets: int32, of its compressed rows.
        slots: int64, the slot of the links for each of its own slots.
        edge_of: int32, the edge of each of its own slots.
        ends: int32 [m, 2], the nodes of each edge.
        begins: int64 [m + 1], where each edge's triangles begin in `pairs`.
        pairs: int32 [t, 2], the two other edges of each triangle of an edge.
        part: int32 [n], the number of each node's connected component.
    """

    rows: Rows
    starts: NDArray[np.int64]
    targets: Rows
    slots: NDArray[np.int64]
    edge_of: Rows
    ends: Rows
    begins: NDArray[np.int64]
    pairs: Rows
    part: Rows
