"""Solve a budgeted connected choice: the best of the heuristics first, then a proof by cuts.

The problem is in `clew.algorithms.budgeted.problem`, the heuristics in `heuristics`, the proof in
`cuts`.
"""

from __future__ import annotations

from collections.abc import Callable

from clew.algorithms.budgeted.cuts import prove
from clew.algorithms.budgeted.heuristics import (
    best_of,
    density,
    greedy,
    lagrange,
    local,
    priced,
    tree,
)
from clew.algorithms.budgeted.problem import Problem, Solution

WORK = 24  # linear programmes that `solve_budgeted` may spend on a proof

METHODS: dict[str, Callable[[Problem], Solution]] = {
    "best": best_of,
    "greedy": greedy,
    "density": density,
    "local": local,
    "tree": tree,
    "priced": priced,
    "lagrange": lagrange,
}


def solve_budgeted(
    problem: Problem, method: str = "auto", work: int = WORK, deadline: float | None = None
) -> Solution:
    """Return a choice of high value, by one method or by all of them and a proof.

    Args:
        problem: what to choose from.
        method: "auto" (the best of the heuristics, then cuts until it is proved or the work is
            done), "best" (the heuristics alone), "greedy", "density", "local", "tree", "priced" or
            "lagrange".
        work: linear programmes at most, and what integer ones count, see
            `clew.algorithms.budgeted.cuts.prove`. A count, so that answers repeat.
        deadline: seconds for the proof; None for no limit. `Solution.work` says where it cut short.

    Raises:
        ValueError: an unknown method.

    Example:
        >>> import numpy as np
        >>> problem = Problem(
        ...     np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([1.0, 2.0]),
        ...     np.array([3, 4]), np.array([0], np.int32), budget=7,
        ... )
        >>> solution = solve_budgeted(problem)
        >>> solution.rows.tolist(), solution.value, solution.proved
        ([0, 1], 3.0, True)
    """
    if method != "auto":
        if method not in METHODS:
            raise ValueError(f"unknown method {method!r}; known: {', '.join(('auto', *METHODS))}")
        return METHODS[method](problem)
    best = best_of(problem)
    if best.proved or work < 1:
        return best
    return prove(problem, best, work, deadline)
