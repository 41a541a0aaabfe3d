"""Compiled: a small graph after some of its slots became one node, and its shortest paths."""

from __future__ import annotations

import math

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.transport.kernels.shortest import shortest


@compiled
def fuse(products, joined, alike, members, given):
    """Return (products, joined, alike) with these slots as one node, and the content costs.

    The costs [n, n] are those of taking each old slot for each new one. The products of the node's
    vector with every slot are `given`, [n]; where that is empty, the vector is the members' mean,
    scaled to a unit vector. It is joined to all slots that they were joined to.
    """
    n = len(products)
    mean, square = np.zeros(n), 0.0
    if len(given):
        mean[:] = given
        itself = 1.0
    else:
        for row in range(n):
            for member in members:
                mean[row] += products[row, member]
        for member in members:
            square += mean[member]
        length = np.sqrt(max(0.0, square))
        itself = 1.0 if length > 0 else 0.0
        for row in range(n):
            mean[row] = mean[row] / length if length > 0 else 0.0
    inside, near = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    for member in members:
        inside[member] = True
        near |= joined[member]
    fused, links, same, costs = products.copy(), joined.copy(), alike.copy(), np.empty((n, n))
    for row in range(n):
        own = products[row, row]
        for other in range(n):
            if inside[other]:
                between, whole = mean[row], itself
            else:
                between, whole = products[row, other], products[other, other]
            costs[row, other] = max(0.0, (own + whole - 2 * between) / 4)
            if inside[row] and inside[other]:
                fused[row, other], links[row, other], same[row, other] = whole, False, True
            elif inside[row]:
                fused[row, other], links[row, other] = mean[other], near[other]
            elif inside[other]:
                fused[row, other], links[row, other] = between, near[row]
    return fused, links, same, costs


@compiled
def slot_distances(products, joined, alike, sharpness, shortest_edge, scale, direct):
    """Return the distances between the slots, [n, n], and the scale that they are shares of.

    They are lengths of shortest paths, and 1 where no path leads. `direct` takes the length
    between any two slots instead, joined or not. A scale of 0 stands for the longest distance, or
    1 where all are 0.
    """
    n = len(products)
    lengths = np.empty((n, n))
    for row in range(n):
        for other in range(row + 1):
            length = np.inf
            if alike[row, other]:
                length = 0.0
            elif direct:
                length = math.exp(sharpness * (1 - products[row, other])) - 1
            elif joined[row, other]:
                length = math.exp(sharpness * (1 - products[row, other])) - 1 + shortest_edge
            lengths[row, other] = lengths[other, row] = length
    if not direct:
        shortest(lengths)
    if scale == 0:
        for length in lengths.flat:
            if length < np.inf:
                scale = max(scale, length)
        scale = scale if scale > 0 else 1.0
    for row in range(n):
        for other in range(n):
            lengths[row, other] = (
                lengths[row, other] / scale if lengths[row, other] < np.inf else 1.0
            )
    return lengths, scale


@compiled
def joins(rows, starts, heads, children):
    """Return which slots an edge joins, bool [m + 1, m + 1].

    Slot 0 leads to `children`, slot i to the heads of rows[i - 1].
    """
    m = len(rows)
    order = np.argsort(rows)
    sorted_rows = rows[order]
    joined = np.zeros((m + 1, m + 1), np.bool_)
    for row in children:
        at = np.searchsorted(sorted_rows, row)
        if at < m and sorted_rows[at] == row:
            joined[0, order[at] + 1] = joined[order[at] + 1, 0] = True
    for slot in range(m):
        for edge in range(starts[rows[slot]], starts[rows[slot] + 1]):
            at = np.searchsorted(sorted_rows, heads[edge])
            if at < m and sorted_rows[at] == heads[edge]:
                joined[slot + 1, order[at] + 1] = joined[order[at] + 1, slot + 1] = True
    return joined
