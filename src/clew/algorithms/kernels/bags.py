"""Compiled products of a vector with sparse rows, and with sums of table rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.kernels.compiled import compiled
from clew.graph import expand_ranges

BLOCK = 2**16  # entries that a form of whole arrays goes over at once
MAX_IN_PAIRS = 128  # entries of a row that numpy adds in one run


class _Runs(NamedTuple):
    """Rows in runs of `MAX_IN_PAIRS` entries at most, each of which numpy adds in one go.

    Attributes:
        rows: int64 [r], the row of each run; None where each row is one run.
        starts: int [r], where its entries start.
        lengths: int [r], how many it has.
    """

    rows: NDArray[np.int64] | None
    starts: NDArray[np.integer]
    lengths: NDArray[np.integer]

    @classmethod
    def of(cls, starts, ends):
        """Return the runs of rows, row by row; none of a row without entries."""
        lengths = ends - starts
        if len(lengths) and lengths.min() > 0 and lengths.max() <= MAX_IN_PAIRS:
            return cls(None, starts, lengths)
        n_runs = -(-lengths // MAX_IN_PAIRS)
        rows = np.repeat(np.arange(len(starts)), n_runs)
        nth = np.arange(len(rows)) - np.repeat(np.cumsum(n_runs) - n_runs, n_runs)
        before = MAX_IN_PAIRS * nth
        return cls(rows, starts[rows] + before, np.minimum(lengths[rows] - before, MAX_IN_PAIRS))

    def sums(self, n_rows, values_at):
        """Return the sum of each row: float64 [n].

        Args:
            n_rows: the number of rows.
            values_at: returns the numbers of entries, which it may change, given their places.
        """
        behind = np.cumsum(self.lengths, dtype=np.int64)
        sums_of = np.empty(len(behind))
        in_a_row = bool((self.starts[:-1] + self.lengths[:-1] == self.starts[1:]).all())
        first = before = 0
        while first < len(sums_of):  # in blocks, whose arrays a processor keeps beside it
            last = max(int(np.searchsorted(behind, before + BLOCK, side="right")), first + 1)
            if in_a_row:
                start = int(self.starts[first])
                places = slice(start, start + int(behind[last - 1]) - before)
            else:
                places = expand_ranges(self.starts[first:last], self.lengths[first:last])
            own = behind[first:last] - self.lengths[first:last] - before
            sums_of[first:last] = np.add.reduceat(values_at(places), own)
            first, before = last, int(behind[last - 1])
        if self.rows is None:
            return sums_of + 0.0  # no sum is -0.0, as none of the loop's is
        return np.bincount(self.rows, sums_of, n_rows).astype(np.float64, copy=False)


def _sums_at_once(starts, ends, columns, counts, weights_of, products):
    def values_at(places):
        # No column is outside of its table; to look for one that is would take longer.
        values = products.take(columns[places], mode="clip")
        values *= weights_of.take(counts[places], mode="clip")
        return values

    return _Runs.of(starts, ends).sums(len(starts), values_at)


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

    Places are unsigned, since one that may count from the end takes half as long again. A run of
    `MAX_IN_PAIRS` entries is added in the order of `numpy.add.reduceat`: the first entry, and eight
    running sums of those behind it, since one alone would wait for each addition.
    """
    sums = np.zeros(len(starts))
    one, eight, run = np.uint64(1), np.uint64(8), np.uint64(MAX_IN_PAIRS)
    two, three, four = np.uint64(2), np.uint64(3), np.uint64(4)
    five, six, seven = np.uint64(5), np.uint64(6), np.uint64(7)
    for row in range(len(starts)):
        i, end = np.uint64(starts[row]), np.uint64(ends[row])
        while i < end:
            stop = min(end, i + run)
            own = weights_of[np.uint64(counts[i])] * products[np.uint64(columns[i])]
            i += one
            rest = 0.0
            if stop - i >= eight:
                a = b = c = d = e = f = g = h = 0.0
                whole = i + (stop - i) // eight * eight
                while i < whole:
                    j, k, m = i + one, i + two, i + three
                    n, o, p, q = i + four, i + five, i + six, i + seven
                    a += weights_of[np.uint64(counts[i])] * products[np.uint64(columns[i])]
                    b += weights_of[np.uint64(counts[j])] * products[np.uint64(columns[j])]
                    c += weights_of[np.uint64(counts[k])] * products[np.uint64(columns[k])]
                    d += weights_of[np.uint64(counts[m])] * products[np.uint64(columns[m])]
                    e += weights_of[np.uint64(counts[n])] * products[np.uint64(columns[n])]
                    f += weights_of[np.uint64(counts[o])] * products[np.uint64(columns[o])]
                    g += weights_of[np.uint64(counts[p])] * products[np.uint64(columns[p])]
                    h += weights_of[np.uint64(counts[q])] * products[np.uint64(columns[q])]
                    i += eight
                rest = ((a + b) + (c + d)) + ((e + f) + (g + h))
            while i < stop:
                rest += weights_of[np.uint64(counts[i])] * products[np.uint64(columns[i])]
                i += one
            sums[row] += own + rest
    return sums


