"""The most prize that a token budget buys in one connected piece: rooted budgeted node-weighted Steiner trees.

    max  sum of prizes over S     such that  sum of tokens over S <= budget  and  S with the root Q is connected

Q is no node of the graph: it is linked to `roots`. The problem holds both the knapsack and the Steiner tree. It is no prize-collecting
Steiner tree, which is its Lagrangian relaxation and misses budgets between two corners of the convex hull; and it is more than "every
chosen node has a chosen neighbour", by which two nodes far from Q may hold each other up.

No algorithm is both fast and always right: Moss and Rabani (SIAM J. Comput. 37, 2007) and their followers prove logarithmic ratios.
The ladder of `solve` starts with what is nearly right in milliseconds and ends with a proof (`clew.algorithms.budgeted.cuts`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.budgeted.knapsack import best_within, paying
from clew.graph import EMPTY, Floats, Mask, Rows, freeze

ROUNDS = 30  # exchanges that `local` tries, and trees that `tree` grows, at most
WORK = 40  # linear programmes that `solve` may spend on a proof
UNPAID = 0.05  # of its tokens, at least, is what a row costs on a way where its prize pays
CLOSE = 1e-9  # a bound this near to a value, relatively, proves it


@dataclass(frozen=True, eq=False)
class Problem:
    """What to choose from: an undirected simple graph in compressed rows.

    Attributes (n nodes): `starts` int64 [n + 1] and `targets` int32 [m], each edge both ways; `prizes` float64 [n], >= 0; `tokens`
    int64 [n], >= 0 (0: free to pass); `roots` int32, the rows linked to Q; `budget` >= 0.
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
    def upper_bound(self) -> float:
        """The fractional knapsack over the rows that a way within the budget reaches: no feasible choice is worth more."""
        kernels, arrays = _bound(self)
        cost, _, _ = kernels.cheapest(*arrays, np.zeros(len(self), np.bool_), float(self.budget))
        rows = np.flatnonzero((cost <= self.budget) & (self.prizes > 0))
        free = rows[self.tokens[rows] == 0]
        paid = _by_worth(self, rows[self.tokens[rows] > 0])
        before = np.cumsum(self.tokens[paid]) - self.tokens[paid]
        share = np.clip((self.budget - before) / self.tokens[paid], 0, 1)
        return float(self.prizes[free].sum() + (self.prizes[paid] * share).sum())


@dataclass(frozen=True, eq=False)
class Solution:
    """A feasible choice: its `rows` (ascending) and `value`; `bound` >= every feasible value (inf if none is known).

    `proved` says that no choice is worth more. `work` says what was done.
    """

    rows: Rows
    value: float
    bound: float = np.inf
    proved: bool = False
    work: Mapping[str, Any] = field(default_factory=lambda: EMPTY)


def solve(
    problem: Problem, method: str = "auto", work: int = WORK, deadline: float | None = None
) -> Solution:
    """Return a choice of much prize, by one method or by the ladder of them.

    Args:
        method: "auto" (the best of the heuristics, then cuts until it is proved or the work is done), "best" (the heuristics alone),
            "greedy", "density", "local", "tree", "priced" or "lagrange".
        work: linear programmes at most (see `clew.algorithms.budgeted.cuts.prove`); a count, so that answers repeat.
        deadline: seconds for them, opt-in, said in `work`.
    """
    if method != "auto":
        if method not in METHODS:
            raise ValueError(f"unknown method {method!r}; known: {', '.join(('auto', *METHODS))}")
        return METHODS[method](problem)
    found = best_of(problem)
    if found.proved or work < 1:
        return found
    from clew.algorithms.budgeted.cuts import prove

    return prove(problem, found, work, deadline)


def greedy(problem: Problem) -> Solution:
    """Add the linked row of most prize per token while one fits: stuck before a connector without a prize, a baseline only."""
    kernels, arrays = _bound(problem)
    return _answer(
        problem, kernels.by_neighbours(*arrays, float(problem.budget)), {"method": "greedy"}
    )


def density(problem: Problem) -> Solution:
    """Add the cheapest way to the row where it gains most per token, whole, while one fits; prune, and fill what that frees.

    The single way of most gain is a second start, as in budgeted coverage: a dear row of great worth is not missed for small change.
    """
    kernels, arrays = _bound(problem)
    nothing = np.zeros(len(problem), np.bool_)
    chosen, ways = _filled(problem, nothing)
    _, gain, came = kernels.cheapest(*arrays, nothing, float(problem.budget))
    if len(problem) and gain.max() > 0:
        single, row = nothing.copy(), int(np.argmax(gain))
        while row >= 0:
            single[row] = True
            row = int(came[row])
        other, more = _filled(problem, single)
        chosen, ways = (
            (other if _value(problem, other) > _value(problem, chosen) else chosen),
            ways + more,
        )
    return _answer(problem, chosen, {"method": "density", "ways": ways})


