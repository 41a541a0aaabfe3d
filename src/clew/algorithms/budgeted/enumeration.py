"""Try every connected choice that can still be better than the best known.

By a linear programme's reduced prizes d, no choice x has a value above bound - sum of |d_v| over
the rows v where x goes against the sign of d_v (reduced cost enumeration; for the knapsack: Balas
and Zemel, Oper. Res. 28, 1980). Where the bound is near the value, few branches are left, and a
search that grows a choice from Q, row by row, ends in microseconds. On the working graphs of real
queries it replaces the integer programme.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.budgeted.problem import Problem, ProblemArrays
from clew.graph import Floats, Mask, Rows, freeze

EFFORT = (
    1_000_000  # looks at a row or an edge, some milliseconds; then an integer programme is better
)


class Enumeration(NamedTuple):
    """What the compiled search reads.

    Attributes:
        problem: the problem.
        upper: float64 [n], 0 or 1; a row of 0 is in no choice.
        required: bool [n], rows that every choice has.
        reduced: float64 [n], the reduced prizes.
        order: int64, the rows with an `upper` above 0, by falling prize per token.
        budget: tokens allowed.
        bound: no choice has a value above `bound` less the |reduced| of what it does against them.
        margin: by how much a further choice must be better than the best so far.
        effort: looks at a row or an edge, at most.
    """

    problem: ProblemArrays
    upper: Floats
    required: Mask
    reduced: Floats
    order: NDArray[np.int64]
    budget: float
    bound: float
    margin: float
    effort: int


class ReducedPrizes(NamedTuple):
    """What a linear programme proves: no choice x has a value above bound - sum of |prizes_v|.

    The sum is over the rows with lower < upper where x goes against the sign of the reduced prize.

    Attributes:
        bound: the bound.
        prizes: float64 [n], the reduced prizes.
    """

    bound: float
    prizes: Floats


def enumerate_choices(
    problem: Problem,
    limits: tuple[Floats, Floats],
    reduced: ReducedPrizes,
    min_value: float,
    margin: float,
    effort: int = EFFORT,
) -> tuple[Rows | None, bool]:
    """Return the best choice of `min_value` or more, and whether nothing better is left.

    Args:
        problem: n rows to choose from.
        limits: lower and upper, float64 [n] of 0 and 1: what a choice has at least and at most.
        reduced: what is proved of the choices within the limits.
        min_value: the least value that is looked for.
        margin: by how much a further choice must be better than the best so far.
        effort: looks at a row or an edge, at most. A count, so that answers repeat.

    Returns:
        (the choice or None, whether no other has `margin` more, or `min_value` at all).
    """
    from clew.algorithms.budgeted.kernels.enumeration import search_choices

    lower, upper = limits
    order = np.flatnonzero(upper > 0)
    density = problem.prizes[order] / np.maximum(problem.tokens[order], 1)
    order = order[np.argsort(-density, kind="stable")]
    best, is_found, is_complete, _ = search_choices(
        Enumeration(
            problem.arrays,
            upper,
            lower > 0,
            reduced.prizes,
            order,
            float(problem.budget),
            reduced.bound,
            margin,
            effort,
        ),
        min_value,
    )
    return freeze(np.flatnonzero(best), np.int32) if is_found else None, bool(is_complete)
