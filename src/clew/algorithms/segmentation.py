"""Where to cut a sequence of units whose segments have a limited size: where cohesion is low.

The cuts are a set of gaps of least total cost. The cost of a gap is its cohesion less a threshold.
So a gap below the threshold is cut because that lowers the cost, and one above it only where the
limit requires a cut; then it is the cheapest one. Found exactly by dynamic programming, as in
linear text segmentation since Utiyama and Isahara, "A statistical model for domain-independent text
segmentation" (2001).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def cohesion(vectors: Floats, sizes: Floats, window: int) -> Floats:
    """Return the cosine of the units before each gap with the units behind it, float64 [n - 1].

    Args:
        vectors: [n, d], a row for each unit.
        sizes: [n], the weight of each unit.
        window: units on either side of a gap.

    Example:
        >>> cohesion(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.ones(3), 1).tolist()
        [1.0, 0.0]
    """
    n = len(vectors)
    sums = np.vstack([np.zeros((1, vectors.shape[1])), np.cumsum(vectors * sizes[:, None], axis=0)])
    gaps = np.arange(1, n)
    left = sums[gaps] - sums[np.maximum(gaps - window, 0)]
    right = sums[np.minimum(gaps + window, n)] - sums[gaps]
    length = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    cosines: Floats = np.einsum("ij,ij->i", left, right) / np.where(length > 0, length, 1.0)
    return cosines


def find_cuts(cost: Sequence[float], sizes: Sequence[float], max_size: float) -> list[int]:
    """Return the gaps to cut, ascending: those of least total cost for segments of limited size.

    Of equal totals the one with fewer cuts is taken.

    Args:
        cost: [n - 1], of a cut behind each unit but the last; negative where a cut pays.
        sizes: [n], of the units. A unit that is too large by itself is a segment alone.
        max_size: greatest size of a segment.

    Example:
        >>> find_cuts([0.5, 0.1, 0.5], [1, 1, 1, 1], 2)
        [1]
    """
    n = len(sizes)
    best, cuts, last = [0.0] + [math.inf] * n, [0] * (n + 1), [0] * (n + 1)
    for end in range(1, n + 1):
        size = 0.0
        for start in range(end - 1, -1, -1):
            size += sizes[start]
            if size > max_size and start < end - 1:
                break
            total = best[start] + (cost[start - 1] if start else 0.0)
            number = cuts[start] + (1 if start else 0)
            is_lower = total < best[end] - 1e-12
            is_equal = total < best[end] + 1e-12
            if is_lower or (is_equal and number < cuts[end]):
                best[end], cuts[end], last[end] = total, number, start
    gaps, end = list[int](), last[n] if n else 0
    while end:
        gaps.append(end - 1)
        end = last[end]
    return gaps[::-1]
