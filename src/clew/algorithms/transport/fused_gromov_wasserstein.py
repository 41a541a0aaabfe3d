"""Fused Gromov-Wasserstein: how far one small graph is from another, in what its nodes say and in how they hang together.

    FGW(T) = content_weight * sum C_ij T_ij + (1 - content_weight) * sum |D_ik - D'_jl|^2 T_ij T_kl,  least over T with the given marginals

Titouan, Courty, Tavenard, Laetitia and Flamary, "Optimal transport for structured data", ICML 2019; this is their distance squared, as
POT's `fused_gromov_wasserstein2` has it, whose `alpha` is 1 - content_weight.

Whether a change of a graph is small needs no minimum most of the time. A graph and what became of it stand on the same n slots of mass
1/n, slot i of the one beside slot i of the other; several nodes that were fused into one are slots with equal rows, so that their masses
add up. Then staying in place is a plan, and its value a bound from above that costs O(n^2); the first and third lower bounds of Memoli
("Gromov-Wasserstein distances and the metric approach to object matching", 2011), with what the nodes say beside them, are bounds from
below; and between the two, conditional gradient starts from the better plan, each step a linear assignment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Floats

NOISE = 1e-12  # what sums of floats may be off by
STEPS = 200
ENOUGH = 1e-9  # relative decrease at which conditional gradient has arrived


@dataclass(frozen=True)
class TransportVerdict:
    """Whether a distance is at most so much, what told so ("bound", "lower bound" or "solver"), and the bound or value that did.

    A plan's value is never below the distance, so `accepted` is proved; "lower bound" proves the contrary; "solver" without acceptance
    says that conditional gradient, which finds a local minimum, found none.
    """

    accepted: bool
    by: str
    value: float


def distance(
    content: Any,
    one: Any,
    other: Any,
    mass: Any = None,
    other_mass: Any = None,
    content_weight: float = 0.5,
    start: Any = None,
) -> tuple[float, Floats]:
    """Return the squared fused Gromov-Wasserstein distance as POT's conditional gradient finds it (a local minimum), and its plan.

    Args:
        content: [n, m], the cost of taking node i of the one for node j of the other. one, other: symmetric [n, n] and [m, m],
            distances within each graph. mass, other_mass: [n] and [m], each with sum 1; None is uniform.
        content_weight: 1 counts only what the nodes say, 0 only how they hang together.
        start: a plan [n, m] to begin from; None for the product of the masses.
    """
    from ot.gromov import fused_gromov_wasserstein

    content, one, other = (
        np.ascontiguousarray(matrix, np.float64) for matrix in (content, one, other)
    )
    n, m = content.shape
    mass = np.full(n, 1 / n) if mass is None else np.asarray(mass, np.float64)
    other_mass = np.full(m, 1 / m) if other_mass is None else np.asarray(other_mass, np.float64)
    begin = None if start is None else np.ascontiguousarray(start, np.float64)
    plan, log = fused_gromov_wasserstein(
        content,
        one,
        other,
        mass,
        other_mass,
        "square_loss",
        symmetric=True,
        alpha=1 - content_weight,
        G0=begin,
        log=True,
    )
    return max(0.0, float(log["fgw_dist"])), np.asarray(plan)


def bound(content: Floats, one: Floats, other: Floats, content_weight: float = 0.5) -> float:
    """Return the value of the plan by which everything stays in its slot: never below the distance. Arguments as in `accepted`."""
    from clew.algorithms.transport.kernels.bounds import stay

    return float(stay(content, one, other, content_weight))


def accepted(
    content: Floats, one: Floats, other: Floats, most: float, content_weight: float = 0.5
) -> TransportVerdict:
    """Return whether a graph and what became of it are at most `most` apart, by the cheapest of three means that can tell.

    Args:
        content: float64 [n, n], the cost of taking slot i of the one for slot j of the other. one, other: float64 [n, n], symmetric,
            distances within each. All slots have mass 1/n.
        most: the greatest squared distance that is accepted. content_weight: see `distance`.
    """
    most += NOISE
    value = bound(content, one, other, content_weight)
    if value <= most:
        return TransportVerdict(True, "bound", value)
    least = _first_lower_bound(content, one, other, content_weight)
    if least > most:
        return TransportVerdict(False, "lower bound", least)
    costs = _third_lower_bound(content, one, other, content_weight)
    least = max(float(costs.min(axis=1).mean()), float(costs.min(axis=0).mean()))
    if least > most:
        return TransportVerdict(False, "lower bound", least)
    moved = _assignment(costs)
    least = float(costs[np.arange(len(moved)), moved].mean())
    if least > most:
        return TransportVerdict(False, "lower bound", least)
    stayed = np.arange(len(moved))
    n = len(moved)
    there = content_weight * float(content[stayed, moved].mean())
    there += (1 - content_weight) * float(((one - other[np.ix_(moved, moved)]) ** 2).mean())
    if there <= most:
        return TransportVerdict(True, "bound", there)
    plan = np.zeros((n, n))
    plan[stayed, moved if there < value - NOISE else stayed] = 1 / n
    value, _ = conditional_gradient(content, one, other, plan, content_weight, most)
    return TransportVerdict(value <= most, "solver", value)


def conditional_gradient(
    content: Floats,
    one: Floats,
    other: Floats,
    plan: Floats,
    content_weight: float = 0.5,
    enough: float = -np.inf,
) -> tuple[float, Floats]:
    """Return a local minimum of FGW that is reached from `plan`, and its plan; at a value of at most `enough` it stops.

    All slots have mass 1/n, so that the least plan along the gradient is a linear assignment. Arguments as in `accepted`.
    """
    n, share = len(content), 1 - content_weight
    constant = float((one**2).mean() + (other**2).mean())
    inner = one @ plan @ other
    said, held = float((content * plan).sum()), float((inner * plan).sum())
    value = content_weight * said + share * (constant - 2 * held)
    for _ in range(STEPS):
        if value <= enough:
            break
        to = _assignment(content_weight * content - 4 * share * inner)
        towards = -plan
        towards[np.arange(n), to] += 1 / n
        back = np.empty(n, np.int64)
        back[to] = np.arange(n)
        change = one[:, back] @ other / n - inner
        square = -2 * share * float((change * towards).sum())
        linear = content_weight * float((content * towards).sum()) - 4 * share * float(
            (inner * towards).sum()
        )
        step = (
            min(1.0, max(0.0, -linear / (2 * square))) if square > 0 else float(square + linear < 0)
        )
        gained = -(square * step + linear) * step
        if gained <= ENOUGH * abs(value) + 1e-15:
            break
        plan, inner, value = plan + step * towards, inner + step * change, value - gained
    value = content_weight * float((content * plan).sum()) + share * (
        constant - 2 * float((one @ plan @ other * plan).sum())
    )
    return max(0.0, value), plan


def _first_lower_bound(content: Floats, one: Floats, other: Floats, content_weight: float) -> float:
    """What nodes say and how they hang together each at their cheapest: every slot to its likest, and mean distances in order."""
    from clew.algorithms.transport.kernels.bounds import least

    return float(least(content, one, other, content_weight))


def _third_lower_bound(
    content: Floats, one: Floats, other: Floats, content_weight: float
) -> Floats:
    """Costs whose least plan is worth no more than FGW: a slot's distances to all others, sorted, beside another's."""
    ways, others = np.sort(one, axis=1), np.sort(other, axis=1)
    squares = (
        (ways**2).sum(axis=1)[:, None] + (others**2).sum(axis=1)[None, :] - 2 * ways @ others.T
    )
    costs: Floats = content_weight * content + (1 - content_weight) / len(one) * np.maximum(
        squares, 0
    )
    return costs


def _assignment(costs: Floats) -> NDArray[np.int64]:
    from scipy.optimize import linear_sum_assignment

    to: NDArray[np.int64] = linear_sum_assignment(costs)[1]
    return to
