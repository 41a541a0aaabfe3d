"""Fast heuristics for a budgeted connected choice: nearly optimal in milliseconds, without a proof.

No algorithm is both fast and always right: Moss and Rabani (SIAM J. Comput. 37, 2007) and their
followers prove logarithmic ratios. `clew.algorithms.budgeted.solve` continues with a proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.budgeted.knapsack import best_subtree, profitable_subtree
from clew.algorithms.budgeted.problem import CLOSE, Problem, Solution, is_feasible
from clew.deadline import OutOfTime, current
from clew.graph import Mask, freeze

ROUNDS = 30  # exchanges that `local` tries, and trees that `tree` grows, at most
MIN_SHARE = 0.05  # of its tokens, at least, is what a row costs on a path where its prize pays


def greedy(problem: Problem) -> Solution:
    """Add the linked row of most prize per token while one fits.

    It gets stuck before a connector without a prize: a baseline only.
    """
    from clew.algorithms.budgeted.kernels.growth import add_neighbours

    chosen = add_neighbours(*problem.arrays, float(problem.budget))
    return _solution(problem, chosen, {"method": "greedy"})


def density(problem: Problem) -> Solution:
    """Add the cheapest path, whole, to the row where it gains most per token, while one fits.

    Then prune, and fill what that frees. The single path of most gain is a second start, as in
    budgeted coverage: an expensive row of high prize is not missed for many cheap ones.
    """
    from clew.algorithms.budgeted.kernels.growth import cheapest_paths

    nothing = np.zeros(len(problem), np.bool_)
    chosen, paths = _fill(problem, nothing)
    _, gain, parents = cheapest_paths(*problem.arrays, nothing, float(problem.budget))
    if len(problem) and gain.max() > 0:
        single, row = nothing.copy(), int(np.argmax(gain))
        while row >= 0:
            single[row] = True
            row = int(parents[row])
        other, more = _fill(problem, single)
        if problem.value(other) > problem.value(chosen):
            chosen = other
        paths += more
    return _solution(problem, chosen, {"method": "density", "ways": paths})


def local(problem: Problem, start: Solution | None = None, rounds: int = ROUNDS) -> Solution:
    """Drop a row that holds no other, forbid it, fill again, and accept what is better.

    Args:
        problem: what to choose from.
        start: a feasible choice; None for that of `density`.
        rounds: greatest number of rows that are dropped.

    Raises:
        ValueError: a start that is not feasible.
    """
    from clew.algorithms.budgeted.kernels.filling import exchange_rows

    start = density(problem) if start is None else start
    current().check()
    chosen = _start_mask(problem, start)
    chosen, tries = exchange_rows(*problem.arrays, chosen, float(problem.budget), rounds, CLOSE)
    return _solution(problem, chosen, {**start.work, "method": "local", "tries": tries})


def tree(problem: Problem, start: Solution | None = None) -> Solution:
    """Solve the knapsack exactly on the tree of cheapest paths, and regrow the tree around it.

    In a regrown tree the rows chosen so far cost nothing to enter. So it keeps them together, and
    its knapsack is worth no less. It ends when that betters nothing.

    Args:
        problem: what to choose from.
        start: a feasible choice; None for no rows.

    Raises:
        ValueError: a start that is not feasible.
    """
    nothing = np.zeros(len(problem), np.bool_)
    chosen = nothing if start is None else _start_mask(problem, start)
    trees = 0
    while trees < ROUNDS:
        current().check()
        trees += 1
        parents = _path_tree(problem, chosen)
        best, unit = best_subtree(parents, problem.prizes, problem.tokens, problem.budget)
        other, _ = _fill(problem, best)
        if problem.value(other) <= problem.value(chosen) * (1 + CLOSE):
            break
        chosen = other
    return _solution(problem, chosen, {"method": "tree", "trees": trees, "token unit": unit})


def priced(problem: Problem) -> Solution:
    """As `tree`, but in the first tree a row costs only what its prize does not pay for.

    A token has the price that the last one earns in the fractional knapsack of all rows. So paths
    lead over rows that are worth taking.
    """
    from clew.algorithms.budgeted.kernels.growth import cheapest_paths

    starts, targets, tokens, prizes, roots = problem.arrays
    paid = problem.by_density(np.flatnonzero((prizes > 0) & (problem.tokens > 0)))
    if not len(paid):
        best = tree(problem)
        return replace(best, work={**best.work, "method": "priced"})
    last = paid[min(int(np.searchsorted(np.cumsum(tokens[paid]), problem.budget)), len(paid) - 1)]
    owed = np.maximum(MIN_SHARE * tokens, tokens - prizes * tokens[last] / prizes[last])
    nothing = np.zeros(len(problem), np.bool_)
    parents = cheapest_paths(starts, targets, owed, prizes, roots, nothing, np.inf)[2]
    chosen, _ = best_subtree(parents, prizes, problem.tokens, problem.budget)
    chosen, _ = _fill(problem, chosen)
    rows = np.flatnonzero(chosen).astype(np.int32)
    best = tree(problem, Solution(rows, problem.value(chosen)))
    return replace(best, work={**best.work, "method": "priced"})


def lagrange(problem: Problem, steps: int = ROUNDS) -> Solution:
    """Price a token at lambda, take what pays from the tree of cheapest paths, and bisect lambda.

    What is left of the budget is filled.

    Args:
        problem: what to choose from.
        steps: number of prices that are tried.
    """
    chosen = np.zeros(len(problem), np.bool_)
    parents, tokens = _path_tree(problem, chosen), problem.arrays.costs
    low, high = 0.0, 2 * float(problem.prizes.sum())
    for step in range(steps):
        current().check()
        price = high if step == 0 else (low + high) / 2
        paying = profitable_subtree(parents, problem.prizes, tokens, price)
        if problem.tokens[paying].sum() > problem.budget:
            low = price
            continue
        high = price
        if problem.value(paying) >= problem.value(chosen):
            chosen = paying
    chosen, _ = _fill(problem, chosen)
    return _solution(problem, chosen, {"method": "lagrange", "steps": steps})


def best_of(problem: Problem) -> Solution:
    """Return the best of `density`, `tree` and `priced`, improved by `local` and then by `tree`.

    It is no worse than any of them, and the best so far where the deadline passes.
    """
    solutions = [density(problem)]
    with suppress(OutOfTime):  # then the best so far is the best
        solutions += [tree(problem), priced(problem)]
        first = max(solutions, key=lambda solution: solution.value)  # the first of equals
        solutions.append(local(problem, first))
        if solutions[-1].value > first.value or first is solutions[0]:  # else it is regrown already
            solutions.append(tree(problem, solutions[-1]))
    best = max(solutions, key=lambda solution: solution.value)
    values = {
        f"{place}. {solution.work['method']}": solution.value
        for place, solution in enumerate(solutions, 1)
    }
    return replace(best, work={**best.work, "values": values})


def _start_mask(problem: Problem, start: Solution) -> Mask:
    """Return the rows to start from, if they are feasible."""
    if not is_feasible(problem, start.rows):
        spent = int(problem.tokens[start.rows].sum())
        raise ValueError(
            "the start must be connected with Q and within the budget of"
            f" {problem.budget} tokens; it has {spent}"
        )
    return problem.mask(start.rows)


def _fill(problem: Problem, chosen: Mask) -> tuple[Mask, int]:
    """Prune, and add paths by density, until neither changes anything; return also how many."""
    from clew.algorithms.budgeted.kernels.filling import NO_ROW, prune_and_fill

    mask, paths = prune_and_fill(*problem.arrays, chosen, float(problem.budget), NO_ROW)
    return mask, paths


def _path_tree(problem: Problem, chosen: Mask) -> NDArray[np.int64]:
    """Return the tree of cheapest paths, in which the chosen rows cost nothing, as parents.

    Rows beyond the budget are left out.
    """
    from clew.algorithms.budgeted.kernels.growth import cheapest_paths

    starts, targets, costs, prizes, roots = problem.arrays
    costs, nothing = np.where(chosen, 0.0, costs), np.zeros(len(problem), np.bool_)
    budget = float(problem.budget)
    parents: NDArray[np.int64]
    _, _, parents = cheapest_paths(starts, targets, costs, prizes, roots, nothing, budget)
    return parents


def _solution(problem: Problem, chosen: Mask, work: Mapping[str, object]) -> Solution:
    """Prune the choice, and bound its value by the fractional knapsack."""
    from clew.algorithms.budgeted.kernels.filling import prune

    chosen = prune(*problem.arrays, chosen)
    value, bound = problem.value(chosen), problem.upper_bound
    return Solution(
        freeze(np.flatnonzero(chosen), np.int32),
        value,
        max(bound, value),
        bound <= value * (1 + CLOSE),
        {**work, "bound": "fractional knapsack"},
    )
