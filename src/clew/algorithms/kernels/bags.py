"""Compiled products of a vector with sums of table rows, of which each row names a few."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.graph import expand_ranges


def _sums_at_once(starts, ends, columns, counts, weights_of, products):
    lengths = ends - starts
    if len(starts) and (ends[:-1] == starts[1:]).all():
        places = slice(int(starts[0]), int(ends[-1]))
    else:
        places = expand_ranges(starts, lengths)
    columns, counts = columns[places], counts[places]
    values = weights_of[1] * products[columns]  # most entries come once
    several = np.flatnonzero(counts != 1)
    values[several] = weights_of[counts[several]] * products[columns[several]]
    return np.bincount(np.repeat(np.arange(len(starts)), lengths), values, len(starts))


@compiled(at_once=_sums_at_once)
def bag_sums(starts, ends, columns, counts, weights_of, products):
    """Return the sum over each row's entries of weights_of[count] * products[column]: float64 [n].

    Args:
        starts: int32 [n], where the entries of each row start.
        ends: int32 [n], where they end.
        columns: [m], the column of each entry.
        counts: uint8 [m], how often each entry comes.
        weights_of: float64 [256], the weight of each count.
        products: float64, the product of each column.

    Places are unsigned, since one that may count from the end takes half as long again.
    """
    sums = np.zeros(len(starts))
    for row in range(len(starts)):
        total = 0.0
        for i in range(np.uint64(starts[row]), np.uint64(ends[row])):
            total += weights_of[np.uint64(counts[i])] * products[np.uint64(columns[i])]
        sums[row] = total
    return sums
