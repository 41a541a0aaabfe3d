"""Fused Gromov-Wasserstein: what must hold of the distance, of its bounds, and of a verdict, beside POT's own."""

from __future__ import annotations

import os
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

os.environ.setdefault(
    "POT_BACKEND_DISABLE_PYTORCH", "1"
)  # POT loads every backend that is installed, torch for many seconds
ot = pytest.importorskip("ot")

from clew.algorithms.transport import fused_gromov_wasserstein as transport  # noqa: E402
from clew.algorithms.transport.fused_gromov_wasserstein import (  # noqa: E402
    conditional_gradient,
    decide,
    fgw_distance,
    identity_bound,
)


def metric(rng, n):
    """Distances within a random tree with some more edges, as shares of the longest."""
    from scipy.sparse.csgraph import shortest_path

    edges = np.zeros((n, n))
    for row in range(1, n):
        edges[row, rng.integers(row)] = 0.1 + rng.random()
    for _ in range(n // 3):
        one, other = rng.integers(n, size=2)
        edges[max(one, other), min(one, other)] = 0.1 + rng.random()
    found = shortest_path(edges, directed=False)
    return found / found.max()


def pair(seed, n=8, change=0.3):
    """A graph, a changed copy on the same slots, and the cost of taking the one's nodes for the other's."""
    rng = np.random.default_rng(seed)
    one, vectors = metric(rng, n), rng.normal(size=(n, 4))
    noise = change * rng.random((n, n))
    other, moved = np.abs(one + (noise + noise.T) / 2), vectors + change * rng.normal(size=(n, 4))
    np.fill_diagonal(other, 0)
    vectors, moved = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (vectors, moved))
    return ((vectors[:, None] - moved[None]) ** 2).sum(axis=2) / 4, one, other


def pots(content, one, other, weight, start=None, mass=None, other_mass=None):
    n, m = content.shape
    mass, other_mass = (
        ot.unif(size) if given is None else given for size, given in ((n, mass), (m, other_mass))
    )
    return ot.gromov.fused_gromov_wasserstein2(
        content, one, other, mass, other_mass, "square_loss", alpha=1 - weight, G0=start
    )


