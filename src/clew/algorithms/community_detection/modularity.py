"""Communities: parts of a graph that have more weight inside than chance would give them.

    Q = sum over communities c of  in_c / 2m - resolution * (K_c / 2m)^2

in_c is the weight inside c, counted in both directions, K_c the sum of the strengths, 2m that of
all.

Louvain (Blondel et al., J. Stat. Mech. 2008, P10008) moves nodes while Q grows, builds a graph of
the communities, and starts again. Here every disconnected community is split before it becomes a
node, from which Q only gains. Leiden (Traag, Waltman and van Eck, Sci. Rep. 9 (2019) 5233) builds
that graph of well-connected parts of the communities, which may still be separated, and starts
again with the communities found, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.algorithms.ranking import make_summable
from clew.graph import Floats, Graph, Links, Ragged, Rows, freeze

METHODS = ("leiden", "louvain")

Numbers = NDArray[np.uint32]  # the community of each node
Order = Callable[[int], Numbers]  # number of nodes -> the order in which they are looked at


@dataclass(frozen=True, eq=False)
class CommunityHierarchy:
    """Partitions of n nodes, each a refinement of the one before; a node without links is alone.

    Attributes:
        levels: int32 [n] each, the community of each node; communities are connected, and numbered
            by their first row. The first level is the partition of highest modularity.
        modularity: Q of each level; it never grows.
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
    """The part of a graph that is its `CommunityHierarchy`.

    The direction of edges is ignored; generated nodes are left out.

    Attributes:
        kinds: kinds of edge, or pairs of a kind and the factor on its weights; None for all.
        resolution: above 1 for more and smaller communities, below for fewer.
        method: "leiden" or "louvain".
        iterations: how often Leiden starts again with its result; None until that changes nothing.
        seed: shuffles the order in which nodes are looked at; None takes them by row.

    Raises:
        ValueError: a resolution that is not positive, an unknown method, less than one iteration.

    Example:
        >>> from clew.graph import Edges, Graph
        >>> edges = Edges.of("next", [0, 0, 1, 3], [1, 2, 2, 4])
        >>> CommunityDetection().compute(Graph.of(list("abcde"), edges=edges)).levels[0].tolist()
        [0, 0, 0, 1, 1]
    """

    kinds: tuple[str | tuple[str, float], ...] | None = None
    resolution: float = 1.0
    method: str = "leiden"
    iterations: int | None = 3
    seed: int | None = 0

    def __post_init__(self) -> None:
        _check(self.resolution, self.method, self.iterations)

    def compute(self, graph: Graph) -> CommunityHierarchy:
        return detect_communities(
            self.links(graph), self.resolution, self.method, self.iterations, self.seed
        )

    def links(self, graph: Graph) -> Links:
        """Return the undirected links among which communities are sought."""
        edges, generated = graph.edges, graph.generated
        if generated.any():
            original = np.flatnonzero(~generated[edges.tails] & ~generated[edges.heads])
            graph = graph.with_edges(edges.take(original))
        return graph.links(self.kinds, merge="sum")


class CommunityGraph(NamedTuple):
    """A graph as the kernels take it.

    Attributes:
        starts: uint64 [n + 1].
        targets: uint32 [m], both slots of every edge, no loops.
        weights: float64 [m], > 0.
        strengths: float64 [n], the sums of weights; weight inside a node counts twice.
    """

    starts: NDArray[np.uint64]
    targets: NDArray[np.uint32]
    weights: Floats
    strengths: Floats


