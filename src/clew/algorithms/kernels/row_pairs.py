"""Compiled search for the near pairs of sparse rows among those that share a column."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.graph import expand_ranges


def _near_at_once(
    starts,
    columns,
    values,
    width,
    lead_starts,
    lead_columns,
    places,
    ends,
    by_column,
    first,
    last,
    lowest,
):
    n = len(starts) - 1
    some = slice(lead_starts[first], lead_starts[last])
    n_later = ends[lead_columns[some]] - places[some] - 1
    owners = np.repeat(np.arange(first, last), np.diff(lead_starts[first : last + 1]))
    pairs = np.repeat(owners, n_later) * n + by_column[expand_ranges(places[some] + 1, n_later)]
    order = np.argsort(pairs, kind="stable")  # each pair once, where it comes first
    ascending = pairs[order]
    is_first = np.ones(len(pairs), np.bool_)
    is_first[1:] = ascending[1:] != ascending[:-1]
    rows, others = np.divmod(pairs[np.sort(order[is_first])], n)
    keys = np.repeat(np.arange(n), np.diff(starts)) * width + columns  # ascending
    lengths = starts[rows + 1] - starts[rows]
    entries, owners = expand_ranges(starts[rows], lengths), np.repeat(np.arange(len(rows)), lengths)
    wanted = others[owners] * width + columns[entries]
    found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    shared = keys[found] == wanted
    products = values[entries[shared]] * values[found[shared]]
    cosines = np.bincount(owners[shared], products, len(rows)).astype(np.float64, copy=False)
    near = cosines >= lowest
    return rows[near], others[near], cosines[near]


@compiled(at_once=_near_at_once, changes=())
def near_pairs(
    starts,
    columns,
    values,
    width,
    lead_starts,
    lead_columns,
    places,
    ends,
    by_column,
    first,
    last,
    lowest,
):
    """Return the pairs of some rows with later ones that share a leading column and are near.

    Args:
        starts: int64 [n + 1], where the entries of each row start.
        columns: int32 [m], the column of each entry, ascending in a row.
        values: float64 [m].
        width: the number of columns.
        lead_starts: int64 [n + 1], where the leading columns of each row start.
        lead_columns: int32 [leads], these columns.
        places: int64 [leads], where the row is in `by_column`.
        ends: int64 [columns], where the rows of each leading column end there.
        by_column: int64 [leads], the rows that have each leading column, ascending.
        first: the first of the rows.
        last: the row behind the last of them.
        lowest: the lowest product of a pair that is near, > 0.

    Returns:
        Rows and others, int64 [pairs], as they are found, and their products, float64 [pairs].
    """
    seen, own = np.full(len(starts) - 1, -1, np.int64), np.zeros(width)
    size, n = 1024, 0
    some, others, cosines = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size)
    for row in range(first, last):
        for entry in range(starts[row], starts[row + 1]):
            own[columns[entry]] = values[entry]
        for slot in range(lead_starts[row], lead_starts[row + 1]):
            for place in range(places[slot] + 1, ends[lead_columns[slot]]):
                other = by_column[place]
                if seen[other] == row:
                    continue
                seen[other] = row
                total = 0.0  # what the row does not have adds 0.0, which changes no sum
                for its in range(np.uint64(starts[other]), np.uint64(starts[other + 1])):
                    total += own[np.uint64(columns[its])] * values[its]
                if total < lowest:
                    continue
                if n == size:
                    some = np.append(some, np.empty(size, np.int64))
                    others = np.append(others, np.empty(size, np.int64))
                    cosines = np.append(cosines, np.empty(size))
                    size *= 2
                some[n], others[n], cosines[n] = row, other, total
                n += 1
        for entry in range(starts[row], starts[row + 1]):
            own[columns[entry]] = 0.0
    return some[:n].copy(), others[:n].copy(), cosines[:n].copy()
