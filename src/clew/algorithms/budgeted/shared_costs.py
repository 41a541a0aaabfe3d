"""A budgeted connected choice in which rows share costs: a heading is printed once for its rows.

    max  sum of prizes over S
    such that  S with Q is connected  and
               sum of tokens over S + sum of the costs of the groups that S meets  <=  budget

`clew.algorithms.budgeted.solve` knows tokens of rows alone. It is the oracle of a branch and bound:

- A group's cost is divided among its rows. Whatever the division, a choice that meets the group
  pays at most the cost, so the relaxed optimum is a bound (a Lagrangian one; the best division
  gives that of the linear programme). The cost is divided among the rows that the best choice so
  far takes, which pays exactly its cost then.
- Where the relaxed optimum pays less than a group costs, two problems follow: in one the group is
  paid for in advance and its rows come without it, in the other its rows are forbidden.
- A choice is feasible if every row outside the groups paid for in advance pays its group's whole
  cost. Such choices are the incumbents.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.budgeted.problem import CLOSE, Problem, Solution
from clew.algorithms.budgeted.solve import WORK, solve_budgeted
from clew.deadline import OutOfTime, current
from clew.graph import freeze

NO_GROUP = -1
MAX_REPAIRS = 3  # choices in which the groups of the one before are paid for in advance

Tokens = NDArray[np.int64]
Groups = frozenset[int]


@dataclass(frozen=True, eq=False)
class SharedCosts:
    """Costs that are paid once for all rows of a group.

    Attributes:
        groups: int64 [n], the group of every row; -1 for a row without one.
        tokens: int64 [g], >= 0, what each group costs.

    Example:
        >>> shared = SharedCosts(np.array([0, 0, -1]), np.array([5]))
        >>> shared.paid([0, 1]), shared.paid([2])
        (5, 0)
    """

    groups: Tokens
    tokens: Tokens

    def met(self, rows: NDArray[np.integer] | list[int]) -> Groups:
        """Return the groups of some rows."""
        groups = self.groups[np.asarray(rows, np.int64)]
        return frozenset(groups[groups >= 0].tolist())

    def paid(self, rows: NDArray[np.integer] | list[int]) -> int:
        """Return what the groups of some rows cost."""
        return sum(int(self.tokens[group]) for group in self.met(rows))


def solve_with_shared_costs(
    problem: Problem,
    shared: SharedCosts,
    method: str = "auto",
    work: int = WORK,
    deadline: float | None = None,
) -> Solution:
    """Return a choice of high value within the budget, shared costs included, and a bound.

    Args:
        problem: what to choose from; its tokens are those of the rows alone.
        shared: what rows cost together.
        method: as in `solve_budgeted`. Any but "auto" bounds the value by a fractional knapsack.
        work: linear programmes of all oracles together, at most.
        deadline: seconds for all proofs together; None for no limit.

    Raises:
        ValueError: an unknown method.

    Example:
        Two rows under one heading of 3 tokens: both fit in 7, since the heading is paid once.

        >>> problem = Problem(
        ...     np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([1.0, 2.0]),
        ...     np.array([2, 2]), np.array([0], np.int32), budget=7,
        ... )
        >>> shared = SharedCosts(np.array([0, 0]), np.array([3]))
        >>> solution = solve_with_shared_costs(problem, shared)
        >>> solution.rows.tolist(), solution.bound
        ([0, 1], 3.0)
    """
    sizes = np.bincount(shared.groups[shared.groups >= 0], minlength=len(shared.tokens))
    if sizes.max(initial=0) < 2:
        alone = replace(problem, tokens=problem.tokens + _whole_costs(shared))
        return solve_budgeted(alone, method, work, deadline)
    search = _Search(problem, shared, method, work, deadline)
    search.find_feasible()
    try:
        search.branch()
    except OutOfTime:
        search.bound = problem.upper_bound
    return search.solution()


@dataclass(frozen=True, eq=False)
class _Branch:
    """A part of the choices: some groups are paid for in advance, some are forbidden."""

    opened: Groups
    closed: Groups

    def with_opened(self, group: int) -> _Branch:
        return _Branch(self.opened | {group}, self.closed)

    def with_closed(self, group: int) -> _Branch:
        return _Branch(self.opened, self.closed | {group})


class _Search:
    """The branch and bound: the best choice so far, and what is left to look at."""

    def __init__(
        self,
        problem: Problem,
        shared: SharedCosts,
        method: str,
        work: int,
        deadline: float | None,
    ) -> None:
        self.problem, self.shared, self.method = problem, shared, method
        self.work, self.deadline = work, deadline
        self.start_time = time.monotonic()
        self.whole = _whole_costs(shared)
        self.best = Solution(freeze([], np.int32), 0.0)
        self.bound = np.inf
        self.oracles = 0
        self.notes: Mapping[str, object] = {}

    def find_feasible(self) -> None:
        """Offer choices of a fast method, each with the groups of the one before paid for."""
        method = "best" if self.method == "auto" else self.method
        opened: Groups = frozenset()
        for _ in range(1 + MAX_REPAIRS):
            solution = self._solve_feasibly(opened, method)
            groups = self.shared.met(solution.rows)
            if not self._offer(solution.rows) or groups == opened:
                break
            opened = groups

    def branch(self) -> None:
        """Bound the choices part by part, the part with the highest bound first."""
        numbers = count()
        heap = [(-self.problem.upper_bound, next(numbers), _Branch(frozenset(), frozenset()))]
        finished = 0.0  # the highest bound of the parts that are not divided further
        while heap:
            current().check()
            highest = max(-heap[0][0], finished)
            is_spent = self.oracles > 0 and (self.method != "auto" or self._is_spent())
            if is_spent or highest <= max(finished, self.best.value * (1 + CLOSE)):
                self.bound = highest
                return
            negative, _, part = heapq.heappop(heap)
            shares = self._shares(part)
            solution = self._solve_relaxed(part, shares)
            if solution is None:
                continue
            bound = min(-negative, solution.bound)
            group = self._most_underpaid(part, solution, shares)
            if group is None:  # it is within the budget: the rest of the gap is the oracle's
                self._offer(solution.rows)
                finished = max(finished, bound)
                continue
            self._offer(self._solve_feasibly(self.shared.met(solution.rows), "density").rows)
            for child in (part.with_opened(group), part.with_closed(group)):
                heapq.heappush(heap, (-bound, next(numbers), child))
        self.bound = finished

    def solution(self) -> Solution:
        """Return the best choice and what is proved of it."""
        bound = max(self.bound, self.best.value)
        proved = bound <= self.best.value * (1 + CLOSE)
        work = {**self.notes, "oracles": self.oracles, "shared costs": len(self.shared.tokens)}
        return replace(self.best, bound=bound, proved=proved, work=work)

    def _solve_relaxed(self, part: _Branch, shares: Tokens) -> Solution | None:
        """Return the best choice of a part where groups that are undecided are paid for in shares.

        Returns None where the groups that are paid for in advance exceed the budget.
        """
        shared, problem = self.shared, self.problem
        budget = problem.budget - sum(int(shared.tokens[group]) for group in part.opened)
        if budget < 0:
            return None
        tokens = problem.tokens + shares
        tokens[np.isin(shared.groups, list(part.closed))] = budget + 1
        relaxed = replace(problem, tokens=tokens, budget=budget)
        solution = solve_budgeted(relaxed, self.method, max(0, self.work), self._seconds())
        self.oracles += 1
        spent = solution.work.get("spent")
        self.work -= max(1, spent if isinstance(spent, int) else 0)
        self.notes = solution.work
        return solution

    def _shares(self, part: _Branch) -> Tokens:
        """Return each row's share of its group's cost: of the rows of the best choice, or of all.

        The shares of a group add up to its cost at most.
        """
        shared = self.shared
        shares = np.zeros(len(self.problem), np.int64)
        chosen = self.problem.mask(self.best.rows)
        for group, cost in enumerate(shared.tokens.tolist()):
            if group in part.opened or group in part.closed:
                continue
            rows = np.flatnonzero(shared.groups == group)
            if chosen[rows].any():
                rows = rows[chosen[rows]]
            share, rest = divmod(cost, max(1, len(rows)))
            shares[rows] = share
            shares[rows[:rest]] += 1
        return shares

    def _most_underpaid(self, part: _Branch, solution: Solution, shares: Tokens) -> int | None:
        """Return the group that a relaxed choice leaves most of unpaid; None if the choice fits."""
        deficits = {
            group: int(self.shared.tokens[group])
            - int(shares[solution.rows[self.shared.groups[solution.rows] == group]].sum())
            for group in sorted(self.shared.met(solution.rows) - part.opened)
        }
        if not deficits or self._cost(solution.rows) <= self.problem.budget:
            return None
        return max(deficits, key=lambda group: deficits[group])

    def _solve_feasibly(self, opened: Groups, method: str) -> Solution:
        """Return a choice within the budget: all other groups are paid for by each row."""
        shared, problem = self.shared, self.problem
        budget = problem.budget - sum(int(shared.tokens[group]) for group in opened)
        if budget < 0:
            return Solution(freeze([], np.int32), 0.0)
        free = np.isin(shared.groups, list(opened))
        tokens = problem.tokens + np.where(free, 0, self.whole)
        return solve_budgeted(replace(problem, tokens=tokens, budget=budget), method)

    def _offer(self, rows: NDArray[np.int32]) -> bool:
        """Accept a choice if it is within the budget and better."""
        value = float(self.problem.prizes[rows].sum())
        if value <= self.best.value or self._cost(rows) > self.problem.budget:
            return False
        self.best = Solution(freeze(rows, np.int32), value)
        return True

    def _cost(self, rows: NDArray[np.int32]) -> int:
        return int(self.problem.tokens[rows].sum()) + self.shared.paid(rows)

    def _seconds(self) -> float | None:
        if self.deadline is None:
            return None
        return max(0.0, self.deadline - (time.monotonic() - self.start_time))

    def _is_spent(self) -> bool:
        return self.work <= 0 or self._seconds() == 0.0


def _whole_costs(shared: SharedCosts) -> Tokens:
    """Return for each row the whole cost of its group."""
    costs = np.append(shared.tokens, 0)  # the last one is of the rows without a group
    whole: Tokens = costs[shared.groups]
    return whole
