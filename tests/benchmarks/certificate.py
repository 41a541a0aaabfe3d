"""How often, and how fast, a budgeted selection is proved optimal, and how near the heuristic comes without a proof.

    python -m tests.benchmarks.certificate [--nodes 50,100,200] [--graphs 20] [--rivals priced,best,cuts,flow] [--bundle FOLDER ...]

Working graphs are made at random, half with free connectors and half with dear ones, and, of every benchmark folder that is named, those
of its first questions; see `working_graphs`. Every rival is asked in turn about each graph, with the same limit of seconds; times are
processor time, and a rival that ran into the limit counts with what it took. `best` is the default heuristic, which `cuts` starts from
and whose time is counted in that of `cuts`. CP-SAT is compared where ortools is installed (which highspy must not share a process with:
then the rivals are asked in two runs). The optimum is a proved value; no bound of ours may be below it, nor one of a proof cut short.
"""

from __future__ import annotations

import argparse
from functools import partial
from importlib.util import find_spec
from time import perf_counter, process_time

import numpy as np

from clew.algorithms.budgeted import METHODS, Solution, is_feasible, prove, solve_budgeted
from tests.benchmarks.working_graphs import Real, generated

CUT_SHORT = (1, 2, 4)  # linear programmes after which a bound is looked at


def cuts(problem, seconds):
    """The ladder: the best heuristic, then the proof."""
    begun = perf_counter()
    start = solve_budgeted(problem, "best")
    return prove(problem, start, 10**9, max(0.0, seconds - (perf_counter() - begun)))


def flow(problem, seconds):
    """The flow that defines the problem, as one integer programme."""
    from scipy.sparse import coo_array

    n, arcs = len(problem), _arcs(problem)
    into, limits = [], []
    for at, (u, v) in enumerate(arcs):
        into += [(v, n + at, 1.0)] + ([(u, n + at, -1.0)] if u >= 0 else [])
        into += [
            (n + 2 * at, n + at, 1.0),
            (n + 2 * at + 1, n + at, 1.0),
            (n + 2 * at + 1, v, -float(n)),
        ]
        into += [(n + 2 * at, u, -float(n))] if u >= 0 else []
        limits += [float(n) if u < 0 else 0.0, 0.0]
    into += [(v, v, -1.0) for v in range(n)] + [
        (n + 2 * len(arcs), v, float(problem.tokens[v])) for v in range(n)
    ]
    row, column, value = map(np.array, zip(*into, strict=True))
    matrix = coo_array((value, (row, column)), (n + 2 * len(arcs) + 1, n + len(arcs))).tocsr()
    low, high = (
        np.r_[np.zeros(n), np.full(2 * len(arcs) + 1, -np.inf)],
        np.r_[np.zeros(n), limits, problem.budget],
    )
    whole = np.r_[np.ones(n), np.zeros(len(arcs))]
    return _milp(problem, matrix, low, high, whole, seconds)[0]


def lazy(problem, seconds):
    """Integer programmes alone, each with the cut around every island of the one before."""
    from scipy.sparse import csr_array, vstack

    n, begun = len(problem), perf_counter()
    near = [problem.targets[problem.starts[v] : problem.starts[v + 1]].tolist() for v in range(n)]
    matrix, high, found = (
        csr_array(problem.tokens[None, :].astype(float)),
        np.array([float(problem.budget)]),
        None,
    )
    while True:
        left = seconds - (perf_counter() - begun)
        if left <= 0:
            return found or Solution(np.zeros(0, np.int32), 0.0)
        found, rows = _milp(problem, matrix, np.full(len(high), -np.inf), high, np.ones(n), left)
        if len(rows) == 0 or is_feasible(problem, rows):
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


RIVALS = {"cuts": cuts, "flow": flow, "lazy": lazy, "cpsat": cpsat} | {
    name: (lambda problem, _, name=name: solve_budgeted(problem, name)) for name in METHODS
}


