"""Which scores are equal, by definition; and that noise moves nothing that ranks by it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.mmr import select_mmr
from clew.algorithms.ranking import (
    TOLERANCE,
    best_row,
    dense_ranks,
    equalize,
    exceeds,
    make_summable,
    min_max_scale,
    reaches,
    sharpen,
    tolerance,
    top_k,
)
from clew.graph import Edges, Graph, freeze
from clew.order import ByAttention, ByDocument, ByGraph, ByPrize, FactsFirst, Sandwich, Thread
from clew.types import Query, Subgraph

NEAR = [0.5, 0.5 + 0.4e-6, 0.5 + 0.8e-6, 0.5 - 0.7e-6, 0.5 + 1e-12, 0.5 - 1e-12]
SCORES = st.lists(st.sampled_from([0.0, -1.0, *NEAR, 1.0]) | st.floats(-2, 2), max_size=30)
SCALES = st.sampled_from([1.0, 1e-7, 1e8, 1e-290, 0.0])


def by_definition(scores, width):
    """Groups of rows: a leader and all that is left within the width below it."""
    left, groups = list(range(len(scores))), []
    while left:
        leader = max(scores[row] for row in left)
        groups.append([row for row in left if scores[row] >= leader - width])
        left = [row for row in left if scores[row] < leader - width]
    return groups


@given(SCORES, st.none() | st.integers(-1, 35), SCALES, st.none() | st.sampled_from([0.3, 5.0]))
def test_the_rule_by_definition(scores, k, scale, largest):
    scores = np.array(scores) * scale
    largest = None if largest is None else largest * scale
    width = tolerance(scores) if largest is None else TOLERANCE * largest
    groups = by_definition(scores.tolist(), width)

    assert (
        top_k(scores, k, largest).tolist()
        == [row for group in groups for row in group][: None if k is None else max(k, 0)]
    )
    number = {row: level for level, group in enumerate(groups) for row in group}
    assert dense_ranks(scores, largest).tolist() == [number[row] for row in range(len(scores))]
    assert equalize(scores, largest).tolist() == [
        scores[groups[number[row]]].max() for row in range(len(scores))
    ]
    if groups and scores.max() > 0:
        assert best_row(dict(enumerate(scores.tolist())), None if largest is None else largest) == (
            groups[0][0]
            if largest is not None
            else by_definition(scores.tolist(), TOLERANCE * scores.max())[0][0]
        )


@given(
    st.integers(0, 10**6),
    st.integers(1000, 9000),
    st.sampled_from([1, 3, 30, 200]),
    st.sampled_from(["ties", "few", "below", "none", "tiny", "close"]),
)
def test_many_scores_are_ranked_as_few_are(seed, n, k, kind):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 50, n) / 7e5 + rng.choice([0, 1e-15, 1e-12, 3e-11], n)
    scores = {
        "ties": scores,
        "few": np.where(rng.random(n) < 0.01, scores, 0),
        "below": -scores,
        "none": np.zeros(n),
        "tiny": np.where(rng.random(n) < 0.9, 3e-6 * scores, scores),  # around the tolerance
        "close": np.where(rng.random(n) < 0.1, 1.0, rng.integers(0, 99, n) * 1e-12),
    }[kind]
    groups = by_definition(scores.tolist(), tolerance(scores))
    assert top_k(scores, k).tolist() == [row for group in groups for row in group][:k]
    ranks = dense_ranks(scores)
    assert [np.flatnonzero(ranks == level).tolist() for level in range(len(groups))] == groups
    assert top_k(scores, k).tolist() == top_k(scores)[:k].tolist()


def test_what_is_not_finite_leaves_the_tolerance_that_of_the_rest():
    assert top_k(np.array([1.0, np.inf, 1.0 + 1e-9, -np.inf])).tolist() == [1, 0, 2, 3]
    assert dense_ranks([]).tolist() == []
    assert tolerance([]) == 0.0


def test_a_group_is_never_wider_than_the_tolerance():
    chain = 1 - np.arange(1000) * 0.4e-6
    assert np.bincount(dense_ranks(chain)).max() == 3
    assert len(set(dense_ranks(chain).tolist())) == 334


# Scores whose true gaps are nothing or more than three tolerances, in any order of rows, and noise as of float32.
TRUE = st.lists(st.integers(0, 60), min_size=1, max_size=40).map(
    lambda steps: np.array(steps) / 60 * 0.9 + 0.1
)
NOISE = st.integers(0, 10**6).map(lambda seed: np.random.default_rng(seed))


def noisy(true, rng):
    return true + rng.uniform(-1e-8, 1e-8, len(true))


@given(
    TRUE
    | st.lists(st.integers(0, 300_000), min_size=1, max_size=40).map(
        lambda steps: 0.05 + np.array(steps) * 3.2e-6
    ),
    NOISE,
)
def test_noise_moves_no_rank_for_any_k(true, rng):
    scores = noisy(true, rng)
    assert dense_ranks(scores).tolist() == dense_ranks(true).tolist()
    for k in (None, *range(len(true) + 1)):
        assert top_k(scores, k).tolist() == top_k(true, k).tolist()
    for made in (equalize, make_summable):
        assert (
            len(set(made(scores).tolist()))
            == len(set(made(true).tolist()))
            == len(set(true.tolist()))
        )


@given(TRUE, NOISE, st.sampled_from([0.1, 1.0, 2.0, 8.0]))
def test_a_power_leaves_less_than_a_thousandth_of_noise(true, rng, exponent):
    powers = sharpen(noisy(true, rng), exponent)
    assert powers == pytest.approx((true / true.max()) ** exponent, abs=1e-5)
    highest_below = -1.0
    for value in sorted(set(true.tolist())):
        of_equals = powers[true == value]
        assert np.ptp(of_equals) <= 2e-8 / true.max() * 1e-3
        if exponent <= 1 or value > 0.3 * true.max():
            assert np.ptp(of_equals) == 0
        assert of_equals.min() > highest_below
        highest_below = of_equals.max()


def test_a_pair_of_equals_on_a_line_of_a_grid_is_a_pair_of_equals():
    for at in np.linspace(0.1, 0.9, 4001):
        assert top_k(np.array([at - 1e-8, at + 1e-8])).tolist() == [0, 1]


@given(
    TRUE,
    NOISE,
    st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    st.sampled_from([None, 0.2]),
    st.integers(0, 3),
)
def test_noise_moves_no_choice_by_marginal_relevance(true, rng, share, floor, read):
    kinds = (
        np.eye(8)[np.arange(len(true)) % 5] * 0.8 + np.eye(8)[5 + np.arange(len(true)) % 3] * 0.6
    )
    plain, moved = (select_mmr(
        np.float32(kinds + more), worth, share, costs=np.arange(len(true)) % 3, budget=12, selected=np.float32(kinds[:read]), floor=floor
    ) for more, worth in ((0, np.round(true, 2)), (rng.uniform(-1e-8, 1e-8, kinds.shape), noisy(np.round(true, 2), rng))))  # fmt: skip
    assert plain.chosen.tolist() == moved.chosen.tolist()
    assert plain.passed.tolist() == moved.passed.tolist()


@given(TRUE, NOISE)
def test_by_worth_alone_marginal_relevance_is_the_rank(true, rng):
    scores = noisy(true, rng)
    assert (
        select_mmr(np.zeros((len(true), 2), np.float32), scores, 1.0).chosen.tolist()
        == top_k(scores).tolist()
    )


ORDERS = [
    ByPrize(),
    Sandwich(),
    Thread(),
    ByDocument(),
    ByGraph(),
    ByAttention((3.0, 1.0, 2.0)),
    FactsFirst(),
]


@pytest.mark.parametrize("order", ORDERS, ids=repr)
@given(TRUE, NOISE)
def test_noise_moves_no_order(order, true, rng):
    n = len(true)
    tails, heads = np.arange(n - 1), np.arange(1, n)
    weights = np.where(np.arange(n - 1) % 2, 0.5, 0.75)

    def read(prizes, more):
        graph = Graph.of(
            [f"text {i}" for i in range(n)], edges=Edges.of("similar", tails, heads, weights + more)
        )
        return order.on(graph)(
            Query("?"), prizes, Subgraph(freeze(range(n), np.int32))
        ).nodes.tolist()

    assert read(noisy(true, rng), rng.uniform(-1e-7, 1e-7, n - 1)) == read(true, 0.0)


def test_what_reaches_a_bar_but_for_noise_reaches_it_and_what_is_above_by_noise_does_not_exceed_it():
    scores = np.array([0.8, 0.8 - 1e-7, 0.8 + 1e-7, 0.8 - 1e-5, 0.8 + 1e-5])
    assert reaches(scores, 0.8).tolist() == [True, True, True, False, True]
    assert exceeds(scores, 0.8).tolist() == [False, False, False, False, True]
    assert exceeds(scores * 1e-9, 0.8e-9, 1e-9).tolist() == exceeds(scores, 0.8).tolist()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), NOISE)
def test_sums_of_what_is_summable_do_not_depend_on_the_order(scores, rng):
    values = make_summable(scores)
    assert {float(np.cumsum(values[rng.permutation(len(values))])[-1]) for _ in range(5)} == {
        float(np.cumsum(values)[-1])
    }
    smallest = np.finfo(float).tiny  # below it the tolerance itself is rounded to nothing
    assert np.abs(values - np.array(scores)).max() <= tolerance(scores) * 1.01 + smallest


@given(SCORES)
def test_scaled_runs_from_zero_to_one_and_keeps_the_order(scores):
    found = min_max_scale(np.array(scores))
    assert len(found) == len(scores)
    if scores and exceeds(max(scores), min(scores), max(map(abs, scores))):
        assert (found.min(), found.max()) == (0, 1)
        assert all(
            found[i] <= found[j]
            for i in range(len(scores))
            for j in range(len(scores))
            if scores[i] <= scores[j]
        )
    else:
        assert found.tolist() == [1.0] * len(scores)
