"""The nearest rows by cosine, exactly, block by block: never n by n in memory."""

from __future__ import annotations

import numpy as np

from clew.algorithms.ranking import TOLERANCE, equalized, exceeds, levels, reaches, top_k
from clew.graph import Floats, Rows, Vectors, freeze

BLOCK_BYTES = 64 * 2**20
CROWD = 64  # a row with so many more than it may keep at its bar (copies of one text, mostly) is ranked by itself, not held pair by pair


def nearest_pairs(vectors: Vectors, k: int, least: float) -> tuple[Rows, Rows, Floats]:
    """Return (row, other, cosine) for the at most `k` nearest other rows of every row with a cosine of at least `least` (> 0).

    Rows of zeros have no neighbours and are nobody's. Equal cosines are the same number and go to the lower row, and noise keeps none from
    reaching `least`: see `clew.algorithms.ranking`. Memory: a few blocks of 64 MB.
    """
    n = len(vectors)
    height = max(1, BLOCK_BYTES // (4 * max(n, 1)))
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for start in range(0, n, height):
        block = vectors[start : start + height] @ vectors.T
        own = np.arange(len(block))
        block[own, own + start] = -1
        bar = (
            np.partition(block, n - k, axis=1)[:, n - k]
            if k < n
            else np.full(len(block), -1, np.float32)
        )
        near = block >= np.maximum(bar, np.float32(least))[:, None] - np.float32(2 * TOLERANCE)
        crowded = np.flatnonzero(near.sum(axis=1) > k + CROWD)
        near[crowded] = False
        rows, others = np.nonzero(near)
        cosines = block[rows, others].astype(np.float64)
        for row in crowded.tolist():
            all_cosines = block[row].astype(np.float64)
            few = top_k(all_cosines, k, 1.0)
            rows, others, cosines = (
                np.append(rows, np.full(len(few), row)),
                np.append(others, few),
                np.append(cosines, all_cosines[few]),
            )
        order = np.lexsort(
            (others, levels(cosines - 4.0 * rows, 1.0))
        )  # a row's cosines are all above those of the next
        rows, others, cosines = rows[order], others[order], cosines[order]
        rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
        keep = (rank < k) & reaches(cosines, least) & exceeds(cosines, 0.0)
        found.append((rows[keep] + start, others[keep], cosines[keep]))
    if not found:
        return freeze([], np.int32), freeze([], np.int32), freeze([], np.float64)
    rows, others, cosines = (np.concatenate(part) for part in zip(*found, strict=True))
    return (
        freeze(rows, np.int32),
        freeze(others, np.int32),
        freeze(np.minimum(equalized(cosines, 1.0), 1.0), np.float64),
    )
