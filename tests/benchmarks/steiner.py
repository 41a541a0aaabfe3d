"""Steiner trees with lengths of each query, beside scipy, rustworkx and networkx; lazy lengths.

    python -m tests.benchmarks.steiner --sizes 10000 100000 1000000 --terminals 5 10 20

All search the same power-law cluster graph (average degree about 9, shuffled) for the same terminals
with the same lengths, in turn. The figures are medians of processor time, which other processes
disturb less than wall time. Setting the query's lengths counts, except for networkx, whose attributes
are set beforehand.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numba
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree

from clew.algorithms.steiner import LazyLengths, steiner_forest
from clew.graph import Links, Ragged
from tests.benchmarks.rivals import build_installed, require


@numba.njit
def cluster_ends(n: int, share: float, seed: int) -> Any:
    """Return pairs of rows by Holme and Kim.

    Every new row is joined to 4 or 5 rows, drawn by degree or, with the probability `share`, to a
    neighbour of the row drawn last.
    """
    np.random.seed(seed)  # noqa: NPY002 - numba knows no other
    ends, size = np.empty((5 * n, 2), np.int64), 0
    pool, pooled = np.empty(12 * n, np.int64), 5
    pool[:5] = np.arange(5)
    recent, degree = np.zeros((n, 8), np.int64), np.zeros(n, np.int64)
    for new in range(5, n):
        last = -1
        for _ in range(4 + new % 2):
            if last >= 0 and np.random.random() < share:  # noqa: NPY002
                old = recent[last, np.random.randint(min(degree[last], 8))]  # noqa: NPY002
            else:
                old = pool[np.random.randint(pooled)]  # noqa: NPY002
            if old == new:
                continue
            ends[size] = old, new
            size += 1
            for one, other in ((old, new), (new, old)):
                recent[one, degree[one] % 8] = other
                degree[one] += 1
                pool[pooled] = one
                pooled += 1
            last = old
    return ends[:size]


def cluster_graph(n: int, seed: int = 0) -> Links:
    """Return links whose slots name their undirected edge."""
    shuffled = np.random.default_rng(seed).permutation(n)[cluster_ends(n, 0.6, seed)]
    key = np.unique(shuffled.min(axis=1) * n + shuffled.max(axis=1))
    tails, heads = np.concatenate([key // n, key % n]), np.concatenate([key % n, key // n])
    order = np.argsort(tails * n + heads)
    starts = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=n))])
    names = Ragged(
        np.arange(len(order) + 1), np.tile(np.arange(len(key)), 2)[order].astype(np.int32)
    )
    return Links(starts, heads[order].astype(np.int32), np.ones(len(order), np.float32), names)


class Scipy:
    """Mehlhorn's algorithm with scipy's Dijkstra from all terminals at once; the rest in numpy."""

    def __init__(self, links: Links) -> None:
        self.links, self.sources = links, links.sources
        self.columns, self.starts = links.targets, links.starts.astype(np.int32)

    def __call__(self, lengths: Any, terminals: Any) -> float:
        n = len(self.links)
        matrix = csr_array((lengths, self.columns, self.starts), shape=(n, n))
        distance, before, nearest = dijkstra(
            matrix, indices=terminals, min_only=True, return_predecessors=True
        )
        one, other = nearest[self.sources], nearest[self.columns]
        slots = np.flatnonzero(one < other)
        cost = distance[self.sources[slots]] + lengths[slots] + distance[self.columns[slots]]
        pair = np.searchsorted(terminals, one[slots]) * len(terminals) + np.searchsorted(
            terminals, other[slots]
        )
        best = np.lexsort((cost, pair))
        best = best[np.diff(pair[best], prepend=-1) > 0]
        k = len(terminals)
        spanning = minimum_spanning_tree(
            csr_array((cost[best], (pair[best] // k, pair[best] % k)), shape=(k, k))
        ).tocoo()
        taken = slots[best][np.isin(pair[best], spanning.row * k + spanning.col)]
        rows = set(terminals.tolist())
        for row in [*self.sources[taken].tolist(), *self.columns[taken].tolist()]:
            while row >= 0 and row not in rows:
                rows.add(row)
                row = int(before[row])
        inside = np.array(sorted(rows))
        tree = minimum_spanning_tree(matrix[inside][:, inside]).tocoo()
        return pruned(
            list(zip(tree.row.tolist(), tree.col.tolist(), tree.data.tolist(), strict=True)),
            np.searchsorted(inside, terminals),
        )


def pruned(edges: list[tuple[int, int, float]], terminals: Any) -> float:
    """Return the cost of a tree without leaves that are no terminals."""
    joined = set(terminals.tolist())
    while True:
        degree = np.bincount([end for edge in edges for end in edge[:2]])
        kept = [edge for edge in edges if all(degree[end] > 1 or end in joined for end in edge[:2])]
        if len(kept) == len(edges):
            return sum(edge[2] for edge in edges)
        edges = kept


class Rustworkx:
    def __init__(self, links: Links) -> None:
        rustworkx = require("rustworkx")
        self.search, self.graph = rustworkx.steiner_tree, rustworkx.PyGraph()
        ends, slots = undirected(links)
        self.graph.add_nodes_from(range(len(links)))
        self.graph.add_edges_from([(a, b, slot) for (a, b), slot in zip(ends, slots, strict=True)])

    def __call__(self, lengths: Any, terminals: Any) -> float:
        values = lengths.tolist()
        return sum(
            values[slot]
            for slot in self.search(self.graph, terminals.tolist(), values.__getitem__).edges()
        )


class Networkx:
    def __init__(self, links: Links, method: str) -> None:
        networkx = require("networkx")
        self.search, self.method, self.graph = (
            networkx.algorithms.approximation.steiner_tree,
            method,
            networkx.Graph(),
        )
        self.ends, self.slots = undirected(links)
        self.graph.add_edges_from(self.ends)

    def prepare(self, lengths: Any) -> None:
        for (one, other), length in zip(self.ends, lengths[self.slots].tolist(), strict=True):
            self.graph[one][other]["weight"] = length

    def __call__(self, lengths: Any, terminals: Any) -> float:
        return float(self.search(self.graph, terminals.tolist(), method=self.method).size("weight"))


def undirected(links: Links) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the ends of every edge, and its slot from the lower row."""
    slots = np.flatnonzero(links.sources < links.targets)
    return list(
        zip(links.sources[slots].tolist(), links.targets[slots].tolist(), strict=True)
    ), slots.tolist()


