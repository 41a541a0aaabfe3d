"""Louvain and Leiden beside networkx, igraph, leidenalg, scikit-network and graspologic-native.

    pip install networkx igraph leidenalg scikit-network graspologic-native
    export OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 RAYON_NUM_THREADS=1
    python -m tests.benchmarks.communities --sizes 10000 100000 1000000

igraph and leidenalg are under the GPL: they are compared with, and nothing of clew needs them. All find the communities of the same
graph (average degree about 9, power-law degrees and community sizes, weights in (0.1, 1)) at resolution 1, one after the other in turn,
each turn with another seed; medians of processor time in one thread, and the mean modularity in float64 with its range over the seeds.
"apart" is how many communities are not connected, at most. Making each library's own graph is not counted, reading out its answer is.
What is slow is left out above a size: networkx above 1e4 nodes; leidenalg, scikit-network, igraph's Louvain and a single iteration of
graspologic-native above 1e5 (`--slow` keeps all).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from clew.algorithms.community_detection.modularity import find_partitions, modularity
from clew.graph import Links, Ragged
from tests.benchmarks.graphs import knowledge_graph
from tests.benchmarks.rivals import build_installed, require

MOST = {"networkx Louvain": 10_000} | dict.fromkeys(
    (
        "leidenalg, 2",
        "scikit-network Louvain",
        "scikit-network Leiden",
        "igraph Louvain",
        "graspologic-native, 1",
    ),
    100_000,
)
Run = Callable[[int], Any]


def ours(links: Links, method: str, iterations: int | None = None) -> Run:
    arrays = links.starts, links.targets, links.weights
    return lambda seed: find_partitions(arrays, 1.0, method, iterations, seed)[-1]


def with_igraph(links: Links, which: str) -> Run:
    """igraph's own Leiden or Louvain, or leidenalg on the same graph."""
    igraph, leidenalg = require("igraph"), require("leidenalg") if which == "leidenalg" else None
    sources = links.sources
    upper = sources < links.targets
    graph = igraph.Graph(
        n=len(links), edges=np.stack([sources[upper], links.targets[upper]], axis=1)
    )
    graph.es["weight"] = weights = links.weights[upper].astype(float).tolist()

    def seeded(seed: int) -> None:
        import random

        random.seed(seed)
        igraph.set_random_number_generator(random)

    def leiden(seed: int) -> Any:
        seeded(seed)
        return graph.community_leiden("modularity", weights=weights, n_iterations=2).membership

    def multilevel(seed: int) -> Any:
        seeded(seed)
        return graph.community_multilevel(weights=weights).membership

    def partition(seed: int) -> Any:
        kind = leidenalg.ModularityVertexPartition
        return leidenalg.find_partition(
            graph, kind, weights=weights, n_iterations=2, seed=seed
        ).membership

    return {"leiden": leiden, "louvain": multilevel, "leidenalg": partition}[which]


def with_graspologic(links: Links, iterations: int) -> Run:
    native: Any = require("graspologic_native")
    starts, targets, weights = (
        np.array(links.starts),
        np.array(links.targets),
        links.weights.astype(np.float64),
    )

    def run(seed: int) -> Any:
        of = native.leiden_csr(
            starts, targets, weights, len(links), iterations=iterations, seed=seed
        )[1]
        return np.array([of[row] for row in range(len(links))])

    return run


def with_scikit_network(links: Links, kind: str) -> Run:
    clustering: Any = require("sknetwork.clustering")
    matrix = csr_array(
        (links.weights.astype(np.float64), np.array(links.targets), np.array(links.starts))
    ).tocsr()
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(matrix)
    return lambda seed: getattr(clustering, kind)(
        random_state=seed, shuffle_nodes=True
    ).fit_predict(matrix)


