"""Compiled: the length of a slot, read from an array or measured when a search first comes by it.

`costs` is a tuple of `lengths` (float64 [m], or [0] where they are to be measured), the greatest length allowed, `starts` (int64 [m + 1])
and `facts` (int32) of each slot, their `vectors` (float32 [f, d]), a question's unit vector (float32 [d]), the length of slots without
facts, and `known` (float64 [f]), the lengths of facts measured so far, 0 where not yet; then, for slots without facts whose ends are to be
measured, the rows' own vectors (float32 [n, d]), `weights` of the slots (float32 [m]), the question's unit vector (float32 [d], or [0] for
the length `neutral`) and the cosines measured so far (float64 [n]), 2 more than they are. Last, the
`leaders` of the cosines (see `kernels.settling`): equal ones are the same number, and so are the lengths of ways of equal edges.
"""

from __future__ import annotations

import numba
import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.settling import FINE, settled


@numba.njit(fastmath={"reassoc", "contract"})  # compiled into its caller, and cached with it
def cosine(vector, unit):
    """Return the cosine of a float32 vector with a unit vector; 0 for a vector of zeros."""
    product, square = np.float32(0), np.float32(0)
    for i in range(len(unit)):
        product += vector[i] * unit[i]
        square += vector[i] * vector[i]
    return product / np.sqrt(square) if square > 0 else np.float32(0)


@compiled
def between(slot, row, other, nodes, weights, asked, near, leaders):
    """Return (1 - weight x mean cosine of the ends with the question) / 2, at least 1e-6 and at most 1."""
    for end in (row, other):
        if near[end] == 0.0:
            near[end] = 2.0 + settled(
                min(max(np.float64(cosine(nodes[end], asked)), -1.0), 1.0), leaders
            )
    length = (1.0 - weights[slot] * (near[row] + near[other] - 4.0) / 2.0) / 2.0
    return min(max(np.floor(length * FINE + 0.5) / FINE, 1e-6), 1.0)


@compiled
def length_of(slot, row, other, costs):
    """Return the length of the slot between two rows, inf where it is longer than allowed: read, or measured and kept."""
    (
        lengths,
        most_edge,
        starts,
        facts,
        vectors,
        unit,
        neutral,
        known,
        nodes,
        weights,
        asked,
        near,
        leaders,
    ) = costs
    if len(lengths) > 0:
        length = lengths[slot]
    elif starts[slot] == starts[slot + 1]:
        length = (
            neutral
            if len(asked) == 0
            else between(slot, np.int64(row), np.int64(other), nodes, weights, asked, near, leaders)
        )
    else:
        length = np.inf
        for place in range(starts[slot], starts[slot + 1]):
            fact = facts[place]
            if fact < 0 or fact >= len(known):
                raise ValueError(
                    "a slot names a fact that has no vector: its row must be less than the number of vectors"
                )
            if known[fact] == 0.0:
                like = settled(
                    min(max(np.float64(cosine(vectors[fact], unit)), -1.0), 1.0), leaders
                )
                known[fact] = min(max((1.0 - like) / 2.0, 1e-6), 1.0)
            length = min(length, known[fact])
    if not length > 0:
        raise ValueError(
            "lengths must be positive, and inf forbids an edge; a zero, a negative or a nan came"
        )
    return length if length <= most_edge else np.inf


@compiled
def all_lengths(sources, targets, costs):
    """Return the lengths of all slots, of which the rows at both ends are given."""
    lengths = np.empty(len(targets))
    for slot in range(len(targets)):
        lengths[slot] = length_of(slot, sources[slot], targets[slot], costs)
    return lengths
