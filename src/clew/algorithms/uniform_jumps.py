"""Personalised PageRank in which what is not linked is reached too, each node with weight 1/n, as AGRAG prints it, made a random walk.

Equation 4 of arXiv 2511.05549 gives a row 1/deg(u) on its neighbours and 1/n elsewhere: it sums to nearly 2, and the printed iteration
ends in a nearly uniform vector. Divided by its sum Z_u = 1 + (n - deg u) / n the row is a walk, and a matrix of rank one plus a sparse one,

    W[u, v] = (1/n + A[u, v] (1/deg u - 1/n)) / Z_u,

so that a step costs O(n + m). About half of each step is then a jump to anywhere, which dilutes the personalisation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clew.graph import Floats


def pagerank_with_jumps(adjacency: Any, reset: Floats, damping: float = 0.5, tolerance: float = 1e-10) -> Floats:
    """Return x = (1 - d) r + d W^T x, float64 [n], summing to 1.

    Args:
        adjacency: symmetric scipy CSR array of zeros and ones. reset: float64 [n], >= 0, not all zero; scaled to sum 1.
        damping: probability of following the walk, in [0, 1). tolerance: the largest L1 error.
    """
    if not 0 <= damping < 1:
        raise ValueError(f"damping is the probability of following the walk, in [0, 1); got {damping}")
    if not reset.sum() > 0:
        raise ValueError("the reset vector has no mass: at least one node must have a positive weight")
    n, r = len(reset), reset / reset.sum()
    degree = np.diff(adjacency.indptr)
    total = np.where(degree > 0, 1 + (n - degree) / n, 1.0)
    more = np.where(degree > 0, 1 / np.maximum(degree, 1) - 1 / n, 0.0)
    x: Floats = r
    while True:
        share = x / total
        step = (1 - damping) * r + damping * (share.sum() / n + adjacency.T @ (share * more))
        change, x = float(np.abs(step - x).sum()), step
        if change * damping <= tolerance * (1 - damping):
            break
    x /= x.sum()
    return x