PAIRS = st.builds(
    pair, st.integers(0, 10**6), st.integers(2, 8), st.sampled_from([0.0, 0.05, 0.3, 1.0])
)
WEIGHTS = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@settings(max_examples=settings().max_examples // 2)
@given(PAIRS, WEIGHTS.filter(lambda weight: weight < 1))  # POT divides by its alpha there
def test_the_value_is_pots_by_the_converted_weight(graphs, weight):
    start = np.eye(len(graphs[0])) / len(graphs[0])
    assert fgw_distance(*graphs, content_weight=weight)[0] == pytest.approx(
        pots(*graphs, weight), abs=1e-9
    )
    ours, plan = conditional_gradient(*graphs, start, weight)
    assert ours == pytest.approx(pots(*graphs, weight, start), abs=1e-6)
    assert plan.sum(axis=0) == pytest.approx(plan.sum(axis=1), abs=1e-12)
    assert ours == pytest.approx(value_of(plan, *graphs, weight), abs=1e-12), (
        "the value is the plan's, by the definition"
    )


def value_of(plan, content, one, other, weight):
    squares = (one[:, None, :, None] - other[None, :, None, :]) ** 2
    return weight * (content * plan).sum() + (1 - weight) * np.einsum(
        "ijkl,ij,kl", squares, plan, plan
    )


@settings(max_examples=settings().max_examples // 2)
@given(PAIRS, WEIGHTS)
def test_bounds_stand_on_either_side(graphs, weight):
    value, _ = conditional_gradient(*graphs, np.eye(len(graphs[0])) / len(graphs[0]), weight)
    costs = transport._third_lower_bound_costs(*graphs, weight)
    least = costs[np.arange(len(costs)), transport._assignment(costs)].mean()
    assert transport._first_lower_bound(*graphs, weight) <= least + 1e-12
    assert max(costs.min(axis=1).mean(), costs.min(axis=0).mean()) <= least + 1e-12
    assert least <= value + 1e-9
    assert value <= identity_bound(*graphs, weight) + 1e-12
    stay = np.eye(len(costs)) / len(costs)
    assert identity_bound(*graphs, weight) == pytest.approx(
        value_of(stay, *graphs, weight), abs=1e-12
    )


@settings(max_examples=settings().max_examples // 4)
@given(st.builds(pair, st.integers(0, 10**6), st.integers(2, 6)), WEIGHTS)
def test_no_assignment_is_below_the_lower_bound(graphs, weight):
    n = len(graphs[0])
    costs = transport._third_lower_bound_costs(*graphs, weight)
    least = costs[np.arange(n), transport._assignment(costs)].mean()
    best = min(
        value_of(np.eye(n)[list(order)] / n, *graphs, weight) for order in permutations(range(n))
    )
    assert least <= best + 1e-12


@settings(max_examples=settings().max_examples // 2)
@given(PAIRS, WEIGHTS, st.floats(0, 1.5))
def test_a_verdict_is_what_the_values_say(graphs, weight, share):
    most = share * identity_bound(*graphs, weight)
    verdict = decide(*graphs, most, weight)
    value, _ = conditional_gradient(*graphs, np.eye(len(graphs[0])) / len(graphs[0]), weight)
    if verdict.accepted:
        assert verdict.value <= most + 1e-9
    elif verdict.by == "lower bound":
        assert most < verdict.value <= value + 1e-9, (
            "what a bound rejects no plan could have got in"
        )
    else:
        assert verdict.by == "solver"
        assert verdict.value > most
    if share >= 1:
        assert verdict == transport.TransportVerdict(True, "bound", identity_bound(*graphs, weight))


def test_all_three_means_decide_something():
    met = {
        (v.by, v.accepted)
        for seed in range(60)
        for share in (0.3, 0.8, 0.97)
        for v in [graded(seed, share)]
    }
    assert {("bound", True), ("lower bound", False), ("solver", False)} <= met


def graded(seed, share):
    graphs = pair(seed, 7, 0.6)
    return decide(*graphs, share * identity_bound(*graphs))


@settings(max_examples=settings().max_examples // 2)
@given(PAIRS, WEIGHTS, st.randoms(use_true_random=False))
def test_nothing_is_the_distance_to_oneself_also_in_another_order(graphs, weight, random):
    content, one, _ = graphs
    n = len(one)
    own = np.maximum(content + content.T - content.diagonal()[:, None], 0)
    np.fill_diagonal(own, 0)
    assert decide(own, one, one, 0.0, weight) == transport.TransportVerdict(True, "bound", 0.0)
    order = list(range(n))
    random.shuffle(order)
    moved = np.eye(n)[order].T / n  # slot i of the one is slot order.index(i) of the other
    value, _ = conditional_gradient(own[:, order], one, one[np.ix_(order, order)], moved, weight)
    assert value == pytest.approx(0, abs=1e-12)


@settings(max_examples=settings().max_examples // 2)
@given(PAIRS, WEIGHTS)
def test_it_is_symmetric(graphs, weight):
    content, one, other = graphs
    start = np.eye(len(one)) / len(one)
    assert conditional_gradient(content, one, other, start, weight)[0] == pytest.approx(
        conditional_gradient(content.T, other, one, start, weight)[0], abs=1e-6
    )


@settings(max_examples=settings().max_examples // 2)
@given(PAIRS)
def test_at_weight_one_it_is_wasserstein_and_at_none_features_do_not_matter(graphs):
    content, one, other = graphs
    n = len(one)
    start = np.eye(n) / n
    assert conditional_gradient(content, one, other, start, 1.0)[0] == pytest.approx(
        ot.emd2(ot.unif(n), ot.unif(n), content), abs=1e-12
    )
    assert (
        conditional_gradient(content, one, other, start, 0.0)[0]
        == conditional_gradient(7 + 0 * content, one, other, start, 0.0)[0]
    )


@settings(max_examples=settings().max_examples // 2)
@given(PAIRS, st.integers(1, 3), WEIGHTS)
def test_slots_with_equal_rows_are_one_node_with_their_masses_added_up(graphs, more, weight):
    _, one, other = graphs
    slots = np.concatenate(
        [np.arange(len(one)), np.zeros(more, np.int64)]
    )  # the first node of the other stands on more slots
    rng = np.random.default_rng(more)
    larger, n = metric(rng, len(slots)), len(slots)
    costs = rng.random((n, len(other)))
    masses = np.bincount(slots, minlength=len(other)) / n
    start = np.zeros((n, len(other)))
    start[np.arange(n), slots] = 1 / n
    ours, _ = conditional_gradient(
        costs[:, slots], larger, other[np.ix_(slots, slots)], np.eye(n) / n, weight
    )
    theirs = (
        pots(costs, larger, other, weight, start, None, masses)
        if weight < 1
        else ot.emd2(ot.unif(n), masses, costs)
    )
    assert (
        ours <= identity_bound(costs[:, slots], larger, other[np.ix_(slots, slots)], weight) + 1e-12
    )
    assert identity_bound(
        costs[:, slots], larger, other[np.ix_(slots, slots)], weight
    ) == pytest.approx(value_of(start, costs, larger, other, weight))
    assert fgw_distance(costs, larger, other, (None, masses), weight, start)[0] == pytest.approx(
        theirs, abs=1e-9
    )
    if weight == 1.0:
        assert ours == pytest.approx(theirs, abs=1e-9)


@settings(max_examples=settings().max_examples // 4)
@given(
    st.builds(pair, st.integers(0, 10**6), st.integers(2, 5), st.sampled_from([0.3, 1.0])), WEIGHTS
)
def test_the_lower_bounds_are_memolis(graphs, weight):
    """Content and structure each at its best; the structure by mean distances, or by sorted rows."""
    content, one, other = graphs
    n, orders = len(one), [list(order) for order in permutations(range(len(one)))]
    matched = min(((one.mean(axis=1) - other.mean(axis=1)[order]) ** 2).mean() for order in orders)
    nearest = max(content.min(axis=0).sum(), content.min(axis=1).sum()) / n
    assert transport._first_lower_bound(*graphs, weight) == pytest.approx(
        weight * nearest + (1 - weight) * matched, abs=1e-12
    )
    rows = [
        [min(((one[i] - other[j][order]) ** 2).mean() for order in orders) for j in range(n)]
        for i in range(n)
    ]
    assert transport._third_lower_bound_costs(*graphs, weight) == pytest.approx(
        weight * content + (1 - weight) * np.array(rows), abs=1e-12
    )


@settings(max_examples=settings().max_examples // 4)
@given(st.builds(pair, st.integers(0, 10**6), st.integers(2, 5), st.just(1.0)), WEIGHTS)
def test_a_descent_ends_where_no_plan_is_better_to_first_order(graphs, weight):
    """Along the way to any permutation the value does not fall."""
    n = len(graphs[0])
    start = np.full((n, n), 1 / n**2)
    value, plan = conditional_gradient(*graphs, start, weight)
    assert value <= value_of(start, *graphs, weight) + 1e-12
    for order in permutations(range(n)):
        nearby = plan + 1e-4 * (np.eye(n)[list(order)] / n - plan)
        assert value_of(nearby, *graphs, weight) >= value - 1e-8


@given(st.floats(-3, 3), st.floats(-3, 3))
def test_a_line_search_finds_the_lowest_of_the_segment(quadratic, linear):
    steps = np.linspace(0, 1, 101)
    step = transport._line_search(quadratic, linear)
    assert 0 <= step <= 1
    assert (quadratic * step + linear) * step <= (
        (quadratic * steps + linear) * steps
    ).min() + 1e-12


def test_a_limit_that_is_met_exactly_accepts():
    """Two slots at distance 1, then at distance 0: the structure changes by 1 / 2, by any plan."""
    apart, together = np.array([[0.0, 1.0], [1.0, 0.0]]), np.zeros((2, 2))
    for limit, accepted in ((0.25, True), (0.2499, False), (0.2501, True)):
        assert decide(together, apart, together, limit).accepted == accepted
    swapped = np.array([[1.0, 0.0], [0.0, 1.0]])  # staying costs 1; to change places nothing
    verdict = decide(swapped, apart, apart, 0.0)
    assert verdict == transport.TransportVerdict(True, "bound", 0.0)
