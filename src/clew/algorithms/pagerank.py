"""Personalised PageRank on an undirected graph, to a proven error.

    x = (1 - d) r + d W^T x,   W[u, v] = a[u, v] / sum_v a[u, v]

With y = D^(-1/2) x this is (I - d S) y = (1 - d) D^(-1/2) r for the symmetric S = D^(-1/2) A D^(-1/2), whose eigenvalues lie in [-1, 1].
Chebyshev's semi-iteration on it needs about the square root of the power iteration's excess: some 15 products at damping 0.5 and 35 at
0.85 for an L1 error of 1e-8. Mass that reaches a node without links starts again at r, which only rescales x to sum 1.

Golub and Varga, Numer. Math. 3 (1961), "Chebyshev semi-iterative methods".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.graph import Adjacency, Floats, Graph


@dataclass(frozen=True, eq=False)
class Walk:
    """A symmetric adjacency scaled for the iteration: `matrix` is S, `root` the square roots of the strengths (1 where there are none)."""

    matrix: Any
    root: Floats


@dataclass(frozen=True)
class WalkOver:
    """The part that makes a `Walk` over chosen kinds of edge."""

    kinds: tuple[str | tuple[str, float], ...] | None = None
    merge: str = "sum"

    def of(self, graph: Graph) -> Walk:
        links = graph.part(Adjacency(self.kinds, False, self.merge))
        return walk(links.matrix(), links.strengths())


FLOAT_NOISE = 2.0**-46  # some units in the last place of a sum: no iteration brings the residual far below it


def walk(adjacency: Any, strengths: Floats) -> Walk:
    """Return the walk on a symmetric scipy CSR adjacency whose row sums are `strengths`."""
    root = np.sqrt(np.where(strengths > 0, strengths, 1.0))
    matrix = adjacency.copy()
    matrix.data = matrix.data / (np.repeat(root, np.diff(matrix.indptr)) * root[matrix.indices])
    return Walk(matrix, root)


def pagerank(walk: Walk, reset: Floats, damping: float = 0.5, tolerance: float = 1e-10) -> Floats:
    """Return the personalised PageRank, float64 [n], summing to 1.

    Args:
        walk: the graph. reset: float64 [n], >= 0, not all zero; scaled to sum 1.
        damping: probability of following an edge, in [0, 1).
        tolerance: the L1 error is at most this, or as near as floats come: before x is scaled to sum 1 it is at most the residual's
            norm / (1 - damping), and scaling can at most double it beside the sum.
    """
    if not 0 <= damping < 1:
        raise ValueError(f"damping is the probability of following an edge, in [0, 1); got {damping}")
    if not reset.sum() > 0:
        raise ValueError("the reset vector has no mass: at least one node must have a positive weight")
    b = (1 - damping) * (reset / reset.sum()) / walk.root
    previous, y, omega = np.zeros_like(b), b.copy(), 1.0
    while True:
        step = b + damping * (walk.matrix @ y)
        enough = max(tolerance * (1 - damping) / 2, FLOAT_NOISE) * np.abs(step * walk.root).sum()
        if np.abs((step - y) * walk.root).sum() <= enough:
            break
        omega = 1 / (1 - damping**2 / 2) if omega == 1.0 else 1 / (1 - damping**2 * omega / 4)
        previous, y = y, omega * (step - previous) + previous
    x: Floats = np.maximum(step * walk.root, 0)
    x /= x.sum()
    return x
