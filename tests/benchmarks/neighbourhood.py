"""Breadth-first and best-first search beside rustworkx, networkx, and the same search with Python's heapq.

    pip install rustworkx networkx
    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python -m tests.benchmarks.neighbourhood --sizes 10000 100000 1000000

All search the same graph (see graphs.py: average degree about 9, random weights) from the same eight random nodes, in turn in one process;
medians of processor time. The waves of two hops take every link: what is reached, and at which depth, is compared. Best-first takes 500
nodes by weight (no vectors); `heapq` is the definition in Python over the same arrays. Also: the waves that follow 50 links a node, and
both with vectors, whose likeness to a question is measured on the way. networkx is left out above `--most-networkx` nodes: it wants memory.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from heapq import heappop, heappush
from time import process_time
from typing import Any

import numpy as np

from clew.algorithms.traversal.best_first import TypedLinksPart, search_best_first
from clew.algorithms.traversal.breadth_first import search_breadth_first
from clew.graph import Edges, Graph
from tests.benchmarks.graphs import knowledge_graph
from tests.benchmarks.rivals import build_installed, require

SOURCES, TAKEN, DEPTH = 8, 500, 2


def graph_of(n: int, width: int) -> Graph:
    adjacency = knowledge_graph(n)
    rows = np.repeat(np.arange(n), np.diff(adjacency.indptr))
    upper = adjacency.indices > rows
    vectors = np.random.default_rng(0).standard_normal((n, width), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    edges = Edges.of("tie", rows[upper], adjacency.indices[upper], adjacency.data[upper])
    return Graph.of([""] * n, vectors=vectors, tokens=np.ones(n), edges=edges)


def rustworkx_waves(graph: Graph) -> Callable[[Any], Any]:
    rustworkx, links = require("rustworkx"), graph.links()
    network = rustworkx.PyGraph(multigraph=False)
    network.add_nodes_from(range(len(graph)))
    upper = links.sources < links.targets
    network.extend_from_edge_list(
        list(zip(links.sources[upper].tolist(), links.targets[upper].tolist(), strict=True))
    )

    class Waves(rustworkx.visit.BFSVisitor):
        def __init__(self) -> None:
            self.depths: dict[int, int] = {}

        def discover_vertex(self, row: int) -> None:
            self.depths.setdefault(row, 0)
            if self.depths[row] > DEPTH:
                raise rustworkx.visit.StopSearch

        def tree_edge(self, edge: Any) -> None:
            self.depths[edge[1]] = self.depths[edge[0]] + 1

    def search(sources: Any) -> Any:
        found: dict[int, int] = {}
        for source in sources.tolist():  # its search takes one source after the other
            waves = Waves()
            rustworkx.bfs_search(network, [source], waves)
            for row, depth in waves.depths.items():
                if depth <= DEPTH:
                    found[row] = min(depth, found.get(row, depth))
        return found

    return search


def networkx_waves(graph: Graph) -> Callable[[Any], Any]:
    networkx, links = require("networkx"), graph.links()
    network = networkx.Graph()
    network.add_nodes_from(range(len(graph)))
    upper = links.sources < links.targets
    network.add_edges_from(
        zip(links.sources[upper].tolist(), links.targets[upper].tolist(), strict=True)
    )

    def search(sources: Any) -> Any:
        found: dict[int, int] = {}
        for depth, rows in enumerate(networkx.bfs_layers(network, sources.tolist())):
            if depth > DEPTH:
                break
            found |= dict.fromkeys(rows, depth)
        return found

    return search


def heapq_best(graph: Graph) -> Callable[[Any], Any]:
    links = graph.links()
    starts, targets, weights = links.starts.tolist(), links.targets.tolist(), links.weights.tolist()

    def search(sources: Any) -> Any:
        heap = [(-1.0, row) for row in sorted(sources.tolist())]
        best, taken = dict.fromkeys(sources.tolist(), 1.0), dict[int, None]()
        while heap and len(taken) < TAKEN:
            _, row = heappop(heap)
            if row in taken:
                continue
            taken[row] = None
            for slot in range(starts[row], starts[row + 1]):
                other, priority = targets[slot], weights[slot]
                if other not in taken and priority > best.get(other, -1.0):
                    best[other] = priority
                    heappush(heap, (-priority, other))
        return list(taken)

    return search


SMOKE = "--sizes 600 --repeats 2 --width 8"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--width", type=int, default=384, help="of the vectors")
    parser.add_argument("--most-networkx", type=int, default=100_000)
    parser.add_argument("--most-rustworkx", type=int, default=1_000_000)
    given = parser.parse_args()
    print(
        "| nodes | search | | ms | times clew | the same |\n| ---: | --- | --- | ---: | ---: | --- |"
    )
    for n in given.sizes:
        measured(n, given)


def measured(n: int, given: argparse.Namespace) -> None:
    graph = graph_of(n, given.width)
    links, typed, vectors = graph.links(), graph.part(TypedLinksPart()), graph.vectors
    factors, free = (
        typed.factors({}),
        {"beam": None, "threshold": 0.0, "max_depth": None, "max_nodes": TAKEN},
    )
    question = vectors[0]

    def depths(sources: Any) -> Any:
        found = search_breadth_first(links, sources, max_depth=DEPTH, max_degree=None)
        return dict(zip(found.rows.tolist(), found.depths.tolist(), strict=True))

    waves = {"clew": lambda s: search_breadth_first(links, s, max_depth=DEPTH, max_degree=None)}
    others: dict[str, Callable[[], Any]] = {}
    if n <= given.most_rustworkx:
        others["rustworkx, a visitor"] = lambda: rustworkx_waves(graph)
    if n <= given.most_networkx:
        others["networkx"] = lambda: networkx_waves(graph)
    waves |= build_installed(others)
    capped = {
        "clew": lambda s: search_breadth_first(links, s, max_depth=DEPTH, max_degree=50),
        "clew, by likeness too": lambda s: search_breadth_first(
            links, s, vectors=vectors, query=question, max_depth=DEPTH, max_degree=50
        ),
    }
    promise = {
        "clew": lambda s: search_best_first(typed, s, factors, vectors=vectors, **free),
        "heapq": heapq_best(graph),
        "clew, by likeness too": lambda s: search_best_first(
            typed, s, factors, vectors=vectors, query=question, **free
        ),
    }
    rng = np.random.default_rng(2)
    draws = [np.sort(rng.choice(n, SOURCES, replace=False)) for _ in range(given.repeats)]
    for search, rivals in (
        ("two hops", waves),
        ("two hops, 50 links a node", capped),
        (f"best {TAKEN}", promise),
    ):
        times: dict[str, list[float]] = {name: [] for name in rivals}
        same = dict.fromkeys(rivals, True)
        for rival in rivals.values():
            rival(draws[0])
        for sources in draws:
            found = {}
            for name, rival in rivals.items():
                begun = process_time()
                found[name] = rival(sources)
                times[name].append(1000 * (process_time() - begun))
            for name in rivals:
                if name.startswith(("rustworkx", "networkx")):
                    same[name] &= found[name] == depths(sources)
                elif name == "heapq":
                    same[name] &= found[name] == found["clew"].rows.tolist()
        base = statistics.median(times["clew"])
        for name, spent in times.items():
            equal = ("yes" if same[name] else "NO") if not name.startswith("clew") else ""
            print(
                f"| {n:,} | {search} | {name} | {statistics.median(spent):.3f} | {statistics.median(spent) / base:.1f} | {equal} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
