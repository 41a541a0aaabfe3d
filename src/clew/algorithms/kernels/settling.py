"""Compiled: scores that are measured one by one, made equal where they differ by noise alone.

The rule is that of `clew.algorithms.ranking`, for scores whose largest is one, with the first score that is met as the leader of its group in
the place of the highest: noise changes no group where no two scores differ by about the tolerance.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.ranking import TOLERANCE

SHIFT = 2.0  # added to a score from -1 to 1, so that 0 says that a place is free
FINE = 2.0**32  # leaders have so few bits that sums of a million are exact
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing


def room_for(scores: int) -> int:
    """Return how long the table of leaders is to be for at most so many scores: a power of two."""
    return 1 << max(6, (2 * scores).bit_length())


@compiled
def settled(score, leaders):
    """Return the leader of a score from -1 to 1, itself where it is the first of its group.

    `leaders` (float64, zeros at first, as long as `room_for` says) is a hash table by the cell, as wide as the tolerance, that a leader
    lies in: a leader that a score is equal to lies in its cell or in one beside it.
    """
    shifted, mask = np.floor((score + SHIFT) * FINE + 0.5) / FINE, len(leaders) - 1
    cell = np.int64(shifted / TOLERANCE)
    for near in (cell, cell - 1, cell + 1):
        at = np.int64(np.uint64(near) * SPREAD >> np.uint64(33)) & mask
        while leaders[at] != 0.0:
            if (
                abs(leaders[at] - shifted) <= TOLERANCE
                and np.int64(leaders[at] / TOLERANCE) == near
            ):
                return leaders[at] - SHIFT
            at = (at + 1) & mask
    at = np.int64(np.uint64(cell) * SPREAD >> np.uint64(33)) & mask
    while leaders[at] != 0.0:
        at = (at + 1) & mask
    leaders[at] = shifted
    return shifted - SHIFT


@compiled
def wider(leaders, size):
    """Return the table, twice as long where it is half full of the leaders of `size` scores."""
    if 2 * size < len(leaders):
        return leaders
    found = np.zeros(2 * len(leaders))
    for leader in leaders:
        if leader != 0.0:
            settled(leader - SHIFT, found)
    return found
