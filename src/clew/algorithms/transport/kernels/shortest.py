"""Compiled: all shortest ways in a small dense graph (Floyd and Warshall)."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled


def _shortest(lengths):
    """Replace `lengths` (float64 [n, n], symmetric, >= 0, inf where there is no edge) by those of the shortest ways."""
    n = len(lengths)
    for through in range(n):
        onwards = lengths[through].copy()
        for row in range(n):
            first = onwards[row]  # symmetric: the length from `row` to `through`
            if row == through or first == np.inf:
                continue
            ways = lengths[row]
            for other in range(n):
                ways[other] = min(ways[other], first + onwards[other])


shortest = compiled(
    _shortest, fastmath={"nnan", "nsz"}
)  # nothing is ever nan: knowing that, the inner loop takes many at a time
