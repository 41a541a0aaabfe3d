"""PageRank as a stage: prizes in, prizes out, over the chosen kinds of edge."""

from __future__ import annotations

import numpy as np
import pytest

from clew.graph import Edges, Graph, Query, Seeds
from clew.spread import PageRank

EDGES = Edges.join([Edges.of("fact", [0], [1]), Edges.of("similar", [1, 0], [2, 2], [0.5, 1.0])])
GRAPH = Graph.of(list("abcd"), edges=EDGES)


def spread(stage, prizes):
    weights = np.array(prizes, np.float64)
    return stage.on(GRAPH)(Query("?"), Seeds(weights), weights)


def test_prizes_are_a_probability_and_reach_what_is_linked():
    found = spread(PageRank(), [1, 0, 0, 0])
    assert found.sum() == pytest.approx(1)
    assert found[0] > found[1] > 0
    assert found[3] == 0


def test_only_the_chosen_kinds_are_walked_by_their_factors():
    assert spread(PageRank(0.5, ("fact",)), [1, 0, 0, 0])[2] == 0
    assert spread(PageRank(0.5, (("fact", 1.0), ("similar", 0.01))), [1, 0, 0, 0])[2] < spread(PageRank(), [1, 0, 0, 0])[2]


def test_without_damping_the_seeds_stay_as_they_are_and_without_seeds_nothing_is_spread():
    assert spread(PageRank(0.0), [1, 3, 0, 0]) == pytest.approx([0.25, 0.75, 0, 0])
    assert spread(PageRank(), [0, 0, 0, 0]).tolist() == [0, 0, 0, 0]
