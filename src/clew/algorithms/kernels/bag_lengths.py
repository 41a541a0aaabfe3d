"""Compiled lengths of weighted sums of table rows, of which the sums themselves are not kept."""

from __future__ import annotations

import numpy as np

from clew.algorithms.compressed_rows import CompressedRows
from clew.algorithms.kernels.bag_vectors import LANES, squared_length
from clew.algorithms.kernels.compiled import compiled
from clew.graph import expand_ranges, offsets_of

BATCH = 256  # rows that numpy computes at once
TOGETHER = 4  # vectors that are added in one go, so that sums are read and written less often


def _batches(starts, ends, columns, counts, weights_of, weights, width):
    """Yield where some rows begin and end, and their weighted entries."""
    for first in range(0, len(starts), BATCH):
        last = min(first + BATCH, len(starts))
        lengths = ends[first:last] - starts[first:last]
        places = expand_ranges(starts[first:last], lengths)
        values = weights_of[counts[places]] * weights[columns[places]]
        own = columns[places].astype(np.int32)
        yield first, last, CompressedRows(offsets_of(lengths), own, values, width)


def _squares_of(rows):
    lanes = np.add.reduce(rows.reshape(len(rows), -1, LANES) ** 2, axis=1)
    total = np.zeros(len(rows))
    for lane in range(LANES):
        total += lanes[:, lane]
    return total


def _dense_at_once(starts, ends, columns, counts, weights_of, weights, vectors):
    squares = np.zeros(len(starts))
    entries = (starts, ends, columns, counts, weights_of, weights, len(vectors))
    for first, last, bags in _batches(*entries):
        used = np.flatnonzero(np.bincount(bags.columns))
        own = np.searchsorted(used, bags.columns).astype(np.int32)
        some = CompressedRows(bags.starts, own, bags.values, len(used))
        squares[first:last] = _squares_of(some.times_dense(vectors[used].astype(np.float64)))
    return squares


@compiled(at_once=_dense_at_once)
def dense_squares(starts, ends, columns, counts, weights_of, weights, vectors):
    """Return the squared length of each row's sum of weighted vectors: float64 [n].

    Args:
        starts: int32 [n], where the entries of each row start.
        ends: int32 [n], where they end.
        columns: [m], the column of each entry, ascending in each row.
        counts: uint8 [m], how often each entry comes.
        weights_of: float64 [256], the weight of each count.
        weights: float64, the weight of each column.
        vectors: float32 [columns, d], the vector of each column; d is a multiple of `LANES`.
    """
    squares, sums = np.zeros(len(starts)), np.zeros(vectors.shape[1])
    for row in range(len(starts)):
        for j in range(len(sums)):
            sums[j] = 0.0
        left = ends[row] - (ends[row] - starts[row]) % TOGETHER
        for i in range(starts[row], left, TOGETHER):
            first, second, third, fourth = (
                columns[i],
                columns[i + 1],
                columns[i + 2],
                columns[i + 3],
            )
            of_first = weights_of[counts[i]] * weights[first]
            of_second = weights_of[counts[i + 1]] * weights[second]
            of_third = weights_of[counts[i + 2]] * weights[third]
            of_fourth = weights_of[counts[i + 3]] * weights[fourth]
            for j in range(len(sums)):
                total = sums[j] + of_first * np.float64(vectors[first, j])
                total += of_second * np.float64(vectors[second, j])
                total += of_third * np.float64(vectors[third, j])
                sums[j] = total + of_fourth * np.float64(vectors[fourth, j])
        for i in range(left, ends[row]):
            column = columns[i]
            weight = weights_of[counts[i]] * weights[column]
            for j in range(len(sums)):
                sums[j] += weight * np.float64(vectors[column, j])
        squares[row] = squared_length(sums)
    return squares


def _sparse_at_once(starts, ends, columns, counts, weights_of, weights, rows, width):
    squares, table = np.zeros(len(starts)), CompressedRows(*rows, width)
    entries = (starts, ends, columns, counts, weights_of, weights, len(table))
    for first, last, bags in _batches(*entries):
        squares[first:last] = _squares_of(bags.dense_product(table))
    return squares


@compiled(at_once=_sparse_at_once)
def sparse_squares(starts, ends, columns, counts, weights_of, weights, rows, width):
    """Return what `dense_squares` does where the vectors of columns are sparse: float64 [n].

    Args:
        starts: as in `dense_squares`.
        ends: as in `dense_squares`.
        columns: as in `dense_squares`, in any order.
        counts: as in `dense_squares`.
        weights_of: as in `dense_squares`.
        weights: as in `dense_squares`.
        rows: where the entries of each column's vector start, int32 [columns + 1], their places
            and float32 values.
        width: the number of dimensions, a multiple of `LANES`.
    """
    row_starts, places, values = rows
    squares, sums = np.zeros(len(starts)), np.zeros(width)
    for row in range(len(starts)):
        for j in range(width):
            sums[j] = 0.0
        for i in range(starts[row], ends[row]):
            column = columns[i]
            weight = weights_of[counts[i]] * weights[column]
            for k in range(row_starts[column], row_starts[column + 1]):
                sums[places[k]] += weight * np.float64(values[k])
        squares[row] = squared_length(sums)
    return squares
