"""Tables of paired figures: their intervals against a slow reference, and what is marked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.measure import paired
from clew.measure.paired import bootstrap_intervals, build_table


def slow_intervals(differences, samples, seed):
    """One sample after the other, one row after the other."""
    draw = np.random.default_rng(seed)
    means = [[], []]
    for _ in range(samples):
        chosen = draw.integers(0, differences.shape[1], differences.shape[1])
        for row, kept in zip(differences, means, strict=True):
            kept.append(sum(row[i] for i in chosen) / len(chosen))
    ends = [np.quantile(kept, [0.025, 0.975]) for kept in means]
    return np.array([low for low, _ in ends]), np.array([high for _, high in ends])


@pytest.mark.parametrize("seed", [0, 7])
def test_intervals_are_those_of_a_slow_bootstrap_however_many_are_drawn_at_once(seed, monkeypatch):
    differences = np.random.default_rng(1).choice([-0.5, 0, 1 / 3, 1], (2, 17))
    expected = slow_intervals(differences, 400, seed)
    for cells in (17, 17 * 33, 4_000_000):  # one sample at a time, uneven parts, all at once
        monkeypatch.setattr(paired, "CELLS", cells)
        np.testing.assert_allclose(
            bootstrap_intervals(differences, samples=400, seed=seed), expected, atol=1e-12
        )


def test_intervals_cover_the_true_mean_about_as_often_as_they_say():
    draw = np.random.default_rng(3)
    low, high = bootstrap_intervals(draw.normal(0.3, 1, (300, 60)), samples=600)
    assert 0.90 < np.mean((low <= 0.3) & (high >= 0.3)) < 0.99


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=20), st.floats(-0.5, 0.5))
def test_an_interval_moves_with_its_differences_and_holds_their_mean_when_they_are_equal(
    values, shift
):
    rows = np.array([values, np.add(values, shift), np.full(len(values), shift)])
    low, high = bootstrap_intervals(rows, samples=50)
    np.testing.assert_allclose([low[1], high[1]], [low[0] + shift, high[0] + shift], atol=1e-9)
    np.testing.assert_allclose([low[2], high[2]], shift, atol=1e-9)


def made(**changes):
    base = np.tile([0.0, 1.0], 20)
    values = {
        "dense": {"R": base, "all": base},
        "better": {"R": base + 0.2, "all": base},
        "worse": {"R": base - 0.2, "all": base[::-1]},
    }
    return build_table("Here", values | changes, "dense", samples=500)


def test_only_differences_whose_interval_excludes_zero_are_marked_and_the_baseline_never():
    rows = made().to_markdown().splitlines()
    assert rows[0] == "| method | R | all |"
    assert rows[2:] == [
        "| dense | 0.500 | 0.500 |",
        "| better | **0.700** ▲ | 0.500 |",
        "| worse | **0.300** ▼ | 0.500 |",
    ]


def test_the_dictionary_and_the_long_table_say_means_differences_and_ends():
    one = made()
    cell = one.to_dict()["methods"]["better"]["R"]
    assert cell == pytest.approx({"mean": 0.7, "difference": 0.2, "low": 0.2, "high": 0.2})
    assert one.mean("better", "R") == pytest.approx(0.7)
    long = one.to_markdown(
        intervals=True, more={"ms": {"dense": "1", "better": "2", "worse": "3"}}
    ).splitlines()
    assert long[2] == "| dense | 0.500 | 0.500 | 1 |"
    assert (
        long[3]
        == "| better | **0.700** ▲ (+0.200 [+0.200, +0.200]) | 0.500 (+0.000 [+0.000, +0.000]) | 2 |"
    )


def test_figures_that_cannot_be_paired_are_refused():
    with pytest.raises(ValueError, match=r"'better' has the figures R, and 'dense' R, all"):
        made(better={"R": [1.0] * 40})
    with pytest.raises(ValueError, match=r"'better', 'R': wanted 40 finite numbers"):
        made(better={"R": [1.0] * 39, "all": [1.0] * 40})
    with pytest.raises(ValueError, match=r"'better', 'all': wanted 40 finite numbers"):
        made(better={"R": [1.0] * 40, "all": [float("nan")] * 40})
    with pytest.raises(ValueError, match="baseline 'bm25' is not among the methods dense"):
        build_table("Here", {"dense": {"R": [1.0]}}, "bm25")
