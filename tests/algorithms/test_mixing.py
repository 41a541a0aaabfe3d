"""Loops over the scores of all nodes: number by number in Python, and both of their forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.kernels.mixing import (
    above_noise,
    added_of_owners,
    blended,
    keep_far,
    raised_by_others,
)
from clew.algorithms.kernels.postings import add_constant

SCORES = st.lists(st.one_of(st.just(0.0), st.floats(0, 9)), min_size=1, max_size=9)


@pytest.mark.parametrize("form", ["plain", "function"])
@given(SCORES, st.floats(0.1, 9), st.floats(0.1, 9), st.sampled_from([0, 0.3, 1]))
def test_two_scores_are_blended_number_by_number(form, scores, first_best, second_best, share):
    first, second = np.array(scores), np.array(scores[::-1])
    expected = [
        share * (one / first_best) + (1 - share) * (other / second_best)
        for one, other in zip(scores, scores[::-1], strict=True)
    ]
    found = getattr(blended, form)(first, second, first_best, second_best, share)
    assert found.tobytes() == np.array(expected, np.float64).tobytes()
    assert first.tolist() == scores
    assert second.tolist() == scores[::-1]


@pytest.mark.parametrize("form", ["plain", "function"])
@given(SCORES, st.floats(0.1, 9), st.integers(0, 9))
def test_what_belongs_to_the_owner_is_added_where_there_is_a_score(form, scores, best, seed):
    chance = np.random.default_rng(seed)
    beside, owners = chance.random(3), chance.integers(-1, 3, len(scores))
    expected = [
        (score / best + beside.tolist()[owner]) / 1.2 if score / best > 0 else 0.0
        for score, owner in zip(scores, owners.tolist(), strict=True)
    ]
    found = getattr(added_of_owners, form)(np.array(scores), best, beside, owners, 1.2)
    assert found.tobytes() == np.array(expected).tobytes()


@pytest.mark.parametrize("form", ["plain", "function"])
@given(SCORES, st.integers(0, 9))
def test_some_scores_are_raised_by_others_as_they_were_before(form, scores, seed):
    chance, n = np.random.default_rng(seed), len(scores)
    rows = np.flatnonzero(chance.random(n) < 0.7).astype(np.int32)
    others, weights = chance.integers(0, n, len(rows)), chance.random(len(rows))
    expected = list(scores)
    for row, other, weight in zip(rows.tolist(), others.tolist(), weights.tolist(), strict=True):
        if scores[row] > 0:
            expected[row] = (scores[row] + weight * scores[other]) / 1.4
    before = np.array(scores)
    found = getattr(raised_by_others, form)(before, rows, others, weights, 1.4)
    assert found.tobytes() == np.array(expected, np.float64).tobytes()
    assert before.tolist() == scores


@pytest.mark.parametrize("form", ["plain", "function"])
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 9)), min_size=1), st.floats(0, 1))
def test_what_is_far_below_the_best_alone_has_no_larger_share_mixed(form, pairs, far):
    mixed, alone = (np.array(column) for column in zip(*pairs, strict=True))
    best = max(*alone, 0.1)
    expected = [
        min(one, own / best * max(mixed)) if own / best < far else one
        for one, own in zip(mixed.tolist(), alone.tolist(), strict=True)
    ]
    getattr(keep_far, form)(mixed, alone, best, far)
    assert mixed.tobytes() == np.array(expected).tobytes()


@pytest.mark.parametrize("form", ["plain", "function"])
def test_a_run_of_postings_gets_a_number_more(form):
    sums, texts = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 3, 1, 2], np.int32)
    getattr(add_constant, form)(sums, texts, 1, 3, 0.5)
    assert sums.tolist() == [1.0, 2.5, 3.0, 4.5]


@pytest.mark.parametrize("form", ["plain", "function"])
def test_noise_is_no_score(form):
    products = np.float32([0.5, 1e-9, -1e-9, -0.5, 0.25, 0.0, np.nan, 1e-6, np.inf])
    found = getattr(above_noise, form)(products, float(products[7]))
    assert found.dtype == np.float64
    assert found.tolist() == [0.5, 0.0, 0.0, -0.5, 0.25, 0.0, 0.0, 0.0, np.inf]
