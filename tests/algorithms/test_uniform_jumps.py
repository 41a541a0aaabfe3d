"""The walk with jumps against a dense solve of equation 4, each row divided by its sum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from clew.algorithms.pagerank import build_jumps, pagerank_over, pagerank_with_jumps


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.9])
@given(st.integers(1, 25), st.sampled_from([0.0, 0.1, 0.6, 1.0]), st.integers(0, 10**6))
def test_it_is_the_dense_solve_and_sums_to_one(damping, n, share, seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < share, 1)
    links = (upper | upper.T).astype(np.float64)
    degree = links.sum(axis=1, keepdims=True)
    follow = np.where(links > 0, 1 / np.maximum(degree, 1), 1 / n)
    follow /= follow.sum(axis=1, keepdims=True)
    reset = rng.random(n) * (rng.random(n) < 0.3)
    reset[rng.integers(n)] = 1
    exact = np.linalg.solve(np.eye(n) - damping * follow.T, (1 - damping) * reset / reset.sum())

    found = pagerank_over(build_jumps(csr_array(links), damping), reset)

    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert np.abs(found - exact).sum() <= 1e-10
    assert pagerank_with_jumps(csr_array(links), reset, damping) == pytest.approx(found, abs=1e-12)
