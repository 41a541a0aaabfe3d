"""Trusses as the kernels of Q-Peel take them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.graph import Floats, Rows


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


class NestedTrusses(NamedTuple):
    """The k-trusses of a graph for every k from some k on, each inside of the one before.

    The first of them has n nodes and m edges. Its rows are bits: bit b of a word of number w is the
    node 64 w + b.

    Attributes:
        rows: int32 [n], the rows of the links that are its nodes, ascending.
        starts: int64 [n + 1], of its compressed rows, which number the nodes from 0.
        triangles: int32 [2 m], of the edge of each slot.
        lower: int32 [2 m], the slot of the same edge in the row of its lower end.
        slots: int64 [2 m], the slot of the links for each of its own slots; or empty.
        tails: int32 [m], the lower ends of the edges, by rising trussness, then by end.
        heads: int32 [m], the higher ends.
        edge_slots: int32 [m], the slots at the lower ends.
        values: int32 [m], the trussness.
        word_starts: int64 [n + 1], where the words of each row begin.
        word_middles: int64 [n], the first word of each row that may have a node above its own.
        word_numbers: int32 [w], ascending in each row.
        word_slots: int32 [w], the slot of the lowest bit of each word.
        words: uint64 [w], none is 0.
    """

    rows: Rows
    starts: NDArray[np.int64]
    triangles: Rows
    lower: Rows
    slots: NDArray[np.int64]
    tails: Rows
    heads: Rows
    edge_slots: Rows
    values: Rows
    word_starts: NDArray[np.int64]
    word_middles: NDArray[np.int64]
    word_numbers: Rows
    word_slots: Rows
    words: NDArray[np.uint64]


class PeelingState(NamedTuple):
    """What peeling one truss after the other, by rising k, carries along.

    Attributes:
        relevance: float64 [n], of each node.
        turn: int32 [n], the place of each node in the order of rising relevance.
        order: int32 [n], the nodes that the last truss had, by rising relevance, come first.
        sizes: int64 [3], how many these are, how many edges are not in the last truss, and how many
            entries there are on critical edges.
        words: uint64 [w], the bits of the last truss.
        triangles: int32 [2 m], in the last truss, of each edge at the slot of its lower end.
        part: int32 [n], the connected component of each node; -1 outside of the last truss.
        alive: uint64, the nodes that are not peeled off, as bits.
        left: int32 [2 m], as `triangles`, without the nodes that are peeled off.
        critical: int32 [n], the first entry on a critical edge of the node, which can lose no
            triangle; -1 for none.
        ends: int32 [2 m], by entry, the other end of the edge.
        next_entries: int32 [2 m], the next entry of the same node.
        watching: int32 [n], the first entry on a node that is tried again when this one is removed.
    """

    relevance: Floats
    turn: Rows
    order: Rows
    sizes: NDArray[np.int64]
    words: NDArray[np.uint64]
    triangles: Rows
    part: Rows
    alive: NDArray[np.uint64]
    left: Rows
    critical: Rows
    ends: Rows
    next_entries: Rows
    watching: Rows
