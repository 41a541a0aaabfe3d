"""How many edges one machine holds: what each costs in bytes and seconds, up to those that fit.

    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python -m tests.benchmarks.edges --edges 1000000 10000000 100000000

A graph of entities alone, ten edges a node. One end of an edge is drawn alike from all n nodes, the other so
that the node with the most edges has 1 / sqrt(n) of these ends. Every size runs in a process of its own. "graph" is putting
arrays of ends and weights into a `clew.Graph`, "adjacency" its compressed rows with the edges behind each
slot, "walk" the probabilities that PageRank goes by. "PageRank" is of ten seeds, to 1e-6; "best 20" the rows that
a push proves to be the best; "Steiner" a tree through five terminals; "two hops" all within them of five nodes;
"components" the connected ones, by scipy. Seconds are of the processor, MB the most that the process had.

The last line says from the unit costs of the largest size what a billion edges would take: a reckoning.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from time import process_time
from typing import Any

import numpy as np

DEGREE = 10
SHAPE = 2.0  # places are drawn as u ** SHAPE


def random_ends(n: int, m: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    tails = (n * rng.random(m, np.float32).astype(np.float64) ** SHAPE).astype(np.int32)
    heads = rng.integers(0, n, m, dtype=np.int32)
    np.minimum(tails, n - 1, out=tails)
    return tails, heads


def used_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(m: int) -> dict[str, Any]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    import clew
    from clew.algorithms.pagerank import pagerank, top_pagerank
    from clew.algorithms.pagerank.full import WalkPart
    from clew.algorithms.steiner import steiner_forest
    from clew.algorithms.traversal.breadth_first import search_breadth_first
    from clew.graph import Edges

    n, row, before = max(10, m // DEGREE), {}, used_mb()
    names = tuple(map(str, range(n)))
    tails, heads = random_ends(n, m)
    weights = np.random.default_rng(1).uniform(0.1, 1, m).astype(np.float32)
    clock = process_time()

    def done(name: str, repeats: int = 1) -> None:
        nonlocal clock
        row[f"{name} s"] = round((process_time() - clock) / repeats, 3)
        row[f"{name} MB"] = round(used_mb())
        clock = process_time()

    graph = clew.Graph.of(
        names, ids=names, kinds="entity", count=len, tokens=np.ones(n, np.int32),
        edges=Edges.of("related", tails, heads, weights),
    )  # fmt: skip
    del tails, heads, weights
    done("graph")
    links = graph.links()
    done("adjacency")
    walk = graph.part(WalkPart(None))
    done("walk")
    rng = np.random.default_rng(2)
    seeds = [rng.choice(n, 10, replace=False) for _ in range(4)]
    resets = np.zeros((4, n))
    for reset, some in zip(resets, seeds, strict=True):
        reset[some] = 0.1
    pagerank(walk, resets[0], 0.5, 1e-6), top_pagerank(walk, resets[0], 20)
    clock = process_time()
    for reset in resets[1:]:
        pagerank(walk, reset, 0.5, 1e-6)
    done("PageRank", 3)
    found = [top_pagerank(walk, reset, 20) for reset in resets[1:]]
    done("best 20", 3)
    row["best 20 by"] = ", ".join(one.method for one in found)
    lengths = links.weights.astype(np.float64)
    np.subtract(1.1, lengths, out=lengths)
    steiner_forest(links, lengths, seeds[0][:5])
    clock = process_time()
    for some in seeds[1:]:
        steiner_forest(links, lengths, some[:5])
    done("Steiner", 3)
    search_breadth_first(links, seeds[0][:5], max_depth=2)
    clock = process_time()
    for some in seeds[1:]:
        reached = search_breadth_first(links, some[:5], max_depth=2)
    done("two hops", 3)
    row["reached"] = len(reached.rows)
    del lengths
    # Of links that lead both ways the strong components are the connected ones, and scipy needs no
    # second matrix for them. It reads no values: one number stands for all.
    ones = np.broadcast_to(np.float64(1), len(links.targets))
    matrix = csr_array((ones, links.targets, links.starts.astype(np.int32)), shape=(n, n))
    row["components"] = int(connected_components(matrix, connection="strong")[0])
    done("components")
    row["bytes an edge, at most"] = round((used_mb() - before) * 2**20 / m)
    return {"edges": m, "nodes": n, **row}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--edges", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--alone", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.alone:
        print(json.dumps(measure(chosen.alone)))
        return
    for m in chosen.edges:
        command = [sys.executable, "-m", "tests.benchmarks.edges", "--alone", str(m)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{m} edges: {done.stderr.strip().splitlines()[-1:]} (exit {done.returncode})")
            break
        row = json.loads(done.stdout)
        print("\n".join(f"{name:24} {value}" for name, value in row.items()), flush=True)
        print()
    else:
        times = 10**9 / m
        print(
            f"10^9 edges, reckoned: {row['bytes an edge, at most']} GB, adjacency "
            f"{row['adjacency s'] * times / 3600:.1f} h, PageRank {row['PageRank s'] * times:.0f} s a "
            f"question, best 20 by push {row['best 20 s']:.3f} s"
        )


SMOKE = "--edges 2000"


if __name__ == "__main__":
    main()
