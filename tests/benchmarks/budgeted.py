"""How near each method of budgeted selection comes to the optimum, and how long it takes.

    python -m tests.benchmarks.budgeted [--nodes 100] [--graphs 12] [--shares 0.1,0.25,0.5]

Working graphs are random with power-law degrees; 55 in 100 rows are connectors without a prize, free or paid for. The optimum is the
largest value that any method found, or the proved one where the cuts prove it. Every method is asked in turn on each graph, times are
medians. pcst_fast is compared where it is installed and solves a small problem rightly (its wheels do not with numpy 2).
"""

from __future__ import annotations

import argparse
import time
from itertools import product

import numpy as np

from clew.algorithms.budgeted import Problem, Solution, is_feasible, solve_budgeted
from clew.algorithms.budgeted.heuristics import tree

METHODS = ("greedy", "density", "local", "lagrange", "tree", "best")


def graph(n, rng, share, free):
    """A preferential-attachment graph of about 2.5 n edges with prizes, tokens, and three roots."""
    pairs, ends = set(), [0, 1]
    for row in range(1, n):
        for _ in range(min(row, int(rng.integers(1, 5)))):
            other = int(ends[rng.integers(len(ends))]) % row
            pairs |= {(row, other), (other, row)}
            ends += [row, other]
    pairs = sorted(pairs)
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount([a for a, _ in pairs], minlength=n), out=starts[1:])
    connector = rng.random(n) < 0.55
    prizes = np.where(connector, 0, rng.pareto(2.0, n) + 0.05)
    tokens = np.where(connector, 0 if free else rng.integers(1, 20, n), rng.integers(20, 200, n))
    roots = np.sort(rng.choice(n, 3, replace=False)).astype(np.int32)
    return Problem(
        starts,
        np.array([b for _, b in pairs], np.int32),
        prizes,
        tokens,
        roots,
        int(share * tokens.sum()),
    )


def by_pcst():
    """A method over pcst_fast, or None: prize-collecting trees for falling edge costs, the first that fits, then regrown."""
    try:
        from pcst_fast import pcst_fast
    except ImportError:
        return None
    rows, _ = pcst_fast(
        np.array([[0, 1], [1, 2]]),
        np.array([0.0, 5.0, 5.0]),
        np.array([1.0, 1.0]),
        0,
        1,
        "strong",
        0,
    )
    if sorted(np.asarray(rows).tolist()) != [0, 1, 2]:
        return None

    def method(problem):
        n = len(problem)
        sources = np.repeat(np.arange(n), np.diff(problem.starts))
        once = sources < problem.targets
        edges = np.concatenate(
            [
                np.stack([sources[once], problem.targets[once]], 1),
                [[n, root] for root in problem.roots],
            ]
        )
        tokens = np.append(problem.tokens, 0).astype(np.float64)
        low, high, chosen = 0.0, float(problem.prizes.max()), np.zeros(0, np.int32)
        for _ in range(25):
            price = (low + high) / 2
            costs = price * (tokens[edges[:, 0]] + tokens[edges[:, 1]]) / 2
            rows, _ = pcst_fast(
                edges, np.append(problem.prizes, problem.prizes.sum()), costs, n, 1, "strong", 0
            )
            rows = np.setdiff1d(rows, n)
            if is_feasible(problem, rows):
                high = price
                chosen = (
                    rows if problem.prizes[rows].sum() > problem.prizes[chosen].sum() else chosen
                )
            else:
                low = price
        return tree(problem, Solution(chosen.astype(np.int32), float(problem.prizes[chosen].sum())))

    return method


SMOKE = "--nodes 20 --graphs 1 --shares 0.25"


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--nodes", default="50,100,200")
    options.add_argument("--graphs", type=int, default=8)
    options.add_argument("--shares", default="0.1,0.25,0.5")
    options.add_argument("--auto", action="store_true", help="prove the optimum by cuts, too")
    given = options.parse_args()
    pcst = by_pcst()
    names = [*METHODS, *(["pcst + tree"] if pcst else []), *(["auto"] if given.auto else [])]
    asks = {
        name: (
            pcst
            if name == "pcst + tree"
            else lambda problem, name=name: solve_budgeted(problem, name)
        )
        for name in names
    }
    if pcst is None:
        print(
            "pcst_fast is not compared: it is not installed, or solves a small problem wrongly.\n"
        )
    print(
        "| nodes | method | mean of the best | worst | mean gap to the bound | median ms | proved |"
    )
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for nodes in map(int, given.nodes.split(",")):
        values, times, gaps, proved = ({name: [] for name in names} for _ in range(4))
        for seed, share, free in product(
            range(given.graphs), map(float, given.shares.split(",")), (True, False)
        ):
            problem = graph(nodes, np.random.default_rng(seed), share, free)
            for name in names:
                asks[name](problem) if not times[name] else None  # compiled before it is timed
                begun = time.perf_counter()
                found = asks[name](problem)
                times[name].append(time.perf_counter() - begun)
                assert is_feasible(problem, found.rows), name
                values[name].append(found.value)
                gaps[name].append(
                    (found.bound - found.value) / found.bound if found.bound > 0 else 0
                )
                proved[name].append(found.proved)
        best = np.max([values[name] for name in names], axis=0)
        for name in names:
            ratio = np.divide(values[name], best, out=np.ones_like(best), where=best > 0)
            print(
                f"| {nodes} | {name} | {ratio.mean():.3f} | {ratio.min():.3f} | {np.mean(gaps[name]):.3f} "
                f"| {1000 * np.median(times[name]):.1f} | {np.mean(proved[name]):.2f} |"
            )


if __name__ == "__main__":
    main()
