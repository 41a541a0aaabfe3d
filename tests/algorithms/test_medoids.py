"""Clusters around medoids: against every choice of medoids, and the scaling that draws their map."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.algorithms.clustering import classical_scaling, k_medoids


def distances_of(points):
    return np.linalg.norm(points[:, None] - points[None, :], axis=2)


def cost(distances, medoids):
    return distances[:, list(medoids)].min(axis=1).sum()


@settings(max_examples=2 * settings().max_examples)
@given(st.integers(1, 9), st.integers(1, 4), st.integers(0, 10**6))
def test_no_single_exchange_is_better_and_the_optimum_is_near(n, k, seed):
    points = np.random.default_rng(seed).normal(size=(n, 2))
    distances, k = distances_of(points), min(k, n)
    medoids, labels = k_medoids(distances, k)
    assert len(set(medoids.tolist())) == k
    assert distances[np.arange(n), medoids[labels]] == pytest.approx(
        distances[:, medoids].min(axis=1)
    )
    found = cost(distances, medoids)
    for out in range(k):
        for new in range(n):
            assert found <= cost(distances, [*np.delete(medoids, out), new]) + 1e-9
    optimum = min(cost(distances, chosen) for chosen in combinations(range(n), k))
    assert (
        found <= 5 * optimum + 1e-9
    )  # what a local optimum of exchanges guarantees (Arya et al. 2004)


def test_clusters_that_stand_apart_are_found():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(at, 0.1, size=(30, 2)) for at in ((0, 0), (5, 0), (0, 5))])
    _, labels = k_medoids(distances_of(points), 3)
    assert [len(set(labels[i : i + 30].tolist())) for i in (0, 30, 60)] == [1, 1, 1]
    assert len(set(labels.tolist())) == 3


@pytest.mark.parametrize("k", [0, 4])
def test_a_number_of_clusters_that_cannot_be_is_refused(k):
    with pytest.raises(ValueError, match="number of clusters"):
        k_medoids(np.zeros((3, 3)), k)


def test_scaling_gives_back_the_distances_of_points_in_the_plane():
    points = np.random.default_rng(1).normal(size=(12, 2))
    assert distances_of(classical_scaling(distances_of(points))) == pytest.approx(
        distances_of(points), abs=1e-8
    )
    assert classical_scaling(np.zeros((1, 1))).tolist() == [[0, 0]]
