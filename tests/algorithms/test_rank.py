"""Ranking is Python's stable sort by rounded score, whatever part of it is asked for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.ranking import decimals, min_max_scale, top_k

SCORES = st.lists(
    st.sampled_from([0.0, -1.0, 0.5, 0.5 + 1e-12, 0.5 - 1e-12, 1.0, 1e6]) | st.floats(-2, 2),
    max_size=30,
)


def by_definition(scores, k):
    rounded = np.rint(scores * 10.0 ** decimals(np.abs(scores).max(initial=0)))
    found = sorted(range(len(scores)), key=lambda row: (-rounded[row], row))
    return found[: None if k is None else max(k, 0)]


@given(SCORES, st.none() | st.integers(-1, 35), st.sampled_from([1.0, 1e-7, 1e8, 1e-300, 0.0]))
def test_best_is_a_stable_sort_by_rounded_score(scores, k, scale):
    scores = np.array(scores) * scale
    assert top_k(scores, k).tolist() == by_definition(scores, k)


@given(
    st.integers(0, 10**6),
    st.integers(4000, 9000),
    st.sampled_from([1, 3, 30, 200]),
    st.sampled_from(["ties", "few", "below", "none"]),
)
def test_many_scores_are_ranked_as_few_are(seed, n, k, kind):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 50, n) / 7e5 + rng.choice([0, 1e-15, 1e-12], n)
    scores = {
        "ties": scores,
        "few": np.where(rng.random(n) < 0.01, scores, 0),
        "below": -scores,
        "none": np.zeros(n),
    }[kind]
    assert top_k(scores, k).tolist() == by_definition(scores, k)


def test_ties_are_as_wide_as_the_largest_score_has_noise():
    rng = np.random.default_rng(0)
    told, noise = rng.permutation(1000) * 1e-6, rng.uniform(-1, 1, 1000) * 1e-13
    for scale in (1.0, 1e-6, 1e-12):
        assert top_k((told + noise) * scale).tolist() == np.argsort(-told).tolist(), (
            "a millionth of the largest tells apart, at any scale"
        )
        assert top_k((1 + noise) * scale).tolist() == list(range(1000)), (
            "and a billionth of a thousandth does not"
        )
    for largest in (
        0.1,
        1.0,
        2.0,
        10.0,
        3e-5,
    ):  # no change of scale where scores lie by their nature
        assert decimals(largest * (1 - 1e-7)) == decimals(largest * (1 + 1e-7))
    assert [decimals(largest) for largest in (0.0, 1.0, 0.3, 0.2, 2e-6, np.inf)] == [
        9,
        9,
        9,
        10,
        15,
        9,
    ]


@given(SCORES)
def test_scaled_runs_from_zero_to_one_and_keeps_the_order(scores):
    found = min_max_scale(np.array(scores))
    assert len(found) == len(scores)
    if scores and max(scores) > min(scores):
        assert (found.min(), found.max()) == (0, 1)
        assert all(
            found[i] <= found[j]
            for i in range(len(scores))
            for j in range(len(scores))
            if scores[i] <= scores[j]
        )
    else:
        assert found.tolist() == [1.0] * len(scores)
