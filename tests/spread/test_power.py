"""Sharpening keeps the order and the zeros, and says nothing about an empty set of prizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.graph import Graph
from clew.spread import Power
from clew.types import Query, Seeds


def sharpened(prizes, sharpness):
    prizes = np.array(prizes, np.float64)
    return Power(sharpness).on(Graph.of([f"text {i}" for i in range(len(prizes))]))(
        Query("?"), Seeds(prizes), prizes
    )


@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 3.0, 7.0]), min_size=1, max_size=8),
    st.sampled_from([0.5, 1.0, 4.0]),
    st.floats(0.01, 100),
)
def test_it_is_a_power_of_the_share_of_the_best_whatever_the_scale(prizes, sharpness, scale):
    top = max(prizes)
    expected = [(prize / top) ** sharpness if top else 0.0 for prize in prizes]
    assert sharpened(np.multiply(prizes, scale), sharpness) == pytest.approx(expected)


def test_a_sharpness_that_turns_the_order_round_is_refused():
    with pytest.raises(ValueError, match="above 0, not -1"):
        Power(-1)
