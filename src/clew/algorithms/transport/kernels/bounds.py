"""Compiled: what staying in place costs, and what no plan can be below, of two graphs on the same slots."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled


@compiled
def stay(content, one, other, content_weight):
    """Return the value of the plan by which everything stays in its slot."""
    n, said, apart = len(content), 0.0, 0.0
    for row in range(n):
        said += content[row, row]
        for column in range(n):
            apart += (one[row, column] - other[row, column]) ** 2
    return content_weight * said / n + (1 - content_weight) * apart / (n * n)


@compiled
def least(content, one, other, content_weight):
    """Return a lower bound: every slot taken for its likest, and mean distances in order."""
    n, outwards, inwards = len(content), 0.0, 0.0
    nearest = np.full(n, np.inf)
    ways, others = np.zeros(n), np.zeros(n)
    for row in range(n):
        lowest = np.inf
        for column in range(n):
            lowest = min(lowest, content[row, column])
            nearest[column] = min(nearest[column], content[row, column])
            ways[row] += one[row, column]
            others[row] += other[row, column]
        outwards += lowest
    for column in range(n):
        inwards += nearest[column]
    ways.sort()
    others.sort()
    apart = 0.0
    for row in range(n):
        apart += (ways[row] - others[row]) ** 2
    return content_weight * max(outwards, inwards) / n + (1 - content_weight) * apart / n**3
