"""Truss decomposition beside networkx, scipy and SuiteSparse:GraphBLAS.

    pip install python-graphblas networkx
    python -m tests.benchmarks.truss --sizes 10000 100000
    python -m tests.benchmarks.truss --alone 1000000

clew finds the trussness of every edge, so the trusses of all k at once; the others find the one k-truss that is asked for (k = 4). All
work on the same power-law cluster graph (4.4 edges a node), one after the other in turn; medians of processor time. networkx and scipy are
given the graph as they keep graphs, GraphBLAS a symmetric matrix of booleans; making these is not counted. `--alone` runs clew by itself
in a process of its own and reports the most memory that it ever held, the interpreter and the graph included.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from clew.algorithms.community_search.truss import trussness
from clew.graph import Links, Ragged
from tests.benchmarks.rivals import build_installed, require
from tests.benchmarks.steiner import cluster_graph

K = 4
EDGES = 4.4  # per node


def graph(n: int, seed: int = 0) -> Links:
    """A power-law cluster graph, and as many edges at random as there are wanting."""
    links = cluster_graph(n, seed)
    slots = np.flatnonzero(links.sources < links.targets)
    key = links.sources[slots] * n + links.targets[slots]
    more = np.random.default_rng(seed).integers(0, n, (int(EDGES * n) - len(key), 2))
    more = more[more[:, 0] != more[:, 1]]
    key = np.unique(np.concatenate([key, more.min(axis=1) * n + more.max(axis=1)]))
    tails, heads = np.concatenate([key // n, key % n]), np.concatenate([key % n, key // n])
    order = np.argsort(tails * n + heads)
    starts = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=n))])
    return Links(
        starts, heads[order].astype(np.int32), np.ones(len(order), np.float32), Ragged.empty(0)
    )


def with_networkx(links: Links) -> Callable[[], int]:
    networkx = require("networkx")
    made = networkx.Graph(zip(links.sources.tolist(), links.targets.tolist(), strict=True))
    return lambda: int(networkx.k_truss(made, K).number_of_edges())


def with_scipy(links: Links) -> Callable[[], int]:
    """A @ A, masked by A, until no edge lacks triangles."""
    matrix = links.matrix(np.ones(len(links.targets)), np.float32)

    def truss() -> int:
        left = matrix
        while True:
            closed = (left @ left).multiply(left).tocsr()
            closed.data = (closed.data >= K - 2).astype(np.float32)
            closed.eliminate_zeros()
            if closed.nnz == left.nnz:
                return int(left.nnz // 2)
            left = closed

    return truss


def with_graphblas(links: Links) -> Callable[[], int]:
    """C<A, structure> = A plus.pair A', until no edge lacks triangles (Davis, "Graph algorithms via SuiteSparse:GraphBLAS", 2018)."""
    blas: Any = require("graphblas")
    blas.init("suitesparse", blocking=False)
    blas.ss.config["nthreads"] = 1
    n = len(links)
    matrix = blas.Matrix.from_csr(
        links.starts, links.targets, np.ones(len(links.targets), np.bool_), ncols=n
    )

    def truss() -> int:
        left = matrix
        while True:
            closed = blas.Matrix(blas.dtypes.INT32, n, n)
            closed(left.S) << blas.semiring.plus_pair(left @ left.T)
            closed << blas.select.valuege(closed, K - 2)
            closed.wait()
            if closed.nvals == left.nvals:
                return int(left.nvals // 2)
            left = closed

    return truss


def compared(n: int, repeats: int, slow_repeats: int) -> list[str]:
    links = graph(n)
    makers: dict[str, Callable[[], Callable[[], int]]] = {
        "clew, all k": lambda: lambda: int((trussness(links) >= K).sum() // 2),
        "python-graphblas, k = 4": lambda: with_graphblas(links),
        "scipy A@A.*A, k = 4": lambda: with_scipy(links),
        "networkx, k = 4": lambda: with_networkx(links),
    }
    runs = build_installed(makers)
    times: dict[str, list[float]] = {name: [] for name in runs}
    sizes: dict[str, int] = {}
    for turn in range(repeats + 1):
        for name, run in runs.items():
            if turn <= slow_repeats or not name.startswith("networkx"):
                began = process_time()
                sizes[name] = run()
                if turn:  # the first is for compiling and for caches
                    times[name].append(process_time() - began)
    if len(set(sizes.values())) > 1:
        raise SystemExit(f"they do not agree on the edges of the {K}-truss: {sizes}")
    ours = float(np.median(times["clew, all k"]))
    size = f"| {n} | {len(links.targets) // 2} |"
    return [
        f"{size} {name} | {np.median(t) * 1e3:.1f} | {np.median(t) / ours:.1f} |"
        for name, t in times.items()
    ]


def alone(n: int) -> str:
    links = graph(n)
    trussness(graph(1000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = process_time()
    found = trussness(links)
    taken = process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    said = f"{n} nodes, {len(links.targets) // 2} edges, largest truss {found.max()}: {taken:.2f} s of processor time"
    return f"{said}, peak {peak / 2**20:.2f} GiB ({before / 2**20:.2f} when the graph was made)"


SMOKE = "--sizes 300 --repeats 1 --slow-repeats 1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument(
        "--alone", type=int, help="nodes of the graph that clew decomposes by itself"
    )
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--slow-repeats", type=int, default=2, help="for networkx")
    parser.add_argument("--here", action="store_true", help="run --alone in this process")
    chosen = parser.parse_args()
    if chosen.alone and chosen.here:
        print(alone(chosen.alone))
        return
    if chosen.alone:
        subprocess.run(
            [
                sys.executable,
                "-m",
                "tests.benchmarks.truss",
                "--alone",
                str(chosen.alone),
                "--here",
            ],
            check=True,
        )
        return
    print("| nodes | edges | | ms | times clew |\n|--:|--:|:--|--:|--:|")
    for n in chosen.sizes:
        for row in compared(n, chosen.repeats, chosen.slow_repeats):
            print(row, flush=True)


if __name__ == "__main__":
    main()
