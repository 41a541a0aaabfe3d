"""Make a budgeted problem smaller without losing its optimum.

- Rows that no path within the budget reaches are removed.
- Adjacent rows without tokens become one row, since whoever has one of them has all for free. Those
  adjacent to Q become part of Q.
- Rows without a prize and with one neighbour only are removed, again and again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.algorithms.budgeted.problem import Problem
from clew.graph import Mask, Rows, freeze

REMOVED, PART_OF_ROOT = -2, -1  # labels of rows without a row in the smaller problem


@dataclass(frozen=True, eq=False)
class ReducedProblem:
    """A smaller problem and how it belongs to the full one.

    Attributes:
        problem: the smaller problem.
        full: the full problem.
        label: int64 [n], the row of the smaller problem for each row of the full one; `REMOVED` if
            no choice needs it, `PART_OF_ROOT` if it is free with Q.
    """

    problem: Problem
    full: Problem
    label: NDArray[np.int64]

    def to_full(self, rows: ArrayLike) -> Rows:
        """Return the full problem's rows for a choice of the smaller one, pruned."""
        # REMOVED = -2 indexes the place before the last, PART_OF_ROOT = -1 the last.
        chosen = np.append(np.zeros(len(self.problem), np.bool_), [False, True])
        chosen[np.asarray(rows, np.int64)] = True
        return prune(self.full, np.flatnonzero(chosen[self.label]))


def reduce_problem(problem: Problem) -> ReducedProblem:
    """Return the smaller problem.

    The full problem's optimum is the smaller one's plus the prizes of the rows that are free with
    Q.
    """
    from clew.algorithms.budgeted.kernels.reduction import contract

    starts, targets, _, prizes, root_rows = problem.arrays
    label, starts, targets, prizes, tokens, roots = contract(
        starts,
        targets,
        prizes,
        problem.tokens,
        root_rows,
        _reached(problem),
        (REMOVED, PART_OF_ROOT),
    )
    smaller = Problem(starts, targets, prizes, tokens, roots.astype(np.int32), problem.budget)
    return ReducedProblem(smaller, problem, label)


def prune(problem: Problem, rows: ArrayLike) -> Rows:
    """Return connected rows without leaves that have no prize, removed again and again."""
    from clew.algorithms.budgeted.kernels.filling import drop_leaves

    starts, targets, _, prizes, roots = problem.arrays
    needed = drop_leaves(starts, targets, prizes, roots, problem.mask(rows))
    return freeze(np.flatnonzero(needed), np.int32)


def _reached(problem: Problem) -> Mask:
    """Return which rows a path within the budget reaches."""
    from clew.algorithms.budgeted.kernels.growth import NO_PARENT, cheapest_paths

    nothing = np.zeros(len(problem), np.bool_)
    _, _, parents = cheapest_paths(*problem.arrays, nothing, float(problem.budget))
    reached: Mask = parents != NO_PARENT
    return reached
