"""Compiled: the length of a slot, read from an array or measured at its first use.

`lengths` is everywhere an `EdgeLengths` of `clew.algorithms.steiner.lengths`, which says what its
fields are.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.equal_scores import GRID, leader_of
from clew.algorithms.kernels.sums import product


@compiled
def length_by_ends(slot, row, other, ends, leaders):
    """Return (1 - weight * mean cosine of both ends with the query) / 2, from 1e-6 to 1."""
    vectors, weights, query, cosines = ends
    for end in (row, other):
        if cosines[end] == 0.0:
            measured = min(max(product(vectors[end], query), -1.0), 1.0)
            cosines[end] = 2.0 + leader_of(measured, leaders)
    length = (1.0 - weights[slot] * (cosines[row] + cosines[other] - 4.0) / 2.0) / 2.0
    return min(max(np.floor(length * GRID + 0.5) / GRID, 1e-6), 1.0)


@compiled
def length_of(slot, row, other, lengths):
    """Return the length of the slot between two rows; inf where it is longer than `max_edge`."""
    fixed, max_edge, neutral, edges, ends, leaders = lengths
    starts, rows, vectors, query, measured = edges
    if len(fixed) > 0:
        length = fixed[slot]
    elif starts[slot] == starts[slot + 1]:
        length = (
            neutral
            if len(ends.query) == 0
            else length_by_ends(slot, np.int64(row), np.int64(other), ends, leaders)
        )
    else:
        length = np.inf
        for place in range(starts[slot], starts[slot + 1]):
            edge = rows[place]
            if edge < 0 or edge >= len(measured):
                raise ValueError(
                    "a slot names a vector that does not exist:"
                    " its row must be less than the number of vectors"
                )
            if measured[edge] == 0.0:
                like = min(max(product(vectors[edge], query), -1.0), 1.0)
                measured[edge] = min(max((1.0 - leader_of(like, leaders)) / 2.0, 1e-6), 1.0)
            length = min(length, measured[edge])
    if not length > 0:
        raise ValueError(
            "lengths must be positive, and inf forbids an edge; a zero, a negative or a nan came"
        )
    return length if length <= max_edge else np.inf


@compiled
def all_lengths(sources, targets, first, lengths):
    """Return the lengths of the slots from `first` on, of which both ends are given, float64."""
    measured = np.empty(len(targets))
    for place in range(len(targets)):
        measured[place] = length_of(first + place, sources[place], targets[place], lengths)
    return measured
