"""Compiled products of sparse rows with several vectors, side by side in lanes, in one pass.

What each lane adds, and in which order, is what `clew.algorithms.kernels.bags.row_products` adds
for its vector: the products are the same to the bit.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.bags import row_products
from clew.algorithms.kernels.compiled import compiled
from clew.graph.vector_column import AT_ONCE

LANES = AT_ONCE  # as many numbers as the longest registers hold, and a line of the cache


def _row_lanes_at_once(starts, columns, values, vectors):
    found = np.empty((len(starts) - 1, LANES))
    for lane in range(LANES):
        vector = np.ascontiguousarray(vectors[:, lane])
        found[:, lane] = row_products.plain(starts, columns, values, vector)
    return found


@compiled(at_once=_row_lanes_at_once, changes=())
def row_products_of_several(starts, columns, values, vectors):
    """Return what `row_products` does for each of several vectors: float64 [n, LANES].

    Args:
        starts: as in `row_products`.
        columns: as in `row_products`.
        values: as in `row_products`.
        vectors: float64 [d, LANES].
    """
    found = np.empty((len(starts) - 1, LANES))
    sums, rest, one, eight = np.empty((8, LANES)), np.empty(LANES), np.uint64(1), np.uint64(8)
    for row in range(len(found)):
        i, end = np.uint64(starts[row]), np.uint64(starts[row + 1])
        own, value, of_column = found[row], np.float64(values[i]), vectors[np.uint64(columns[i])]
        for lane in range(LANES):
            own[lane] = value * of_column[lane]
        i += one
        for lane in range(LANES):
            rest[lane] = 0.0
        if end - i >= eight:
            whole = i + (end - i) // eight * eight
            for turn in range(8):
                for lane in range(LANES):
                    sums[turn, lane] = 0.0
            while i < whole:
                for turn in range(8):
                    value, of_column = np.float64(values[i]), vectors[np.uint64(columns[i])]
                    for lane in range(LANES):
                        sums[turn, lane] += value * of_column[lane]
                    i += one
            for lane in range(LANES):
                low = (sums[0, lane] + sums[1, lane]) + (sums[2, lane] + sums[3, lane])
                high = (sums[4, lane] + sums[5, lane]) + (sums[6, lane] + sums[7, lane])
                rest[lane] = low + high
        while i < end:
            value, of_column = np.float64(values[i]), vectors[np.uint64(columns[i])]
            for lane in range(LANES):
                rest[lane] += value * of_column[lane]
            i += one
        for lane in range(LANES):
            own[lane] += rest[lane]
    return found
