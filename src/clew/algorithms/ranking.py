"""Ranking an array so that float noise decides nothing: ties by rounded score, then by row.

Noise goes with the largest of the numbers that a score was computed from, and a tie with it: scores of at most one are rounded to nine
decimals, the probabilities of a walk over a million nodes, none of which may reach 1e-6, to nine below the largest.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

DECIMALS = 9  # of scores whose largest is about one
MIDDLE = 0.4  # of a decade: where decimals change, at 0.25, 2.5 and so on, no score lies by its nature, as at 1 the cosine of equals does
GROUP, MANY = 64, 4096  # above so many scores, the best of groups tell which may be among the best


def decimals(largest: float) -> int:
    """Return how many decimals tell scores apart whose largest, in absolute value, is this: nine from 0.252 to 2.51."""
    return (
        DECIMALS - math.ceil(math.log10(largest) - MIDDLE)
        if 1e-290 < largest < math.inf
        else DECIMALS
    )


def top_k(scores: NDArray[Any], k: int | None = None) -> NDArray[np.int64]:
    """Return the rows of the `k` highest scores (all when None), best first; those that are equal as rounded here go by the lower row.

    O(n), and a sort of the k.
    """
    scores = np.asarray(scores, np.float64)
    n = len(scores)
    if not n or (k is not None and k <= 0):
        return np.zeros(0, np.int64)
    groups = n // GROUP if k is not None and n >= max(2 * GROUP * k, MANY) else 0
    tops = scores[: groups * GROUP].reshape(GROUP, groups).max(axis=0) if groups else scores
    rest = scores[groups * GROUP :] if groups else scores[:0]
    largest = max(float(tops.max()), float(rest.max(initial=-math.inf)), -float(scores.min()))
    unit = 10.0 ** decimals(largest)
    if k is None or k >= n:
        return np.argsort(-np.rint(scores * unit), kind="stable")
    rows: NDArray[np.int64] | None = None
    if groups:  # the k-th best of all is not below the k-th best of the groups
        rows = np.flatnonzero(scores >= np.partition(tops, groups - k)[groups - k] - 2 / unit)
        scores = scores[rows]
    rounded = np.rint(scores * unit)
    bar = np.partition(rounded, len(rounded) - k)[len(rounded) - k]
    above, equal = np.flatnonzero(rounded > bar), np.flatnonzero(rounded == bar)
    found = np.concatenate(
        [above[np.argsort(-rounded[above], kind="stable")], equal[: k - len(above)]]
    )
    return found if rows is None else rows[found]


def min_max_scale(scores: Any) -> NDArray[np.float64]:
    """Return the scores moved and stretched to [0, 1]; all equal scores become 1."""
    values: NDArray[np.float64] = np.asarray(scores, np.float64)
    if not len(values):
        return values
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.ones_like(values)
