"""Ranking is Python's stable sort by rounded score, whatever part of it is asked for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.rank import DECIMALS, best, scaled

SCORES = st.lists(st.sampled_from([0.0, -1.0, 0.5, 0.5 + 1e-12, 0.5 - 1e-12, 1.0, 1e6]) | st.floats(-2, 2), max_size=30)


@given(SCORES, st.none() | st.integers(-1, 35))
def test_best_is_a_stable_sort_by_rounded_score(scores, k):
    rounded = np.round(np.array(scores), DECIMALS)
    expected = sorted(range(len(scores)), key=lambda row: (-rounded[row], row))
    assert best(np.array(scores), k).tolist() == expected[: None if k is None else max(k, 0)]


@given(SCORES)
def test_scaled_runs_from_zero_to_one_and_keeps_the_order(scores):
    found = scaled(np.array(scores))
    assert len(found) == len(scores)
    if scores and max(scores) > min(scores):
        assert (found.min(), found.max()) == (0, 1)
        assert all(found[i] <= found[j] for i in range(len(scores)) for j in range(len(scores)) if scores[i] <= scores[j])
    else:
        assert found.tolist() == [1.0] * len(scores)
