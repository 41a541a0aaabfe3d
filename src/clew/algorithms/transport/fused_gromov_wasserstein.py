"""Fused Gromov-Wasserstein (FGW): how different two small graphs are in content and in structure.

    FGW(T) = content_weight * sum C_ij T_ij
             + (1 - content_weight) * sum |D_ik - D'_jl|^2 T_ij T_kl,
    minimal over the plans T with the given marginals

Titouan, Courty, Tavenard, Laetitia and Flamary, "Optimal transport for structured data", ICML 2019.
This is their distance squared, as POT's `fused_gromov_wasserstein2` returns it, whose `alpha` is
1 - content_weight.

Whether a change of a graph is small needs no minimum most of the time. A graph and the changed
graph have the same n slots of mass 1/n, slot i of the one beside slot i of the other. Several nodes
that were fused into one are slots with equal rows, so that their masses add up. Three means decide,
the cheapest first:

1. The identity plan, by which everything stays in its slot. Its value is an upper bound in O(n^2).
2. The first and third lower bounds of Memoli ("Gromov-Wasserstein distances and the metric approach
   to object matching", 2011), with the content costs added.
3. Between the two, conditional gradient from the better plan, each step a linear assignment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.graph import Floats

NOISE = 1e-12  # the error of sums of floats
MAX_STEPS = 200
CONVERGED = 1e-9  # relative decrease at which conditional gradient ends


@dataclass(frozen=True)
class TransportVerdict:
    """Whether a distance is within a limit.

    Attributes:
        accepted: the distance is within the limit.
        by: what decided: "bound", "lower bound" or "solver".
        value: the bound or value that decided.

    A plan's value is never below the distance, so acceptance is proved. "lower bound" proves the
    contrary. "solver" without acceptance says that conditional gradient, which finds a local
    minimum, found none within the limit.
    """

    accepted: bool
    by: str
    value: float


def fgw_distance(
    content: ArrayLike,
    distances: ArrayLike,
    other_distances: ArrayLike,
    masses: tuple[ArrayLike | None, ArrayLike | None] = (None, None),
    content_weight: float = 0.5,
    start: ArrayLike | None = None,
) -> tuple[float, Floats]:
    """Return the squared FGW distance as POT's conditional gradient finds it, and its plan.

    It is a local minimum.

    Args:
        content: [n, m], the cost of taking node i of the first graph for node j of the second.
        distances: [n, n], symmetric, distances within the first graph.
        other_distances: [m, m], the same of the second.
        masses: [n] and [m], each of sum 1; None for uniform masses.
        content_weight: 1 counts the content alone, 0 the structure alone.
        start: a plan [n, m] to start from; None for the product of the masses.
    """
    from ot.gromov import fused_gromov_wasserstein

    costs = np.ascontiguousarray(content, np.float64)
    n, m = costs.shape
    mass, other_mass = (
        np.full(size, 1 / size) if given is None else np.asarray(given, np.float64)
        for given, size in zip(masses, (n, m), strict=True)
    )
    plan, log = fused_gromov_wasserstein(
        costs,
        np.ascontiguousarray(distances, np.float64),
        np.ascontiguousarray(other_distances, np.float64),
        mass,
        other_mass,
        "square_loss",
        symmetric=True,
        alpha=1 - content_weight,
        G0=None if start is None else np.ascontiguousarray(start, np.float64),
        log=True,
    )
    return max(0.0, float(log["fgw_dist"])), np.asarray(plan)


def identity_bound(
    content: Floats, distances: Floats, other_distances: Floats, content_weight: float = 0.5
) -> float:
    """Return the value of the identity plan, which is never below the distance.

    The arguments are those of `decide`.
    """
    from clew.algorithms.transport.kernels.bounds import identity_value

    return float(identity_value(content, distances, other_distances, content_weight))


def decide(
    content: Floats,
    distances: Floats,
    other_distances: Floats,
    limit: float,
    content_weight: float = 0.5,
) -> TransportVerdict:
    """Return whether a graph and the changed graph differ by at most `limit`.

    Args:
        content: float64 [n, n], the cost of taking slot i of the graph for slot j of the changed
            one. All slots have mass 1/n.
        distances: float64 [n, n], symmetric, distances within the graph.
        other_distances: the same of the changed graph.
        limit: the greatest squared distance that is accepted.
        content_weight: 1 counts the content alone, 0 the structure alone.

    Example:
        >>> same = np.array([[0.0, 1.0], [1.0, 0.0]])
        >>> decide(np.zeros((2, 2)), same, same, 0.0).accepted
        True
    """
    limit += NOISE
    value = identity_bound(content, distances, other_distances, content_weight)
    if value <= limit:
        return TransportVerdict(True, "bound", value)
    bound = _first_lower_bound(content, distances, other_distances, content_weight)
    if bound > limit:
        return TransportVerdict(False, "lower bound", bound)
    costs = _third_lower_bound_costs(content, distances, other_distances, content_weight)
    bound = max(float(costs.min(axis=1).mean()), float(costs.min(axis=0).mean()))
    if bound > limit:
        return TransportVerdict(False, "lower bound", bound)
    assigned = _assignment(costs)
    n = len(assigned)
    bound = float(costs[np.arange(n), assigned].mean())
    if bound > limit:
        return TransportVerdict(False, "lower bound", bound)
    content_cost = float(content[np.arange(n), assigned].mean())
    permuted = other_distances[np.ix_(assigned, assigned)]
    assigned_value = content_weight * content_cost
    assigned_value += (1 - content_weight) * float(((distances - permuted) ** 2).mean())
    if assigned_value <= limit:
        return TransportVerdict(True, "bound", assigned_value)
    plan = np.zeros((n, n))
    plan[np.arange(n), assigned if assigned_value < value - NOISE else np.arange(n)] = 1 / n
    value, _ = conditional_gradient(
        content, distances, other_distances, plan, content_weight, limit
    )
    return TransportVerdict(value <= limit, "solver", value)


def conditional_gradient(
    content: Floats,
    distances: Floats,
    other_distances: Floats,
    plan: Floats,
    content_weight: float = 0.5,
    target_value: float = -np.inf,
) -> tuple[float, Floats]:
    """Return a local minimum of FGW that is reached from a plan, and its plan.

    All slots have mass 1/n, so the best plan along the gradient is a linear assignment.

    Args:
        content: as in `decide`.
        distances: distances within the first graph, as in `decide`.
        other_distances: distances within the second graph.
        plan: float64 [n, n], where the descent starts.
        content_weight: as in `decide`.
        target_value: the descent ends at a value of at most this.
    """
    n, structure_weight = len(content), 1 - content_weight
    constant = float((distances**2).mean() + (other_distances**2).mean())
    inner = distances @ plan @ other_distances
    content_cost, inner_product = float((content * plan).sum()), float((inner * plan).sum())
    value = content_weight * content_cost + structure_weight * (constant - 2 * inner_product)
    for _ in range(MAX_STEPS):
        if value <= target_value:
            break
        target = _assignment(content_weight * content - 4 * structure_weight * inner)
        direction = -plan
        direction[np.arange(n), target] += 1 / n
        inverse = np.empty(n, np.int64)
        inverse[target] = np.arange(n)
        change = distances[:, inverse] @ other_distances / n - inner
        quadratic = -2 * structure_weight * float((change * direction).sum())
        linear = content_weight * float((content * direction).sum())
        linear -= 4 * structure_weight * float((inner * direction).sum())
        step = _line_search(quadratic, linear)
        decrease = -(quadratic * step + linear) * step
        if decrease <= CONVERGED * abs(value) + 1e-15:
            break
        plan, inner, value = plan + step * direction, inner + step * change, value - decrease
    content_cost = float((content * plan).sum())
    inner_product = float((distances @ plan @ other_distances * plan).sum())
    value = content_weight * content_cost + structure_weight * (constant - 2 * inner_product)
    return max(0.0, value), plan


def _line_search(quadratic: float, linear: float) -> float:
    """Return the t in [0, 1] that minimises quadratic t^2 + linear t."""
    if quadratic > 0:
        return min(1.0, max(0.0, -linear / (2 * quadratic)))
    return float(quadratic + linear < 0)


def _first_lower_bound(
    content: Floats, distances: Floats, other_distances: Floats, content_weight: float
) -> float:
    """Return the minimal content cost and the minimal structure cost, each by itself.

    Every slot goes to its most similar one; and mean distances are matched in order.
    """
    from clew.algorithms.transport.kernels.bounds import first_lower_bound

    return float(first_lower_bound(content, distances, other_distances, content_weight))


def _third_lower_bound_costs(
    content: Floats, distances: Floats, other_distances: Floats, content_weight: float
) -> Floats:
    """Return costs [n, n] whose best plan has a value of at most FGW.

    The structure cost of two slots compares their distances to all others, sorted.
    """
    sorted_rows, other_rows = np.sort(distances, axis=1), np.sort(other_distances, axis=1)
    squares = (sorted_rows**2).sum(axis=1)[:, None] + (other_rows**2).sum(axis=1)[None, :]
    squares = squares - 2 * sorted_rows @ other_rows.T
    structure = (1 - content_weight) / len(distances) * np.maximum(squares, 0)
    costs: Floats = content_weight * content + structure
    return costs


def _assignment(costs: Floats) -> NDArray[np.int64]:
    """Return the column assigned to each row at the least total cost."""
    from scipy.optimize import linear_sum_assignment

    columns: NDArray[np.int64] = linear_sum_assignment(costs)[1]
    return columns
