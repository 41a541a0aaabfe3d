"""Compiled products of a vector with sparse rows, and with sums of table rows."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.graph import expand_ranges

TOGETHER = 4  # rows whose sums are computed side by side
BLOCK = 2**16  # entries that a form of whole arrays goes over at once
MAX_IN_PAIRS = 128  # entries of a row that numpy adds in one run


def _sums_at_once(starts, ends, columns, counts, weights_of, products):
    lengths, sums = ends - starts, np.zeros(len(starts))
    behind, in_a_row = np.cumsum(lengths, dtype=np.int64), bool((ends[:-1] == starts[1:]).all())
    first = 0
    while first < len(starts):  # in blocks, whose arrays a processor keeps beside it
        last = _end_of_block(behind, first)
        if in_a_row:
            places = slice(int(starts[first]), int(ends[last - 1]))
        else:
            places = expand_ranges(starts[first:last], lengths[first:last])
        # No column is outside of its table; to look for one that is would take longer.
        values = products.take(columns[places], mode="clip")
        values *= weights_of.take(counts[places], mode="clip")
        sums_of = np.repeat(np.arange(0, 2 * (last - first), 2), lengths[first:last])
        sums_of[1::2] += 1  # the two of a row that begins at an odd place change places
        pairs = np.bincount(sums_of, values, 2 * (last - first))
        sums[first:last] = pairs[::2] + pairs[1::2]
        first = last
    return sums


@compiled(at_once=_sums_at_once, changes=())
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


def _end_of_block(behind, first):
    """Return the row behind those that are gone over at once from a row on, one at least."""
    before = behind[first - 1] if first else 0
    return max(int(np.searchsorted(behind, before + BLOCK, side="right")), first + 1)


def _blocks(starts, ends, columns, counts):
    """Yield some rows, and for each of their entries the row, the place in it and the pair."""
    behind, first = np.cumsum(ends - starts, dtype=np.int64), 0
    while first < len(starts):
        before, last = behind[first - 1] if first else 0, _end_of_block(behind, first)
        lengths = ends[first:last] - starts[first:last]
        places = expand_ranges(starts[first:last], lengths)
        rows = np.repeat(np.arange(first, last), lengths)
        at = np.arange(len(rows)) + before - (behind - (ends - starts))[rows]
        yield rows, at, columns[places].astype(np.int64), counts[places].astype(np.int64)
        first = last


def _largest_at_once(starts, ends, columns, counts, width):
    largest = np.zeros(width, np.int64)
    for _, _, own, often in _blocks(starts, ends, columns, counts):
        np.maximum.at(largest, own, often)
    return largest


@compiled(at_once=_largest_at_once)
def largest_counts(starts, ends, columns, counts, width):
    """Return the largest count of each column among some rows, 0 where none has it: int64 [width].

    Args:
        starts: as in `bag_sums`.
        ends: as in `bag_sums`.
        columns: as in `bag_sums`.
        counts: as in `bag_sums`.
        width: the number of columns.
    """
    largest = np.zeros(width, np.int64)
    for row in range(len(starts)):
        for i in range(starts[row], ends[row]):
            largest[columns[i]] = max(largest[columns[i]], np.int64(counts[i]))
    return largest


def _count_at_once(starts, ends, columns, counts, first_pairs, n_pairs):
    times = np.zeros(n_pairs, np.int64)
    for _, _, own, often in _blocks(starts, ends, columns, counts):
        times += np.bincount(first_pairs[own] + often - 1, minlength=n_pairs)
    return times


@compiled(at_once=_count_at_once)
def count_pairs(starts, ends, columns, counts, first_pairs, n_pairs):
    """Return how many entries of some rows are each pair of a column and a count: int64 [n_pairs].

    Args:
        starts: as in `bag_sums`.
        ends: as in `bag_sums`.
        columns: as in `bag_sums`.
        counts: as in `bag_sums`.
        first_pairs: int64, the pair of each column and a count of 1; that of 2 is the next.
        n_pairs: the number of pairs.
    """
    times = np.zeros(n_pairs, np.int64)
    for row in range(len(starts)):
        for i in range(starts[row], ends[row]):
            times[first_pairs[columns[i]] + np.int64(counts[i]) - 1] += 1
    return times


def _interleave_at_once(starts, ends, columns, counts, first_pairs, numbers, group_starts):
    pairs = np.zeros(group_starts[-1], numbers.dtype)
    for rows, at, own, often in _blocks(starts, ends, columns, counts):
        places = group_starts[rows // TOGETHER] + TOGETHER * at + rows % TOGETHER
        pairs[places] = numbers[first_pairs[own] + often - 1]
    return pairs


@compiled(at_once=_interleave_at_once)
def interleave(starts, ends, columns, counts, first_pairs, numbers, group_starts):
    """Return the numbers of the pairs of entries, four rows at a time, entry by entry in turn.

    Args:
        starts: as in `bag_sums`.
        ends: as in `bag_sums`.
        columns: as in `bag_sums`.
        counts: as in `bag_sums`.
        first_pairs: as in `count_pairs`.
        numbers: uint16 or uint32, the number of each pair.
        group_starts: int64, where the entries of each four rows are to start, and where they end.
    """
    pairs = np.zeros(group_starts[-1], numbers.dtype)
    for row in range(len(starts)):
        place = group_starts[row // TOGETHER] + row % TOGETHER
        for i in range(starts[row], ends[row]):
            pairs[place] = numbers[first_pairs[columns[i]] + np.int64(counts[i]) - 1]
            place += TOGETHER
    return pairs


def _interleaved_at_once(order, starts, pairs, columns, counts, weights_of, products):
    table = np.append(0.0, weights_of[counts] * products[columns])
    groups = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    at = np.arange(len(pairs)) - starts[groups]
    sums_of = 2 * (TOGETHER * groups + at % TOGETHER) + at // TOGETHER % 2
    sums = np.bincount(sums_of, table[pairs], 2 * TOGETHER * (len(starts) - 1))
    sums = sums.astype(np.float64, copy=False)
    found = np.zeros(len(order))
    found[order] = (sums[::2] + sums[1::2])[: len(order)]
    return found


@compiled(at_once=_interleaved_at_once)
def interleaved_sums(order, starts, pairs, columns, counts, weights_of, products):
    """Return what `bag_sums` does, of rows that stand four at a time, entry by entry in turn.

    Args:
        order: int32 [n], the row that comes at each place.
        starts: int64, where the entries of each four rows start: as many for each row, and an even
            number.
        pairs: uint16 or uint32, the pair of each entry, from 1; 0 behind a row's last one.
        columns: int32 [p], the column of each pair.
        counts: uint8 [p], the count of each pair.
        weights_of: float64 [256], the weight of each count.
        products: float64, the product of each column.
    """
    table = np.zeros(len(columns) + 1)
    for pair in range(len(columns)):
        weight = weights_of[np.uint64(counts[pair])]
        table[pair + 1] = weight * products[np.uint64(columns[pair])]
    sums = np.zeros(TOGETHER * (len(starts) - 1))
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    five, six, seven, eight = np.uint64(5), np.uint64(6), np.uint64(7), np.uint64(8)
    for group in range(len(starts) - 1):
        a = b = c = d = e = f = g = h = 0.0
        i, end = np.uint64(starts[group]), np.uint64(starts[group + 1])
        while i < end:
            a += table[np.uint64(pairs[i])]
            b += table[np.uint64(pairs[i + one])]
            c += table[np.uint64(pairs[i + two])]
            d += table[np.uint64(pairs[i + three])]
            e += table[np.uint64(pairs[i + four])]
            f += table[np.uint64(pairs[i + five])]
            g += table[np.uint64(pairs[i + six])]
            h += table[np.uint64(pairs[i + seven])]
            i += eight
        sums[4 * group] = a + e
        sums[4 * group + 1] = b + f
        sums[4 * group + 2] = c + g
        sums[4 * group + 3] = d + h
    found = np.zeros(len(order))
    for place in range(len(order)):
        found[order[place]] = sums[place]
    return found


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
