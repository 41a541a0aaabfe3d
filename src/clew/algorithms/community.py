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

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.rank import DECIMALS, best
from clew.algorithms.truss import trussness
from clew.graph import Floats, Links, Ragged, Rows, frozen

LEVELS = ("truss", "pieces", "nearest", "empty")  # how closely what is found hangs together: see `search`


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
    kept = np.flatnonzero(trussness >= k)
    tails, heads = links.sources[kept], links.targets[kept]
    rows = np.unique(tails)
    starts = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(np.bincount(np.searchsorted(rows, tails), minlength=len(rows)), out=starts[1:])
    targets = np.searchsorted(rows, heads).astype(np.int32)
    if not len(rows):
        none, far = np.zeros(0, np.int32), np.zeros(1, np.int64)
        return Truss(k, none, far, none, kept, none, none.reshape(0, 2), far, none.reshape(0, 2), none)
    from clew.algorithms.kernels import peeling, truss

    lows, highs, edge_of, _ = truss.oriented(starts, targets)
    support, corners, _ = truss.triangles(lows, highs, np.iinfo(np.int64).max)
    begins, pairs = truss.by_edge(support, corners)
    ends = np.zeros((len(highs), 2), np.int32)
    lower = tails < heads
    ends[edge_of[lower], 0], ends[edge_of[lower], 1] = np.searchsorted(rows, tails[lower]), targets[lower]
    return Truss(k, frozen(rows, np.int32), starts, targets, kept, edge_of, ends, begins, pairs, peeling.parts_of(starts, targets))


def peel(truss: Truss, worth: Floats, *, cascade: bool = False, least: int | None = None) -> Community | None:
    """Return the community that Q-Peel finds in a truss, or None where no part of it has `least` nodes.

    Args:
        worth: float64, of every row of the links (cosines with the question); read to nine decimals.
        cascade: where a node cannot go alone, let all go that then lack triangles, if what is left of one part has a higher mean. Nearer
            to the best mean, which drives to ever smaller communities.
        least: leave at least so many nodes, never less than two; None for k.
    """
    from clew.algorithms.kernels import cascading, peeling

    least = truss.k if least is None else max(least, 2)
    if not len(truss):
        return None
    own = np.round(worth[truss.rows], DECIMALS)
    order = np.argsort(own, kind="stable")
    turn = np.empty(len(own), np.int32)
    turn[order] = np.arange(len(own))
    kernel = cascading.cascading if cascade else peeling.strict
    arrays = truss.starts, truss.targets, truss.edge_of, truss.ends, truss.begins, truss.pairs, truss.part
    alive, parts, means = kernel(*arrays, own, turn, truss.k - 2, least)
    size = np.bincount(truss.part[alive])
    mean = np.round(np.bincount(truss.part[alive], weights=own[alive]) / np.maximum(size, 1), DECIMALS)
    large = np.flatnonzero(size >= least)
    if not len(large):
        return None
    best = int(large[np.lexsort((large, -size[large], -mean[large]))[0]])
    inside = alive & (truss.part == best)
    sources = np.repeat(np.arange(len(truss)), np.diff(truss.starts))
    once = inside[sources] & inside[truss.targets] & (sources < truss.targets)
    first = float(own[truss.part == best].mean())
    trace = (first, *means[parts == best].tolist())
    return Community(truss.k, frozen(truss.rows[inside], np.int32), truss.slots[once], float(own[inside].mean()), trace)


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found: its `level`, one of `LEVELS`, and different communities, of rising k."""

    level: str
    communities: tuple[Community, ...] = ()


def search(
    links: Links,
    rows: Rows,
    worth: Floats,
    *,
    most: int = 8,
    cascade: bool = False,
    pieces: int = 5,
    nearest: int = 10,
) -> Found:
    """Return the communities among `rows` of some links (ascending) for k = 3 to `most`, or else what comes nearest to one.

    Where nothing among the rows is in a triangle, the connected part that peeling leaves `pieces` nodes of (level "pieces", k = 2); where
    no part is so large, the `nearest` rows of most worth, which may hang together or not (level "nearest", k = 1). Without rows there is
    nothing (level "empty").
    """
    if not len(rows):
        return Found("empty")
    inner, slots = within(links, rows)
    own = worth[rows]
    value = trussness(inner)
    found: dict[bytes, Community] = {}
    for k in range(3, min(most, int(value.max(initial=2))) + 1):
        community = peel(truss_of(inner, value, k), own, cascade=cascade)
        if community is not None:
            found[community.rows.tobytes()] = community  # of the same nodes, the closer truss
    level = "truss"
    if not found and (piece := peel(truss_of(inner, value, 2), own, least=pieces)) is not None:
        level, found = "pieces", {b"": piece}
    if not found:
        few = np.sort(best(own, nearest)).astype(np.int32)
        level, found = "nearest", {b"": induced(inner, few, own)}
    there = [replace(c, rows=frozen(rows[c.rows], np.int32), slots=slots[c.slots]) for c in found.values()]
    return Found(level, tuple(there))


def induced(links: Links, rows: Rows, worth: Floats) -> Community:
    """Return the rows (ascending) and all links among them, as a community that promises nothing (k = 1)."""
    inner, slots = within(links, rows)
    mean = float(np.round(worth[rows], DECIMALS).mean())
    return Community(1, frozen(rows, np.int32), slots[inner.sources < inner.targets], mean, (mean,))


def within(links: Links, rows: Rows) -> tuple[Links, NDArray[np.int64]]:
    """Return the links among some rows (ascending), over their places, and the slots that these are in `links`."""
    lengths = links.starts[rows.astype(np.int64) + 1] - links.starts[rows]
    ends = np.cumsum(lengths)
    slots = np.arange(ends[-1] if len(ends) else 0) + np.repeat(links.starts[rows] - ends + lengths, lengths)
    places = np.searchsorted(rows, links.targets[slots])
    kept = rows[np.minimum(places, max(len(rows) - 1, 0))] == links.targets[slots] if len(rows) else np.zeros(0, np.bool_)
    starts = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(np.bincount(np.repeat(np.arange(len(rows)), lengths)[kept], minlength=len(rows)), out=starts[1:])
    slots = slots[kept]
    return Links(starts, frozen(places[kept], np.int32), links.weights[slots], Ragged.empty(len(slots))), slots
