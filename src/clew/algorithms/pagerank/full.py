"""Personalised PageRank, the full vector, to a proven error.

    x = (1 - d) r + d W^T x,   W[u, v] = a[u, v] / sum_v a[u, v]

d is the damping, r the reset vector, a the weights. Mass that reaches a node without links out of
it starts again at r, which only rescales x to sum 1.

On an undirected graph W is similar to a symmetric matrix whose eigenvalues are in [-1, 1].
Chebyshev's semi-iteration needs about the square root of the power iteration's products: some 11 at
damping 0.5 and 25 at 0.85 for an L1 error of 1e-6. On a directed graph the sweeps of Gauss and
Seidel need about half of the power iteration's.

The proof of the error: for any x, |x - x*|_1 <= |(1 - d) r + d W^T x - x|_1 / (1 - d). On
undirected graphs the products are in float32, but this residual is computed in float64. What it
leaves is solved for in float32 again and added, until the tolerance is met (iterative refinement:
Wilkinson, 1963). One such round gives 1e-6, two give 1e-10.

Golub and Varga, Numer. Math. 3 (1961), "Chebyshev semi-iterative methods"; Gleich, SIAM Review 57
(2015), "PageRank beyond the Web".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.pagerank.together import iterate_together, residual_together
from clew.deadline import current
from clew.graph import Adjacency, Floats, Graph, Rows, Vectors, seal

SINGLE = 2.0**-22  # the factor by which an iteration in float32 can shrink a residual
DOUBLE = 2.0**-46  # in float64: some units in the last place of a sum
ROUNDED = 1e-5  # sums of weights that are as near as this are the same
TINY = 1e-300
MAX_SHARE = 1e30  # of a node so light that densities might leave the range of float32
CACHE_BYTES = 2**19  # of the densities of the reset vectors that share a pass over the links
MAX_TOGETHER = 16  # reset vectors in one pass
MIN_TOGETHER = 500_000  # links from which on two threads iterate in much less time than one

SparseMatrix = Any  # a scipy CSR array; scipy is not loaded for its type
SparseRows = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # starts, targets, weights
Compressed = tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.floating[Any]]]


@dataclass(frozen=True, eq=False)
class Walk:
    """A random walk on n nodes.

    The nodes are in places of descending degree, and nodes of one degree beside their neighbours'
    neighbours. So hubs are together in memory, and products are faster.

    Attributes:
        order: int32 [n], the row at each place.
        places: int32 [n], the place of each row.
        out: compressed rows of the links out of each place: starts, targets, weights.
        into: the same of the links into each place; `out` itself when symmetric.
        shares: float64 [n], the factor that makes a weight a probability.
        tops: float64 [n], the greatest strength (reciprocal of the share) from each place on.
        symmetric: the weights are the same in both directions.
        scratch: arrays that a push over this walk leaves zeroed for the next one.
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

    @cached_property
    def linked(self) -> int:
        """The number of places with links; the others come after them."""
        degrees = np.diff(self.out[0]) + np.diff(self.into[0])
        return int(np.count_nonzero(degrees))

    @cached_property
    def parts(self) -> NDArray[np.uint64]:
        """Where the parts of the places with links start that two threads take in turn."""
        from clew.algorithms.pagerank.kernels.shared_walks import parts_of

        return parts_of(self.out[0][: self.linked + 1])

    @cached_property
    def linked_shares(self) -> Vectors:
        """The shares of the places with links: float32 [linked]."""
        shares: Vectors = self.shares[: self.linked].astype(np.float32)
        return shares


@dataclass(frozen=True, eq=False)
class WholeStrengths:
    """What the edges weigh that each node of a part of a graph has in the whole.

    Attributes:
        kinds: kinds of edge.
        sums: float64 [n, kinds], of each node, the sum of the weights of its edges of each kind.
    """

    kinds: tuple[str, ...]
    sums: Floats

    def shares(
        self, kinds: tuple[str | tuple[str, float], ...] | None, strengths: Floats
    ) -> Floats:
        """Return the factors that make weights the probabilities that they have in the whole.

        Args:
            kinds: kinds of edge, or pairs of a kind and the factor on its weights; None for all.
            strengths: float64 [n], the sum of the weights of each node's edges in the part.
        """
        chosen = self.kinds if kinds is None else kinds
        factors = dict((kind, 1.0) if isinstance(kind, str) else kind for kind in chosen)
        whole = self.sums @ np.array([factors.get(kind, 0.0) for kind in self.kinds])
        # A node that has all its edges walks exactly as without this.
        sums = np.where(whole > strengths * (1 + ROUNDED), whole, strengths)
        shares: Floats = np.divide(1.0, sums, out=np.ones(len(sums)), where=sums > 0)
        return shares


