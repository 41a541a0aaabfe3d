"""Compiled products of a vector with sparse rows, and with sums of table rows."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.graph import expand_ranges

MAX_IN_PAIRS = 128  # entries of a row that numpy adds in one run


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
    rows = np.repeat(np.arange(len(starts)), lengths)
    first = np.cumsum(lengths) - lengths
    is_second = (np.arange(len(rows)) - first[rows]) % 2
    sums = np.bincount(2 * rows + is_second, values, 2 * len(starts))
    sums = sums.astype(np.float64, copy=False)  # whole numbers where there is no entry
    return sums[::2] + sums[1::2]


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

    Places are unsigned, since one that may count from the end takes half as long again. Every
    second entry goes to a second sum, since one alone would wait for each addition.
    """
    sums = np.zeros(len(starts))
    one, two = np.uint64(1), np.uint64(2)
    for row in range(len(starts)):
        a = b = 0.0
        i, end = np.uint64(starts[row]), np.uint64(ends[row])
        while i + two <= end:
            a += weights_of[np.uint64(counts[i])] * products[np.uint64(columns[i])]
            b += weights_of[np.uint64(counts[i + one])] * products[np.uint64(columns[i + one])]
            i += two
        if i < end:
            a += weights_of[np.uint64(counts[i])] * products[np.uint64(columns[i])]
        sums[row] = a + b
    return sums


def _add_scaled_at_once(first, second, scales, mean):
    found = first * scales[:, 0]
    found += second * scales[:, 1]
    found -= scales[:, 2] * mean
    return found.astype(np.float32)


@compiled(at_once=_add_scaled_at_once)
def add_scaled(first, second, scales, mean):
    """Return first * scales[:, 0] + second * scales[:, 1] - scales[:, 2] * mean: float32 [n].

    Args:
        first: float64 [n].
        second: float64 [n].
        scales: float32 [n, 3].
        mean: float32.
    """
    found = np.empty(len(first), np.float32)
    for row in range(len(first)):
        scaled = first[row] * scales[row, 0] + second[row] * scales[row, 1]
        found[row] = scaled - np.float64(scales[row, 2] * mean)
    return found


def _row_products_at_once(starts, columns, values, vector):
    return np.add.reduceat(values * vector[columns], starts[:-1])


@compiled(at_once=_row_products_at_once)
def row_products(starts, columns, values, vector):
    """Return the dot products of sparse rows with a vector: float64 [n].

    Args:
        starts: int [n + 1], where the entries of each row start; none is empty, and none has more
            than `MAX_IN_PAIRS` entries.
        columns: [m], the column of each entry.
        values: float32 [m].
        vector: float64.

    The sums are in the order of `numpy.add.reduceat`: the first entry, and eight running sums of
    those behind it.
    """
    found = np.empty(len(starts) - 1)
    for row in range(len(found)):
        first, end = np.uint64(starts[row]), np.uint64(starts[row + 1])
        total = values[first] * vector[np.uint64(columns[first])]
        first += np.uint64(1)
        rest = 0.0
        if end - first >= np.uint64(8):
            a = b = c = d = e = f = g = h = 0.0
            whole = first + (end - first) // np.uint64(8) * np.uint64(8)
            while first < whole:
                a += values[first] * vector[np.uint64(columns[first])]
                b += values[first + np.uint64(1)] * vector[np.uint64(columns[first + np.uint64(1)])]
                c += values[first + np.uint64(2)] * vector[np.uint64(columns[first + np.uint64(2)])]
                d += values[first + np.uint64(3)] * vector[np.uint64(columns[first + np.uint64(3)])]
                e += values[first + np.uint64(4)] * vector[np.uint64(columns[first + np.uint64(4)])]
                f += values[first + np.uint64(5)] * vector[np.uint64(columns[first + np.uint64(5)])]
                g += values[first + np.uint64(6)] * vector[np.uint64(columns[first + np.uint64(6)])]
                h += values[first + np.uint64(7)] * vector[np.uint64(columns[first + np.uint64(7)])]
                first += np.uint64(8)
            rest = ((a + b) + (c + d)) + ((e + f) + (g + h))
        while first < end:
            rest += values[first] * vector[np.uint64(columns[first])]
            first += np.uint64(1)
        found[row] = total + rest
    return found
