"""Prove how good a budgeted connected choice is, by linear programmes with separator cuts.

A choice x in {0, 1} is connected with Q exactly if x_v <= sum of x_u over u in C, for every row v
and every set C that all paths from Q to v cross (Alvarez-Miranda, Ljubic and Mutzel, in: Facets of
Combinatorial Optimization, 2013; Fischetti et al., Math. Program. Comput. 9, 2017). These cuts are
too many to list, but the violated ones are quick to find (`budgeted.kernels.separators`). The
programme over them is nearly tight; the flow that also defines the problem is not.

Each round bounds the value from above by the duals, fixes the rows that no better choice can have
or lack, and looks for a better choice along the fractional one. Where the bound stops moving,
integer programmes over the same cuts continue.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.budgeted.enumeration import ReducedPrizes, enumerate_choices
from clew.algorithms.budgeted.heuristics import tree
from clew.algorithms.budgeted.knapsack import best_subtree
from clew.algorithms.budgeted.linear_program import LinearProgram, SparseMatrix, choose_backend
from clew.algorithms.budgeted.problem import CLOSE, Problem, Solution, is_feasible
from clew.algorithms.budgeted.reduction import (
    PART_OF_ROOT,
    ReducedProblem,
    prune,
    reduce_problem,
)
from clew.deadline import OutOfTime, current
from clew.graph import Floats, Rows, distinct, freeze

WORK = 200  # linear programmes, and what integer ones count, see `_integer_work`
NODES = 100  # of an integer programme count as one unit of work
CELLS = 2000  # open rows times inequalities of an integer programme count as one
MAX_STILL = 4  # rounds in which the bound hardly moves, before integers are asked for
MIN_PROGRESS = 2e-3  # of the gap; a bound that moves closes more in a round
CREEP = 1e-5  # what each row adds to a cut, so that cuts of few rows are preferred
MIN_VIOLATION = 1e-3  # a cut is added where it is violated by more
MAX_OPEN = 0.75  # of the rows open when a search was cut short may be open when it is tried again
MAX_NESTED = 3  # cuts one behind the other that are looked for at once


def prove(
    problem: Problem,
    incumbent: Solution,
    work: int = WORK,
    deadline: float | None = None,
    backend: str = "auto",
) -> Solution:
    """Return the incumbent or a better choice, and a bound that no choice exceeds.

    The choice is proved optimal where value and bound agree.

    Args:
        problem: what to choose from.
        incumbent: a feasible choice; its bound is used, too.
        work: linear programmes at most. An integer programme counts one for every 2,000 open rows
            times inequalities, which is what it takes before its first node, and one for every 100
            nodes; it is not begun where that exceeds what is left. A count, so that answers repeat
            on every machine. More work never makes the bound looser or the choice worse.
        deadline: seconds from now; None for no limit. `Solution.work` says where it cut short.
        backend: "scipy", "highspy" (the extra `exact`), or "auto": highspy where it is installed.

    Raises:
        ValueError: an incumbent that is not feasible, a negative work, an unknown backend.

    Example:
        >>> problem = Problem(
        ...     np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([1.0, 2.0]),
        ...     np.array([3, 4]), np.array([0], np.int32), budget=7,
        ... )
        >>> solution = prove(problem, Solution(np.zeros(0, np.int32), 0.0))
        >>> solution.value, solution.proved
        (3.0, True)
    """
    if work < 0:
        raise ValueError(f"work counts linear programmes and must be >= 0, not {work}")
    if not is_feasible(problem, incumbent.rows):
        raise ValueError(
            "the incumbent must be within the budget and connected with Q;"
            " start from Solution(no rows, 0.0) where none is known"
        )
    backend = choose_backend(backend)
    try:
        state = _State(problem, incumbent, work, deadline, reduce_problem(problem))
    except OutOfTime:
        return replace(incumbent, work={**incumbent.work, "stopped by": "deadline"})
    state.offer(state.reduced.to_full(np.zeros(0, np.int32)))
    state.tighten(problem.upper_bound * (1 + 1e-12))
    if not state.reduced.problem.prizes.any():
        state.mark_exhausted()
    elif not state.done:
        try:
            _search(state, backend)
        except OutOfTime:
            state.stopped = "deadline"
    return state.solution(backend)


@dataclass
class _State:
    """What is known during the search.

    Attributes:
        full: the problem.
        incumbent: the choice that the search began with.
        work: linear programmes allowed.
        deadline: seconds allowed, or None.
        reduced: the smaller problem that is searched.
        counts: what was done, by name.
        stopped: why the search stopped before a proof; empty if it did not.

    Set at the start: `rows`, `value` and `bound` of the best choice; `grain`, of which every prize
    is a multiple; `spent` work; `free_prizes` of the rows that come with Q; and for the rows of the
    smaller problem `lower` and `upper`, 0 or 1, what a better choice has at least and at most.
    """

    full: Problem
    incumbent: Solution
    work: int
    deadline: float | None
    reduced: ReducedProblem
    counts: dict[str, int] = field(
        default_factory=lambda: {
            "programmes": 0,
            "cuts": 0,
            "searches": 0,
            "integer programmes": 0,
            "nodes": 0,
            "fixed": 0,
        }
    )
    stopped: str = ""

    def __post_init__(self) -> None:
        self.start_time = time.monotonic()
        self.rows = self.incumbent.rows
        self.value = float(self.full.prizes[self.rows].sum())
        self.bound = float(self.incumbent.bound)
        self.grain = _grain(self.full.prizes)
        self.spent = 0
        self.is_exhausted = False  # nothing better is left
        self.free_prizes = float(self.full.prizes[self.reduced.label == PART_OF_ROOT].sum())
        self.lower = np.zeros(len(self.reduced.problem))
        self.upper = np.ones(len(self.reduced.problem))

    @property
    def done(self) -> bool:
        """Nothing better is left, or value and bound agree."""
        return self.is_exhausted or self.bound <= self.value * (1 + CLOSE)

    @property
    def min_better_value(self) -> float:
        """The least value that a better choice can have."""
        return self.value + self.grain * (1 - 1e-6) if self.grain else self.value * (1 + CLOSE)

    def seconds(self) -> float | None:
        """Return the seconds that are left, or None."""
        if self.deadline is None:
            return None
        return max(0.0, self.deadline - (time.monotonic() - self.start_time))

    def may_continue(self) -> bool:
        """Return whether work and time are left."""
        if self.spent >= self.work:
            self.stopped = "work"
        elif self.deadline is not None and not self.seconds():
            self.stopped = "deadline"
        return not self.stopped

    def tighten(self, bound: float) -> None:
        """Lower the bound to this one, rounded down to a possible sum of prizes."""
        if self.grain:
            bound = self.grain * np.floor(bound / self.grain + 1e-6)
        self.bound = max(self.value, min(self.bound, bound))

    def mark_exhausted(self) -> None:
        """Record that no choice has the value of a better one."""
        self.is_exhausted = True
        self.tighten(self.value if self.grain else self.min_better_value)

    def offer(self, rows: Rows) -> None:
        """Accept a feasible choice of the full problem if it is better."""
        value = float(self.full.prizes[rows].sum())
        if value > self.value:
            self.rows, self.value = freeze(rows, np.int32), value

    def solution(self, backend: str) -> Solution:
        """Return the best choice and what is proved of it."""
        proved = bool(self.done)
        bound = max(self.value, self.bound)
        work: Mapping[str, object] = {
            **self.incumbent.work,
            **self.counts,
            "spent": self.spent,
            "backend": backend,
            "bound": "separator cuts",
        }
        if not proved:
            work = {
                **work,
                "stopped by": self.stopped,
                "gap": (bound - self.value) / bound if bound > 0 else 0.0,
            }
        return Solution(self.rows, self.value, bound, proved, work)


def _search(state: _State, backend: str) -> None:
    """Add cuts, round by round, until the choice is proved or the work is done."""
    problem = state.reduced.problem
    scale = float(problem.prizes.max())
    programme = LinearProgram(problem.prizes / scale, backend)
    programme.add(*_first_inequalities(problem))
    separator = _Separator(problem)
    rounds_still, open_before = 0, np.inf
    while not state.done and state.may_continue():
        current().check()
        if rounds_still >= MAX_STILL:
            if _integer_work(state, programme) > state.work - state.spent:
                state.stopped = "work"
                return
            rounds_still = _solve_integer(state, programme, separator, scale)
            continue
        status, x, y = programme.solve(state.lower, state.upper, state.seconds())
        state.spent += 1
        state.counts["programmes"] += 1
        if status == "stopped":
            state.stopped = "deadline" if state.deadline is not None else "solver"
            return
        if status == "infeasible":
            state.mark_exhausted()
            return
        gap = state.bound - state.value
        bound, reduced_prizes = programme.bound(y, state.lower, state.upper)
        reduced = ReducedPrizes(scale * bound, scale * reduced_prizes)
        state.tighten(max(reduced.bound + state.free_prizes, state.value))
        _improve(state, x)
        _fix_rows(state, reduced)
        open_rows = (state.lower != state.upper).sum()
        if not state.done and open_rows <= MAX_OPEN * open_before:
            open_before = open_rows
            _enumerate(state, reduced)
        matrix, limits = separator.violated_by(x)
        state.counts["cuts"] += len(limits)
        programme.add(matrix, limits)
        progress = gap - (state.bound - state.value)
        if not len(limits):
            rounds_still = MAX_STILL
        else:
            rounds_still = 0 if progress > MIN_PROGRESS * gap else rounds_still + 1


def _enumerate(state: _State, reduced: ReducedPrizes) -> None:
    """Try the choices that are left one by one. If that ends, nothing better is left."""
    rows, is_complete = enumerate_choices(
        state.reduced.problem,
        (state.lower, state.upper),
        reduced,
        state.min_better_value - state.free_prizes,
        state.min_better_value - state.value,
    )
    state.spent += 1
    state.counts["searches"] += 1
    if rows is not None:
        state.offer(state.reduced.to_full(rows))
    if is_complete:
        state.mark_exhausted()


def _solve_integer(
    state: _State, programme: LinearProgram, separator: _Separator, scale: float
) -> int:
    """Solve the integer programme over the cuts so far.

    If its choice is not connected, it is cut off.

    Returns:
        0 if cuts were added, so that linear programmes continue; else `MAX_STILL`.
    """
    root_work = _integer_work(state, programme)
    nodes = (state.work - state.spent) * NODES
    min_value = (state.min_better_value - state.free_prizes) / scale
    status, x, bound, used = programme.solve_integer(
        state.lower, state.upper, min_value, nodes, state.seconds()
    )
    state.spent += root_work + used // NODES
    state.counts["integer programmes"] += 1
    state.counts["nodes"] += used
    if status == "infeasible":
        state.mark_exhausted()
        return MAX_STILL
    state.tighten(max(scale * bound + state.free_prizes, state.value))
    if status == "stopped":
        out_of_time = state.deadline is not None and not state.seconds()
        state.stopped = "deadline" if out_of_time else "work"
    if not len(x):
        return MAX_STILL
    rows = np.flatnonzero(x > 0.5)
    if is_feasible(state.reduced.problem, rows):
        state.offer(state.reduced.to_full(rows))
        state.is_exhausted = status == "optimal"
        return MAX_STILL
    _improve(state, x)
    matrix, limits = separator.violated_by(x)
    if not len(limits):  # connected, but over the budget by less than the solver's tolerance
        matrix, limits = separator.forbid_together(rows)
    state.counts["cuts"] += len(limits)
    programme.add(matrix, limits)
    return 0


def _integer_work(state: _State, programme: LinearProgram) -> int:
    """Return what an integer programme counts before its first node: presolve, cuts, heuristics.

    No limit of the solver holds for these. They take up to a thousand times as long as a linear
    programme, and grow with what is open.
    """
    open_rows = int((state.lower != state.upper).sum())
    return 1 + open_rows * len(programme.limits) // CELLS


def _first_inequalities(problem: Problem) -> tuple[SparseMatrix, Floats]:
    """Return the inequalities of `kernels.reduction` that hold from the start, and their limits."""
    from scipy.sparse import csr_array

    from clew.algorithms.budgeted.kernels.reduction import first_inequalities

    ends, columns, values, limits = first_inequalities(
        problem.starts,
        problem.targets,
        problem.prizes,
        problem.tokens,
        problem.roots,
        problem.budget,
    )
    return csr_array((values, columns, ends), (len(limits), len(problem))), limits


class _Separator:
    """Finds the cuts that a fractional choice violates, each once."""

    def __init__(self, problem: Problem) -> None:
        from clew.algorithms.budgeted.kernels import separators

        self.kernels, self.problem = separators, problem
        self.reverse = separators.reverse_slots(problem.starts, problem.targets)

    def violated_by(self, x: Floats) -> tuple[SparseMatrix, Floats]:
        """Return the cuts x_v - x(C) <= 0 that x violates, and their limits."""
        from scipy.sparse import csr_array

        starts, targets, _, _, roots = self.problem.arrays
        order = np.argsort(-x, kind="stable")
        ends, rows, heads = self.kernels.violated_separators(
            starts, targets, self.reverse, roots, x, order, CREEP, MIN_VIOLATION, MAX_NESTED
        )
        k = len(heads)
        columns = np.insert(rows, ends[:-1], heads)
        values = np.insert(np.full(len(rows), -1.0), ends[:-1], 1.0)
        matrix = csr_array((values, columns, ends + np.arange(k + 1)), (k, len(self.problem)))
        return matrix, np.zeros(k)

    def forbid_together(self, rows: NDArray[np.int64]) -> tuple[SparseMatrix, Floats]:
        """Return the cut that forbids choices with all these rows, and its limit."""
        from scipy.sparse import csr_array

        matrix = csr_array((np.ones(len(rows)), rows, [0, len(rows)]), (1, len(self.problem)))
        return matrix, np.array([len(rows) - 1.0])


def _improve(state: _State, x: Floats) -> None:
    """Look for a better choice on a tree of paths that are cheap where x is large; regrow it."""
    from clew.algorithms.budgeted.kernels.growth import cheapest_paths

    problem = state.reduced.problem
    starts, targets, _, prizes, roots = problem.arrays
    costs = problem.tokens * (1 - np.minimum(x, 1)) + 1e-6 * problem.tokens
    nothing = np.zeros(len(problem), np.bool_)
    _, _, parents = cheapest_paths(starts, targets, costs, prizes, roots, nothing, np.inf)
    chosen, _ = best_subtree(parents, prizes, problem.tokens, problem.budget)
    rows = prune(problem, np.flatnonzero(chosen))
    better = tree(problem, Solution(rows, float(prizes[rows].sum())))
    state.offer(state.reduced.to_full(better.rows))


def _fix_rows(state: _State, reduced: ReducedPrizes) -> None:
    """Fix the rows that no better choice has, or lacks: otherwise the bound falls to the value."""
    from clew.algorithms.budgeted.kernels.growth import NO_PARENT, cheapest_paths

    problem, lower, upper = state.reduced.problem, state.lower, state.upper
    bound = reduced.bound + state.free_prizes
    upper[(bound + reduced.prizes < state.min_better_value) & (lower == 0)] = 0
    lower[(bound - reduced.prizes < state.min_better_value) & (upper == 1)] = 1
    starts, targets, _, prizes, roots = problem.arrays
    costs, nothing = np.where(upper > 0, problem.tokens, np.inf), np.zeros(len(problem), np.bool_)
    budget = float(problem.budget)
    _, _, parents = cheapest_paths(starts, targets, costs, prizes, roots, nothing, budget)
    upper[(parents == NO_PARENT) & (lower == 0)] = 0
    state.counts["fixed"] = int((lower == upper).sum())


def _grain(prizes: Floats) -> float:
    """Return the number that divides every prize; 0 if it is a tiny part of them."""
    ratios = [prize.as_integer_ratio() for prize in distinct(prizes[prizes > 0]).tolist()]
    if not ratios:
        return 0.0
    denominator = reduce(lcm, (below for _, below in ratios))
    grain = reduce(gcd, (above * (denominator // below) for above, below in ratios)) / denominator
    return grain if grain > 1e-4 * float(prizes.max()) else 0.0
