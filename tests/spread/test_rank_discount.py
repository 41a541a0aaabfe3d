"""Prizes by rank, by the definition: how many different prizes of its sort are above each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.graph import Graph
from clew.spread import RankDiscount
from clew.types import Query, Seeds

PRIZES = st.lists(st.sampled_from([0.0, 1e-6, 0.25, 0.5, 3.0, 7.0]), min_size=1, max_size=9)


@given(PRIZES, st.sampled_from([0.5, 1.0, 2.0]), st.floats(0.01, 100), st.data())
def test_a_rank_counts_what_is_better_of_its_sort(prizes, exponent, scale, data):
    kinds = data.draw(
        st.lists(st.sampled_from(["passage", "entity"]), min_size=len(prizes), max_size=len(prizes))
    )
    graph = Graph.of([f"text {i}" for i in range(len(prizes))], kinds=kinds)
    scaled = np.multiply(prizes, scale)
    found = RankDiscount(exponent).on(graph)(Query("?"), Seeds(scaled), scaled)
    for own, kind, value in zip(prizes, kinds, found, strict=True):
        better = {p for p, k in zip(prizes, kinds, strict=True) if k == kind and p > own}
        assert value == pytest.approx((1 + len(better)) ** -exponent if own else 0)


def test_a_power_that_turns_the_order_round_is_refused():
    with pytest.raises(ValueError, match="above 0, not 0"):
        RankDiscount(0)
