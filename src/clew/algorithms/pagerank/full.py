"""Personalised PageRank, all of it, to a proven error.

    x = (1 - d) r + d W^T x,   W[u, v] = a[u, v] / sum_v a[u, v]

On an undirected graph W is similar to a symmetric matrix whose eigenvalues lie in [-1, 1], and Chebyshev's semi-iteration needs about the
square root of the power iteration's excess: some 11 products at damping 0.5 and 25 at 0.85 for an L1 error of 1e-6. On a directed one the
sweeps of Gauss and Seidel need about half of the power iteration's. Mass that reaches a node without links out of it starts again at r,
which only rescales x to sum 1.

The proof: for any x, |x - x*|_1 <= |(1 - d) r + d W^T x - x|_1 / (1 - d). On undirected graphs the products are in float32, but this
residual is computed in float64; what it leaves is solved for in float32 again and added, until the tolerance is kept (iterative
refinement: Wilkinson, 1963). One such round gives 1e-6, two give 1e-10.

Golub and Varga, Numer. Math. 3 (1961), "Chebyshev semi-iterative methods"; Gleich, SIAM Review 57 (2015), "PageRank beyond the Web".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Adjacency, Floats, Graph, Rows

SINGLE = 2.0**-22  # what an iteration in float32 can shrink a residual by
DOUBLE = (
    2.0**-46
)  # some units in the last place of a sum in float64: no iteration brings the residual far below it
TINY = 1e-300
CACHE, MOST_TOGETHER = (
    2**19,
    16,
)  # bytes of the densities that questions in one pass share, and the most questions

Compressed = tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.floating[Any]]]


@dataclass(frozen=True, eq=False)
class Walk:
    """A random walk, its nodes in places of descending degree, by which products are faster and hubs lie together.

    Attributes:
        order: the row at each place. places: the place of each row.
        out: compressed rows of the links out of each place: starts, targets, weights. into: of those into it; the same when symmetric.
        shares: float64 [n], what a weight is multiplied by to become a probability.
        tops: float64 [n], the greatest strength (reciprocal of the share) from each place on.
        symmetric: the weights are the same both ways.
        scratch: arrays that pushes over this walk leave zeroed for the next.
    """

    order: Rows
    places: Rows
    out: Compressed
    into: Compressed
    shares: Floats
    tops: Floats
    symmetric: bool
    scratch: list[Any] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.order)


@dataclass(frozen=True)
class WalkPart:
    """The part that makes a `Walk` over chosen kinds of edge."""

    kinds: tuple[str | tuple[str, float], ...] | None = None
    merge: str = "sum"
    directed: bool = False

    def compute(self, graph: Graph) -> Walk:
        links = graph.part(Adjacency(self.kinds, self.directed, self.merge))
        return build_walk(links.matrix(dtype=np.float32), links.strengths(), directed=self.directed)


def build_walk(
    adjacency: Any, strengths: Floats, *, directed: bool = False, shares: Floats | None = None
) -> Walk:
    """Return the walk on a scipy CSR adjacency of weights > 0 whose row sums are `strengths`.

    Args:
        adjacency: float32 or float64 [n, n]; symmetric unless `directed`.
        shares: what the weights of each row are multiplied by, if these are not the reciprocals of the strengths; the rows' sums must
            not be above 1.
    """
    from clew.algorithms.pagerank.kernels.walks import relabelled

    back = adjacency.T.tocsr() if directed else adjacency
    order = np.argsort(-(np.diff(adjacency.indptr) + np.diff(back.indptr)), kind="stable").astype(
        np.int32
    )
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=np.int32)
    out = relabelled(*_plain(adjacency), order, places)
    into = relabelled(*_plain(back), order, places) if directed else out
    own = (
        np.divide(1.0, strengths, out=np.ones(len(order)), where=strengths > 0)
        if shares is None
        else shares
    )
    tops = np.maximum.accumulate(1 / own[order][::-1])[::-1].copy()
    return Walk(order, places, out, into, own[order], tops, not directed)


def pagerank(walk: Walk, reset: Floats, damping: float = 0.5, tolerance: float = 1e-10) -> Floats:
    """Return the personalised PageRank, float64 [n], summing to 1.

    Args:
        walk: the graph. reset: float64 [n], >= 0, not all zero; scaled to sum 1.
        damping: probability of following an edge, in [0, 1).
        tolerance: the L1 error is at most this, or as near as floats come: before x is scaled to sum 1 it is at most the residual's
            norm / (1 - damping), and scaling can at most double it beside the sum.
    """
    check(damping, reset)
    x = solved(walk, reset[walk.order] / reset.sum(), damping, tolerance)
    x /= x.sum()
    return x[walk.places]


def pageranks(walk: Walk, resets: Floats, damping: float = 0.5, tolerance: float = 1e-10) -> Floats:
    """Return the personalised PageRank of several questions, float64 [k, n], each as `pagerank` has it.

    Where the densities of several fit the processor's cache (some ten at 1e4 nodes), one pass over the links serves them all; on larger
    graphs and on directed ones the questions are answered one after the other, which is no slower.
    """
    resets = np.asarray(resets, np.float64)
    for reset in resets:
        check(damping, reset)
    together = min(MOST_TOGETHER, CACHE // (4 * max(len(walk), 1)))
    if not walk.symmetric or together < 4:
        return np.array([pagerank(walk, reset, damping, tolerance) for reset in resets]).reshape(
            resets.shape
        )
    found = np.empty(resets.shape)
    for first in range(0, len(resets), together):
        some = resets[first : first + together]
        start = np.ascontiguousarray((some / some.sum(axis=1, keepdims=True))[:, walk.order].T)
        x = _semi_iterated(walk, start, damping, tolerance)
        found[first : first + together] = (x / x.sum(axis=0)).T[:, walk.places]
    return found


def solved(walk: Walk, reset: Floats, damping: float, tolerance: float) -> Floats:
    """Return x = (1 - d) r + d W^T x in places, not scaled; the L1 error is at most half the tolerance times the sum of x."""
    from clew.algorithms.pagerank.kernels.walks import swept

    if walk.symmetric:
        return _semi_iterated(walk, reset, damping, tolerance)
    x: Floats = swept(
        *walk.into,
        walk.shares,
        (1 - damping) * reset,
        np.zeros(len(walk)),
        damping,
        _enough(damping, tolerance),
    )[0]
    return x


def _semi_iterated(walk: Walk, reset: Floats, damping: float, tolerance: float) -> Floats:
    """Solve in float32 for what the residual in float64 leaves, until that is small enough; then one plain step with it."""
    from clew.algorithms.pagerank.kernels.walks import (
        residual_of,
        residuals_of,
        semi_iterated,
        semi_iterated_many,
    )

    iterate, left = (
        (semi_iterated, residual_of) if reset.ndim == 1 else (semi_iterated_many, residuals_of)
    )
    shares = walk.shares if reset.ndim == 1 else walk.shares[:, None]
    rate = damping / (
        1 + math.sqrt(1 - damping**2)
    )  # of Chebyshev's polynomials on [-damping, damping]
    enough = _enough(damping, tolerance)
    start = (1 - damping) * reset
    x, residual = np.zeros_like(start), start
    kind: type[np.floating[Any]] = np.float32
    norm, least = start.sum(axis=0), SINGLE
    while True:
        norm = np.maximum(norm, TINY)
        wanted = max(
            float(np.min(enough / max(damping, TINY) * np.maximum(x.sum(axis=0), norm) / norm)),
            least,
        )
        products = (
            2 + math.ceil(math.log(wanted / 2) / math.log(rate)) if rate > 0 and wanted < 1 else 1
        )
        scaled = (residual * shares / norm).astype(kind)
        x += iterate(*walk.out, walk.shares.astype(kind), scaled, damping, products) * norm / shares
        residual = left(*walk.out, walk.shares, start, x, damping)
        before, norm = norm, np.abs(residual).sum(axis=0)
        if (damping * norm <= enough * x.sum(axis=0)).all():
            return _positive(x + residual)
        if (norm > before / 2).any():  # rounding has the upper hand
            if kind is np.float64:
                return _positive(x)
            kind, least = np.float64, DOUBLE


def _positive(x: Floats) -> Floats:
    found: Floats = np.maximum(x, 0)
    return found


def _enough(damping: float, tolerance: float) -> float:
    """The residual, as a share of the sum of x, at which the tolerance is kept."""
    return max(tolerance * (1 - damping) / 2, DOUBLE)


def check(damping: float, reset: Floats) -> None:
    """Raise ValueError unless these can be solved for."""
    if not 0 <= damping < 1:
        raise ValueError(
            f"damping is the probability of following an edge, in [0, 1); got {damping}"
        )
    if not reset.sum() > 0:
        raise ValueError(
            "the reset vector has no mass: at least one node must have a positive weight"
        )


def _plain(matrix: Any) -> Compressed:
    return (
        matrix.indptr.astype(np.uint64),
        matrix.indices.astype(np.uint32),
        np.ascontiguousarray(matrix.data),
    )
