"""Make a budgeted selection smaller without losing its optimum.

What no way within the budget reaches goes; connectors without tokens that touch are one row, since whoever has one has all of them, and
those that touch Q are part of Q; then rows without a prize that hang on one other row go, again and again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.budgeted import Problem
from clew.graph import Rows, frozen

AWAY, FREE = -2, -1  # labels of rows that no choice needs, and of those that come for nothing with Q


@dataclass(frozen=True, eq=False)
class Reduced:
    """The smaller `problem`; `label` int64 [n] gives each row of the `full` one its row there, or AWAY, or FREE."""

    problem: Problem
    full: Problem
    label: NDArray[np.int64]

    def rows_of(self, rows: Any) -> Rows:
        """Return the rows of the full problem that rows of the smaller one stand for, without what is worthless and holds nothing."""
        taken = np.append(np.zeros(len(self.problem), np.bool_), [False, True])  # label -2 is one before the last, -1 is the last
        taken[np.asarray(rows, np.int64)] = True
        return pruned(self.full, np.flatnonzero(taken[self.label]))

    def rows_in(self, rows: Any) -> Rows:
        """Return the rows of the smaller problem in which rows of the full one are contained."""
        label = np.unique(self.label[np.asarray(rows, np.int64)])
        return frozen(label[label >= 0], np.int32)


def reduced(problem: Problem) -> Reduced:
    """Return the smaller problem: the optimum of the full one is its optimum and the prizes of the rows that come for nothing."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(problem)
    sources = np.repeat(np.arange(n), np.diff(problem.starts))
    targets = problem.targets.astype(np.int64)
    near = _reached(problem)
    free = near & (problem.tokens == 0)
    both = free[sources] & free[targets]
    _, part = connected_components(coo_array((np.ones(both.sum()), (sources[both], targets[both])), (n, n)), directed=False)
    with_q = np.zeros(n + 1, np.bool_)
    with_q[part[problem.roots[free[problem.roots]]]] = True
    for_nothing = free & with_q[part]
    is_root = np.zeros(n, np.bool_)
    is_root[problem.roots] = True
    is_root[targets[for_nothing[sources]]] = True
    kept = near & ~for_nothing
    label = np.full(n, AWAY)
    _, label[kept] = np.unique(part[kept], return_inverse=True)
    count = int(label.max(initial=-1)) + 1
    inside = kept[sources] & kept[targets]
    ends = np.unique(np.stack([label[sources[inside]], label[targets[inside]]], 1), axis=0)
    ends = ends[ends[:, 0] != ends[:, 1]]
    prizes, tokens, roots = np.zeros(count), np.zeros(count, np.int64), np.zeros(count, np.bool_)
    np.add.at(prizes, label[kept], problem.prizes[kept])
    np.add.at(tokens, label[kept], problem.tokens[kept])
    roots[label[kept & is_root]] = True
    stay = _without_leaves(ends, prizes > 0, roots)
    place = np.where(stay, np.cumsum(stay) - 1, AWAY)
    label[kept] = place[label[kept]]
    label[for_nothing] = FREE
    ends = place[ends[stay[ends].all(axis=1)]]
    starts = np.zeros(stay.sum() + 1, np.int64)
    np.cumsum(np.bincount(ends[:, 0], minlength=int(stay.sum())), out=starts[1:])
    smaller = Problem(
        starts, ends[:, 1].astype(np.int32), prizes[stay], tokens[stay], np.flatnonzero(roots[stay]).astype(np.int32), problem.budget
    )
    return Reduced(smaller, problem, label)


def pruned(problem: Problem, rows: Any) -> Rows:
    """Return connected rows without the leaves of a spanning tree that have no prize, again and again."""
    from clew.algorithms.kernels.filling import without_leaves

    inside = np.zeros(len(problem), np.bool_)
    inside[np.asarray(rows, np.int64)] = True
    needed = without_leaves(problem.starts, problem.targets, problem.prizes, problem.roots.astype(np.int64), inside)
    return frozen(np.flatnonzero(needed), np.int32)


def _reached(problem: Problem) -> NDArray[np.bool_]:
    from clew.algorithms.kernels.budgeted import cheapest

    nothing = np.zeros(len(problem), np.bool_)
    arrays = (problem.starts, problem.targets, problem.tokens.astype(np.float64), problem.prizes, problem.roots.astype(np.int64))
    came: NDArray[np.int64] = cheapest(*arrays, nothing, float(problem.budget))[2]
    reached: NDArray[np.bool_] = came != AWAY
    return reached


def _without_leaves(ends: NDArray[np.int64], worth: NDArray[np.bool_], roots: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows stay when those without worth and with less than two links, one to Q counted, go again and again."""
    stay = np.ones(len(worth), np.bool_)
    while True:
        alive = stay[ends].all(axis=1)
        links = np.bincount(ends[alive, 0], minlength=len(worth)) + roots
        going = stay & ~worth & (links < 2)
        if not going.any():
            return stay
        stay &= ~going
