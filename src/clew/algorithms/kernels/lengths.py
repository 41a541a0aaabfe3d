"""Compiled: the length of a slot, read from an array or measured when a search first comes by it.

`costs` is a tuple of `lengths` (float64 [m], or [0] where they are to be measured), the greatest length allowed, `starts` (int64 [m + 1])
and `facts` (int32) of each slot, their `vectors` (float32 [f, d]), a question's unit vector (float32 [d]), the length of slots without
facts, and `known` (float64 [f]), the lengths of facts measured so far, 0 where not yet.
"""

from __future__ import annotations

import numba
import numpy as np

from clew.algorithms.kernels.compiled import compiled


@numba.njit(fastmath={"reassoc", "contract"})  # compiled into its caller, and cached with it
def cosine(vector, unit):
    """Return the cosine of a float32 vector with a unit vector; 0 for a vector of zeros."""
    product, square = np.float32(0), np.float32(0)
    for i in range(len(unit)):
        product += vector[i] * unit[i]
        square += vector[i] * vector[i]
    return product / np.sqrt(square) if square > 0 else np.float32(0)


@compiled
def length_of(slot, costs):
    """Return the length of a slot, inf where it is longer than allowed: read, or measured as the nearest of its facts and kept."""
    lengths, most_edge, starts, facts, vectors, unit, neutral, known = costs
    if len(lengths) > 0:
        length = lengths[slot]
    elif starts[slot] == starts[slot + 1]:
        length = neutral
    else:
        length = np.inf
        for place in range(starts[slot], starts[slot + 1]):
            fact = facts[place]
            if fact < 0 or fact >= len(known):
                raise ValueError("a slot names a fact that has no vector: its row must be less than the number of vectors")
            if known[fact] == 0.0:
                known[fact] = min(max((1.0 - np.float64(cosine(vectors[fact], unit))) / 2.0, 1e-6), 1.0)
            length = min(length, known[fact])
    if not length > 0:
        raise ValueError("lengths must be positive, and inf forbids an edge; a zero, a negative or a nan came")
    return length if length <= most_edge else np.inf


@compiled
def all_lengths(costs, slots):
    """Return the lengths of the first `slots` slots."""
    lengths = np.empty(slots)
    for slot in range(slots):
        lengths[slot] = length_of(slot, costs)
    return lengths
