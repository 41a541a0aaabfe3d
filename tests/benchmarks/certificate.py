"""How often, and how fast, a budgeted selection is proved optimal, and how far the proof is after a while.

    python -m tests.benchmarks.certificate [--nodes 20,50,100,200] [--graphs 4] [--seconds 3] [--rivals cuts,flow,lazy,cpsat]

Working graphs are a part of a graph with power-law degrees and communities: 45 in 100 rows hold 20 to 200 tokens and a prize, the others
are connectors that are free or cost 3 tokens; the budget is a quarter of all tokens. Every rival is asked in turn about each graph, with
the same limit of time; medians. The heuristic that `cuts` starts from is counted in its time. CP-SAT is compared where ortools is
installed (which highspy must not share a process with: then the rivals are asked in two runs).
"""

from __future__ import annotations

import argparse
import time
from importlib.util import find_spec

import numpy as np

from clew.algorithms.budgeted import Problem, Solution, feasible, solve
from clew.algorithms.cuts import prove

AFTER = (0.05, 0.3)  # seconds after which the gap of the cuts is looked at


def graph(n, seed, connector):
    """A working graph: power-law weights, two in three links inside a community, three roots."""
    rng = np.random.default_rng(seed)
    weight, group = (1 - rng.random(n)) ** (-1 / 1.5), rng.integers(0, max(1, n // 25), n)
    pairs = set()
    for row in range(1, n):  # held together, then about four links a row
        other = int(rng.choice(row, p=weight[:row] / weight[:row].sum()))
        pairs |= {(row, other), (other, row)}
    for _ in range(3 * n):
        a = int(rng.choice(n, p=weight / weight.sum()))
        near = weight * np.where(group == group[a], 1.0, 0.5 * (group == group[a]).mean())
        b = int(rng.choice(n, p=near / near.sum()))
        pairs |= {(a, b), (b, a)} if a != b else set()
    ordered = np.array(sorted(pairs))
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(ordered[:, 0], minlength=n), out=starts[1:])
    content = rng.random(n) < 0.45
    tokens = np.where(content, rng.integers(20, 201, n), connector)
    roots = np.sort(rng.choice(n, 3, replace=False)).astype(np.int32)
    return Problem(starts, ordered[:, 1].astype(np.int32), np.where(content, rng.random(n), 0.0), tokens, roots, int(tokens.sum() // 4))


def cuts(problem, seconds):
    """The ladder: the best heuristic, then the proof."""
    begun = time.perf_counter()
    start = solve(problem, "best")
    return prove(problem, start, 10**9, max(0.0, seconds - (time.perf_counter() - begun)))


def flow(problem, seconds):
    """The flow that defines the problem, as one integer programme."""
    from scipy.sparse import coo_array

    n, arcs = len(problem), _arcs(problem)
    into, limits = [], []
    for at, (u, v) in enumerate(arcs):
        into += [(v, n + at, 1.0)] + ([(u, n + at, -1.0)] if u >= 0 else [])
        into += [(n + 2 * at, n + at, 1.0), (n + 2 * at + 1, n + at, 1.0), (n + 2 * at + 1, v, -float(n))]
        into += [(n + 2 * at, u, -float(n))] if u >= 0 else []
        limits += [float(n) if u < 0 else 0.0, 0.0]
    into += [(v, v, -1.0) for v in range(n)] + [(n + 2 * len(arcs), v, float(problem.tokens[v])) for v in range(n)]
    row, column, value = map(np.array, zip(*into, strict=True))
    matrix = coo_array((value, (row, column)), (n + 2 * len(arcs) + 1, n + len(arcs))).tocsr()
    low, high = np.r_[np.zeros(n), np.full(2 * len(arcs) + 1, -np.inf)], np.r_[np.zeros(n), limits, problem.budget]
    whole = np.r_[np.ones(n), np.zeros(len(arcs))]
    return _milp(problem, matrix, low, high, whole, seconds)[0]


def lazy(problem, seconds):
    """Integer programmes alone, each with the cut around every island of the one before."""
    from scipy.sparse import csr_array, vstack

    n, begun = len(problem), time.perf_counter()
    near = [problem.targets[problem.starts[v] : problem.starts[v + 1]].tolist() for v in range(n)]
    matrix, high, found = csr_array(problem.tokens[None, :].astype(float)), np.array([float(problem.budget)]), None
    while True:
        left = seconds - (time.perf_counter() - begun)
        if left <= 0:
            return found or Solution(np.zeros(0, np.int32), 0.0)
        found, rows = _milp(problem, matrix, np.full(len(high), -np.inf), high, np.ones(n), left)
        if len(rows) == 0 or feasible(problem, rows):
            return found
        found = Solution(np.zeros(0, np.int32), 0.0, found.bound)
        for island in _islands(rows, near, set(problem.roots.tolist())):
            around = {other for row in island for other in near[row]} - island
            for head in island:
                one = np.zeros((1, n))
                one[0, head], one[0, list(around)] = 1.0, -1.0
                matrix, high = vstack([matrix, csr_array(one)], "csr"), np.append(high, 0.0)


def cpsat(problem, seconds):
    """CP-SAT, one worker: each chosen row hangs on a chosen one of a lower level."""
    from ortools.sat.python import cp_model

    model, n = cp_model.CpModel(), len(problem)
    x = [model.new_bool_var(f"x{v}") for v in range(n)]
    level = [model.new_int_var(1, n, f"l{v}") for v in range(n)]
    above = [[] for _ in range(n)]
    for at, (u, v) in enumerate(_arcs(problem)):
        hangs = model.new_bool_var(f"a{at}")
        above[v].append(hangs)
        if u >= 0:
            model.add_implication(hangs, x[u])
            model.add(level[v] == level[u] + 1).only_enforce_if(hangs)
    for v in range(n):
        model.add(sum(above[v]) == x[v])
    model.add(sum(int(t) * x[v] for v, t in enumerate(problem.tokens)) <= int(problem.budget))
    model.maximize(sum(round(float(p) * 1e6) * x[v] for v, p in enumerate(problem.prizes)))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds, solver.parameters.num_workers = seconds, 1
    status = solver.solve(model)
    known = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    rows = np.array([v for v in range(n) if known and solver.value(x[v])], np.int32)
    bound = solver.best_objective_bound / 1e6 + n / 1e6
    return Solution(rows, float(problem.prizes[rows].sum()), bound, status == cp_model.OPTIMAL)


RIVALS = {"cuts": cuts, "flow": flow, "lazy": lazy, "cpsat": cpsat}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--nodes", default="20,50,100,200")
    options.add_argument("--graphs", type=int, default=4)
    options.add_argument("--seconds", type=float, default=3.0)
    options.add_argument("--rivals", default="cuts,flow,lazy,cpsat")
    given = options.parse_args()
    names = given.rivals.split(",")
    if "cpsat" in names and find_spec("ortools") is None:
        print("CP-SAT is not compared: ortools is not installed.\n")
        names.remove("cpsat")
    warm = graph(20, 0, 3)
    for name in names:
        RIVALS[name](warm, 1.0)  # compiled and imported before it is timed
    print("| nodes | connectors | rival | proved | median ms | max ms | value of the best, mean | gap, median (max) |")
    print("| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    early = []
    for nodes in map(int, given.nodes.split(",")):
        for connector in (0, 3):
            found, times = ({name: [] for name in names} for _ in range(2))
            gaps = {after: [] for after in AFTER}
            for seed in range(given.graphs):
                problem = graph(nodes, seed, connector)
                for name in names:
                    begun = time.perf_counter()
                    one = RIVALS[name](problem, given.seconds)
                    times[name].append(1000 * (time.perf_counter() - begun))
                    assert feasible(problem, one.rows), name
                    found[name].append(one)
                for after in AFTER:
                    gaps[after].append(_gap(cuts(problem, after)))
                if all(found[name][-1].proved for name in names):
                    assert np.ptp([found[name][-1].value for name in names]) < 1e-4, "proofs that contradict each other"
            best = np.max([[one.value for one in found[name]] for name in names], axis=0)
            for name in names:
                ratio = np.mean([one.value for one in found[name]] / np.maximum(best, 1e-300))
                gap = [_gap(one) for one in found[name]]
                print(
                    f"| {nodes} | {connector} | {name} | {np.mean([one.proved for one in found[name]]):.2f} | {np.median(times[name]):.0f} "
                    f"| {np.max(times[name]):.0f} | {ratio:.3f} | {np.median(gap):.4f} ({np.max(gap):.4f}) |",
                    flush=True,
                )
            early.append((nodes, connector, gaps))
    print("\n| nodes | connectors |" + "".join(f" gap of the cuts after {1000 * after:.0f} ms |" for after in AFTER))
    print("| ---: | ---: |" + " ---: |" * len(AFTER))
    for nodes, connector, gaps in early:
        print(f"| {nodes} | {connector} |" + "".join(f" {np.median(gaps[a]):.4f} ({np.max(gaps[a]):.4f}) |" for a in AFTER))


def _gap(one):
    return (one.bound - one.value) / one.bound if one.bound > 0 else 0.0


def _arcs(problem):
    sources = np.repeat(np.arange(len(problem)), np.diff(problem.starts)).tolist()
    return [*zip(sources, problem.targets.tolist(), strict=True), *((-1, root) for root in problem.roots.tolist())]


def _milp(problem, matrix, low, high, whole, seconds):
    """The solution of an integer programme whose first columns choose rows, and the rows, connected or not."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = len(problem)
    options = {"time_limit": seconds, "mip_rel_gap": 0.0}
    bounds = Bounds(0, np.where(whole == 1, 1.0, np.inf))
    prizes = np.r_[problem.prizes, np.zeros(len(whole) - n)]
    found = milp(-prizes, integrality=whole.astype(int), bounds=bounds, constraints=LinearConstraint(matrix, low, high), options=options)
    rows = np.zeros(0, np.int32) if found.x is None else np.flatnonzero(found.x[:n] > 0.5).astype(np.int32)
    bound = float(problem.prizes.sum()) if found.mip_dual_bound is None else -found.mip_dual_bound
    return Solution(rows, float(problem.prizes[rows].sum()), bound, found.status == 0), rows


def _islands(rows, near, roots):
    """The connected sets of the rows that hold no root."""
    left = set(rows.tolist())
    while left:
        island, stack = set(), [left.pop()]
        while stack:
            row = stack.pop()
            island.add(row)
            new = set(near[row]) & left
            left -= new
            stack += new
        if not island & roots:
            yield island


if __name__ == "__main__":
    main()