def local(problem: Problem, start: Solution | None = None, rounds: int = ROUNDS) -> Solution:
    """From `density` or `start`: drop a row that holds no other, forbid it, fill again, and keep what is better; `rounds` tries at most.

    Raises:
        ValueError: a start that is not feasible.
    """
    from clew.algorithms.budgeted.kernels.filling import exchanged

    start = density(problem) if start is None else start
    chosen = _started(problem, start)
    chosen, tries = exchanged(*_bound(problem)[1], chosen, float(problem.budget), rounds, CLOSE)
    return _answer(problem, chosen, {**start.work, "method": "local", "tries": tries})


def tree(problem: Problem, start: Solution | None = None) -> Solution:
    """Solve the knapsack exactly on the tree of cheapest ways, and again on the tree regrown around what was found, until that is all.

    In a regrown tree the rows chosen so far cost nothing to enter, so that it holds them together and its knapsack is worth no less.

    Raises:
        ValueError: a start that is not feasible.
    """
    chosen = np.zeros(len(problem), np.bool_) if start is None else _started(problem, start)
    trees = 0
    while trees < ROUNDS:
        trees += 1
        taken, unit = best_within(
            _grown(problem, chosen), problem.prizes, problem.tokens, problem.budget
        )
        other, _ = _filled(problem, taken)
        if _value(problem, other) <= _value(problem, chosen) * (1 + CLOSE):
            break
        chosen = other
    return _answer(problem, chosen, {"method": "tree", "trees": trees, "token unit": unit})


def priced(problem: Problem) -> Solution:
    """As `tree`, but the first tree is of ways on which a row costs only what its prize does not pay for.

    A token is priced at what the last one earns in the fractional knapsack of all rows, so that ways lead over what is worth taking.
    """
    tokens = problem.tokens.astype(np.float64)
    paid = _by_worth(problem, np.flatnonzero((problem.prizes > 0) & (problem.tokens > 0)))
    if not len(paid):
        return replace(found := tree(problem), work={**found.work, "method": "priced"})
    last = paid[min(int(np.searchsorted(np.cumsum(tokens[paid]), problem.budget)), len(paid) - 1)]
    owed = np.maximum(
        UNPAID * tokens, tokens - problem.prizes * tokens[last] / problem.prizes[last]
    )
    kernels, (starts, targets, _, prizes, roots) = _bound(problem)
    came = kernels.cheapest(
        starts, targets, owed, prizes, roots, np.zeros(len(problem), np.bool_), np.inf
    )[2]
    chosen, _ = _filled(problem, best_within(came, prizes, problem.tokens, problem.budget)[0])
    found = tree(
        problem, Solution(np.flatnonzero(chosen).astype(np.int32), _value(problem, chosen))
    )
    return replace(found, work={**found.work, "method": "priced"})


def lagrange(problem: Problem, steps: int = ROUNDS) -> Solution:
    """Price a token at lambda, take what pays from the tree of cheapest ways, bisect lambda until it fits, and fill the rest."""
    chosen = np.zeros(len(problem), np.bool_)
    came, tokens = _grown(problem, chosen), problem.tokens.astype(np.float64)
    low, high = 0.0, 2 * float(problem.prizes.sum())
    for step in range(steps):
        price = high if step == 0 else (low + high) / 2
        taken = paying(came, problem.prizes, tokens, price)
        if problem.tokens[taken].sum() > problem.budget:
            low = price
            continue
        high = price
        if _value(problem, taken) >= _value(problem, chosen):
            chosen = taken
    return _answer(problem, _filled(problem, chosen)[0], {"method": "lagrange", "steps": steps})


def best_of(problem: Problem) -> Solution:
    """Return the best of `density`, `tree` and `priced`, exchanged by `local` and regrown into a tree: no worse than any of them."""
    found = [density(problem), tree(problem), priced(problem)]
    first = max(found, key=lambda one: one.value)  # the first of equals
    found.append(local(problem, first))
    if found[-1].value > first.value or first is found[0]:  # else it is regrown already
        found.append(tree(problem, found[-1]))
    best = max(found, key=lambda one: one.value)
    return replace(
        best,
        work={
            **best.work,
            "values": {
                f"{place}. {one.work['method']}": one.value for place, one in enumerate(found, 1)
            },
        },
    )


