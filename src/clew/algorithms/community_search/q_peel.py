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

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.community_search.arrays import TrussArrays
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
class Community:
    """A connected truss.

    Attributes:
        k: every edge is in at least k - 2 triangles.
        rows: its nodes, ascending.
        slots: one slot of the links per edge.
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
    from clew.algorithms.community_search.kernels.q_peel import peel_truss

    min_size = truss.k if least is None else max(least, 2)
    if not len(truss):
        return None
    own, nodes = np.zeros(len(relevance)), truss.arrays.rows
    own[nodes] = make_summable(relevance[nodes])
    rows, slots, mean, means = peel_truss(truss.arrays, own, truss.k - 2, min_size, cascade)
    if not len(rows):
        return None
    return Community(truss.k, freeze(rows, np.int32), slots, mean, tuple(means.tolist()))


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
    inner, slots = induced_links(links, rows, edges=False)
    own = make_summable(relevance[rows])
    communities = dict[bytes, Community]()
    for found in _search_by_k(inner, own, max_k, min_piece, cascade):
        nodes = freeze(rows[found.rows], np.int32)
        # Of communities with the same nodes the one of the highest k stays.
        communities[nodes.tobytes()] = replace(found, rows=nodes, slots=slots[found.slots])
    if communities:
        level = "truss" if max(one.k for one in communities.values()) > 2 else "pieces"
        return CommunitySearchResult(level, tuple(communities.values()))
    few = rows[np.sort(top_k(own, nearest))].astype(np.int32)
    return CommunitySearchResult("nearest", (induced_community(links, few, relevance),))


def _search_by_k(
    links: Links, worth: Floats, max_k: int | None, min_piece: int, cascade: bool
) -> Iterator[Community]:
    """Yield the community of every k; see `search_communities`."""
    from clew.algorithms.community_search.kernels.q_peel import search_all_k
    from clew.algorithms.community_search.kernels.truss import MAX_LISTED, decompose

    # Writable copies: read-only arrays would compile the loops a second time.
    starts, targets = np.array(links.starts), np.array(links.targets)
    value = decompose(starts, targets, MAX_LISTED) if len(targets) else np.zeros(0, np.int32)
    last = int(value.max(initial=2))
    last = last if max_k is None else min(last, max_k)
    step = max(1, MAX_AT_ONCE // max(1, len(targets)))  # so many k between looks at the deadline
    for first in range(3, max(last, 3) + 1, step):
        current().check()
        ks, row_ends, slot_ends, mean_ends, means, rows, slots, steps = search_all_k(
            starts, targets, value, worth, first, min(last, first + step - 1), min_piece, cascade
        )
        row, slot, mean = 0, 0, 0
        ends = zip(row_ends.tolist(), slot_ends.tolist(), mean_ends.tolist(), strict=True)
        for i, (row_end, slot_end, mean_end) in enumerate(ends):
            trace = tuple(steps[mean:mean_end].tolist())
            own, edges = rows[row:row_end], slots[slot:slot_end]
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
