"""Try every connected choice that can still be better than the best known: fast where a linear programme has left little open.

By the programme's reduced prizes d, no choice x is worth more than bound - sum of |d_v| over the rows v where x goes against their sign
(reduced cost enumeration, as for the knapsack: Balas and Zemel, Oper. Res. 28, 1980). Where the bound is near the value, this leaves so
few branches that a search grown from Q, row by row, ends in microseconds; on the working graphs of real questions it replaces the
integer programme.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.budgeted.solve import Problem
from clew.graph import Floats, Rows, freeze

EFFORT = 1_000_000  # looks at a row or an edge, some milliseconds: those who need more are better served by an integer programme


def enumerated(
    problem: Problem,
    lower: Floats,
    upper: Floats,
    left: Floats,
    bound: float,
    wanted: float,
    margin: float,
    effort: int = EFFORT,
) -> tuple[Rows | None, bool]:
    """Return (the best choice worth `wanted` or more, if one was seen; whether no other is worth `margin` more, or `wanted` at all).

    Args:
        problem: n rows to choose from. lower, upper: float64 [n], 0 or 1; what a choice has at least and at most.
        left, bound: float64 [n] and a number, so that no choice x between lower and upper is worth more than `bound` - sum of |left| over
            the rows with lower < upper where x goes against its sign.
        effort: looks at a row or an edge, at most; a count, so that answers repeat.
    """
    from clew.algorithms.budgeted.kernels.enumeration import searched

    order = np.flatnonzero(upper > 0)
    order = order[
        np.argsort(-problem.prizes[order] / np.maximum(problem.tokens[order], 1e-9), kind="stable")
    ]
    asked = (
        problem.starts,
        problem.targets,
        problem.roots.astype(np.int64),
        upper,
        lower > 0,
        problem.prizes,
    )
    tokens, budget = problem.tokens.astype(np.float64), float(problem.budget)
    best, found, complete, _ = searched(
        *asked, tokens, left, order, budget, bound, wanted, margin, effort
    )
    return freeze(np.flatnonzero(best), np.int32) if found else None, bool(complete)
