"""The update of existence weights, written out edge by edge from appendix B.3 of Kurisu-G2."""

from __future__ import annotations

from math import exp, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.methods.kurisu.edge_learning import RewardShape, strength_changes

# Hundredths, so that no similarity stands at a threshold but for rounding.
similarities = st.lists(st.integers(0, 100).map(lambda part: part / 100), min_size=1, max_size=12)
shapes = st.builds(
    RewardShape,
    margin=st.sampled_from([0.0, 0.25, 0.7]),
    z_cut=st.sampled_from([0.313, 1.017, 1.5091]),
    temp_pos=st.sampled_from([0.3, 1.0, 2.0]),
    temp_neg=st.sampled_from([0.4, 1.0, 3.0]),
    sigma_min=st.sampled_from([0.05, 0.2]),
)


def appendix_b3(s, reward, gamma, shape):
    mean = sum(s) / len(s)
    sigma = max(sqrt(sum((one - mean) ** 2 for one in s) / len(s)), shape.sigma_min)
    z = [(one - mean) / sigma for one in s]
    boosts = [exp(max(0.0, one + shape.margin) / shape.temp_pos) for one in z]
    gains = [(1 - gamma) * reward * one / sum(boosts) for one in boosts]
    low = [place for place, one in enumerate(z) if one < -shape.z_cut]
    weights = {place: exp(abs(z[place]) / shape.temp_neg) for place in low}
    losses = {place: -gamma * reward * weights[place] / sum(weights.values()) for place in low}
    return [gain + losses.get(place, 0.0) for place, gain in enumerate(gains)], bool(low)


@given(similarities, st.sampled_from([0.03, 0.1, 1.0]), st.sampled_from([0.0, 0.5, 0.8]), shapes)
def test_changes_are_those_of_appendix_b3_written_out(s, reward, gamma, shape):
    changes = strength_changes(s, reward=reward, penalty_share=gamma, shape=shape)
    expected, any_low = appendix_b3(s, reward, gamma, shape)
    assert changes.tolist() == pytest.approx(expected, abs=1e-12)
    # The paper's sum of losses is -gamma R, but where no edge is far below the mean.
    assert sum(changes) == pytest.approx((1 - gamma - gamma * any_low) * reward)


def test_the_settings_are_those_that_the_ranges_of_the_paper_suggest():
    assert RewardShape() == (0.25, 1.0, 1.0, 1.0, 0.05)
    assert sum(strength_changes([0.5])) == pytest.approx(0.05)
    assert strength_changes([]).tolist() == []


def test_at_a_low_temperature_the_best_edge_gains_all_and_the_worst_loses_all():
    """Powers of thousands are no numbers; only their ratios are."""
    cold = RewardShape(temp_pos=1e-3, temp_neg=1e-3)
    changes = strength_changes([0.9, 0.5, 0.5, 0.5, 0.5, 0.5, 0.1], reward=0.2, shape=cold)
    assert changes.tolist() == pytest.approx([0.1, 0, 0, 0, 0, 0, -0.1])