def detect_communities(
    links: Links,
    resolution: float = 1.0,
    method: str = "leiden",
    iterations: int | None = 3,
    seed: int | None = 0,
) -> CommunityHierarchy:
    """Return the communities of undirected links.

    Args:
        links: undirected, as `Graph.links` returns them.
        resolution: as in `CommunityDetection`, here and below.
        method: "leiden" or "louvain".
        iterations: of Leiden.
        seed: of the order.

    Example:
        >>> from clew.graph import Edges, Graph
        >>> edges = Edges.of("next", [0, 0, 1, 3], [1, 2, 2, 4])
        >>> detect_communities(Graph.of(list("abcde"), edges=edges).links()).levels[0].tolist()
        [0, 0, 0, 1, 1]
    """
    _check(resolution, method, iterations)
    partitions = find_partitions(
        (links.starts, links.targets, links.weights), resolution, method, iterations, seed
    )
    levels, values = list[Rows](), list[float]()
    for partition in reversed(partitions):
        if not levels or partition.max(initial=0) > levels[-1].max(initial=0):
            levels.append(freeze(partition, np.int32))
            values.append(modularity(links, levels[-1], resolution))
    return CommunityHierarchy(tuple(levels), tuple(values))


def modularity(links: Links, number: ArrayLike, resolution: float = 1.0) -> float:
    """Return Q of a partition, at most 1; 0 where there are no links.

    Args:
        links: undirected.
        number: int [n], the community of each node.
        resolution: see the module.

    Example:
        >>> from clew.graph import Edges, Graph
        >>> links = Graph.of(list("abcd"), edges=Edges.of("next", [0, 2], [1, 3])).links()
        >>> modularity(links, [0, 0, 1, 1])
        0.5
    """
    communities = np.asarray(number, np.int64)
    weights, sources = links.weights.astype(np.float64), links.sources
    total = weights.sum()
    if not total > 0:
        return 0.0
    inside = weights[communities[sources] == communities[links.targets]].sum()
    strengths = np.bincount(communities[sources], weights=weights)
    return float(inside / total - resolution * np.square(strengths / total).sum())


def propagate_labels(links: Links, number: ArrayLike) -> Rows:
    """Return the communities of an older graph, and of its new nodes by their neighbours' labels.

    The unlabelled node with the most weight to labelled nodes is labelled first, with the label
    that it has most weight to (ties: lower row, lower label). A node that no label reaches becomes
    the first of a new community. Raghavan, Albert and Kumara, Phys. Rev. E 76 (2007) 036106.

    Args:
        links: undirected.
        number: int [n], the old community of each node, or -1 for a new node.

    Returns:
        int32 [n].

    Example:
        >>> from clew.graph import Edges, Graph
        >>> links = Graph.of(list("abc"), edges=Edges.of("next", [0], [1])).links()
        >>> propagate_labels(links, [0, -1, -1]).tolist()
        [0, 0, 1]
    """
    label = np.array(number, np.int32)
    unlabelled = np.flatnonzero(label < 0).tolist()
    votes: dict[int, dict[int, float]] = {row: {} for row in unlabelled}
    totals = dict.fromkeys(unlabelled, 0.0)
    heap: list[tuple[float, int]] = []
    weights = _summable_weights(links, unlabelled)

    def vote(row: int, neighbour: int, weight: float) -> None:
        """Add a labelled neighbour's vote for the label of a row."""
        choice = int(label[neighbour])
        votes[row][choice] = votes[row].get(choice, 0.0) + weight
        totals[row] += weight
        heappush(heap, (-totals[row], row))

    for row in unlabelled:
        for slot in range(links.starts[row], links.starts[row + 1]):
            if label[links.targets[slot]] >= 0:
                vote(row, int(links.targets[slot]), weights[slot])
    new_label, waiting = int(label.max(initial=-1)) + 1, iter(unlabelled)
    while votes:
        if heap:
            total, row = heappop(heap)
            if row not in votes or total != -totals[row]:
                continue
            choices = votes[row]
            label[row] = min(choices, key=lambda choice: (-choices[choice], choice))
        else:
            row = next(row for row in waiting if row in votes)
            label[row], new_label = new_label, new_label + 1
        del votes[row]
        for slot in range(links.starts[row], links.starts[row + 1]):
            if (other := int(links.targets[slot])) in votes:
                vote(other, row, weights[slot])
    return freeze(label, np.int32)


