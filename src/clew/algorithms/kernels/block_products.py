"""Compiled products of a vector with many rows, which stand in blocks column by column.

`numpy.einsum` adds the products of a row in four running sums that wait for each other, sixteen
columns at a time from the last four to the first. Here the rows of a block take each step
together, as many at once as the processor has lanes, and each adds in that order: the sums are the
same to the bit, in half of the time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.kernels.compiled import compiled
from clew.graph import Vectors

WIDTH = 512  # rows of a block: their four running sums stay near the processor
STEP = 16  # columns that are added together; a row has a multiple of it
LANES = 4  # running sums of a row


def in_blocks(rows: Vectors) -> NDArray[np.float32]:
    """Return rows in blocks, with zeros behind the last: float32 [blocks, d, WIDTH].

    Args:
        rows: float32 [n, d], where d is a multiple of `STEP`.

    Example:
        >>> in_blocks(np.ones((3, 16), np.float32)).sum(axis=1)[0, :4].tolist()
        [16.0, 16.0, 16.0, 0.0]
    """
    n, d = rows.shape
    blocks = np.zeros((-(-n // WIDTH), d, WIDTH), np.float32)
    for number, block in enumerate(blocks):
        some = rows[number * WIDTH : (number + 1) * WIDTH]
        block[:, : len(some)] = some.T
    return blocks


def _products_at_once(blocks, vector):
    n_blocks, d, width = blocks.shape
    sums = np.zeros((LANES, n_blocks, width), np.float32)
    for first in range(0, d, STEP):
        for column in range(first + STEP - LANES, first - 1, -LANES):
            for lane in range(LANES):
                sums[lane] += blocks[:, column + lane] * vector[column + lane]
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])).ravel()


@compiled(at_once=_products_at_once)
def block_products(blocks, vector):
    """Return the dot products of all rows with a vector, those of zeros included: float32.

    Args:
        blocks: float32 [blocks, d, WIDTH], of `in_blocks`.
        vector: float32 [d].
    """
    n_blocks, d, width = blocks.shape
    found = np.empty(n_blocks * width, np.float32)
    sums = np.zeros((LANES, width), np.float32)
    for number in range(n_blocks):
        block = blocks[number]
        sums[:] = 0
        for first in range(0, d, STEP):
            for lane in range(LANES):
                a, b = first + 12 + lane, first + 8 + lane
                c, e = first + 4 + lane, first + lane
                column_a, column_b, column_c, column_e = block[a], block[b], block[c], block[e]
                of_a, of_b, of_c, of_e = vector[a], vector[b], vector[c], vector[e]
                own = sums[lane]
                for row in range(width):
                    own[row] = (
                        ((own[row] + column_a[row] * of_a) + column_b[row] * of_b)
                        + column_c[row] * of_c
                    ) + column_e[row] * of_e
        start = number * width
        for row in range(width):
            found[start + row] = (sums[0, row] + sums[1, row]) + (sums[2, row] + sums[3, row])
    return found