@dataclass(frozen=True)
class WholeStrengthsPart:
    """The part that a graph is given where it is a part of another; None where it is whole.

    A walk over a part of a graph then leaves it as often as it would in the whole.
    """

    def compute(self, graph: Graph) -> WholeStrengths | None:
        return None


@dataclass(frozen=True)
class WalkPart:
    """The part of a graph that is a `Walk` over some kinds of edge.

    Attributes:
        kinds: kinds of edge, or pairs of a kind and the factor on its weights; None for all.
        merge: "sum" or "max", of the weights of parallel edges.
        directed: follow edges in their direction only.

    Example:
        >>> from clew.graph import Edges, Graph
        >>> graph = Graph.of(["a", "b"], edges=Edges.of("next", [0], [1]))
        >>> len(WalkPart().compute(graph))
        2
    """

    kinds: tuple[str | tuple[str, float], ...] | None = None
    merge: str = "sum"
    directed: bool = False

    def compute(self, graph: Graph) -> Walk:
        links = graph.part(Adjacency(self.kinds, self.directed, self.merge))
        if self.directed:
            return build_walk(links.matrix(dtype=np.float32), links.strengths(), directed=True)
        rows = links.starts, links.targets, links.weights
        strengths, whole = links.strengths(), graph.part(WholeStrengthsPart())
        shares = None if whole is None else whole.shares(self.kinds, strengths)
        return _walk(rows, rows, strengths, shares)  # scipy is not imported for it


def build_walk(
    adjacency: SparseMatrix,
    strengths: Floats,
    *,
    directed: bool = False,
    shares: Floats | None = None,
) -> Walk:
    """Return the walk on a scipy CSR adjacency of weights > 0 whose row sums are `strengths`.

    Args:
        adjacency: float32 or float64 [n, n]; symmetric unless `directed`.
        strengths: float64 [n], the sum of each row.
        directed: the adjacency is not symmetric.
        shares: float64 [n], the factor on each row's weights; None for the reciprocals of the
            strengths. The sums of the rows must not be above 1.

    Example:
        >>> import numpy as np
        >>> from scipy.sparse import csr_array
        >>> build_walk(csr_array([[0.0, 1.0], [1.0, 0.0]]), np.ones(2)).shares.tolist()
        [1.0, 1.0]
    """
    out = adjacency.indptr, adjacency.indices, adjacency.data
    if not directed:
        return _walk(out, out, strengths, shares)
    back = adjacency.T.tocsr()
    return _walk(out, (back.indptr, back.indices, back.data), strengths, shares)


def _walk(
    out_rows: SparseRows, into_rows: SparseRows, strengths: Floats, shares: Floats | None = None
) -> Walk:
    """Return the walk on the links out of each row and into it; both the same if symmetric."""
    symmetric = into_rows is out_rows
    degrees = np.diff(out_rows[0]) + np.diff(into_rows[0])
    order = np.lexsort((_neighbourhoods(out_rows), -degrees)).astype(np.int32)
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=np.int32)
    out = _permuted(out_rows, order, places)
    into = out if symmetric else _permuted(into_rows, order, places)
    own = (
        np.divide(1.0, strengths, out=np.ones(len(order)), where=strengths > 0)
        if shares is None
        else shares
    )
    tops = np.maximum.accumulate(1 / own[order][::-1])[::-1].copy()
    return Walk(order, places, out, into, own[order], tops, symmetric)


def _neighbourhoods(rows: SparseRows) -> NDArray[np.int64]:
    """Return the lower of each row and its first target, which neighbours have in common."""
    starts, targets, _ = rows
    lowest = np.arange(len(starts) - 1)
    linked = np.flatnonzero(np.diff(starts))
    lowest[linked] = np.minimum(linked, targets[starts[linked]])
    return lowest