def find_partitions(
    links: tuple[ArrayLike, ArrayLike, ArrayLike],
    resolution: float,
    method: str,
    iterations: int | None,
    seed: int | None,
) -> list[Numbers]:
    """Return the partitions of Louvain or Leiden, finest first; the last is the best.

    Args:
        links: starts, targets and weights of undirected compressed rows.
        resolution: see `CommunityDetection`, here and below.
        method: "leiden" or "louvain".
        iterations: of Leiden.
        seed: of the order.

    Raises:
        ValueError: the links are not undirected.
    """
    # Writable copies: read-only arrays would compile the loops a second time.
    starts, targets = np.array(links[0]).astype(np.uint64), np.array(links[1]).astype(np.uint32)
    weights = np.array(links[2], np.float64)
    n = len(starts) - 1
    rows = np.repeat(np.arange(n), np.diff(np.asarray(links[0])))
    strengths = np.bincount(rows, weights=weights, minlength=n).astype(np.float64)
    alone: Numbers = np.arange(n, dtype=np.uint32)
    if not np.allclose(np.bincount(targets, weights=weights, minlength=n), strengths):
        raise ValueError(
            "communities are of undirected links:"
            " what comes into a node has another weight than what goes out of it"
        )
    if not strengths.sum() > 0:
        return [alone]
    graph = CommunityGraph(starts, targets, weights, strengths)
    scale = resolution / strengths.sum()
    order = _order(seed)
    if method == "louvain":
        return _climb(graph, alone, scale, order, refine=False)
    levels, number, rounds = [alone], alone, 0
    while iterations is None or rounds < iterations:
        levels = _climb(graph, number, scale, order, refine=True)
        rounds += 1
        if np.array_equal(levels[-1], number):
            break
        number = levels[-1]
    return levels


def _summable_weights(links: Links, rows: list[int]) -> dict[int, float]:
    """Return the weight of every slot of some rows, so that equal sums are the same number."""
    ranges = (np.arange(links.starts[row], links.starts[row + 1]) for row in rows)
    slots = np.concatenate([np.zeros(0, np.int64), *ranges])
    return dict(zip(slots.tolist(), make_summable(links.weights[slots]).tolist(), strict=True))


def _climb(
    graph: CommunityGraph, number: Numbers, scale: float, order: Order, *, refine: bool
) -> list[Numbers]:
    """Move nodes, build the graph of communities, and so on, until every node is a community."""
    from clew.algorithms.community_detection import kernels

    flat, levels = np.arange(len(number), dtype=np.uint32), list[Numbers]()
    number = number.copy()
    while True:
        n = len(number)
        kernels.move_nodes(graph, number, order(n), scale)
        number, count = kernels.renumber(number)
        if count == n:
            parts, size = number, count
        else:
            parts, size = _connected_parts(graph, number, order(n) if refine else None, scale)
        if size == n:  # nothing more to join
            return levels or [flat]
        flat = parts[flat]
        levels.append(kernels.renumber(flat)[0])
        graph = CommunityGraph(*kernels.aggregate(graph, parts, size))
        inside = np.empty(size, np.uint32)
        inside[parts] = number
        number = kernels.renumber(inside)[0] if refine else np.arange(size, dtype=np.uint32)


def _connected_parts(
    graph: CommunityGraph, number: Numbers, order: Numbers | None, scale: float
) -> tuple[Numbers, int]:
    """Return the connected parts of the communities, and how many there are.

    With an order, in which nodes join them, the parts are well connected.
    """
    from clew.algorithms.community_detection import kernels

    if order is not None:
        parts, count = kernels.renumber(kernels.refine(graph, number, order, scale))
        if count < len(number):
            return parts, count
    parts, count = kernels.split_disconnected(graph.starts, graph.targets, number)
    return parts, count


def _order(seed: int | None) -> Order:
    if seed is None:
        return lambda n: np.arange(n, dtype=np.uint32)
    random = np.random.default_rng(seed)
    return lambda n: random.permutation(n).astype(np.uint32)


def _check(resolution: float, method: str, iterations: int | None) -> None:
    if not 0 < resolution < float("inf"):
        raise ValueError(f"resolution is a positive number, 1 as usual; got {resolution!r}")
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; known: {', '.join(METHODS)}")
    if iterations is not None and iterations < 1:
        raise ValueError(f"iterations is a whole number of at least 1, or None; got {iterations!r}")
