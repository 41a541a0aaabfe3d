"""Compiled sums that are the same bit by bit, whoever computes them."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled

UNIT = np.float32(2.0**30)  # products are multiples of 1 / UNIT, whose sums are exact
BLOCK_ROWS = 1024


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


def _products_at_once(codes, query):
    high, low = np.divmod(query.astype(np.int64), 64)
    factors = np.stack([high, low], axis=1).astype(np.float32)
    products = np.empty(len(codes), np.int32)
    for start in range(0, len(codes), BLOCK_ROWS):
        parts = codes[start : start + BLOCK_ROWS].astype(np.float32) @ factors
        products[start : start + BLOCK_ROWS] = 64 * parts[:, 0].astype(np.int64) + parts[:, 1]
    return products


@compiled(at_once=_products_at_once)
def products_of_codes(codes, query):
    """Return the product of every row of int8 [n, d] with an int16 vector: int32 [n].

    The numbers of the vector are from -2047 to 2047, and d is at most 2048: sums of such products
    are exact in any order. So are those of their halves as float32, which are below 2 ** 24.
    """
    products = np.empty(len(codes), np.int32)
    for row in range(len(codes)):
        total = 0
        for i in range(len(query)):
            total += np.int32(codes[row, i]) * np.int32(query[i])
        products[row] = total
    return products
