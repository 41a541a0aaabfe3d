"""Ranking an array so that float noise decides nothing: ties by rounded score, then by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

DECIMALS = 9


def best(scores: NDArray[Any], k: int | None = None) -> NDArray[np.int64]:
    """Return the rows of the `k` highest scores (all when None), best first; equal to nine decimals means equal, lower row first."""
    rounded = np.round(np.asarray(scores, np.float64), DECIMALS)
    n = len(rounded)
    if k is None or k >= n:
        return np.argsort(-rounded, kind="stable")
    if k <= 0:
        return np.zeros(0, np.int64)
    threshold = np.partition(rounded, n - k)[n - k]
    rows = np.flatnonzero(rounded >= threshold)  # all that tie with the last one, so that the lower row wins
    return rows[np.argsort(-rounded[rows], kind="stable")][:k]


def scaled(scores: Any) -> NDArray[np.float64]:
    """Return the scores moved and stretched to [0, 1]; all equal scores become 1."""
    values: NDArray[np.float64] = np.asarray(scores, np.float64)
    if not len(values):
        return values
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.ones_like(values)
