"""The nearest rows of a matrix of few entries, by the columns that rows share: exactly.

A pair with a high cosine shares one of the columns that most of either row is in. So a row is
compared with those alone that have such a column in common with it, as in Bayardo, Ma and Srikant,
"Scaling up all pairs similarity search" (2007). Time grows with these pairs, not with all.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clew.algorithms.compressed_rows import CompressedRows
from clew.algorithms.kernels.row_pairs import near_pairs
from clew.algorithms.nearest.exact import (
    Neighbours,
    Pairs,
    in_both_directions,
    nearest_among,
)
from clew.algorithms.ranking import TOLERANCE
from clew.graph import Mask, offsets_of

MAX_COMPARED = 250_000  # pairs that are compared at once


def nearest_by_columns(rows: CompressedRows, k: int, min_cosine: float) -> Neighbours:
    """Return at most `k` nearest other rows of every row.

    Args:
        rows: unit rows, of numbers above 0; the fewer rows have a column, the sooner it should
            come, since the first columns of a row bring it together with others.
        k: neighbours of a row, at most.
        min_cosine: lowest cosine of a neighbour, > 0.

    Example:
        >>> values = np.array([1.0, 0.6, 0.8])
        >>> rows = CompressedRows(np.array([0, 1, 3]), np.array([0, 0, 1]), values, 2)
        >>> nearest_by_columns(rows, 1, 0.5).cosines.tolist()
        [0.6, 0.6]
    """
    lowest = min_cosine - 2 * TOLERANCE
    near = _near_pairs(rows, _leading_entries(rows, lowest), lowest)
    return nearest_among(in_both_directions(near, len(rows), k, min_cosine), k, min_cosine)


def _leading_entries(rows: CompressedRows, min_cosine: float) -> Mask:
    """Return the entries of each row of which two rows with such a cosine share one.

    They are the first ones, until what is left is shorter than the cosine: no product with that
    reaches it.
    """
    behind = np.append(0.0, np.cumsum(np.square(rows.values)))
    left = behind[rows.starts[1:]][rows.rows] - behind[:-1]  # of an entry and those behind it
    leads: Mask = left >= min_cosine**2 - TOLERANCE
    return leads


def _near_pairs(rows: CompressedRows, leads: Mask, lowest: float) -> Iterator[Pairs]:
    """Yield the pairs of rows that have a leading column in common and a cosine of some height.

    Each pair comes once: the lower row, and the higher.

    Args:
        rows: the rows.
        leads: bool [entries], those with the leading columns.
        lowest: the lowest cosine.
    """
    n, owners, columns = len(rows), rows.rows[leads], rows.columns[leads]
    order = np.argsort(columns, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    ends = np.cumsum(np.bincount(columns))
    n_later = ends[columns] - place - 1  # rows below it that have its column
    behind = np.cumsum(np.bincount(owners, n_later, n)).astype(np.int64)  # pairs, up to each row
    bounds = offsets_of(np.bincount(owners, minlength=n))
    values, first = rows.values.astype(np.float64, copy=False), 0
    while first < n:
        done = int(behind[first - 1]) if first else 0
        last = max(int(np.searchsorted(behind, done + MAX_COMPARED, side="right")), first + 1)
        yield near_pairs(
            *(rows.starts, rows.columns, values, rows.width),
            *(bounds, columns, place, ends, owners[order]),
            *(first, last, lowest),
        )
        first = last