def feasible(problem: Problem, rows: Any) -> bool:
    """Return whether the rows are within the budget and, with Q, connected."""
    chosen = _mask(problem, rows)
    return int(problem.tokens[chosen].sum()) <= problem.budget and _connected(problem, chosen)


def spanning_edges(problem: Problem, rows: Any) -> NDArray[np.int64]:
    """Return for the rows, in their order, the row before each in a breadth-first tree from Q over them alone; -1 for Q."""
    kernels, (starts, targets, _, _, roots) = _bound(problem)
    _, came = kernels.held(starts, targets, roots, _mask(problem, rows))
    before: NDArray[np.int64] = came[np.asarray(rows, np.int64)]
    return before


def attached_rows(problem: Problem, rows: Any) -> Mask:
    """Return for the rows of a connected choice, in their order, whether the others fall apart without it."""
    from clew.algorithms.budgeted.kernels import filling

    _, (starts, targets, _, _, roots) = _bound(problem)
    found: Mask = filling.holding(starts, targets, roots, _mask(problem, rows))[
        np.asarray(rows, np.int64)
    ]
    return found


METHODS: dict[str, Callable[[Problem], Solution]] = {
    "best": best_of, "greedy": greedy, "density": density, "local": local, "tree": tree, "priced": priced, "lagrange": lagrange,
}  # fmt: skip


def _bound(problem: Problem) -> tuple[Any, tuple[Any, ...]]:
    """The compiled loops, and the arrays that they take."""
    from clew.algorithms.budgeted.kernels import growth as kernels

    costs = problem.tokens.astype(np.float64)
    return kernels, (
        problem.starts,
        problem.targets,
        costs,
        problem.prizes,
        problem.roots.astype(np.int64),
    )


def _mask(problem: Problem, rows: Any) -> Mask:
    chosen = np.zeros(len(problem), np.bool_)
    chosen[np.asarray(rows, np.int64)] = True
    return chosen


def _value(problem: Problem, chosen: Mask) -> float:
    return float(problem.prizes[chosen].sum())


def _by_worth(problem: Problem, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows that cost tokens, those of most prize per token first."""
    return rows[np.argsort(-problem.prizes[rows] / problem.tokens[rows], kind="stable")]


def _connected(problem: Problem, chosen: Mask) -> bool:
    kernels, (starts, targets, _, _, roots) = _bound(problem)
    return len(kernels.held(starts, targets, roots, chosen)[0]) == int(chosen.sum())


def _started(problem: Problem, start: Solution) -> Mask:
    """The rows to start from, if they are a choice at all."""
    if not feasible(problem, start.rows):
        spent = int(problem.tokens[start.rows].sum())
        raise ValueError(
            f"the start must be connected with Q and within the budget of {problem.budget} tokens; it has {spent}"
        )
    return _mask(problem, start.rows)


def _filled(problem: Problem, chosen: Mask) -> tuple[Mask, int]:
    """Prune, and add ways by density, until neither changes a thing."""
    from clew.algorithms.budgeted.kernels.filling import NO_ROW, filled

    found: tuple[Mask, int] = filled(*_bound(problem)[1], chosen, float(problem.budget), NO_ROW)
    return found


def _grown(problem: Problem, chosen: Mask) -> NDArray[np.int64]:
    """The row before each in the tree of cheapest ways, the chosen rows for nothing; rows beyond the budget are left out."""
    kernels, (starts, targets, costs, prizes, roots) = _bound(problem)
    nothing = np.zeros(len(problem), np.bool_)
    came: NDArray[np.int64]
    _, _, came = kernels.cheapest(
        starts, targets, np.where(chosen, 0.0, costs), prizes, roots, nothing, float(problem.budget)
    )
    return came


def _answer(problem: Problem, chosen: Mask, work: Mapping[str, Any]) -> Solution:
    from clew.algorithms.budgeted.kernels.filling import pruned

    chosen = pruned(*_bound(problem)[1], chosen)
    value, bound = _value(problem, chosen), problem.upper_bound
    proved = bound <= value * (1 + CLOSE)
    return Solution(
        freeze(np.flatnonzero(chosen), np.int32),
        value,
        max(bound, value),
        proved,
        {**work, "bound": "fractional knapsack"},
    )