def pagerank(walk: Walk, reset: Floats, damping: float = 0.5, tolerance: float = 1e-10) -> Floats:
    """Return the personalised PageRank, float64 [n], of sum 1.

    Args:
        walk: the random walk.
        reset: float64 [n], >= 0, not all zero; it is scaled to sum 1.
        damping: probability of following an edge, in [0, 1).
        tolerance: the L1 error is at most this, or as near as floats come. Before x is scaled to
            sum 1 the error is at most the residual's norm / (1 - damping); scaling can at most
            double it.

    Raises:
        ValueError: a damping out of range, a reset vector of zeros or out of its range.

    Example:
        >>> import numpy as np
        >>> from scipy.sparse import csr_array
        >>> walk = build_walk(csr_array([[0.0, 1.0], [1.0, 0.0]]), np.ones(2))
        >>> pagerank(walk, np.array([1.0, 0.0])).round(3).tolist()
        [0.667, 0.333]
    """
    total = check_reset(damping, reset)
    start = reset[walk.order]
    start /= total
    x = solve_places(walk, start, damping, tolerance)
    x /= x.sum()
    return x[walk.places]


def pageranks(walk: Walk, resets: Floats, damping: float = 0.5, tolerance: float = 1e-10) -> Floats:
    """Return the personalised PageRank of several reset vectors, float64 [k, n].

    Each is as `pagerank` returns it. Where the densities of several fit the processor's cache (some
    ten at 1e4 nodes), one pass over the links serves them all. On larger graphs and on directed
    ones the vectors are solved one after the other, which is no slower.

    Args:
        walk: the random walk.
        resets: float64 [k, n], each as in `pagerank`.
        damping: as in `pagerank`.
        tolerance: as in `pagerank`.
    """
    resets = np.asarray(resets, np.float64)
    for reset in resets:
        check_reset(damping, reset)
    together = min(MAX_TOGETHER, CACHE_BYTES // (4 * max(len(walk), 1)))
    if not walk.symmetric or together < 4:
        ranks = [pagerank(walk, reset, damping, tolerance) for reset in resets]
        return np.array(ranks).reshape(resets.shape)
    vectors = np.empty(resets.shape)
    for first in range(0, len(resets), together):
        block = resets[first : first + together]
        shares = block / block.sum(axis=1, keepdims=True)
        start = np.ascontiguousarray(shares[:, walk.order].T)
        x = _semi_iterate(walk, start, damping, tolerance)
        vectors[first : first + together] = (x / x.sum(axis=0)).T[:, walk.places]
    return vectors


def solve_places(walk: Walk, reset: Floats, damping: float, tolerance: float) -> Floats:
    """Return x = (1 - d) r + d W^T x in places, not scaled to sum 1.

    Args:
        walk: the random walk.
        reset: float64 [n], r in places.
        damping: d.
        tolerance: the L1 error is at most half of this times the sum of x.
    """
    from clew.algorithms.pagerank.kernels.walks import gauss_seidel

    if walk.symmetric:
        return _semi_iterate(walk, reset, damping, tolerance)
    start, x = (1 - damping) * reset, np.zeros(len(walk))
    max_residual = _max_residual(damping, tolerance)
    solution: Floats = gauss_seidel(*walk.into, walk.shares, start, x, damping, max_residual)[0]
    return solution


def _semi_iterate(walk: Walk, reset: Floats, damping: float, tolerance: float) -> Floats:
    """Solve in float32 for the residual in float64, again and again; then take one plain step.

    `reset` is float64 [n], or [n, k] for k reset vectors. Where no link leads, x = (1 - d) r.
    """
    from clew.algorithms.pagerank.kernels import walks

    linked = walk.linked
    links, shares = (walk.out[0][: linked + 1], *walk.out[1:]), walk.shares[:linked]
    iterate, residual_of, columns = walks.semi_iterate, walks.residual, shares
    if reset.ndim == 2:
        iterate, residual_of, columns = walks.semi_iterate_many, walks.residuals, shares[:, None]
    rate = damping / (1 + math.sqrt(1 - damping**2))  # of Chebyshev's polynomials on [-d, d]
    max_residual = _max_residual(damping, tolerance)
    every = (1 - damping) * reset
    start, unlinked = every[:linked], every[linked:].sum(axis=0)
    x, residual = np.zeros_like(start), start
    is_light = float(shares.max(initial=0)) > MAX_SHARE
    kind: type[np.floating] = np.float64 if is_light else np.float32
    is_large = reset.ndim == 1 and len(walk.out[1]) >= MIN_TOGETHER
    norm, smallest = start.sum(axis=0), DOUBLE if is_light else SINGLE
    while linked:
        current().check()
        norm = np.maximum(norm, TINY)
        total = np.maximum(x.sum(axis=0), norm) + unlinked
        reduction = float(np.min(min(max_residual / max(damping, TINY), 1.0) * (total / norm)))
        products = _products(rate, max(reduction, smallest))
        # Not columns / norm: where there is no mass that is more than any float.
        scaled = (residual / norm * columns).astype(kind)
        own_shares = walk.linked_shares if kind is np.float32 else shares
        step = None
        if is_large and kind is np.float32:
            step = iterate_together(walk.parts, links, own_shares, scaled, damping, products)
        if step is None:
            step = iterate(*links, own_shares, scaled, damping, products)
        x += step * (norm / columns)
        if is_large:
            residual = residual_together(walk.parts, links, shares, start, x, damping)
        else:
            residual = residual_of(*links, shares, start, x, damping)
        before, norm = norm, np.abs(residual).sum(axis=0)
        if (damping * norm <= max_residual * (x.sum(axis=0) + unlinked)).all():
            x += residual
            break
        if (norm > before / 2).any():  # rounding dominates
            if kind is np.float64:
                break
            kind, smallest = np.float64, DOUBLE
    np.maximum(x, 0, out=every[:linked])
    return every


def _products(rate: float, reduction: float) -> int:
    """Return how many products shrink a residual by the factor `reduction`."""
    if not rate > 0 or not reduction < 1:
        return 1
    return 1 + math.ceil(math.log(reduction / 2) / math.log(rate))


def _max_residual(damping: float, tolerance: float) -> float:
    """Return the residual, as a share of the sum of x, at which the tolerance is met."""
    return max(tolerance * (1 - damping) / 2, DOUBLE)


def check_reset(damping: float, reset: Floats) -> np.float64:
    """Return the sum of a reset vector.

    Raises:
        ValueError: a damping out of [0, 1), or a reset vector of zeros, with a number below 0 or
            without a finite sum.
    """
    if not 0 <= damping < 1:
        raise ValueError(
            f"damping is the probability of following an edge, in [0, 1); got {damping}"
        )
    if (lowest := float(reset.min(initial=0))) < 0:
        raise ValueError(
            f"a walk restarts by scores of at least 0; got {lowest:.6g}: of cosines and the like,"
            " np.maximum(scores, 0) takes those above"
        )
    total: np.float64 = reset.sum()
    if total == math.inf:
        raise ValueError("a walk restarts by scores whose sum is finite; got an infinite one")
    if not total > 0:
        raise ValueError(
            "the reset vector has no mass: at least one node must have a positive weight"
        )
    return total


def _permuted(rows: SparseRows, order: Rows, places: Rows) -> Compressed:
    """Return compressed rows in another order, as the kernels take them.

    Read-only arrays are not copied before a loop runs as plain Python.
    """
    from clew.algorithms.pagerank.kernels.walks import permute

    starts, targets, weights = rows
    as_taken = (_sealed(starts, np.uint64), _sealed(targets, np.uint32), _sealed(weights))
    permuted = permute(*as_taken, order, places)
    new_starts, new_targets, new_weights = map(seal, permuted)
    return new_starts, new_targets, new_weights


def _sealed(
    array: NDArray[Any], dtype: type[np.unsignedinteger[Any]] | None = None
) -> NDArray[Any]:
    """Return a contiguous view that cannot be written to, of numbers >= 0 as `dtype`."""
    if dtype is not None:
        same_size = array.itemsize == np.dtype(dtype).itemsize
        array = array.view(dtype) if same_size else array.astype(dtype)
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