def with_networkx(links: Links) -> Run:
    networkx = require("networkx")
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(links)))
    graph.add_weighted_edges_from(
        zip(
            links.sources.tolist(),
            links.targets.tolist(),
            links.weights.astype(float).tolist(),
            strict=True,
        )
    )

    def run(seed: int) -> Any:
        number = np.empty(len(links), np.int64)
        for one, rows in enumerate(networkx.community.louvain_communities(graph, seed=seed)):
            number[list(rows)] = one
        return number

    return run


def apart(links: Links, number: Any) -> int:
    """How many communities are not connected."""
    from scipy.sparse.csgraph import connected_components

    inside = number[links.sources] == number[links.targets]
    matrix = csr_array(
        (np.ones(int(inside.sum()), np.int8), (links.sources[inside], links.targets[inside])),
        shape=(len(links), len(links)),
    )
    part = connected_components(matrix, directed=False)[1]
    pairs = np.unique(np.stack([number, part], axis=1), axis=0)[:, 0]
    return int((np.unique(pairs, return_counts=True)[1] > 1).sum())


def compared(n: int, repeats: int, slow: bool) -> list[str]:
    matrix = knowledge_graph(n)
    links = Links(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data,
        Ragged.empty(0),
    )
    runs: dict[str, Run] = {
        "clew Louvain": ours(links, "louvain"),
        "clew Leiden, 1": ours(links, "leiden", 1),
        "clew Leiden, 2": ours(links, "leiden", 2),
        "clew Leiden, 3": ours(links, "leiden", 3),
    }
    others: dict[str, Callable[[], Run]] = {
        "igraph Leiden, 2": lambda: with_igraph(links, "leiden"),
        "igraph Louvain": lambda: with_igraph(links, "louvain"),
        "leidenalg, 2": lambda: with_igraph(links, "leidenalg"),
        "graspologic-native, 1": lambda: with_graspologic(links, 1),
        "graspologic-native, 2": lambda: with_graspologic(links, 2),
        "scikit-network Louvain": lambda: with_scikit_network(links, "Louvain"),
        "scikit-network Leiden": lambda: with_scikit_network(links, "Leiden"),
        "networkx Louvain": lambda: with_networkx(links),
    }
    runs |= build_installed(
        {name: make for name, make in others.items() if slow or n <= MOST.get(name, n)}
    )
    times: dict[str, list[float]] = {name: [] for name in runs}
    worth: dict[str, list[float]] = {name: [] for name in runs}
    broken: dict[str, list[int]] = {name: [] for name in runs}
    count: dict[str, int] = {}
    small = knowledge_graph(1000)
    for method in ("louvain", "leiden"):  # compiled before anything is timed
        find_partitions((small.indptr, small.indices, small.data), 1.0, method, 1, 0)
    for seed in range(repeats):
        for name, run in runs.items():
            began = process_time()
            number = run(seed)
            times[name].append(process_time() - began)
            number = np.asarray(number, np.int64)
            worth[name].append(modularity(links, number))
            broken[name].append(apart(links, number))
            count[name] = len(np.unique(number))
    ours_now = float(np.median(times["clew Leiden, 3"]))
    return [
        f"| {n} | {name} | {np.median(times[name]) * 1e3:.0f} | {np.median(times[name]) / ours_now:.2f} | {np.mean(worth[name]):.4f} "
        f"({min(worth[name]):.4f} to {max(worth[name]):.4f}) | {count[name]} | {max(broken[name])} |"
        for name in runs
    ]


SMOKE = "--sizes 300 --repeats 1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--repeats", type=int, default=5, help="each with another seed")
    parser.add_argument("--slow", action="store_true", help="leave nothing out")
    chosen = parser.parse_args()
    print(
        "| nodes | method, iterations | ms | times clew Leiden, 3 | modularity | communities | apart |\n|--:|:--|--:|--:|:--|--:|--:|"
    )
    for n in chosen.sizes:
        for row in compared(n, chosen.repeats, chosen.slow):
            print(row, flush=True)


if __name__ == "__main__":
    main()
