"""Make a budgeted selection smaller without losing its optimum.

What no way within the budget reaches goes; connectors without tokens that touch are one row, since whoever has one has all of them, and
those that touch Q are part of Q; then rows without a prize that hang on one other row go, again and again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.budgeted.solve import Problem
from clew.graph import Rows, freeze

AWAY, FREE = (
    -2,
    -1,
)  # labels of rows that no choice needs, and of those that come for nothing with Q


@dataclass(frozen=True, eq=False)
class Reduced:
    """The smaller `problem`; `label` int64 [n] gives each row of the `full` one its row there, or AWAY, or FREE."""

    problem: Problem
    full: Problem
    label: NDArray[np.int64]

    def rows_of(self, rows: Any) -> Rows:
        """Return the rows of the full problem that rows of the smaller one stand for, without what is worthless and holds nothing."""
        taken = np.append(
            np.zeros(len(self.problem), np.bool_), [False, True]
        )  # label -2 is one before the last, -1 is the last
        taken[np.asarray(rows, np.int64)] = True
        return pruned(self.full, np.flatnonzero(taken[self.label]))

    def rows_in(self, rows: Any) -> Rows:
        """Return the rows of the smaller problem in which rows of the full one are contained."""
        label = np.unique(self.label[np.asarray(rows, np.int64)])
        return freeze(label[label >= 0], np.int32)


def reduced(problem: Problem) -> Reduced:
    """Return the smaller problem: the optimum of the full one is its optimum and the prizes of the rows that come for nothing."""
    from clew.algorithms.budgeted.kernels.reduction import contracted

    arrays = (
        problem.starts,
        problem.targets,
        problem.prizes,
        problem.tokens,
        problem.roots.astype(np.int64),
    )
    label, starts, targets, prizes, tokens, roots = contracted(
        *arrays, _reached(problem), AWAY, FREE
    )
    return Reduced(
        Problem(starts, targets, prizes, tokens, roots.astype(np.int32), problem.budget),
        problem,
        label,
    )


def pruned(problem: Problem, rows: Any) -> Rows:
    """Return connected rows without the leaves of a spanning tree that have no prize, again and again."""
    from clew.algorithms.budgeted.kernels.filling import without_leaves

    inside = np.zeros(len(problem), np.bool_)
    inside[np.asarray(rows, np.int64)] = True
    needed = without_leaves(
        problem.starts, problem.targets, problem.prizes, problem.roots.astype(np.int64), inside
    )
    return freeze(np.flatnonzero(needed), np.int32)


def _reached(problem: Problem) -> NDArray[np.bool_]:
    from clew.algorithms.budgeted.kernels.growth import cheapest

    nothing = np.zeros(len(problem), np.bool_)
    arrays = (
        problem.starts,
        problem.targets,
        problem.tokens.astype(np.float64),
        problem.prizes,
        problem.roots.astype(np.int64),
    )
    came: NDArray[np.int64] = cheapest(*arrays, nothing, float(problem.budget))[2]
    reached: NDArray[np.bool_] = came != AWAY
    return reached