def _end_of_block(behind, first):
    """Return the row behind those that are gone over at once from a row on, one at least."""
    before = behind[first - 1] if first else 0
    return max(int(np.searchsorted(behind, before + BLOCK, side="right")), first + 1)


def _blocks(starts, ends, columns, counts):
    """Yield the columns and the counts of the entries of some rows."""
    behind, first = np.cumsum(ends - starts, dtype=np.int64), 0
    while first < len(starts):
        last = _end_of_block(behind, first)
        places = expand_ranges(starts[first:last], ends[first:last] - starts[first:last])
        yield columns[places].astype(np.int64), counts[places].astype(np.int64)
        first = last


def _largest_at_once(starts, ends, columns, counts, width):
    largest = np.zeros(width, np.int64)
    for own, often in _blocks(starts, ends, columns, counts):
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
    for own, often in _blocks(starts, ends, columns, counts):
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


def _number_at_once(starts, ends, columns, counts, first_pairs, numbers):
    pairs = np.zeros((ends - starts).sum(), numbers.dtype)
    done = 0
    for own, often in _blocks(starts, ends, columns, counts):
        pairs[done : done + len(own)] = numbers[first_pairs[own] + often - 1]
        done += len(own)
    return pairs


@compiled(at_once=_number_at_once)
def number_pairs(starts, ends, columns, counts, first_pairs, numbers):
    """Return the numbers of the pairs of all entries, row by row.

    Args:
        starts: as in `bag_sums`.
        ends: as in `bag_sums`.
        columns: as in `bag_sums`.
        counts: as in `bag_sums`.
        first_pairs: as in `count_pairs`.
        numbers: uint16 or uint32, the number of each pair.
    """
    pairs = np.zeros((ends - starts).sum(), numbers.dtype)
    place = 0
    for row in range(len(starts)):
        for i in range(starts[row], ends[row]):
            pairs[place] = numbers[first_pairs[columns[i]] + np.int64(counts[i]) - 1]
            place += 1
    return pairs


def _pair_sums_at_once(order, starts, pairs, columns, counts, weights_of, products):
    table = weights_of[counts] * products[columns]
    runs = _Runs.of(starts[:-1], starts[1:])
    found = np.zeros(len(order))
    found[order] = runs.sums(len(order), lambda places: table.take(pairs[places], mode="clip"))
    return found


@compiled(at_once=_pair_sums_at_once)
def pair_sums(order, starts, pairs, columns, counts, weights_of, products):
    """Return what `bag_sums` does, of rows in another order whose entries are numbers of pairs.

    Args:
        order: int32 [n], the row that comes at each place.
        starts: int64 [n + 1], where the entries of each place start.
        pairs: uint16 or uint32, the pair of each entry.
        columns: int32 [p], the column of each pair.
        counts: uint8 [p], the count of each pair.
        weights_of: float64 [256], the weight of each count.
        products: float64, the product of each column.
    """
    table = np.zeros(len(columns))
    for pair in range(len(columns)):
        weight = weights_of[np.uint64(counts[pair])]
        table[pair] = weight * products[np.uint64(columns[pair])]
    found = np.zeros(len(order))
    one, eight, run = np.uint64(1), np.uint64(8), np.uint64(MAX_IN_PAIRS)
    two, three, four = np.uint64(2), np.uint64(3), np.uint64(4)
    five, six, seven = np.uint64(5), np.uint64(6), np.uint64(7)
    for place in range(len(order)):
        i, end = np.uint64(starts[place]), np.uint64(starts[place + 1])
        total = 0.0
        while i < end:
            stop = min(end, i + run)
            own = table[np.uint64(pairs[i])]
            i += one
            rest = 0.0
            if stop - i >= eight:
                a = b = c = d = e = f = g = h = 0.0
                whole = i + (stop - i) // eight * eight
                while i < whole:
                    a += table[np.uint64(pairs[i])]
                    b += table[np.uint64(pairs[i + one])]
                    c += table[np.uint64(pairs[i + two])]
                    d += table[np.uint64(pairs[i + three])]
                    e += table[np.uint64(pairs[i + four])]
                    f += table[np.uint64(pairs[i + five])]
                    g += table[np.uint64(pairs[i + six])]
                    h += table[np.uint64(pairs[i + seven])]
                    i += eight
                rest = ((a + b) + (c + d)) + ((e + f) + (g + h))
            while i < stop:
                rest += table[np.uint64(pairs[i])]
                i += one
            total += own + rest
        found[order[place]] = total
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
    return np.add.reduceat(values * vector.take(columns, mode="clip"), starts[:-1])


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
