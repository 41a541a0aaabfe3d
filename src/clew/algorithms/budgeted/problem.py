"""The rooted budgeted node-weighted Steiner tree: the most prize in one piece for a budget.

    max  sum of prizes over S
    such that  sum of tokens over S <= budget  and  S with Q is connected

The root Q is no node of the graph: it is linked to the rows `roots`. The problem contains both the
knapsack and the Steiner tree. It is not the prize-collecting Steiner tree, which is its Lagrangian
relaxation and misses budgets between two corners of the convex hull. And it is more than "every
chosen node has a chosen neighbour": by that rule two nodes far from Q may support each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.graph import EMPTY, Floats, Mask, Rows

CLOSE = 1e-9  # a bound this near to a value, relatively, proves it


class ProblemArrays(NamedTuple):
    """A problem as the kernels take it, in this order.

    Attributes:
        starts: int64 [n + 1].
        targets: int32 [m].
        costs: float64 [n], the tokens; inf where a row must not be entered.
        prizes: float64 [n].
        roots: int64.
    """

    starts: NDArray[np.int64]
    targets: Rows
    costs: Floats
    prizes: Floats
    roots: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Problem:
    """What to choose from: an undirected simple graph of n nodes in compressed rows.

    Attributes:
        starts: int64 [n + 1].
        targets: int32 [m], each edge in both directions.
        prizes: float64 [n], >= 0.
        tokens: int64 [n], >= 0; a row of 0 tokens is free to pass.
        roots: int32, the rows linked to the root Q.
        budget: tokens allowed, >= 0.

    Example:
        Two rows in a path, the first linked to Q:

        >>> import numpy as np
        >>> problem = Problem(
        ...     np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([1.0, 2.0]),
        ...     np.array([3, 4]), np.array([0], np.int32), budget=7,
        ... )
        >>> len(problem)
        2
    """

    starts: NDArray[np.int64]
    targets: Rows
    prizes: Floats
    tokens: NDArray[np.int64]
    roots: Rows
    budget: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def arrays(self) -> ProblemArrays:
        """The problem as the kernels take it."""
        costs, roots = self.tokens.astype(np.float64), self.roots.astype(np.int64)
        return ProblemArrays(self.starts, self.targets, costs, self.prizes, roots)

    @cached_property
    def upper_bound(self) -> float:
        """A value that no feasible choice exceeds.

        It is the fractional knapsack over the rows that a path within the budget reaches.
        """
        from clew.algorithms.budgeted.kernels.growth import cheapest_paths

        nothing = np.zeros(len(self), np.bool_)
        cost, _, _ = cheapest_paths(*self.arrays, nothing, float(self.budget))
        rows = np.flatnonzero((cost <= self.budget) & (self.prizes > 0))
        free = rows[self.tokens[rows] == 0]
        paid = self.by_density(rows[self.tokens[rows] > 0])
        before = np.cumsum(self.tokens[paid]) - self.tokens[paid]
        share = np.clip((self.budget - before) / self.tokens[paid], 0, 1)
        return float(self.prizes[free].sum() + (self.prizes[paid] * share).sum())

    def by_density(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return rows that cost tokens in the order of falling prize per token."""
        return rows[np.argsort(-self.prizes[rows] / self.tokens[rows], kind="stable")]

    def mask(self, rows: ArrayLike) -> Mask:
        """Return a mask of these rows, bool [n]."""
        chosen = np.zeros(len(self), np.bool_)
        chosen[np.asarray(rows, np.int64)] = True
        return chosen

    def value(self, chosen: Mask) -> float:
        """Return the sum of the prizes of the chosen rows."""
        return float(self.prizes[chosen].sum())


@dataclass(frozen=True, eq=False)
class Solution:
    """A feasible choice.

    Attributes:
        rows: the chosen rows, ascending.
        value: the sum of their prizes.
        bound: no feasible choice has a higher value; inf if none is known.
        proved: no choice has a higher value than this one.
        work: what was done, by name.
    """

    rows: Rows
    value: float
    bound: float = np.inf
    proved: bool = False
    work: Mapping[str, object] = field(default_factory=lambda: EMPTY)


def is_feasible(problem: Problem, rows: ArrayLike) -> bool:
    """Return whether the rows are within the budget and, with Q, connected."""
    from clew.algorithms.budgeted.kernels.growth import breadth_first_tree

    chosen, (starts, targets, _, _, roots) = problem.mask(rows), problem.arrays
    if int(problem.tokens[chosen].sum()) > problem.budget:
        return False
    order, _ = breadth_first_tree(starts, targets, roots, chosen)
    return len(order) == int(chosen.sum())


def spanning_parents(problem: Problem, rows: ArrayLike) -> NDArray[np.int64]:
    """Return the parent of each of these rows in a breadth-first tree from Q over them alone.

    Args:
        problem: what the rows are chosen from.
        rows: a feasible choice.

    Returns:
        int64, one parent per row, in the order of `rows`; -1 for a child of Q.
    """
    from clew.algorithms.budgeted.kernels.growth import breadth_first_tree

    starts, targets, _, _, roots = problem.arrays
    _, parents = breadth_first_tree(starts, targets, roots, problem.mask(rows))
    own: NDArray[np.int64] = parents[np.asarray(rows, np.int64)]
    return own


def articulation_mask(problem: Problem, rows: ArrayLike) -> Mask:
    """Return which of these rows are articulation points: without them the others fall apart.

    Args:
        problem: what the rows are chosen from.
        rows: a feasible choice.

    Returns:
        bool, one per row, in the order of `rows`.
    """
    from clew.algorithms.budgeted.kernels.filling import articulation_rows

    starts, targets, _, _, roots = problem.arrays
    mask: Mask = articulation_rows(starts, targets, roots, problem.mask(rows))
    return mask[np.asarray(rows, np.int64)]
