"""Personalised PageRank in which what is not linked is reached too, each node with weight 1/n, as AGRAG prints it, made a random walk.

Equation 4 of arXiv 2511.05549 gives a row 1/deg(u) on its neighbours and 1/n elsewhere: it sums to nearly 2, and the printed iteration
ends in a nearly uniform vector. Divided by its sum Z_u = 1 + (n - deg u) / n the row is a walk, and a matrix of rank one plus a sparse one,

    W[u, v] = (1/n + A[u, v] (1/deg u - 1/n)) / Z_u = 1 / (n Z_u) + B[u, v].

B is a symmetric matrix with its rows scaled, so that a solution y(r) for it alone is had as quickly as a common PageRank; the one for W is
y(r) + c y(uniform), with c by Sherman and Morrison and y(uniform) once per graph. About half of each step is then a jump to anywhere,
which dilutes the personalisation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.algorithms.pagerank.full import Walk, build_walk, check, solved
from clew.graph import Floats, Graph

FINE = 1e-12  # the error of what is computed once per graph


@dataclass(frozen=True, eq=False)
class Jumps:
    """The walk with jumps: the sparse `walk` B, the `parting` 1 / Z of each place, and `uniform`, the solution of B from anywhere."""

    walk: Walk
    parting: Floats
    uniform: Floats
    damping: float


@dataclass(frozen=True)
class JumpsPart:
    """The part that makes `Jumps` over chosen kinds of edge, all weights alike, for one damping."""

    kinds: tuple[str | tuple[str, float], ...] | None = None
    damping: float = 0.5

    def compute(self, graph: Graph) -> Jumps:
        links = graph.links(self.kinds)
        return jumping(links.matrix(np.ones(len(links.targets)), np.float32), self.damping)


def jumping(adjacency: Any, damping: float = 0.5) -> Jumps:
    """Return the walk with jumps on a symmetric scipy CSR array of zeros and ones."""
    check(damping, np.ones(1))
    n, degree = adjacency.shape[0], np.diff(adjacency.indptr)
    parting = 1 / np.where(degree > 0, 1 + (n - degree) / n, 1.0)
    shares = np.where(degree > 0, parting * (1 / np.maximum(degree, 1) - 1 / n), 1.0)
    over = build_walk(adjacency, degree.astype(np.float64), shares=shares)
    return Jumps(over, parting[over.order], solved(over, np.full(n, 1 / n), damping, FINE), damping)


def pagerank_over(jumps: Jumps, reset: Floats, tolerance: float = 1e-10) -> Floats:
    """Return x = (1 - d) r + d W^T x, float64 [n], summing to 1, to an L1 error of `tolerance`; see `pagerank_with_jumps`."""
    from clew.algorithms.pagerank.kernels.walks import residual_of

    over, damping = jumps.walk, jumps.damping
    check(damping, reset)
    n, r = len(reset), reset[over.order] / reset.sum()
    x = solved(over, r, damping, tolerance / 4)
    back = damping / (1 - damping)
    x += back * (jumps.parting @ x) / (1 - back * (jumps.parting @ jumps.uniform)) * jumps.uniform
    while True:  # the proof, and should rounding have spoilt it, plain steps
        start = (1 - damping) * r + damping * (jumps.parting @ x) / n
        residual = residual_of(*over.into, over.shares, start, x, damping)
        x += residual
        if np.abs(residual).sum() * damping <= max(tolerance, 1e-14) * (1 - damping):
            break
    found: Floats = (x / x.sum())[over.places]
    return found


def pagerank_with_jumps(
    adjacency: Any, reset: Floats, damping: float = 0.5, tolerance: float = 1e-10
) -> Floats:
    """Return x = (1 - d) r + d W^T x, float64 [n], summing to 1.

    Args:
        adjacency: symmetric scipy CSR array of zeros and ones. reset: float64 [n], >= 0, not all zero; scaled to sum 1.
        damping: probability of following the walk, in [0, 1). tolerance: the largest L1 error.
    """
    check(damping, reset)
    return pagerank_over(jumping(adjacency, damping), reset, tolerance)
