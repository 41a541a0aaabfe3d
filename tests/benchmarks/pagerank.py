"""Personalised PageRank beside igraph's PRPACK, networkx, rustworkx, scikit-network and a power iteration with scipy.

    pip install igraph rustworkx scikit-network      # igraph is GPL: to compare with, no dependency
    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python -m tests.benchmarks.pagerank --sizes 10000 100000 1000000 --damping 0.5 0.85

All walk the same graph (see graphs.py: average degree about 9, random weights) from the same ten random nodes, in turn in one process;
medians of processor time. The error is the L1 distance to a solution of 1e-13; who can be told one is asked for 1e-6.
Also: the proven best k rows, whether their set is the full solve's, and how it was proven; several questions together.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from clew.algorithms.pagerank import (
    TopPageRank,
    Walk,
    build_walk,
    pagerank,
    pageranks,
    top_pagerank,
)
from clew.algorithms.ranking import top_k
from tests.benchmarks.graphs import knowledge_graph
from tests.benchmarks.rivals import build_installed, require

ERROR, SEEDS = 1e-6, 10
MOST_NETWORKX, MOST_RUSTWORKX = 100_000, 100_000  # nodes


def strengths_of(graph: Any) -> Any:
    return np.asarray(graph.sum(axis=1), np.float64).ravel()


def power(graph: Any) -> Callable[[Any, float], Any]:
    strengths = strengths_of(graph)
    follow = csr_array(
        diags_array(np.divide(1, strengths, out=np.zeros(len(strengths)), where=strengths > 0))
        @ graph.astype(float)
    ).T.tocsr()

    def solve(reset: Any, damping: float) -> Any:
        start = reset / reset.sum()
        x = start
        while True:
            step = damping * (follow @ x)
            step += (1 - step.sum()) * start
            change, x = np.abs(step - x).sum(), step
            if change * damping <= ERROR * (1 - damping):
                return x

    return solve


def prpack(graph: Any) -> Callable[[Any, float], Any]:
    ends = graph.tocoo()
    half = ends.row < ends.col
    found = require("igraph").Graph(
        n=graph.shape[0], edges=np.stack([ends.row[half], ends.col[half]], axis=1)
    )
    found.es["weight"] = ends.data[half].tolist()
    return lambda reset, damping: np.array(
        found.personalized_pagerank(
            damping=damping, reset=reset.tolist(), weights="weight", implementation="prpack"
        )
    )


def by_networkx(graph: Any) -> Callable[[Any, float], Any]:
    networkx, n = require("networkx"), graph.shape[0]
    found = networkx.from_scipy_sparse_array(graph)

    def solve(reset: Any, damping: float) -> Any:
        seeds = {int(row): reset[row] for row in np.flatnonzero(reset)}
        tolerance = ERROR * (1 - damping) / damping / n
        ranks = networkx.pagerank(
            found, damping, personalization=seeds, dangling=seeds, max_iter=1000, tol=tolerance
        )
        return np.fromiter(ranks.values(), float, n)

    return solve


def by_rustworkx(graph: Any) -> Callable[[Any, float], Any]:
    rustworkx, n = require("rustworkx"), graph.shape[0]
    found, ends = rustworkx.PyDiGraph(), graph.tocoo()
    found.add_nodes_from(range(n))
    found.add_edges_from(
        list(zip(ends.row.tolist(), ends.col.tolist(), ends.data.tolist(), strict=True))
    )

    def solve(reset: Any, damping: float) -> Any:
        seeds = {int(row): float(reset[row]) for row in np.flatnonzero(reset)}
        tolerance = ERROR * (1 - damping) / damping / n
        ranks = rustworkx.pagerank(
            found,
            damping,
            float,
            personalization=seeds,
            dangling=seeds,
            tol=tolerance,
            max_iter=1000,
        )
        return np.fromiter((ranks[i] for i in range(n)), float, n)

    return solve


def by_scikit_network(graph: Any) -> Callable[[Any, float], Any]:
    PageRank = require("sknetwork.ranking").PageRank
    from scipy.sparse import csr_matrix

    plain = csr_matrix(graph.astype(float))
    return lambda reset, damping: PageRank(
        damping, solver="piteration", n_iter=1000, tol=ERROR * (1 - damping)
    ).fit_predict(plain, weights=reset)


def contestants(graph: Any, over: Walk) -> dict[str, Callable[[Any, float], Any]]:
    n = graph.shape[0]
    found: dict[str, Callable[[Any, float], Any]] = {
        "clew, 1e-6": lambda reset, damping: pagerank(over, reset, damping, ERROR),
        "clew, 1e-10": lambda reset, damping: pagerank(over, reset, damping),
        "clew, best 20": lambda reset, damping: top_pagerank(over, reset, 20, damping),
        "clew, best 20 to 1e-4": lambda reset, damping: top_pagerank(
            over, reset, 20, damping, accuracy=1e-4
        ),
    }
    others: dict[str, Callable[[], Any]] = {
        "igraph PRPACK": lambda: prpack(graph),
        "scipy power": lambda: power(graph),
        "scikit-network": lambda: by_scikit_network(graph),
    }
    if n <= MOST_RUSTWORKX:
        others["rustworkx"] = lambda: by_rustworkx(graph)
    if n <= MOST_NETWORKX:
        others["networkx"] = lambda: by_networkx(graph)
    return found | build_installed(others)


def measure(n: int, dampings: list[float], repeats: int, slow: int) -> None:
    graph = knowledge_graph(n)
    build_walk(graph[:9, :9], strengths_of(graph[:9, :9]))  # compiled now
    began = process_time()
    over = build_walk(graph, strengths_of(graph))
    print(
        f"\n{n} nodes, {graph.nnz // 2} edges; the walk was made in {(process_time() - began) * 1e3:.0f} ms"
    )
    print(
        "| nodes | damping | | ms | times PRPACK's speed | largest L1 error, or how the set was proven | set is the full solve's |"
    )
    print("|--:|--:|:--|--:|--:|:--|:--|")
    found = contestants(graph, over)
    for damping in dampings:
        times: dict[str, list[float]] = {name: [] for name in found}
        errors: dict[str, list[float]] = {name: [] for name in found}
        ways: dict[str, list[TopPageRank]] = {name: [] for name in found}
        same: dict[str, list[bool]] = {name: [] for name in found}
        rng = np.random.default_rng(0)
        for turn in range(repeats + 1):
            reset = np.zeros(n)
            reset[rng.choice(n, SEEDS, replace=False)] = 1
            exact = pagerank(over, reset, damping, 1e-13)
            full = set(top_k(pagerank(over, reset, damping), 20).tolist())
            for name, solve in found.items():
                if turn > slow and not name.startswith("clew"):
                    continue
                began = process_time()
                answer = solve(reset, damping)
                taken = process_time() - began
                if turn:
                    times[name].append(taken)
                if isinstance(answer, TopPageRank):
                    ways[name].append(answer)
                    same[name].append(set(answer.rows.tolist()) == full)
                else:
                    errors[name].append(float(np.abs(answer - exact).sum()))
        peer = (
            float(np.median(times["igraph PRPACK"])) if "igraph PRPACK" in times else float("nan")
        )
        for name in found:
            median = float(np.median(times[name]))
            hows = [top.method for top in ways[name]]
            how = (
                ", ".join(f"{hows.count(way)} {way}" for way in dict.fromkeys(hows))
                or f"{max(errors[name]):.0e}"
            )
            right = f"{sum(same[name])} of {len(same[name])}" if same[name] else ""
            print(
                f"| {n} | {damping} | {name} | {median * 1e3:.2f} | {peer / median:.1f} | {how} | {right} |",
                flush=True,
            )


def measure_many(n: int, together: int) -> None:
    graph = knowledge_graph(n)
    over, rng = build_walk(graph, strengths_of(graph)), np.random.default_rng(0)
    resets = np.zeros((together, n))
    for reset in resets:
        reset[rng.choice(n, SEEDS, replace=False)] = 1
    once, each = [], []
    for _ in range(6):
        began = process_time()
        pageranks(over, resets, 0.5, ERROR)
        once.append(process_time() - began)
        began = process_time()
        for reset in resets:
            pagerank(over, reset, 0.5, ERROR)
        each.append(process_time() - began)
    print(
        f"| {n} | {together} | {np.median(once[1:]) / together * 1e3:.2f} | {np.median(np.divide(each, once)[1:]):.2f} |",
        flush=True,
    )


SMOKE = "--sizes 300 --repeats 2 --slow-repeats 1 --together 2"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--damping", type=float, nargs="+", default=[0.5])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--slow-repeats", type=int, default=3, help="for all but clew")
    parser.add_argument(
        "--together",
        type=int,
        default=16,
        help="questions in one call of pageranks; 0 leaves this out",
    )
    chosen = parser.parse_args()
    for n in chosen.sizes:
        measure(n, chosen.damping, chosen.repeats, chosen.slow_repeats)
    if chosen.together:
        print(
            "\n| nodes | questions together | ms each | times as fast as one by one |\n|--:|--:|--:|--:|"
        )
        for n in (1000, *[size for size in chosen.sizes if size <= 100_000]):
            measure_many(n, chosen.together)


if __name__ == "__main__":
    main()
