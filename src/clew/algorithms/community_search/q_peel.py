"""Attributed community search: the part of a graph that hangs together closely and is most like a question.

    max over S  of  mean of cos(node, question) over S,   S connected and every edge of T_k[S] in at least k - 2 triangles of T_k[S]

where T_k is the k-truss (DA-RAG, arXiv 2602.08545, section 5, EACS and Algorithm 1, Q-Peel). T_k is a set of edges, and every promise is
about these: what else the graph has between the nodes of S may be in no triangle. Nodes of least worth are peeled off each connected
part of T_k while that raises the mean and leaves a connected truss, and the part of highest mean is the answer, the larger one of equals.

Differences from the paper as printed: each part is peeled (its flag lets only the first one be), the incumbent starts at nothing, and a
removal must leave the rest connected, which no look at the neighbourhood alone can tell. Its argument that there is no free rider holds
only for additions that are feasible, and its proof that the problem is hard takes trusses for cliques, so neither is claimed here. A part
T has density of at least (k - 1) / (|T| - 1), with equality for instance in a clique, and a diameter of at most (2 |T| - 2) / k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import summable, top_k
from clew.graph import Floats, Links, Ragged, Rows, freeze

LEVELS = (
    "truss",
    "pieces",
    "nearest",
    "empty",
)  # how closely what is found hangs together: see `search`


@dataclass(frozen=True, eq=False)
class Truss:
    """The k-truss of some links, ready to be peeled.

    `rows` are its nodes (rows of the links, ascending), compressed rows `starts`, `targets` go over their places, `slots` are the links'
    own, and `edge_of` numbers the edges (int32 [m, 2] `ends`), which close triangles with the `pairs` between their `begins`. `part` is
    each node's connected part.
    """

    k: int
    rows: Rows
    starts: NDArray[np.int64]
    targets: Rows
    slots: NDArray[np.int64]
    edge_of: Rows
    ends: Rows
    begins: NDArray[np.int64]
    pairs: Rows
    part: Rows

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class Community:
    """A connected truss: its `rows`, the `slots` of its edges (each edge once), its `mean` worth.

    `means` are those of its part after every removal, the whole part's first; each is more than the one before.
    """

    k: int
    rows: Rows
    slots: NDArray[np.int64]
    mean: float
    means: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.rows)


def truss_of(links: Links, trussness: Rows, k: int) -> Truss:
    """Return the k-truss of undirected links whose slots have this `trussness`; O(triangles) memory."""
    from clew.algorithms.community_search.kernels import q_peel as qpeel

    # Plain arrays, as read-only ones would compile the loops anew.
    found = qpeel.truss_of(
        np.array(links.starts, np.int64),
        np.array(links.targets, np.int32),
        np.array(trussness, np.int32),
        k,
    )
    return Truss(k, *found)


def peel(
    truss: Truss, worth: Floats, *, cascade: bool = False, least: int | None = None
) -> Community | None:
    """Return the community that Q-Peel finds in a truss, or None where no part of it has `least` nodes.

    Args:
        worth: float64, of every row of the links (cosines with the question).
        cascade: where a node cannot go alone, let all go that then lack triangles, if what is left of one part has a higher mean. Nearer
            to the best mean, which drives to ever smaller communities.
        least: leave at least so many nodes, never less than two; None for k.
    """
    from clew.algorithms.community_search.kernels import q_peel as qpeel

    least = truss.k if least is None else max(least, 2)
    if not len(truss):
        return None
    arrays = (
        truss.rows,
        truss.starts,
        truss.targets,
        truss.slots,
        truss.edge_of,
        truss.ends,
        truss.begins,
        truss.pairs,
        truss.part,
    )
    own = np.zeros(len(worth))
    own[truss.rows] = summable(worth[truss.rows])
    rows, slots, mean, means = qpeel.peeled(*arrays, own, truss.k - 2, least, cascade)
    return (
        Community(truss.k, freeze(rows, np.int32), slots, mean, tuple(means.tolist()))
        if len(rows)
        else None
    )


@dataclass(frozen=True, eq=False)
class CommunitySearchResult:
    """What a search found: its `level`, one of `LEVELS`, and different communities, of rising k."""

    level: str
    communities: tuple[Community, ...] = ()


def search_communities(
    links: Links,
    rows: Rows,
    worth: Floats,
    *,
    most: int = 8,
    cascade: bool = False,
    pieces: int = 5,
    nearest: int = 10,
) -> CommunitySearchResult:
    """Return the communities among `rows` of some links (ascending) for k = 3 to `most`, or else what comes nearest to one.

    Where nothing among the rows is in a triangle, the connected part that peeling leaves `pieces` nodes of (level "pieces", k = 2); where
    no part is so large, the `nearest` rows of most worth, which may hang together or not (level "nearest", k = 1). Without rows there is
    nothing (level "empty").
    """
    if not len(rows):
        return CommunitySearchResult("empty")
    from clew.algorithms.community_search.kernels import q_peel as qpeel

    inner, slots = induced_links(links, rows)
    own = summable(worth[rows])
    ks, *ends, means, all_rows, all_slots, steps = qpeel.search(
        np.array(inner.starts), np.array(inner.targets), own, most, pieces, cascade
    )
    all_rows, all_slots, begin, found = (
        rows[all_rows],
        slots[all_slots],
        [0, 0, 0],
        dict[bytes, Community](),
    )
    for k, mean, *end in zip(
        ks.tolist(), means.tolist(), *(some.tolist() for some in ends), strict=True
    ):
        there, trace = (
            freeze(all_rows[begin[0] : end[0]], np.int32),
            tuple(steps[begin[2] : end[2]].tolist()),
        )
        found[there.tobytes()] = Community(
            k, there, all_slots[begin[1] : end[1]], mean, trace
        )  # of the same nodes, the closer
        begin = end
    if found:
        return CommunitySearchResult("truss" if ks[-1] > 2 else "pieces", tuple(found.values()))
    few = rows[np.sort(top_k(own, nearest))].astype(np.int32)
    return CommunitySearchResult("nearest", (whole_community(links, few, worth),))


def whole_community(links: Links, rows: Rows, worth: Floats) -> Community:
    """Return the rows (ascending) and all links among them, as a community that promises nothing (k = 1)."""
    inner, slots = induced_links(links, rows)
    mean = float(worth[rows].mean())
    return Community(1, freeze(rows, np.int32), slots[inner.sources < inner.targets], mean, (mean,))


def induced_links(links: Links, rows: Rows) -> tuple[Links, NDArray[np.int64]]:
    """Return the links among some rows (ascending), over their places, and the slots that these are in `links`."""
    from clew.algorithms.traversal.kernels.search import induced as compiled

    starts, targets, slots = compiled(
        freeze(links.starts, np.int64), freeze(links.targets, np.int32), rows.astype(np.int64)
    )
    return Links(
        freeze(starts, np.int64),
        freeze(targets, np.int32),
        links.weights[slots],
        Ragged.empty(len(slots)),
    ), slots
