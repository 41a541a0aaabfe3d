"""The adjacency against a networkx multigraph that is merged by plain loops."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.graph import Edges, Graph, adjacency

EDGE = st.tuples(
    st.integers(0, 6),
    st.integers(0, 6),
    st.sampled_from(["fact", "next", "similar"]),
    st.sampled_from([0.125, 0.5, 1.0]),
)
KINDS = st.none() | st.lists(
    st.sampled_from(["fact", "next", "unheard of"])
    | st.tuples(st.sampled_from(["similar", "next"]), st.sampled_from([0.0, 0.5, 2.0])),
    max_size=3,
    unique_by=lambda kind: kind if isinstance(kind, str) else kind[0],
)


def graph_of(n, edges):
    parts = [Edges.of(kind, [tail], [head], weight) for tail, head, kind, weight in edges]
    return Graph.of([f"node {i}" for i in range(n)], edges=Edges.join(parts))


@pytest.fixture(params=[adjacency.BLOCK, 3])
def block(request):
    """Slots that are made at once: all of a small graph, and few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adjacency, "BLOCK", request.param)
        yield


@pytest.mark.usefixtures("block")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(EDGE, max_size=25),
    KINDS,
    st.booleans(),
    st.sampled_from(["max", "sum"]),
    st.booleans(),
)
def test_links_are_the_merged_multigraph(edges, kinds, directed, merge, other_first):
    graph = graph_of(7, edges)
    if other_first:  # with which these share their rows
        graph.links(kinds, directed=directed, merge="sum" if merge == "max" else "max")
    links = graph.links(kinds, directed=directed, merge=merge)

    factors = (
        {"fact": 1.0, "next": 1.0, "similar": 1.0}
        if kinds is None
        else dict((k, 1.0) if isinstance(k, str) else k for k in kinds)
    )
    reference = nx.MultiDiGraph() if directed else nx.MultiGraph()
    for number, (tail, head, kind, weight) in enumerate(edges):
        if tail != head and factors.get(kind, 0) > 0:
            reference.add_edge(tail, head, weight=weight * factors[kind], number=number)
    expected = {}
    for tail, head, data in reference.edges(data=True):
        for pair in {(tail, head)} if directed else {(tail, head), (head, tail)}:
            expected.setdefault(pair, []).append(data)

    assert len(links) == 7
    assert len(links.targets) == len(links.weights) == len(links.edges) == len(expected)
    for row in range(7):
        assert links.neighbours(row).tolist() == sorted(
            head for tail, head in expected if tail == row
        )
    number_of = [
        graph.edges.facts,
        None,
    ]  # the edges of the graph are in the order they were given in, kind by kind
    assert number_of[0].tolist() == [-1] * len(edges)
    combine = max if merge == "max" else sum
    for slot, (tail, head) in enumerate(
        zip(links.sources.tolist(), links.targets.tolist(), strict=True)
    ):
        behind = expected[tail, head]
        assert links.weights[slot] == pytest.approx(combine(data["weight"] for data in behind))
        assert sorted(links.edges[slot].tolist()) == sorted(data["number"] for data in behind)
    assert links.strengths() == pytest.approx(np.bincount(links.sources, links.weights, 7))
    dense = np.zeros((7, 7))
    dense[links.sources, links.targets] = links.weights
    assert np.array_equal(links.matrix().toarray(), dense)
    lengths = np.arange(1.0, len(links.targets) + 1)
    assert links.matrix(lengths).sum() == lengths.sum(), (
        "lengths of one question are a fresh array on the same structure"
    )


def test_links_that_are_merged_in_two_ways_hold_their_rows_once():
    graph = graph_of(3, [(0, 1, "next", 0.5), (1, 0, "fact", 0.125), (1, 2, "next", 1.0)])
    strongest, sums = graph.links(), graph.links(merge="sum")
    assert strongest.weights.tolist() == [0.5, 0.5, 1.0, 1.0]
    assert sums.weights.tolist() == [0.625, 0.625, 1.0, 1.0]
    assert sums.targets is strongest.targets
    assert sums.edges is strongest.edges
    without_parallel = graph_of(3, [(0, 1, "next", 0.5), (1, 2, "next", 1.0)])
    assert without_parallel.links(merge="sum") is without_parallel.links()


def test_the_same_kinds_with_other_weights_share_their_rows():
    graph = graph_of(3, [(0, 1, "next", 0.5), (1, 0, "fact", 0.125), (1, 2, "next", 1.0)])
    whole, weighted = graph.links(), graph.links((("fact", 8.0), ("next", 0.5), "none"))
    assert weighted.weights.tolist() == [1.0, 1.0, 0.5, 0.5]
    assert weighted.targets is whole.targets
    assert graph.links(("fact", "next")) is whole
    of_some = graph.links(("next", ("fact", 0.0)))
    assert of_some.weights.tolist() == [0.5, 0.5, 1.0, 1.0]
    assert of_some.edges.values.tolist() != whole.edges.values.tolist()
    assert graph.links(("fact", "next"), directed=True).targets.tolist() == [1, 0, 2]


def test_an_unknown_way_to_merge_is_refused():
    with pytest.raises(ValueError, match="'max' or 'sum', not 'mean'"):
        graph_of(2, []).links(merge="mean")


@pytest.mark.parametrize("n", [1, 7, 300, 70_000, 3_000_000])
@pytest.mark.parametrize("by_scipy", [0, 1_000_000])
def test_pairs_are_in_the_order_of_a_stable_sort(n, by_scipy, monkeypatch):
    monkeypatch.setattr(adjacency, "MIN_BY_SCIPY", by_scipy)
    chance = np.random.default_rng(n)
    tails, heads = (chance.integers(0, n, 5_000).astype(np.int32) for _ in range(2))
    tails[::3], heads[::3] = n - 1, chance.integers(0, min(n, 5))  # many pairs come again
    starts, sorted_heads, order = adjacency._sorted_pairs(tails, heads, n)
    expected = np.lexsort((heads, tails))
    assert order.dtype == np.int32
    assert order.tolist() == expected.tolist()
    assert sorted_heads.tolist() == heads[expected].tolist()
    assert starts.tolist() == np.searchsorted(tails[expected], np.arange(n + 1)).tolist()
