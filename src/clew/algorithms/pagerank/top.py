"""The best rows by personalised PageRank, proven without the full vector.

A forward push moves mass from the start rows along the links. It stops when bounds on what is not
yet moved prove which k rows are the best. A residual r can still bring a row u at most min(|r|_1,
max_v (r_v / s_v) * s_u) on an undirected graph with strengths s, and |r|_1 on a directed one.

Where the push would pass its share of the links, the full vector is solved for from the residual,
by the linearity x(reset) = estimate + x(residual). Of equal scores the lower row wins (see
`clew.algorithms.ranking`). Bounds cannot prove a tie at the border, so the full vector decides it.
So the rows are always those of the full solution.

Where no proof is wanted, `approximate_pagerank` pushes until what is left is thin everywhere, and
returns the lower bounds: its cost does not depend on the size of the graph.

Andersen, Chung and Lang, FOCS 2006, "Local graph partitioning using PageRank vectors" (the push);
Lofgren, Banerjee and Goel, KDD 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.pagerank.full import Walk, check_reset, pagerank, solve_places
from clew.algorithms.ranking import top_k
from clew.graph import Floats, Mask, Rows, freeze

TOLERANCE = 1e-10  # of the full vector whose best rows are meant
NO_LIMIT = 2**62  # links
ROUNDED_UP = 1 + 1e-9  # an error that is above the accuracy by rounding alone is none
MARGIN = 1e-9  # the error of a solution of sum 1, beside the tolerance of equal scores


@dataclass(frozen=True, eq=False)
class TopPageRank:
    """The best rows, best first by their scores, and how they were proven.

    Attributes:
        rows: int32 [k], the rows of the full solution's k best.
        scores: float64 [k], each at most `error` below the PageRank.
        error: see `scores`.
        method: "push" if bounds proved the rows, "residual" if the rest was solved for, "full" if
            all was.
        work: links that the push went over.
    """

    rows: Rows
    scores: Floats
    error: float
    method: str
    work: int


class PushWalk(NamedTuple):
    """The walk as the compiled push takes it.

    Attributes:
        starts: uint64 [n + 1], of the links out of each place.
        targets: uint32 [m].
        weights: float [m].
        shares: float64 [n], see `Walk`.
        tops: float64 [n], see `Walk`.
        damping: probability of following an edge.
        symmetric: the weights are the same in both directions.
    """

    starts: NDArray[np.uint64]
    targets: NDArray[np.uint32]
    weights: NDArray[np.floating]
    shares: Floats
    tops: Floats
    damping: float
    symmetric: bool


class PushLimits(NamedTuple):
    """When the compiled push ends.

    Attributes:
        k: number of best rows; 0 where none need be proven.
        max_work: links that it may go over.
        margin: by which the k-th score must be above all other rows' upper bounds.
        accuracy: greatest difference of the bounds of the best rows.
        least: mass of at most this, a unit of a row's strength, is not moved on.
    """

    k: int
    max_work: int
    margin: float
    accuracy: float
    least: float = 0.0


class PushArrays(NamedTuple):
    """The arrays that the compiled push works on; they come and are left as zeros.

    Attributes:
        estimates: float64 [n].
        residuals: float64 [n].
        queue: uint32 [2, n], the queue and the rows that mass has reached; its content does not
            matter.
        marks: bool [n], which rows are queued.
    """

    estimates: Floats
    residuals: Floats
    queue: NDArray[np.uint32]
    marks: Mask


def top_pagerank(
    walk: Walk,
    reset: Floats,
    k: int,
    damping: float = 0.5,
    *,
    accuracy: float = 1.0,
    budget: float = 0.5,
) -> TopPageRank:
    """Return the k rows of the highest personalised PageRank, fewer only where the graph has fewer.

    Args:
        walk: the random walk.
        reset: float64 [n], >= 0, not all zero. The fewer start rows it has, the sooner the push
            ends.
        k: number of rows, >= 1.
        damping: probability of following an edge, in [0, 1).
        accuracy: greatest error of a score; the rows are proven whatever this is.
        budget: the links that the push may go over, as a share of all. A full solution costs about
            as much as one share at damping 0.5.

    Raises:
        ValueError: k < 1, a damping out of range, a reset vector of zeros or out of its range.

    Example:
        >>> from scipy.sparse import csr_array
        >>> from clew.algorithms.pagerank.full import build_walk
        >>> walk = build_walk(csr_array([[0.0, 1.0], [1.0, 0.0]]), np.ones(2))
        >>> top_pagerank(walk, np.array([0.0, 1.0]), 1).rows.tolist()
        [1]
    """
    check_reset(damping, reset)
    if k < 1:
        raise ValueError(f"k is the number of rows wanted, at least 1; got {k}")
    start_rows, n = np.flatnonzero(reset), len(walk)
    max_work = int(budget * len(walk.out[1]))
    if damping == 0 or k >= n or len(start_rows) > max_work:
        return _solve_full(walk, reset, k, damping)
    masses = reset[start_rows] / reset.sum()
    # What starts at rows without links is lost but for 1 - d, and the rest is scaled to sum 1.
    lost = damping * float(masses[walk.places[start_rows] >= walk.linked].sum())
    limits = PushLimits(k, max_work, MARGIN, float(accuracy) * (1 - lost))
    push = _push(walk, start_rows, masses, damping, limits)
    if push.proven:
        best = _from_push(walk, k, damping, push)
        if best.error <= accuracy * ROUNDED_UP:  # on a directed graph more may be lost on the way
            return best
    return _from_residual(walk, k, damping, push)


def approximate_pagerank(
    walk: Walk, reset: Floats, damping: float = 0.5, tolerance: float = 1e-4
) -> Floats:
    """Return lower bounds of the personalised PageRank, float64 [n], of a walk near its start.

    Mass of at most `tolerance` a unit of a row's strength, which is the sum of the weights of its
    links, is not moved on, as in Andersen, Chung and Lang's ApproximatePageRank. On an undirected
    graph a row of strength s then misses at most 2 * damping * tolerance * s of the x in
    `clew.algorithms.pagerank.full`, which `pagerank` scales to sum 1 where mass is lost at rows
    without links. Where weights are 1, at most 1 / ((1 - damping) * tolerance) links are gone
    over, however large the graph is.

    Args:
        walk: the random walk.
        reset: float64 [n], >= 0, not all zero; it is scaled to sum 1.
        damping: probability of following an edge, in [0, 1).
        tolerance: above 0.

    Raises:
        ValueError: a damping or a tolerance out of range, a reset vector of zeros or out of its
            range.

    Example:
        >>> from scipy.sparse import csr_array
        >>> from clew.algorithms.pagerank.full import build_walk
        >>> walk = build_walk(csr_array([[0.0, 1.0], [1.0, 0.0]]), np.ones(2))
        >>> approximate_pagerank(walk, np.array([1.0, 0.0])).round(3).tolist()
        [0.667, 0.333]
    """
    shares = reset / check_reset(damping, reset)
    if not tolerance > 0:
        raise ValueError(f"tolerance is a mass above 0, or the walk never ends; got {tolerance}")
    bounds = (1 - damping) * shares  # what comes back at once
    start_rows = np.flatnonzero(shares * walk.shares[walk.places] > tolerance)
    if len(start_rows):
        limits = PushLimits(0, NO_LIMIT, MARGIN, 0.0, float(tolerance))
        push = _push(walk, start_rows, shares[start_rows], damping, limits)
        rows = walk.order[push.places]
        bounds[start_rows] = 0.0
        bounds[rows] += push.estimate + (1 - damping) * push.residual
    return bounds


class _Push(NamedTuple):
    """What a push has done: places reached, their estimates and residuals, links passed."""

    places: NDArray[np.int64]
    estimate: Floats
    residual: Floats
    work: int
    proven: bool


def _push(
    walk: Walk, start_rows: NDArray[np.int64], masses: Floats, damping: float, limits: PushLimits
) -> _Push:
    from clew.algorithms.pagerank.kernels.push import push_mass

    try:
        arrays = walk.scratch.pop()  # which no other thread has then
    except IndexError:
        arrays = _zero_arrays(len(walk))
    reached, work, proven = push_mass(
        PushWalk(*walk.out, walk.shares, walk.tops, float(damping), walk.symmetric),
        walk.places[start_rows],
        masses,
        limits,
        arrays,
    )
    places = arrays.queue[1, :reached].astype(np.int64)
    estimate, residual = arrays.estimates[places], arrays.residuals[places]
    arrays.estimates[places] = arrays.residuals[places] = 0.0
    walk.scratch.append(arrays)
    return _Push(places, estimate, residual, int(work), bool(proven))


def _from_push(walk: Walk, k: int, damping: float, push: _Push) -> TopPageRank:
    """Return the best rows by their lower bounds, which the push has proven."""
    left = float(push.residual.sum())
    low = push.estimate + (1 - damping) * push.residual
    max_density = float((push.residual * walk.shares[push.places]).max())
    chosen = np.argpartition(-low, k - 1)[:k]
    total = float(push.estimate.sum()) + left
    if walk.symmetric:
        high = damping * np.minimum(left, max_density / walk.shares[push.places[chosen]])
        error = float(high.max()) / total
    else:  # mass may still be lost at a node without links
        high = damping * np.full(k, left)
        certain = total - left + (1 - damping) * left
        lost = left - (1 - damping) * left
        error = float((high + (low[chosen] + high) * lost / certain).max()) / total
    scores, rows = low[chosen] / total, walk.order[push.places[chosen]]
    ascending = np.argsort(rows)
    order = ascending[top_k(scores[ascending])]
    rows, scores = freeze(rows[order], np.int32), freeze(scores[order], np.float64)
    return TopPageRank(rows, scores, error, "push", push.work)


def _from_residual(walk: Walk, k: int, damping: float, push: _Push) -> TopPageRank:
    """Return the best rows after solving for what the push has left."""
    x, residual = np.zeros(len(walk)), np.zeros(len(walk))
    x[push.places], residual[push.places] = push.estimate, push.residual
    mass = float(residual.sum())
    if mass > 0:
        x += solve_places(walk, residual / mass, damping, TOLERANCE) * mass
    return _best(k, (x / x.sum())[walk.places], "residual", push.work)


def _solve_full(walk: Walk, reset: Floats, k: int, damping: float) -> TopPageRank:
    return _best(k, pagerank(walk, reset, damping, TOLERANCE), "full", 0)


def _best(k: int, x: Floats, how: str, work: int) -> TopPageRank:
    rows = top_k(x, k)
    scores = freeze(x[rows], np.float64)
    return TopPageRank(freeze(rows, np.int32), scores, TOLERANCE, how, work)


def _zero_arrays(n: int) -> PushArrays:
    return PushArrays(np.zeros(n), np.zeros(n), np.empty((2, n), np.uint32), np.zeros(n, np.bool_))
