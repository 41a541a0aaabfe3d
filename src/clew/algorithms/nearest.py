"""The nearest rows by cosine, exactly, block by block: never n by n in memory."""

from __future__ import annotations

import numpy as np

from clew.algorithms.rank import DECIMALS
from clew.graph import Floats, Rows, Vectors, frozen

BLOCK_BYTES = 64 * 2**20


def nearest_pairs(vectors: Vectors, k: int, least: float) -> tuple[Rows, Rows, Floats]:
    """Return (row, other, cosine) for the at most `k` nearest other rows of every row with a cosine of at least `least` (> 0).

    Rows of zeros have no neighbours and are nobody's. Ties go to the lower row. Memory: one block of about 64 MB.
    """
    n = len(vectors)
    height = max(1, BLOCK_BYTES // (4 * max(n, 1)))
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for start in range(0, n, height):
        block = vectors[start : start + height] @ vectors.T
        own = np.arange(len(block))
        block[own, own + start] = -1
        if k < n:  # the k-th largest of every row is the bar; what ties with it is sorted out below
            bar = np.maximum(np.partition(block, n - k, axis=1)[:, n - k], np.float32(least))
            rows, others = np.nonzero(block >= bar[:, None] - np.float32(10.0**-DECIMALS))
        else:
            rows, others = np.nonzero(block >= least)
        cosines = np.round(block[rows, others].astype(np.float64), 6)
        order = np.lexsort((others, -cosines, rows))
        rows, others, cosines = rows[order], others[order], cosines[order]
        rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
        keep = (rank < k) & (cosines >= least) & (cosines > 0)
        found.append((rows[keep] + start, others[keep], cosines[keep]))
    if not found:
        return frozen([], np.int32), frozen([], np.int32), frozen([], np.float64)
    rows, others, cosines = (np.concatenate(part) for part in zip(*found, strict=True))
    return frozen(rows, np.int32), frozen(others, np.int32), frozen(np.minimum(cosines, 1.0), np.float64)
