"""Compiled sums that are the same bit by bit, whoever computes them."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled

UNIT = np.float32(2.0**30)  # products are multiples of 1 / UNIT, whose sums are exact


def _product_at_once(vector, other):
    return np.rint(vector * other * UNIT).astype(np.int32).sum(dtype=np.int64) / 2.0**30


@compiled(at_once=_product_at_once)
def product(vector, other):
    """Return the product of two float32 vectors whose norms are at most 1, to about 1e-9.

    The terms are whole numbers, which can be added in any order: so the compiler vectorises it.
    """
    total = 0
    for i in range(len(vector)):
        total += np.int32(np.rint(vector[i] * other[i] * UNIT))
    return total / 2.0**30


@compiled
def total_of(values):
    """Return the sum of an array, added from the first to the last."""
    total = 0.0
    for value in values:
        total += value
    return total
