"""Compiled: the value of the identity plan, and a lower bound of all plans, of two small graphs."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled


@compiled
def identity_value(content, distances, other_distances, content_weight):
    """Return the value of the plan by which everything stays in its slot."""
    n, content_cost, structure_cost = len(content), 0.0, 0.0
    for row in range(n):
        content_cost += content[row, row]
        for column in range(n):
            difference = distances[row, column] - other_distances[row, column]
            structure_cost += difference * difference
    return content_weight * content_cost / n + (1 - content_weight) * structure_cost / (n * n)


@compiled
def first_lower_bound(content, distances, other_distances, content_weight):
    """Return a lower bound: every slot goes to its most similar, mean distances match in order."""
    n, outwards, inwards = len(content), 0.0, 0.0
    nearest = np.full(n, np.inf)
    sums, other_sums = np.zeros(n), np.zeros(n)
    for row in range(n):
        lowest = np.inf
        for column in range(n):
            lowest = min(lowest, content[row, column])
            nearest[column] = min(nearest[column], content[row, column])
            sums[row] += distances[row, column]
            other_sums[row] += other_distances[row, column]
        outwards += lowest
    for column in range(n):
        inwards += nearest[column]
    sums.sort()
    other_sums.sort()
    structure_cost = 0.0
    for row in range(n):
        difference = sums[row] - other_sums[row]
        structure_cost += difference * difference
    content_cost = content_weight * max(outwards, inwards) / n
    return content_cost + (1 - content_weight) * structure_cost / (n * n * n)
