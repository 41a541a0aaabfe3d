"""Q-Peel: the connected truss of a graph that is most similar to a query.

    max over S  of  mean of cos(node, query) over S,
    S connected, and every edge of T_k[S] in at least k - 2 triangles of T_k[S]

T_k is the k-truss (DA-RAG, arXiv 2602.08545, section 5, EACS and Algorithm 1, Q-Peel). T_k is a set
of edges, and every promise is about these: further edges of the graph between the nodes of S may be
in no triangle.

Nodes of the lowest relevance are peeled off each connected component of T_k, while that raises the
mean and leaves a connected truss. The component of the highest mean is the answer; of equal ones
the larger.

Differences from the paper as printed:

- Every component is peeled. The paper's flag lets only the first one be.
- The incumbent starts at nothing.
- A removal must leave the rest connected, which the neighbourhood alone cannot tell.

What the paper claims and this does not: its argument that there is no free rider holds only for
additions that are feasible, and its proof that the problem is hard mistakes trusses for cliques.
What holds: a component T has a density of at least (k - 1) / (|T| - 1), with equality for instance
in a clique, and a diameter of at most (2 |T| - 2) / k.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.community_search.arrays import NestedTrusses, TrussArrays
from clew.algorithms.ranking import make_summable, top_k
from clew.algorithms.traversal.reached import induced_links
from clew.deadline import current
from clew.graph import Floats, Links, Rows, freeze

MAX_AT_ONCE = 100_000  # slots times k that are peeled between two looks at the deadline

LEVELS = ("truss", "pieces", "nearest", "empty")  # see `search_communities`


@dataclass(frozen=True, eq=False)
class Truss:
    """The k-truss of some links, ready to be peeled.

    Attributes:
        k: every edge is in at least k - 2 triangles.
        arrays: its nodes, edges, triangles and components.
    """

    k: int
    arrays: TrussArrays

    def __len__(self) -> int:
        return len(self.arrays.rows)


@dataclass(frozen=True, eq=False)
class Trusses:
    """Every truss of the links among some rows, made once for all questions.

    Attributes:
        links: undirected.
        rows: the rows, ascending.
        first: the smallest k of these, 3 or 2.
        last: the largest k that has a truss; 2 where there is no triangle.
        arrays: the trusses, inside of each other.
    """

    links: Links
    rows: Rows
    first: int
    last: int
    arrays: NestedTrusses


class _Decomposed(NamedTuple):
    """The links among some rows, which are numbered from 0, with the trussness of every slot.

    Attributes:
        starts: int64 [n + 1], of compressed rows.
        targets: int32 [m].
        slots: int64 [m], which of all links they are.
        values: int32 [m], the trussness.
        triangles: int32 [m], how many each is in.
    """

    starts: NDArray[np.int64]
    targets: Rows
    slots: NDArray[np.int64]
    values: Rows
    triangles: Rows

    @property
    def last(self) -> int:
        """The largest k that has a truss; 2 where there is no triangle."""
        return int(self.values.max(initial=2))


@dataclass(frozen=True, eq=False)
class Community:
    """A connected truss.

    Attributes:
        k: every edge is in at least k - 2 triangles.
        rows: its nodes, ascending.
        slots: one slot of the links per edge; empty where edges were not asked for.
        mean: its mean relevance.
        means: the mean relevance of its component at first and after every removal; they rise.
    """

    k: int
    rows: Rows
    slots: NDArray[np.int64]
    mean: float
    means: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class CommunitySearchResult:
    """What a search found.

    Attributes:
        level: one of `LEVELS`.
        communities: different communities, of rising k.
    """

    level: str
    communities: tuple[Community, ...] = ()


def k_truss(links: Links, trussness: Rows, k: int) -> Truss:
    """Return the k-truss of undirected links. O(triangles) memory.

    Args:
        links: undirected.
        trussness: int32, one per slot, see `clew.algorithms.community_search.truss`.
        k: at least 2.
    """
    from clew.algorithms.community_search.kernels.q_peel import build_truss

    # Writable copies: read-only arrays would compile the loops a second time.
    arrays = build_truss(
        np.array(links.starts, np.int64),
        np.array(links.targets, np.int32),
        np.array(trussness, np.int32),
        k,
    )
    return Truss(k, arrays)


def peel(
    truss: Truss, relevance: Floats, *, cascade: bool = False, least: int | None = None
) -> Community | None:
    """Return the community that Q-Peel finds in a truss; None where no component is large enough.

    Args:
        truss: the truss.
        relevance: float64, of every row of the links: its cosine with the query.
        cascade: where a node cannot be removed alone, remove all edges that then lack triangles, if
            a connected rest has a higher mean. Nearer to the best mean, which leads to ever smaller
            communities.
        least: leave at least so many nodes, never fewer than two; None for k.
    """
    min_size = truss.k if least is None else max(least, 2)
    if not len(truss):
        return None
    own, nodes = np.zeros(len(relevance)), truss.arrays.rows
    own[nodes] = make_summable(relevance[nodes])
    if cascade:
        from clew.algorithms.community_search.kernels.q_peel import peel_truss

        rows, slots, mean, means = peel_truss(truss.arrays, own, truss.k - 2, min_size)
        if not len(rows):
            return None
        return Community(truss.k, freeze(rows, np.int32), slots, mean, tuple(means.tolist()))
    found = next(_peel_each(_as_nested(truss), own[nodes], [truss.k], min_size), None)
    if found is None:
        return None
    slots = truss.arrays.slots[found.slots]
    return replace(found, rows=freeze(nodes[found.rows], np.int32), slots=slots)


def nested_trusses(links: Links, rows: Rows, *, first: int = 3, slots: bool = True) -> Trusses:
    """Return every truss of the links among some rows, to be peeled for any relevance.

    O(m^1.5) time for all k at once. The result takes some 30 bytes for a slot of these links.

    Args:
        links: undirected.
        rows: ascending.
        first: the smallest k, 3 or 2. It is 2 where no row is in a triangle.
        slots: the communities that are found in them have slots.

    Example:
        >>> from clew.graph import Edges, Graph
        >>> edges = Edges.of("next", [0, 0, 1, 2], [1, 2, 2, 3])
        >>> links = Graph.of(list("abcd"), edges=edges).links()
        >>> trusses = nested_trusses(links, np.arange(4, dtype=np.int32))
        >>> [one.rows.tolist() for one in search_trusses(trusses, np.ones(4)).communities]
        [[0, 1, 2]]
    """
    return _nest(links, rows, _decompose(links, rows), first, slots)


def _decompose(links: Links, rows: Rows) -> _Decomposed:
    """Return the links among some rows with the trussness of every slot."""
    from clew.algorithms.community_search.kernels.truss import MAX_LISTED, decompose_counted

    inner, slots = induced_links(links, rows, edges=False)
    # Writable copies: read-only arrays would compile the loops a second time.
    starts, targets = np.array(inner.starts), np.array(inner.targets)
    if not len(targets):
        return _Decomposed(starts, targets, slots, np.zeros(0, np.int32), np.zeros(0, np.int32))
    values, triangles = decompose_counted(starts, targets, MAX_LISTED)
    return _Decomposed(starts, targets, slots, values, triangles)


def _nest(links: Links, rows: Rows, inner: _Decomposed, first: int, slots: bool) -> Trusses:
    """Return the trusses from `first` on, or from 2 on where there is no triangle."""
    from clew.algorithms.community_search.kernels.nested import nest_trusses

    first = min(first, inner.last)
    arrays = nest_trusses(inner.starts, inner.targets, inner.values, inner.triangles, first, slots)
    if slots:
        arrays = arrays._replace(slots=inner.slots[arrays.slots])
    return Trusses(links, rows, first, inner.last, arrays)


def _as_nested(truss: Truss) -> NestedTrusses:
    """Return one truss, with nothing inside of it."""
    from clew.algorithms.community_search.kernels.nested import nest_trusses

    arrays, values = truss.arrays, np.full(len(truss.arrays.targets), truss.k, np.int32)
    triangles = np.diff(arrays.begins)[arrays.edge_of].astype(np.int32)
    nested: NestedTrusses = nest_trusses(
        arrays.starts, arrays.targets, values, triangles, truss.k, True
    )
    return nested


def search_communities(
    links: Links,
    rows: Rows,
    relevance: Floats,
    *,
    max_k: int | None = 8,
    cascade: bool = False,
    min_piece: int = 5,
    nearest: int = 10,
) -> CommunitySearchResult:
    """Return the communities among some rows for k = 3 to `max_k`, or what comes nearest to one.

    The levels of the result:

    - "truss": communities of k >= 3.
    - "pieces": no row is in a triangle. The connected component that peeling leaves `min_piece`
      nodes of, with k = 2.
    - "nearest": no component has so many nodes. The `nearest` rows of the highest relevance, which
      may be connected or not, with k = 1.
    - "empty": there are no rows.

    Args:
        links: undirected.
        rows: the rows to search, ascending.
        relevance: float64, of every row of the links: its cosine with the query.
        max_k: highest k; None for every k that has a truss.
        cascade: as in `peel`.
        min_piece: smallest size at level "pieces".
        nearest: size at level "nearest".

    Example:
        A triangle 0, 1, 2 and a row 3 beside it:

        >>> import numpy as np
        >>> from clew.graph import Edges, Graph
        >>> edges = Edges.of("next", [0, 0, 1, 2], [1, 2, 2, 3])
        >>> links = Graph.of(list("abcd"), edges=edges).links()
        >>> result = search_communities(links, np.arange(4, dtype=np.int32), np.ones(4))
        >>> result.level, result.communities[0].rows.tolist()
        ('truss', [0, 1, 2])
    """
    if not len(rows):
        return CommunitySearchResult("empty")
    inner, own = _decompose(links, rows), make_summable(relevance[rows])
    last = inner.last if max_k is None else min(inner.last, max_k)
    if cascade and last > 2:
        found = _cascade_each(inner, own, last)
    else:
        trusses = _nest(links, rows, inner, 3 if last > 2 else 2, True)
        found = _peel_each(trusses.arrays, own, *_steps(trusses, max_k, min_piece))
    return _result(links, rows, relevance, found, nearest)


def search_trusses(
    trusses: Trusses,
    relevance: Floats,
    *,
    max_k: int | None = 8,
    min_piece: int = 5,
    nearest: int = 10,
) -> CommunitySearchResult:
    """Return what `search_communities` finds among the rows of trusses that are known, by peeling.

    Only the nodes that are peeled off take time, and in each truss a scan of those that it has.

    Args:
        trusses: see `nested_trusses`.
        relevance: float64, of every row of the links: its cosine with the query.
        max_k: highest k; None for every k that has a truss. At least 3, if these begin with that.
        min_piece: smallest size at level "pieces".
        nearest: size at level "nearest".
    """
    if not len(trusses.rows):
        return CommunitySearchResult("empty")
    own = make_summable(relevance[trusses.rows])
    found = _peel_each(trusses.arrays, own, *_steps(trusses, max_k, min_piece))
    return _result(trusses.links, trusses.rows, relevance, found, nearest)


def _steps(trusses: Trusses, max_k: int | None, min_piece: int) -> tuple[range, int | None]:
    """Return every k that is peeled, and the fewest nodes; None for k."""
    last = trusses.last if max_k is None else min(trusses.last, max_k)
    if trusses.first > 2:
        return range(3, last + 1), None
    return range(2, 3), max(min_piece, 2)


def _result(
    links: Links, rows: Rows, relevance: Floats, found: Iterable[Community], nearest: int
) -> CommunitySearchResult:
    """Return the communities that were found, of rows as numbered among `rows`, or the nearest."""
    communities = dict[bytes, Community]()
    for one in found:
        nodes = freeze(rows[one.rows], np.int32)
        # Of communities with the same nodes the one of the highest k stays.
        communities[nodes.tobytes()] = replace(one, rows=nodes)
    if communities:
        level = "truss" if max(one.k for one in communities.values()) > 2 else "pieces"
        return CommunitySearchResult(level, tuple(communities.values()))
    few = rows[np.sort(top_k(make_summable(relevance[rows]), nearest))].astype(np.int32)
    return CommunitySearchResult("nearest", (induced_community(links, few, relevance),))


def _peel_each(
    trusses: NestedTrusses, relevance: Floats, ks: Iterable[int], least: int | None
) -> Iterator[Community]:
    """Yield what is left of the best component of every truss, in which single nodes are removed.

    Args:
        trusses: the trusses.
        relevance: float64, of every row that they are among.
        ks: rising.
        least: the fewest nodes; None for k.
    """
    from clew.algorithms.community_search.kernels.nested import begin_peeling
    from clew.algorithms.community_search.kernels.peeling import best_remaining, peel_next

    state = begin_peeling(trusses, relevance)
    for k in ks:
        current().check()
        fewest = k if least is None else least
        removed = peel_next(trusses, state, k, fewest)
        rows, slots, mean, means = best_remaining(trusses, state, *removed, fewest)
        if len(rows):
            yield Community(k, rows, slots, mean, tuple(means.tolist()))


def _cascade_each(inner: _Decomposed, relevance: Floats, last: int) -> Iterator[Community]:
    """Yield the community of every k from 3 to `last`, where a node may take others with it."""
    from clew.algorithms.community_search.kernels.q_peel import search_all_k

    step = max(1, MAX_AT_ONCE // len(inner.targets))  # so many k between looks at the deadline
    for first in range(3, last + 1, step):
        current().check()
        ks, row_ends, slot_ends, mean_ends, means, rows, slots, steps = search_all_k(
            *(inner.starts, inner.targets, inner.values, relevance),
            *(first, min(last, first + step - 1)),
        )
        row, slot, mean = 0, 0, 0
        ends = zip(row_ends.tolist(), slot_ends.tolist(), mean_ends.tolist(), strict=True)
        for i, (row_end, slot_end, mean_end) in enumerate(ends):
            trace = tuple(steps[mean:mean_end].tolist())
            own, edges = rows[row:row_end], inner.slots[slots[slot:slot_end]]
            yield Community(int(ks[i]), own, edges, float(means[i]), trace)
            row, slot, mean = row_end, slot_end, mean_end


def induced_community(links: Links, rows: Rows, relevance: Floats) -> Community:
    """Return some rows and all links among them, as a community that promises nothing (k = 1).

    Args:
        links: undirected.
        rows: ascending.
        relevance: float64, of every row of the links.
    """
    inner, slots = induced_links(links, rows, edges=False)
    mean = float(relevance[rows].mean())
    return Community(1, freeze(rows, np.int32), slots[inner.sources < inner.targets], mean, (mean,))
