"""The best rows by personalised PageRank, proven without computing all of it.

A forward push moves mass from the seeds along the links until bounds on what is not yet moved prove which k rows are the best: what a
residual r can still bring a row u is at most min(|r|_1, max_v (r_v / s_v) * s_u) on an undirected graph with strengths s, and |r|_1 on
a directed one. Where the work on this passes a share of the links, the whole vector is solved for from the residual, by the linearity
x(reset) = estimate + x(residual). Of equal scores the lower row wins (see `clew.algorithms.ranking`): a tie at the border cannot be proven by
bounds, and is decided by the whole vector. So the set is always the full solve's.

Andersen, Chung and Lang, FOCS 2006, "Local graph partitioning using PageRank vectors" (the push); Lofgren, Banerjee and Goel, KDD 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.algorithms.pagerank.full import Walk, check, pagerank, solved
from clew.algorithms.ranking import top_k
from clew.graph import Floats, Rows, freeze

TOLERANCE = 1e-10  # of the full vector that the set is that of
MARGIN = (
    1e-9  # of scores that sum to 1, beside the tolerance of equal scores: what solves may be off by
)


@dataclass(frozen=True, eq=False)
class TopPageRank:
    """The best rows, best first by their scores, and how they were proven.

    Attributes:
        rows: int32 [k], their set that of the full solve. scores: float64 [k], each at most `error` below the PageRank.
        how: "push" if bounds proved the set, "residual" if the rest was solved for, "full" if all was.
        work: links that the push went over.
    """

    rows: Rows
    scores: Floats
    error: float
    how: str
    work: int


def top_pagerank(
    walk: Walk,
    reset: Floats,
    k: int,
    damping: float = 0.5,
    *,
    accuracy: float = 1.0,
    budget: float = 0.5,
) -> TopPageRank:
    """Return the k rows of the highest personalised PageRank; fewer only where the graph has fewer.

    Args:
        walk: the graph. reset: float64 [n], >= 0, not all zero; the fewer rows it starts from, the sooner the push ends.
        damping: probability of following an edge, in [0, 1).
        accuracy: the most that a score may be below the PageRank; the set is proven whatever this is.
        budget: the most links the push may go over, as a share of all; a full solve costs about as much as one share at damping 0.5.
    """
    check(damping, reset)
    if k < 1:
        raise ValueError(f"k is the number of rows wanted, at least 1; got {k}")
    seeds, n = np.flatnonzero(reset), len(walk)
    allowed = int(budget * len(walk.out[1]))
    if damping == 0 or k >= n or len(seeds) > allowed:
        return _full(walk, reset, k, damping, 0)
    from clew.algorithms.pagerank.kernels.push import pushed

    arrays = walk.scratch.pop() if walk.scratch else _arrays(n)
    estimates, residuals, queue, _ = arrays
    masses = reset[seeds] / reset.sum()
    reached, work, proven = pushed(
        *walk.out,
        walk.shares,
        walk.tops,
        damping,
        walk.symmetric,
        walk.places[seeds],
        masses,
        k,
        allowed,
        MARGIN,
        accuracy,
        *arrays,
    )
    touched = queue[1, :reached].astype(np.int64)
    estimate, residual = estimates[touched], residuals[touched]
    left = float(residual.sum())
    if not proven:
        known, rest = np.zeros(n), np.zeros(n)
        known[touched], rest[touched] = estimate, residual
    estimates[touched] = residuals[touched] = 0.0
    walk.scratch.append(arrays)
    if not proven:
        return _from_residual(walk, reset, k, damping, known, rest, int(work))
    low = estimate + (1 - damping) * residual
    most = float((residual * walk.shares[touched]).max())
    chosen = np.argpartition(-low, k - 1)[:k]
    high = damping * (
        np.minimum(left, most / walk.shares[touched[chosen]])
        if walk.symmetric
        else np.full(k, left)
    )
    total, sure = (
        float(estimate.sum()) + left,
        (1 - damping) * left,
    )  # on a directed walk mass may still be lost at a node without links
    scores, rows = low[chosen] / total, walk.order[touched[chosen]]
    error = (
        float(
            (
                high
                if walk.symmetric
                else high + (low[chosen] + high) * (left - sure) / (total - left + sure)
            ).max()
        )
        / total
    )
    ascending = np.argsort(rows)
    order = ascending[top_k(scores[ascending])]
    return TopPageRank(
        freeze(rows[order], np.int32), freeze(scores[order], np.float64), error, "push", int(work)
    )


def _from_residual(
    walk: Walk, reset: Floats, k: int, damping: float, known: Floats, rest: Floats, work: int
) -> TopPageRank:
    """Solve for what the push has left."""
    mass = float(rest.sum())
    x = known + solved(walk, rest / mass, damping, TOLERANCE) * mass if mass > 0 else known
    x = (x / x.sum())[walk.places]
    rows = top_k(x, k)
    return TopPageRank(
        freeze(rows, np.int32), freeze(x[rows], np.float64), TOLERANCE, "residual", work
    )


def _full(walk: Walk, reset: Floats, k: int, damping: float, work: int) -> TopPageRank:
    x = pagerank(walk, reset, damping, TOLERANCE)
    rows = top_k(x, k)
    return TopPageRank(freeze(rows, np.int32), freeze(x[rows], np.float64), TOLERANCE, "full", work)


def _arrays(n: int) -> Any:
    return np.zeros(n), np.zeros(n), np.empty((2, n), np.uint32), np.zeros(n, np.bool_)
