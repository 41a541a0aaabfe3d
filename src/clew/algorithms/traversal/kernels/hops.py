"""Compiled: the fewest hops between some rows."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled


@compiled
def hops(starts, targets, rows):
    """Return the fewest hops between every two of `rows`, int32 [k, k]; -1 where no path leads.

    Each search ends when it has met all rows.
    """
    n, k = len(starts) - 1, len(rows)
    distances = np.full((k, k), -1, np.int32)
    place, seen, depth, queue = (
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.zeros(n, np.int32),
        np.empty(n, np.int32),
    )
    for i in range(k):
        place[rows[i]] = i
    for i in range(k):
        seen[rows[i]], depth[rows[i]], queue[0], done, size = i, 0, rows[i], 0, 1
        distances[i, i], met = 0, 1
        while done < size and met < k:
            row = queue[done]
            done += 1
            for slot in range(starts[row], starts[row + 1]):
                other = targets[slot]
                if seen[other] == i:
                    continue
                seen[other], depth[other] = i, depth[row] + 1
                queue[size] = other
                size += 1
                if place[other] >= 0:
                    distances[i, place[other]] = depth[other]
                    met += 1
    return distances
