"""Compiled: scores that are measured one by one become equal if only noise parts them.

The rule is that of `clew.algorithms.ranking`, for scores whose largest is one. There the leader of
a group of equal scores is its highest score. Here it is the first score of the group that is
measured, because the others are not known yet. Noise changes no group if no two scores differ by
about the tolerance.

The leaders are in a hash table: float64, zeros at first, as long as `table_size` says. Its key is
the cell of a leader, a cell being as wide as the tolerance. So a score's leader is in the score's
own cell or in one of the two beside it.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.ranking import TOLERANCE

SHIFT = 2.0  # added to a score from -1 to 1, so that 0 marks a free place
GRID = 2.0**32  # leaders are multiples of 1 / GRID: so few bits that sums of a million are exact
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing


def table_size(max_scores: int) -> int:
    """Return the length of a table that `max_scores` scores fill at most by half."""
    return 1 << max(6, (2 * max_scores).bit_length())


@compiled
def leader_of(score, leaders):
    """Return the leader of a score from -1 to 1; itself if it is the first of its group."""
    shifted, mask = np.floor((score + SHIFT) * GRID + 0.5) / GRID, len(leaders) - 1
    cell = np.int64(shifted / TOLERANCE)
    for near in (cell, cell - 1, cell + 1):
        place = np.int64(np.uint64(near) * HASH_FACTOR >> np.uint64(33)) & mask
        while leaders[place] != 0.0:
            if (
                abs(leaders[place] - shifted) <= TOLERANCE
                and np.int64(leaders[place] / TOLERANCE) == near
            ):
                return leaders[place] - SHIFT
            place = (place + 1) & mask
    place = np.int64(np.uint64(cell) * HASH_FACTOR >> np.uint64(33)) & mask
    while leaders[place] != 0.0:
        place = (place + 1) & mask
    leaders[place] = shifted
    return shifted - SHIFT


@compiled
def with_room(leaders, size):
    """Return the table, or one of twice its length if `size` scores could fill half of it."""
    if 2 * size < len(leaders):
        return leaders
    doubled = np.zeros(2 * len(leaders))
    for leader in leaders:
        if leader != 0.0:
            leader_of(leader - SHIFT, doubled)
    return doubled