def contestants(links: Links, chosen: argparse.Namespace) -> dict[str, Callable[[Any, Any], float]]:
    n = len(links)
    builders: dict[str, Callable[[], Callable[[Any, Any], float]]] = {
        "clew": lambda: lambda lengths, terminals: steiner_forest(links, lengths, terminals).cost,
        "clew, whole graph": lambda: (
            lambda lengths, terminals: (
                steiner_forest(links, lengths, terminals, exhaustive=True).cost
            )
        ),
        "scipy": lambda: Scipy(links),
    }
    if n <= chosen.most_rustworkx:
        builders["rustworkx"] = lambda: Rustworkx(links)
    if n <= chosen.most_networkx:
        builders["networkx mehlhorn"] = lambda: Networkx(links, "mehlhorn")
    if n <= chosen.most_kou:
        builders["networkx kou"] = lambda: Networkx(links, "kou")
    return build_installed(builders)


def measure(
    links: Links,
    k: int,
    repeats: int,
    contestants: dict[str, Callable[[Any, Any], float]],
    slow_repeats: int,
) -> Iterator[str]:
    """Yield rows of the table; what takes seconds is repeated `slow_repeats` times."""
    rng = np.random.default_rng(k)
    times: dict[str, list[float]] = {name: [] for name in contestants}
    costs: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(repeats + 1):
        lengths = rng.uniform(0.1, 1, len(links.targets) // 2)[links.edges.values]
        terminals = np.sort(rng.choice(len(links), k, replace=False))
        for name, search in contestants.items():
            if turn > slow_repeats and not name.startswith(("clew", "scipy")):
                continue
            if isinstance(search, Networkx):
                search.prepare(lengths)
            began = process_time()
            cost = search(lengths, terminals)
            times[name].append(process_time() - began)
            costs[name].append(cost / steiner_forest(links, lengths, terminals).cost)
    ours = float(np.median(times["clew"][1:]))
    for name in contestants:
        median = float(np.median(times[name][1:]))
        ratios = f"{median / ours:.1f} | {np.mean(costs[name]):.3f}"
        yield f"| {len(links)} | {k} | {name} | {median * 1e3:.2f} | {ratios} |"


def measure_lazy(links: Links, k: int, repeats: int, width: int) -> Iterator[str]:
    """Yield rows of the table: all lengths by numpy, all by the kernel, and only those needed."""
    rng = np.random.default_rng(k)
    vectors = rng.standard_normal((len(links.targets) // 2, width), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    times: dict[str, list[float]] = {"all, numpy": [], "all, compiled": [], "lazy": []}
    measured = []
    for _ in range(repeats + 1):
        query = rng.standard_normal(width).astype(np.float32)
        query /= np.linalg.norm(query)
        terminals = rng.choice(len(links), k, replace=False)
        lazy = LazyLengths(links.edges, vectors, query)
        for name in times:
            began = process_time()
            steiner_forest(links, lengths_by(name, links, lazy), terminals)
            times[name].append(process_time() - began)
        measured.append(share_measured(links, lazy, terminals))
    ours = float(np.median(times["lazy"][1:]))
    for name, taken in times.items():
        median = float(np.median(taken[1:]))
        share = np.median(measured) if name == "lazy" else 1.0
        yield f"| {len(links)} | {k} | {name} | {median * 1e3:.2f} | {median / ours:.1f} | {share:.3f} |"


def lengths_by(name: str, links: Links, lazy: LazyLengths) -> Any:
    """Return the lengths, computed in one of the three ways that are compared."""
    if name == "lazy":
        return lazy
    if name == "all, compiled":
        return lazy.measure_all(links)
    lengths = np.clip((1 - lazy.vectors @ np.asarray(lazy.query)) / 2, 1e-6, 1)
    return lengths.astype(np.float64)[links.edges.values]


def share_measured(links: Links, lazy: LazyLengths, terminals: Any) -> float:
    """Return the share of the edges' vectors that one search measures."""
    from clew.algorithms.steiner.forest import SearchLabels
    from clew.algorithms.steiner.kernels.searches import mehlhorn
    from clew.algorithms.steiner.lengths import edge_lengths, read_only

    n, lengths = len(links), edge_lengths(lazy, np.inf)
    labels = SearchLabels(np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int32))
    arrays = read_only(links.starts, np.int64), read_only(links.targets, np.int32)
    mehlhorn(*arrays, lengths, np.unique(terminals), np.inf, False, labels)
    return float(np.mean(lengths.edges.lengths > 0))


SMOKE = "--sizes 300 --terminals 3 --repeats 1 --slow-repeats 1 --width 8"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--terminals", type=int, nargs="+", default=[5, 10, 20])
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--slow-repeats", type=int, default=3, help="for rustworkx and networkx")
    for name, most in (
        ("rustworkx", 100_000),
        ("networkx", 100_000),
        ("kou", 10_000),
        ("lazy", 100_000),
    ):
        parser.add_argument(
            f"--most-{name}",
            type=int,
            default=most,
            help="nodes; above, it is left out: it takes long, or much memory",
        )
    parser.add_argument(
        "--width", type=int, default=384, help="of the facts' vectors; 0 leaves them out"
    )
    chosen = parser.parse_args()
    graphs = {n: cluster_graph(n) for n in chosen.sizes}
    print("| nodes | terminals | | ms | times clew | cost / clew |\n|--:|--:|:--|--:|--:|--:|")
    for links in graphs.values():
        built = contestants(links, chosen)
        for k in chosen.terminals:
            for row in measure(links, k, chosen.repeats, built, chosen.slow_repeats):
                print(row, flush=True)
    if chosen.width:
        print(
            "\n| nodes | terminals | lengths | ms | times lazy | measured |"
            "\n|--:|--:|:--|--:|--:|--:|"
        )
        for links in graphs.values():
            for k in chosen.terminals if len(links) <= chosen.most_lazy else []:
                for row in measure_lazy(links, k, chosen.repeats, chosen.width):
                    print(row, flush=True)


if __name__ == "__main__":
    main()
