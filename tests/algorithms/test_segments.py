"""Cuts of least cost, against all of them."""

from __future__ import annotations

from itertools import chain, combinations, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.segmentation import cohesion, find_cuts

COSTS = st.integers(-5, 5).map(lambda n: n / 4)


@given(st.lists(st.tuples(COSTS, st.integers(1, 9)), max_size=9), st.integers(1, 20))
def test_no_other_cuts_cost_less_or_are_fewer_at_the_same_cost(units, most):
    cost, sizes = [cost for cost, _ in units[1:]], [size for _, size in units]

    def allowed(cuts):
        ends = [0, *(cut + 1 for cut in cuts), len(sizes)]
        return all(b - a <= 1 or sum(sizes[a:b]) <= most for a, b in pairwise(ends))

    gaps = range(len(cost))
    every = [
        cuts
        for cuts in chain.from_iterable(combinations(gaps, k) for k in range(len(gaps) + 1))
        if allowed(cuts)
    ]
    found = find_cuts(cost, sizes, most)
    assert allowed(found)
    best = min((sum(cost[i] for i in cuts), len(cuts)) for cuts in every)
    assert (sum(cost[i] for i in found), len(found)) == best


def test_cohesion_is_the_cosine_of_what_stands_before_and_behind():
    vectors = np.random.default_rng(0).normal(size=(7, 5))
    sizes = np.arange(1.0, 8.0)
    found = cohesion(vectors, sizes, 2)
    for gap in range(1, 7):
        left, right = (
            sizes[part] @ vectors[part]
            for part in (slice(max(gap - 2, 0), gap), slice(gap, gap + 2))
        )
        assert np.isclose(
            found[gap - 1], left @ right / np.linalg.norm(left) / np.linalg.norm(right)
        )
    assert cohesion(np.zeros((3, 2)), np.ones(3), 3).tolist() == [0, 0]
    assert len(cohesion(np.ones((1, 2)), np.ones(1), 3)) == 0
