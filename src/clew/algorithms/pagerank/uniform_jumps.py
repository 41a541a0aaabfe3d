"""Personalised PageRank that also jumps to rows that are not linked: AGRAG's, normalised.

Equation 4 of AGRAG (arXiv 2511.05549) gives a row 1/deg(u) on its neighbours and 1/n elsewhere. The
row sums to nearly 2, and the printed iteration ends in a nearly uniform vector. Divided by its sum
Z_u = 1 + (n - deg u) / n, the row is a random walk, and the matrix is one of rank one plus a sparse
one:

    W[u, v] = (1/n + A[u, v] (1/deg u - 1/n)) / Z_u = 1 / (n Z_u) + B[u, v]

B is a symmetric matrix with scaled rows. So a solution y(r) for B alone is as quick as a common
PageRank. The solution for W is y(r) + c y(uniform), with c by Sherman and Morrison, and y(uniform)
once per graph. About half of each step is then a jump to any row, which dilutes the
personalisation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clew.algorithms.pagerank.full import SparseMatrix, Walk, build_walk, check_reset, solve_places
from clew.graph import Floats, Graph

UNIFORM_TOLERANCE = 1e-12  # of the solution that is computed once per graph


@dataclass(frozen=True, eq=False)
class Jumps:
    """A walk with jumps.

    Attributes:
        walk: the sparse walk B.
        parting: float64 [n], 1 / Z of each place.
        uniform: float64 [n], the solution of B for the uniform reset vector, in places.
        damping: that of `uniform`.
    """

    walk: Walk
    parting: Floats
    uniform: Floats
    damping: float


@dataclass(frozen=True)
class JumpsPart:
    """The part of a graph that is `Jumps` over some kinds of edge, for one damping.

    All weights count as 1.

    Attributes:
        kinds: kinds of edge, or pairs of a kind and a factor; None for all.
        damping: probability of following the walk, in [0, 1).

    Example:
        >>> from clew.graph import Edges, Graph
        >>> graph = Graph.of(["a", "b"], edges=Edges.of("next", [0], [1]))
        >>> JumpsPart().compute(graph).damping
        0.5
    """

    kinds: tuple[str | tuple[str, float], ...] | None = None
    damping: float = 0.5

    def compute(self, graph: Graph) -> Jumps:
        links = graph.links(self.kinds)
        return build_jumps(links.matrix(np.ones(len(links.targets)), np.float32), self.damping)


def build_jumps(adjacency: SparseMatrix, damping: float = 0.5) -> Jumps:
    """Return the walk with jumps on a symmetric adjacency.

    Args:
        adjacency: symmetric scipy CSR array of zeros and ones.
        damping: probability of following the walk, in [0, 1).
    """
    check_reset(damping, np.ones(1))
    n, degree = adjacency.shape[0], np.diff(adjacency.indptr)
    parting = 1 / np.where(degree > 0, 1 + (n - degree) / n, 1.0)
    shares = np.where(degree > 0, parting * (1 / np.maximum(degree, 1) - 1 / n), 1.0)
    over = build_walk(adjacency, degree.astype(np.float64), shares=shares)
    return Jumps(
        over,
        parting[over.order],
        solve_places(over, np.full(n, 1 / n), damping, UNIFORM_TOLERANCE),
        damping,
    )


def pagerank_over(jumps: Jumps, reset: Floats, tolerance: float = 1e-10) -> Floats:
    """Return x = (1 - d) r + d W^T x, float64 [n], of sum 1.

    Args:
        jumps: the walk with jumps.
        reset: float64 [n], r, >= 0, not all zero; it is scaled to sum 1.
        tolerance: the largest L1 error.
    """
    from clew.algorithms.pagerank.kernels.walks import residual

    over, damping = jumps.walk, jumps.damping
    check_reset(damping, reset)
    n, r = len(reset), reset[over.order] / reset.sum()
    x = solve_places(over, r, damping, tolerance / 4)
    back = damping / (1 - damping)
    parted, of_uniform = _dot(jumps.parting, x), _dot(jumps.parting, jumps.uniform)
    x += back * parted / (1 - back * of_uniform) * jumps.uniform
    while True:  # one plain step, which proves the error; more of them if rounding was too large
        start = (1 - damping) * r + damping * _dot(jumps.parting, x) / n
        rest = residual(*over.into, over.shares, start, x, damping)
        x += rest
        if np.abs(rest).sum() * damping <= max(tolerance, 1e-14) * (1 - damping):
            break
    scaled: Floats = (x / x.sum())[over.places]
    return scaled


def _dot(a: Floats, b: Floats) -> float:
    """Return the dot product of two long vectors; BLAS would wake the threads of all cores."""
    return float(np.einsum("i,i->", a, b))


def pagerank_with_jumps(
    adjacency: SparseMatrix, reset: Floats, damping: float = 0.5, tolerance: float = 1e-10
) -> Floats:
    """Return x = (1 - d) r + d W^T x, float64 [n], of sum 1.

    Args:
        adjacency: symmetric scipy CSR array of zeros and ones.
        reset: float64 [n], >= 0, not all zero; it is scaled to sum 1.
        damping: probability of following the walk, in [0, 1).
        tolerance: the largest L1 error.

    Example:
        >>> import numpy as np
        >>> from scipy.sparse import csr_array
        >>> path = csr_array([[0.0, 1.0], [1.0, 0.0]])
        >>> pagerank_with_jumps(path, np.array([1.0, 0.0])).round(3).tolist()
        [0.714, 0.286]
    """
    check_reset(damping, reset)
    return pagerank_over(build_jumps(adjacency, damping), reset, tolerance)
