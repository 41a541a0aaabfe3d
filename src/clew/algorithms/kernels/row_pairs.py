"""Compiled products of pairs of sparse rows."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.graph import expand_ranges


def _products_at_once(starts, columns, values, some, others):
    lengths = starts[1:] - starts[:-1]
    width = int(columns.max()) + 1 if len(columns) else 1
    keys = np.repeat(np.arange(len(lengths)), lengths) * width + columns  # ascending
    lengths = lengths[some]
    places = expand_ranges(starts[some], lengths)
    pairs = np.repeat(np.arange(len(some)), lengths)
    wanted = others[pairs] * width + columns[places]
    found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    shared = keys[found] == wanted
    products = values[places[shared]] * values[found[shared]]
    return np.bincount(pairs[shared], products, len(some)).astype(np.float64, copy=False)


@compiled(at_once=_products_at_once, changes=())
def products_of_pairs(starts, columns, values, some, others):
    """Return the product of each of some rows with another: float64 [pairs].

    Args:
        starts: int64 [rows + 1], where the entries of each row start.
        columns: int32 [m], the column of each entry, ascending in a row.
        values: float64 [m].
        some: int64 [pairs], one row of each pair.
        others: int64 [pairs], the other.
    """
    sums = np.zeros(len(some))
    for pair in range(len(some)):
        row, other = some[pair], others[pair]
        i, last = starts[row], starts[row + 1]
        j, end = starts[other], starts[other + 1]
        total = 0.0
        while i < last and j < end:
            if columns[i] == columns[j]:
                total += values[i] * values[j]
                i += 1
                j += 1
            elif columns[i] < columns[j]:
                i += 1
            else:
                j += 1
        sums[pair] = total
    return sums