SMOKE = (
    "--nodes 20 --graphs 2 --seconds 3 --rivals priced,best,cuts,flow,lazy,cpsat --bundle {folder}"
)


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--nodes", default="50,100,200")
    options.add_argument("--graphs", type=int, default=20, help="of each source and size")
    options.add_argument("--seconds", type=float, default=30.0)
    options.add_argument("--rivals", default="priced,best,cuts,flow")
    options.add_argument(
        "--bundle", nargs="*", default=[], help="benchmark folders, as `clew measure` reads them"
    )
    options.add_argument(
        "--alone", action="store_true", help="link a question to its best terminal only"
    )
    given = options.parse_args()
    names = given.rivals.split(",")
    if "cpsat" in names and find_spec("ortools") is None:
        print("CP-SAT is not compared: ortools is not installed.\n")
        names.remove("cpsat")
    sources = {"generated": lambda nodes, i: generated(nodes, i, 3 * (i % 2))}
    for folder in given.bundle:
        real = Real(folder)
        sources[real.name] = partial(real.problem, alone=given.alone)
    for name, seed in ((name, seed) for name in names for seed in range(6)):
        RIVALS[name](
            generated(40, 100 + seed, 3 * (seed % 2)), 3.0
        )  # compiled and imported before it is timed
    print(
        "| graphs | nodes | edges | rival | proved | median ms | max | of optimum, mean (worst) | gap, median (max) | bounds too low |"
    )
    print("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for source, problem_of in sources.items():
        for nodes in map(int, given.nodes.split(",")):
            for row in compared(
                [problem_of(nodes, i) for i in range(given.graphs)], names, given.seconds
            ):
                print(f"| {source} | {row}", flush=True)


def compared(problems, names, seconds):
    """The rows of the table for some problems."""
    found, times = ({name: [] for name in names} for _ in range(2))
    early = []
    for problem in problems:
        for name in names:
            begun = process_time()
            found[name].append(RIVALS[name](problem, seconds))
            times[name].append(1000 * (process_time() - begun))
            assert is_feasible(problem, found[name][-1].rows), name
        early.append(
            [
                problem.upper_bound,
                *(
                    prove(problem, solve_budgeted(problem, "greedy"), work).bound
                    for work in CUT_SHORT
                ),
            ]
        )
    proved = [
        [one.value for one in some if one.proved] for some in zip(*found.values(), strict=True)
    ]
    assert all(np.ptp(values) < 1e-4 for values in proved if values), (
        "proofs that contradict each other"
    )
    best = np.array([max(one.value for one in some) for some in zip(*found.values(), strict=True)])
    optimum = np.array(
        [max(values) if values else top for values, top in zip(proved, best, strict=True)]
    )
    size = f"{np.mean([len(p) for p in problems]):.0f} | {np.mean([len(p.targets) / 2 for p in problems]):.0f}"
    for name in names:
        ratio = np.array([one.value for one in found[name]]) / np.maximum(optimum, 1e-300)
        gap = [_gap(one) for one in found[name]]
        low = sum(
            one.bound < top * (1 - 1e-9) for one, top in zip(found[name], optimum, strict=True)
        )
        took = f"{np.median(times[name]):.1f} | {np.max(times[name]):.0f}"
        far = f"{ratio.mean():.4f} ({ratio.min():.4f}) | {np.median(gap):.4f} ({np.max(gap):.4f})"
        yield f"{size} | {name} | {np.mean([one.proved for one in found[name]]):.2f} | {took} | {far} | {low} |"
    low = sum(
        bound < top * (1 - 1e-9) for some, top in zip(early, optimum, strict=True) for bound in some
    )
    yield f"{size} | without search, cut short after {', '.join(map(str, CUT_SHORT))} | | | | | | {low} of {len(early) * len(early[0])} |"


def _gap(one):
    return (one.bound - one.value) / one.bound if one.bound > 0 else 0.0


def _arcs(problem):
    sources = np.repeat(np.arange(len(problem)), np.diff(problem.starts)).tolist()
    return [
        *zip(sources, problem.targets.tolist(), strict=True),
        *((-1, root) for root in problem.roots.tolist()),
    ]


def _milp(problem, matrix, low, high, whole, seconds):
    """The solution of an integer programme whose first columns choose rows, and the rows, connected or not."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = len(problem)
    options = {"time_limit": seconds, "mip_rel_gap": 0.0}
    bounds = Bounds(0, np.where(whole == 1, 1.0, np.inf))
    prizes = np.r_[problem.prizes, np.zeros(len(whole) - n)]
    found = milp(
        -prizes,
        integrality=whole.astype(int),
        bounds=bounds,
        constraints=LinearConstraint(matrix, low, high),
        options=options,
    )
    rows = (
        np.zeros(0, np.int32)
        if found.x is None
        else np.flatnonzero(found.x[:n] > 0.5).astype(np.int32)
    )
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
