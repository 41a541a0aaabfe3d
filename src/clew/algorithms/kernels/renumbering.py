"""Compiled renumbering of rows: what a column refers to has come to other places."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled


def _renumber_at_once(rows, numbers):
    return np.append(numbers, np.int32(-1))[rows]  # -1 is the last place


@compiled(at_once=_renumber_at_once, changes=())
def renumber(rows, numbers):
    """Return the number of each row, and -1 for -1: int32 [n].

    `numpy` takes the numbers in five times the time, since it makes the rows longer first.

    Args:
        rows: int32 [n], below the number of numbers, or -1.
        numbers: int32, the new number of each row.
    """
    found = np.empty(len(rows), np.int32)
    for place in range(len(rows)):
        row = rows[place]
        found[place] = numbers[np.uint64(row)] if row >= 0 else np.int32(-1)
    return found
