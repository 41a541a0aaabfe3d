"""Communities: parts of a graph that have more weight inside than chance would give them.

    Q = sum over communities c of  in_c / 2m - resolution * (K_c / 2m)^2

in_c is the weight inside, counted both ways, K_c the sum of the strengths, 2m that of all. Louvain (Blondel et al., J. Stat. Mech. 2008,
P10008) moves nodes while Q grows, makes a graph of the communities, and begins again; here every community that has come apart is split
before it becomes a node, which Q only gains by. Leiden (Traag, Waltman and van Eck, Sci. Rep. 9 (2019) 5233) makes that graph of
well-connected parts of the communities, which may still be parted, and begins again with the communities found until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import summable
from clew.graph import Graph, Links, Ragged, Rows, freeze

METHODS = ("leiden", "louvain")
Number = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class CommunityHierarchy:
    """Partitions of the nodes, each finer than the one before and lying within it; a node that nothing joins is alone in all.

    `levels[0]` is the partition of most modularity, int32 [n], communities numbered by their first row; every community of every level is
    connected. `modularity` has one value per level, never growing.
    """

    levels: tuple[Rows, ...]
    modularity: tuple[float, ...]

    def members(self, level: int = 0) -> Ragged:
        """Return the rows of every community of a level, ascending."""
        number = self.levels[level]
        sizes = np.bincount(number)
        return Ragged(
            freeze(np.concatenate([[0], np.cumsum(sizes)]), np.int64),
            freeze(np.argsort(number, kind="stable"), np.int32),
        )


@dataclass(frozen=True)
class CommunityDetection:
    """The part that finds the communities of a graph over chosen kinds of edge, direction ignored; made texts are left alone.

    Attributes:
        kinds: kinds of edge, or pairs of a kind and the factor on its weights; None for all.
        resolution: above 1 for more and smaller communities, below for fewer.
        method: "leiden" or "louvain".
        iterations: how often Leiden begins again with what it has found; None until that changes nothing.
        seed: shuffles the order in which nodes are looked at; None takes them by row.
    """

    kinds: tuple[str | tuple[str, float], ...] | None = None
    resolution: float = 1.0
    method: str = "leiden"
    iterations: int | None = 3
    seed: int | None = 0

    def __post_init__(self) -> None:
        _checked(self.resolution, self.method, self.iterations)

    def compute(self, graph: Graph) -> CommunityHierarchy:
        edges, made = graph.edges, graph.generated
        own = (
            graph.with_edges(edges.take(np.flatnonzero(~made[edges.tails] & ~made[edges.heads])))
            if made.any()
            else graph
        )
        return detect_communities(
            own.links(self.kinds, merge="sum"),
            self.resolution,
            self.method,
            self.iterations,
            self.seed,
        )


def detect_communities(
    links: Links,
    resolution: float = 1.0,
    method: str = "leiden",
    iterations: int | None = 3,
    seed: int | None = 0,
) -> CommunityHierarchy:
    """Return the communities of undirected links, as `Graph.links` makes them; see `Communities` for the rest."""
    _checked(resolution, method, iterations)
    levels = found(links.starts, links.targets, links.weights, resolution, method, iterations, seed)
    kept, worth = list[Rows](), list[float]()
    for level in reversed(levels):
        if not kept or level.max(initial=0) > kept[-1].max(initial=0):
            kept.append(freeze(level, np.int32))
            worth.append(modularity(links, kept[-1], resolution))
    return CommunityHierarchy(tuple(kept), tuple(worth))


def modularity(links: Links, number: Any, resolution: float = 1.0) -> float:
    """Return Q of a partition, at most 1; 0 where there are no links.

    Args:
        number: int [n], the community of each node.
    """
    number = np.asarray(number, np.int64)
    weights, sources = links.weights.astype(np.float64), links.sources
    total = weights.sum()
    if not total > 0:
        return 0.0
    inside = weights[number[sources] == number[links.targets]].sum()
    strengths = np.bincount(number[sources], weights=weights)
    return float(inside / total - resolution * np.square(strengths / total).sum())


def followed(links: Links, number: Any) -> Rows:
    """Return int32 [n]: communities of an older graph, and those of its new nodes by their neighbours' labels.

    The unlabelled node with the most weight to labelled ones goes first, to the label it has most weight to (ties: lower row, lower
    label); one that no label reaches becomes the first of a new community. Raghavan, Albert and Kumara, Phys. Rev. E 76 (2007) 036106.

    Args:
        number: int [n], the old community of each node, or -1 for a new one.
    """
    from heapq import heappop, heappush

    label = np.array(number, np.int32)
    to: dict[int, dict[int, float]] = {row: {} for row in np.flatnonzero(label < 0).tolist()}
    heap: list[tuple[float, int]] = []
    reached = dict.fromkeys(to, 0.0)
    every = np.concatenate(
        [
            np.zeros(0, np.int64),
            *(np.arange(links.starts[row], links.starts[row + 1]) for row in to),
        ]
    )
    weights = dict(
        zip(every.tolist(), summable(links.weights[every]).tolist(), strict=True)
    )  # equal sums are the same number

    def told(row: int, other: int, weight: float) -> None:
        """Row hears the label of its neighbour."""
        to[row][int(label[other])] = to[row].get(int(label[other]), 0.0) + weight
        reached[row] += weight
        heappush(heap, (-reached[row], row))

    for row in to:
        for slot in range(links.starts[row], links.starts[row + 1]):
            if label[links.targets[slot]] >= 0:
                told(row, int(links.targets[slot]), weights[slot])
    fresh, waiting = int(label.max(initial=-1)) + 1, iter(list(to))
    while to:
        if heap:
            weight, row = heappop(heap)
            if row not in to or weight != -reached[row]:
                continue
            label[row] = min(to[row], key=lambda one: (-to[row][one], one))
        else:
            row = next(row for row in waiting if row in to)
            label[row], fresh = fresh, fresh + 1
        del to[row]
        for slot in range(links.starts[row], links.starts[row + 1]):
            if (other := int(links.targets[slot])) in to:
                told(other, row, weights[slot])
    return freeze(label, np.int32)


def found(
    starts: Any,
    targets: Any,
    weights: Any,
    resolution: float,
    method: str,
    iterations: int | None,
    seed: int | None,
) -> list[Number]:
    """Return the partitions of Louvain or Leiden, finest first, the last the best; see `communities`."""
    from clew.algorithms.community_detection import kernels as kernel

    # Plain arrays, as read-only ones would compile the loops anew.
    base = (
        np.array(starts).astype(np.uint64),
        np.array(targets).astype(np.uint32),
        np.array(weights, np.float64),
    )
    n = len(base[0]) - 1
    strengths = np.bincount(
        np.repeat(np.arange(n), np.diff(starts)), weights=base[2], minlength=n
    ).astype(np.float64)
    alone: Number = np.arange(n, dtype=np.uint32)
    if not np.allclose(np.bincount(base[1], weights=base[2], minlength=n), strengths):
        raise ValueError(
            "communities are of undirected links: what comes into a node has another weight than what goes out of it"
        )
    if not strengths.sum() > 0:
        return [alone]
    scale = resolution / strengths.sum()
    order = _order(seed)
    if method == "louvain":
        return _climbed(kernel, (*base, strengths), alone, scale, order, refine=False)
    levels, number, times = [alone], alone, 0
    while iterations is None or times < iterations:
        levels = _climbed(kernel, (*base, strengths), number, scale, order, refine=True)
        times += 1
        if np.array_equal(levels[-1], number):
            break
        number = levels[-1]
    return levels


def _climbed(
    kernel: Any,
    graph: tuple[Any, ...],
    number: Number,
    scale: float,
    order: Callable[[int], Number],
    *,
    refine: bool,
) -> list[Number]:
    """Move, make a graph of what was found, and move again, until every node is a community of its own."""
    flat, levels = np.arange(len(number), dtype=np.uint32), list[Number]()
    number = number.copy()
    while True:
        n = len(number)
        kernel.moved(*graph, number, order(n), scale)
        number, count = kernel.dense(number)
        parts, parted = (
            (number, count)
            if count == n
            else _parts(kernel, graph, number, order(n) if refine else None, scale)
        )
        if parted == n:  # nothing more to join
            return levels or [flat]
        flat = parts[flat]
        levels.append(kernel.dense(flat)[0])
        graph = kernel.aggregated(*graph, parts, parted)
        inside = np.empty(parted, np.uint32)
        inside[parts] = number
        number = kernel.dense(inside)[0] if refine else np.arange(parted, dtype=np.uint32)


def _parts(
    kernel: Any, graph: tuple[Any, ...], number: Number, order: Number | None, scale: float
) -> tuple[Number, int]:
    """The connected parts of the communities: well connected if an order is given in which nodes join them, else whole."""
    if order is not None:
        parts, count = kernel.dense(kernel.refined(*graph, number, order, scale))
        if count < len(number):
            return parts, count
    parts, count = kernel.split(graph[0], graph[1], number)
    return parts, count


def _order(seed: int | None) -> Callable[[int], Number]:
    if seed is None:
        return lambda n: np.arange(n, dtype=np.uint32)
    random = np.random.default_rng(seed)
    return lambda n: random.permutation(n).astype(np.uint32)


def _checked(resolution: float, method: str, iterations: int | None) -> None:
    if not 0 < resolution < float("inf"):
        raise ValueError(f"resolution is a positive number, 1 as usual; got {resolution!r}")
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; known: {', '.join(METHODS)}")
    if iterations is not None and iterations < 1:
        raise ValueError(f"iterations is a whole number of at least 1, or None; got {iterations!r}")
