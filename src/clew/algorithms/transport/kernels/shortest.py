"""Compiled: all shortest paths in a small dense graph (Floyd and Warshall)."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled


def _shortest_at_once(lengths):
    for through in range(len(lengths)):
        onwards = lengths[through].copy()
        np.minimum(lengths, onwards[:, None] + onwards, out=lengths)


# Nothing is ever nan or a negative zero: with that promise the compiler vectorises the inner loop.
@compiled(at_once=_shortest_at_once, fastmath={"nnan", "nsz"})
def shortest(lengths):
    """Replace the lengths of edges by those of shortest paths.

    `lengths` is float64 [n, n], symmetric, >= 0, and inf where there is no edge.
    """
    n = len(lengths)
    for through in range(n):
        onwards = lengths[through].copy()
        for row in range(n):
            first = onwards[row]  # symmetric: the length from `row` to `through`
            if row == through or first == np.inf:
                continue
            own = lengths[row]
            for other in range(n):
                own[other] = min(own[other], first + onwards[other])
