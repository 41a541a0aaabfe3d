"""AGRAG's influence against a dense solve of its equations, with weights, factors and jumps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.graph import Edges, Graph
from clew.spread import Influence
from clew.types import Query, Seeds

N = 7
CONTENT = np.array([True, False, False, True, False, True, False])
TIES = st.lists(
    st.tuples(
        st.integers(0, N - 1),
        st.integers(0, N - 1),
        st.sampled_from(["fact", "next"]),
        st.sampled_from([0.25, 0.5, 1.0]),
    ),
    min_size=1,
    max_size=14,
)
SCORES = np.array([0.2, 0.0, 0.0, 0.9, 0.0, 0.6, 0.0])


def graph_of(ties):
    kinds = ["passage" if content else "entity" for content in CONTENT]
    edges = [Edges.of(kind, [a], [b], weight) for a, b, kind, weight in ties]
    return Graph.of(["text"] * N, kinds=kinds, edges=Edges.join(edges))


def influence(stage, graph, terminals=(1, 4)):
    seeds = Seeds(SCORES, terminals=np.int32(terminals))
    return stage.on(graph)(Query("?"), seeds, SCORES)


def weights_of(ties, factors):
    """Weights of parallel edges add up; an edge from a node to itself leads nowhere."""
    weights = np.zeros((N, N))
    for a, b, kind, weight in ties:
        if a != b:
            weights[a, b] += weight * factors.get(kind, 0.0)
            weights[b, a] += weight * factors.get(kind, 0.0)
    return weights


def solve(follow, reset, damping):
    x = np.linalg.solve(np.eye(N) - damping * follow.T, (1 - damping) * reset / reset.sum())
    return x / x.sum()


def walk(weights):
    strengths = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, strengths, out=np.zeros_like(weights), where=strengths > 0)


def terminals_alone():
    reset = np.zeros(N)
    reset[[1, 4]] = 1
    return reset


KINDS = st.sampled_from(
    [
        (None, {"fact": 1.0, "next": 1.0}),
        (("fact",), {"fact": 1.0}),
        (("fact", ("next", 0.3)), {"fact": 1.0, "next": 0.3}),
    ]
)


@given(TIES, KINDS, st.booleans(), st.sampled_from([0.3, 0.85]))
def test_it_follows_edges_by_their_weights_or_all_alike(ties, kinds, weighted, damping):
    names, factors = kinds
    weights = weights_of(ties, factors)
    follow = walk(weights if weighted else (weights > 0).astype(float))
    stage = Influence(damping, passage_mode="none", kinds=names, weighted=weighted)
    expected = solve(follow, terminals_alone(), damping)
    assert influence(stage, graph_of(ties)) == pytest.approx(expected, abs=1e-8)


@given(TIES, KINDS, st.sampled_from([0.3, 0.85]))
def test_with_jumps_it_is_equation_4_with_each_row_divided_by_its_sum(ties, kinds, damping):
    names, factors = kinds
    linked = weights_of(ties, factors) > 0
    degrees = np.maximum(linked.sum(axis=1, keepdims=True), 1)
    rows = np.where(linked, 1 / degrees, 1 / N)
    stage = Influence(damping, passage_mode="none", kinds=names, nonedge="rank1")
    expected = solve(rows / rows.sum(axis=1, keepdims=True), terminals_alone(), damping)
    assert influence(stage, graph_of(ties)) == pytest.approx(expected, abs=1e-8)


@given(TIES)
def test_by_itself_it_is_the_walk_of_the_paper_and_a_twentieth_for_passages(ties):
    """Damping of a half, all edges alike, no jumps, and the factor of .05 after the walk."""
    graph, reset = graph_of(ties), terminals_alone()
    follow = walk((weights_of(ties, {"fact": 1.0, "next": 1.0}) > 0).astype(float))
    expected = solve(follow, reset, 0.5)
    assert influence(Influence(), graph) == pytest.approx(
        np.where(CONTENT, 0.05, 1.0) * expected, abs=1e-8
    )
    assert influence(Influence(factor=0.5), graph) == pytest.approx(
        np.where(CONTENT, 0.5, 1.0) * expected, abs=1e-8
    )
    # Passages scaled to [0, 1]: .2, .9 and .6 become 0, 1 and 4/7. A terminal passage has both.
    scaled = np.array([0.0, 0, 0, 1.0, 0, 4 / 7, 0])
    for factor in (0.05, 2.0):
        stage = Influence(passage_mode="reset", factor=factor)
        expected = solve(follow, reset + factor * scaled, 0.5)
        assert influence(stage, graph) == pytest.approx(expected, abs=1e-8)


def test_without_terminals_the_prizes_stay_as_they_are():
    graph = graph_of([(0, 1, "fact", 1.0)])
    assert influence(Influence(), graph, ()).tolist() == SCORES.tolist()


def test_unknown_modes_are_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="unknown passage_mode 'both'; known: post, reset, none"):
        Influence(passage_mode="both")
    with pytest.raises(ValueError, match="nonedge is 'rank1' or None, not 'rank2'"):
        Influence(nonedge="rank2")


@pytest.mark.parametrize("factor", [-0.1, np.nan, np.inf])
def test_a_factor_that_is_no_number_from_0_on_is_refused(factor):
    with pytest.raises(ValueError, match=f"factor is a number from 0 on; got {factor}"):
        Influence(factor=factor)
