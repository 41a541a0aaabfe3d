"""Prove how good a budgeted connected choice can be: linear programmes with separator cuts, then integer ones.

A choice x in {0, 1} is connected with Q exactly if x_v <= sum of x_u over u in C for every row v and every set C that all ways from Q to
v cross (Alvarez-Miranda, Ljubic and Mutzel, in: Facets of Combinatorial Optimization, 2013; Fischetti et al., Math. Program. Comput. 9,
2017). Those are too many to list and quick to find where broken (`clew.algorithms.budgeted.kernels.separators`), and the programme over them is
nearly tight, where the flow that also defines the problem is not. Each round bounds the value from above by the duals, fixes the rows
that no better choice can have or miss, and looks for a better choice along the fractional one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from typing import Any

import numpy as np

from clew.algorithms.budgeted.enumeration import enumerated
from clew.algorithms.budgeted.knapsack import best_within
from clew.algorithms.budgeted.linear_program import Programme, chosen_backend
from clew.algorithms.budgeted.reduction import Reduced, pruned, reduced
from clew.algorithms.budgeted.solve import CLOSE, Problem, Solution, feasible, tree
from clew.graph import Floats, freeze

WORK = 200  # linear programmes, and hundreds of nodes of integer ones
NODES = 100  # of an integer programme count as one unit of work
STALLED = 4  # rounds in which the bound hardly moves, before integers are asked for
MOVES = 2e-3  # of the gap, at least, is what a bound that moves loses in a round
CREEP = 1e-5  # what each row adds to a cut, so that those of few rows are preferred
BROKEN = 1e-3  # a cut is added where it is violated by more
FEWER = 0.75  # of the rows that were open when a search was cut short, at most, are open when it is tried again
NESTED = 3  # cuts one behind the other that are looked for at once


def prove(
    problem: Problem,
    incumbent: Solution,
    work: int = WORK,
    deadline: float | None = None,
    backend: str = "auto",
) -> Solution:
    """Return the incumbent or a better choice, and a bound that no choice exceeds; proved where both agree.

    Args:
        problem: what to choose from. incumbent: a feasible choice; its bound is used, too.
        work: linear programmes at most; 100 nodes of an integer programme count as one. A count, so that answers repeat, and more of it
            never makes the bound looser or the choice worse. deadline: seconds from now, opt-in, said in `work` where it cut short.
        backend: "scipy", "highspy" (the extra `exact`), or "auto": highspy where it is installed.

    Raises:
        ValueError: an incumbent that is not feasible, a negative work, an unknown backend.
    """
    if work < 0:
        raise ValueError(f"work counts linear programmes and must be >= 0, not {work}")
    if not feasible(problem, incumbent.rows):
        raise ValueError(
            "the incumbent must be within the budget and connected with Q; start from Solution(no rows, 0.0) where none is known"
        )
    backend = chosen_backend(backend)
    state = _State(problem, incumbent, work, deadline, reduced(problem))
    state.offer(state.small.rows_of(np.zeros(0, np.int32)))
    state.lower_bound(problem.upper_bound * (1 + 1e-12))
    if not state.small.problem.prizes.any():
        state.nothing_better()
    elif not state.done:
        _search(state, backend)
    return state.answer(backend)


@dataclass
class _State:
    """What is known while the search goes on: the best choice, the bound, what may still be done and what was."""

    full: Problem
    incumbent: Solution
    work: int
    deadline: float | None
    small: Reduced
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
        self.begun = time.monotonic()
        self.rows = self.incumbent.rows
        self.value = float(self.full.prizes[self.rows].sum())
        self.bound = float(self.incumbent.bound)
        self.grain = _grain(self.full.prizes)
        self.spent = 0
        self.exhausted = False  # nothing better is left
        self.constant = float(self.full.prizes[self.small.label == -1].sum())

    @property
    def done(self) -> bool:
        return self.exhausted or self.bound <= self.value * (1 + CLOSE)

    @property
    def wanted(self) -> float:
        """What a better choice is worth at least."""
        return self.value + self.grain * (1 - 1e-6) if self.grain else self.value * (1 + CLOSE)

    def seconds(self) -> float | None:
        return (
            None
            if self.deadline is None
            else max(0.0, self.deadline - (time.monotonic() - self.begun))
        )

    def may_go_on(self) -> bool:
        if self.spent >= self.work:
            self.stopped = "work"
        elif self.deadline is not None and not self.seconds():
            self.stopped = "deadline"
        return not self.stopped

    def lower_bound(self, bound: float) -> None:
        """Take a bound, rounded down to what sums of prizes can be."""
        if self.grain:
            bound = self.grain * np.floor(bound / self.grain + 1e-6)
        self.bound = max(self.value, min(self.bound, bound))

    def nothing_better(self) -> None:
        """Take note that no choice is worth what is wanted of a better one."""
        self.exhausted = True
        self.lower_bound(self.value if self.grain else self.wanted)

    def offer(self, rows: Any) -> None:
        """Take a feasible choice of the full problem if it is better."""
        value = float(self.full.prizes[rows].sum())
        if value > self.value:
            self.rows, self.value = freeze(rows, np.int32), value

    def answer(self, backend: str) -> Solution:
        proved = self.done
        bound = max(self.value, self.bound)
        work: Mapping[str, Any] = {
            **self.incumbent.work,
            **self.counts,
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
    one = state.small.problem
    scale = float(one.prizes.max())
    programme = Programme(one.prizes / scale, backend)
    programme.add(*_base(one))
    cutter = _Cutter(one)
    lower, upper = np.zeros(len(one)), np.ones(len(one))
    still, sought = 0, np.inf
    while not state.done and state.may_go_on():
        if still >= STALLED:
            still = _integer(state, programme, cutter, lower, upper, scale)
            continue
        status, x, y = programme.solve(lower, upper, state.seconds())
        state.spent += 1
        state.counts["programmes"] += 1
        if status == "stopped":
            state.stopped = "deadline" if state.deadline is not None else "solver"
            return
        if status == "infeasible":
            state.nothing_better()
            return
        before = state.bound - state.value
        bound, left = programme.bound(y, lower, upper)
        state.lower_bound(max(scale * bound + state.constant, state.value))
        _guided(state, x)
        _fix(state, scale * bound + state.constant, scale * left, lower, upper)
        if not state.done and (lower != upper).sum() <= FEWER * sought:
            sought = (lower != upper).sum()
            _enumerate(state, scale * bound, scale * left, lower, upper)
        matrix, limits = cutter.broken_by(x)
        state.counts["cuts"] += len(limits)
        programme.add(matrix, limits)
        moved = before - (state.bound - state.value) > MOVES * before
        still = 0 if moved and len(limits) else (still + 1 if len(limits) else STALLED)


def _enumerate(state: _State, bound: float, left: Floats, lower: Floats, upper: Floats) -> None:
    """Try what is left open one by one, if that is little: then all is known."""
    wanted = state.wanted - state.constant
    found, complete = enumerated(
        state.small.problem, lower, upper, left, bound, wanted, state.wanted - state.value
    )
    state.spent += 1
    state.counts["searches"] += 1
    if found is not None:
        state.offer(state.small.rows_of(found))
    if complete:
        state.nothing_better()


def _integer(
    state: _State, programme: Programme, cutter: _Cutter, lower: Floats, upper: Floats, scale: float
) -> int:
    """Solve the integer programme over the cuts so far; its choice is cut off where it is not connected. Return how still it is now."""
    nodes = (state.work - state.spent) * NODES
    least = (state.wanted - state.constant) / scale
    status, x, bound, used = programme.solve_integer(lower, upper, least, nodes, state.seconds())
    state.spent += 1 + used // NODES
    state.counts["integer programmes"] += 1
    state.counts["nodes"] += used
    if status == "infeasible":
        state.nothing_better()
        return STALLED
    state.lower_bound(max(scale * bound + state.constant, state.value))
    if status == "stopped":
        state.stopped = "deadline" if state.deadline is not None and not state.seconds() else "work"
    if not len(x):
        return STALLED
    rows = np.flatnonzero(x > 0.5)
    if feasible(state.small.problem, rows):
        state.offer(state.small.rows_of(rows))
        state.exhausted = status == "optimal"
        return STALLED
    _guided(state, x)
    matrix, limits = cutter.broken_by(x)
    if not len(limits):  # connected, but beyond the budget by less than the solver's tolerance
        matrix, limits = cutter.without(rows)
    state.counts["cuts"] += len(limits)
    programme.add(matrix, limits)
    return 0


def _base(one: Problem) -> tuple[Any, Floats]:
    """The budget; each row needs a neighbour, a worthless one that costs tokens two; a free one comes with each neighbour."""
    from scipy.sparse import csr_array

    from clew.algorithms.budgeted.kernels.reduction import first_rows

    ends, columns, values, limits = first_rows(
        one.starts, one.targets, one.prizes, one.tokens, one.roots, one.budget
    )
    return csr_array((values, columns, ends), (len(limits), len(one))), limits


class _Cutter:
    """Finds the cuts that a choice violates, each once."""

    def __init__(self, one: Problem) -> None:
        from clew.algorithms.budgeted.kernels import separators

        self.kernels, self.one = separators, one
        self.mate = separators.mates(one.starts, one.targets)
        self.roots = one.roots.astype(np.int64)

    def broken_by(self, x: Floats) -> tuple[Any, Floats]:
        """Return the cuts x_v - x(C) <= 0 that x violates, as rows and limits."""
        from scipy.sparse import csr_array

        one = self.one
        ends, rows, heads = self.kernels.violated(
            one.starts, one.targets, self.mate, self.roots, x, CREEP, BROKEN, NESTED
        )
        k = len(heads)
        columns = np.insert(rows, ends[:-1], heads)
        values = np.insert(np.full(len(rows), -1.0), ends[:-1], 1.0)
        return csr_array((values, columns, ends + np.arange(k + 1)), (k, len(one))), np.zeros(k)

    def without(self, rows: Any) -> tuple[Any, Floats]:
        """Return the cut that forbids all these rows together."""
        from scipy.sparse import csr_array

        return csr_array((np.ones(len(rows)), rows, [0, len(rows)]), (1, len(self.one))), np.array(
            [len(rows) - 1.0]
        )


def _guided(state: _State, x: Floats) -> None:
    """Look for a better choice on the tree of ways that are cheap where x is large, and regrow what is found."""
    from clew.algorithms.budgeted.kernels.growth import cheapest

    one = state.small.problem
    costs = one.tokens * (1 - np.minimum(x, 1)) + 1e-6 * one.tokens
    nothing = np.zeros(len(one), np.bool_)
    _, _, came = cheapest(
        one.starts, one.targets, costs, one.prizes, one.roots.astype(np.int64), nothing, np.inf
    )
    taken, _ = best_within(came, one.prizes, one.tokens, one.budget)
    found = pruned(one, np.flatnonzero(taken))
    better = tree(one, Solution(found, float(one.prizes[found].sum())))
    state.offer(state.small.rows_of(better.rows))


def _fix(state: _State, bound: float, left: Floats, lower: Floats, upper: Floats) -> None:
    """Fix rows that no better choice has, or misses: with them the bound would fall to the value."""
    from clew.algorithms.budgeted.kernels.growth import cheapest

    one = state.small.problem
    upper[(bound + left < state.wanted) & (lower == 0)] = 0
    lower[(bound - left < state.wanted) & (upper == 1)] = 1
    costs = np.where(upper > 0, one.tokens, np.inf)
    nothing = np.zeros(len(one), np.bool_)
    came = cheapest(
        one.starts,
        one.targets,
        costs,
        one.prizes,
        one.roots.astype(np.int64),
        nothing,
        float(one.budget),
    )[2]
    upper[(came == -2) & (lower == 0)] = 0
    state.counts["fixed"] = int((lower == upper).sum())


def _grain(prizes: Floats) -> float:
    """The number of which every prize is a whole multiple, if it is no tiny part of them; else 0."""
    parts = [Fraction(prize) for prize in np.unique(prizes[prizes > 0]).tolist()]
    if not parts:
        return 0.0
    below = reduce(lcm, (part.denominator for part in parts))
    grain = float(
        Fraction(
            reduce(gcd, (part.numerator * (below // part.denominator) for part in parts)), below
        )
    )
    return grain if grain > 1e-4 * float(prizes.max()) else 0.0
