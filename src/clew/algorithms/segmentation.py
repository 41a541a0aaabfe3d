"""Where to cut a row of units that have a limit: at the gaps where least holds them together.

The cuts are a set of gaps of least total cost, the cost of a gap being its cohesion less a threshold: a gap below the threshold is cut
because that pays, one above it only where the limit asks for it, and then it is the cheapest there. Found exactly by dynamic programming,
as in linear text segmentation since Utiyama and Isahara, "A statistical model for domain-independent text segmentation" (2001).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def cohesion(vectors: Floats, sizes: Floats, window: int) -> Floats:
    """Return how near the units before each gap are to those behind it: cosines [n - 1].

    Args:
        vectors: [n, d], a row for each unit. sizes: [n], what each counts for. window: how many units on either side.
    """
    n = len(vectors)
    sums = np.vstack([np.zeros((1, vectors.shape[1])), np.cumsum(vectors * sizes[:, None], axis=0)])
    gaps = np.arange(1, n)
    left, right = (
        sums[gaps] - sums[np.maximum(gaps - window, 0)],
        sums[np.minimum(gaps + window, n)] - sums[gaps],
    )
    length = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    found: Floats = np.einsum("ij,ij->i", left, right) / np.where(length > 0, length, 1.0)
    return found


def segments(cost: Sequence[float], sizes: Sequence[float], most: float) -> list[int]:
    """Return the gaps to cut, in order: those of least total cost so that no run of units between two is larger than `most`.

    Args:
        cost: [n - 1], of cutting behind each unit but the last; negative where cutting pays. sizes: [n], of the units; one that is
            itself too large stands alone. Of equal sums the one with fewer cuts is taken.
    """
    n = len(sizes)
    best, cuts, last = [0.0] + [math.inf] * n, [0] * (n + 1), [0] * (n + 1)
    for end in range(1, n + 1):
        total = 0.0
        for start in range(end - 1, -1, -1):
            total += sizes[start]
            if total > most and start < end - 1:
                break
            sum = best[start] + (cost[start - 1] if start else 0.0)
            number = cuts[start] + (1 if start else 0)
            if sum < best[end] - 1e-12 or (sum < best[end] + 1e-12 and number < cuts[end]):
                best[end], cuts[end], last[end] = sum, number, start
    found, at = list[int](), last[n] if n else 0
    while at:
        found.append(at - 1)
        at = last[at]
    return found[::-1]
