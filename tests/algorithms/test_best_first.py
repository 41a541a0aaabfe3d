"""Best-first search against its definition, and against itself without its limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.algorithms.traversal import TypedLinksPart, search_best_first
from clew.graph import Edges, Facts, Graph, Labels, Ragged

N = 10
KINDS = ("knows", "likes", "near")
TIES = st.lists(
    st.tuples(
        st.integers(0, N - 1),
        st.integers(0, N - 1),
        st.sampled_from(KINDS),
        st.sampled_from([0.25, 0.5, 1.0]),
    ),
    max_size=30,
)
TABLES = st.dictionaries(st.sampled_from(KINDS), st.sampled_from([0.0, 0.5, 1.5]))
SOURCES = st.lists(st.integers(0, N - 1), min_size=1, max_size=3, unique=True)
QUESTION = np.float32([0.6, 0.8, 0])


def graph_of(ties, seed):
    """A graph with these links; some rows have no vector, some one that points away from the question; many are equally near to it."""
    rng = np.random.default_rng(seed)
    near = rng.integers(-2, 10, N) / 10
    vectors = near[:, None] * QUESTION + np.sqrt(1 - near**2)[:, None] * [0, 0, 1]
    vectors[rng.random(N) < 0.2] = 0
    parts = [Edges.of(kind, [t], [h], w) for t, h, kind, w in ties]
    return Graph.of(["text"] * N, vectors=vectors, edges=Edges.join(parts) if parts else Edges())


def by_definition(graph, sources, table, *, decay, beam, threshold, max_nodes, max_depth):
    """The same search over a plain list of the open rows, sorted at every step; (rows, priorities, depths, parents, dropped)."""
    edges = list(
        zip(
            graph.edges.tails.tolist(),
            graph.edges.heads.tolist(),
            graph.edges.kinds,
            graph.edges.weights.tolist(),
            strict=True,
        )
    )
    like = {}
    for row in range(N):
        if graph.vectors[row].any():
            like[row] = max(0.0, round(float(graph.vectors[row] @ QUESTION), 6))
    taken, open_, dropped = {}, {}, 0

    def offer(row, priority, depth, parent):
        nonlocal dropped
        if row in taken or priority < threshold or (row in open_ and priority <= open_[row][0]):
            return
        open_[row] = (priority, depth, parent)
        while len(open_) > beam:
            del open_[max(open_, key=lambda r: (-open_[r][0], r))]
            dropped += 1

    for row in sources:
        offer(row, like.get(row, 1.0), 0, None)
    while open_ and len(taken) < max_nodes:
        row = min(open_, key=lambda r: (-open_[r][0], r))
        taken[row] = open_.pop(row)
        if row not in like:
            like[row] = 1.0 if taken[row][2] is None else like[taken[row][2]]
        depth = taken[row][1] + 1
        strengths = {}
        for tail, head, kind, weight in edges:
            for one, other in ((tail, head), (head, tail)):
                if one == row and other != row:
                    strengths[other] = max(strengths.get(other, 0.0), weight * table.get(kind, 1.0))
        for other in sorted(strengths):
            if strengths[other] > 0 and depth <= max_depth:
                offer(
                    other, like.get(other, like[row]) * strengths[other] * decay**depth, depth, row
                )
    return taken, dropped


@settings(max_examples=3 * settings().max_examples)
@given(
    TIES,
    TABLES,
    SOURCES,
    st.integers(0, 99),
    st.sampled_from([0.7, 1.0]),
    st.sampled_from([1, 3, N]),
    st.sampled_from([0.0, 0.1, 0.4]),
    st.sampled_from([0, 2, 5, N]),
    st.sampled_from([0, 1, 2, N]),
)
def test_the_search_is_the_definition(
    ties, table, sources, seed, decay, beam, threshold, max_nodes, max_depth
):
    graph = graph_of(ties, seed)
    typed = graph.part(TypedLinksPart())
    limits = {
        "decay": decay,
        "beam": beam,
        "threshold": threshold,
        "max_nodes": max_nodes,
        "max_depth": max_depth,
    }

    taken, dropped = by_definition(graph, sources, table, **limits)
    found = search_best_first(
        typed, sources, typed.factors(table), vectors=graph.vectors, query=QUESTION, **limits
    )

    assert found.rows.tolist() == list(taken)
    assert found.scores == pytest.approx([priority for priority, _, _ in taken.values()])
    assert found.depths.tolist() == [depth for _, depth, _ in taken.values()]
    rows = found.rows.tolist()
    assert [rows[p] if p >= 0 else None for p in found.parents.tolist()] == [
        parent for _, _, parent in taken.values()
    ]
    for place, slot in enumerate(found.slots.tolist()):
        if slot >= 0:
            assert typed.links.targets[slot] == rows[place]
            assert typed.links.sources[slot] == rows[found.parents[place]]
    if beam < max_nodes:
        assert found.notes["dropped by the beam"] == dropped


@given(TIES, TABLES, SOURCES, st.integers(0, 99), st.integers(0, N))
def test_to_stop_early_changes_nothing_that_was_taken(ties, table, sources, seed, most):
    graph = graph_of(ties, seed)
    typed = graph.part(TypedLinksPart())
    free = {
        "beam": None,
        "threshold": 0.0,
        "max_depth": None,
        "vectors": graph.vectors,
        "query": QUESTION,
    }
    factors = typed.factors({kind: min(1.0, factor) for kind, factor in table.items()})

    whole = search_best_first(typed, sources, factors, max_nodes=None, **free)
    few = search_best_first(typed, sources, factors, max_nodes=most, **free)
    narrow = search_best_first(
        typed, sources, factors, max_nodes=most, **{**free, "beam": max(most, 1)}
    )
    above = search_best_first(typed, sources, factors, max_nodes=None, **{**free, "threshold": 0.3})

    assert few.rows.tolist() == narrow.rows.tolist() == whole.rows[:most].tolist()
    assert len(set(whole.rows.tolist())) == len(whole)
    assert above.rows.tolist() == [
        row for row in above.rows.tolist() if row in set(whole.rows.tolist())
    ]
    assert (above.scores >= 0.3).all()


@given(TIES, SOURCES)
def test_alike_and_without_limits_it_takes_all_that_can_be_reached(ties, sources):
    graph = graph_of(ties, 0)
    typed = graph.part(TypedLinksPart())
    found = search_best_first(
        typed,
        sources,
        typed.factors({}),
        vectors=graph.vectors,
        beam=None,
        threshold=0.0,
        max_nodes=None,
        max_depth=None,
    )
    reachable, path = set(sources), list(sources)
    while path:
        new = set(typed.links.neighbours(path.pop()).tolist()) - reachable
        reachable |= new
        path += new
    assert set(found.rows.tolist()) == reachable


@given(TIES, SOURCES)
def test_where_no_hop_gains_priorities_never_rise(ties, sources):
    graph = graph_of([(tail, head, kind, 1.0) for tail, head, kind, _ in ties], 1)
    typed = graph.part(TypedLinksPart())
    found = search_best_first(
        typed,
        sources,
        typed.factors({}),
        vectors=graph.vectors,
        beam=None,
        threshold=0.0,
        max_nodes=None,
        decay=0.9,
    )
    assert (
        np.diff(found.scores) <= 1e-12
    ).all()  # to a question without a vector all rows are alike


def test_the_type_of_an_edge_is_the_relation_of_its_fact():
    relations = Labels.of(["works at", "likes", "works at"])
    facts = Facts(
        ("a", "b", "c"),
        np.zeros((3, 2), np.float32),
        np.int32([0, 0, 0]),
        np.int32([1, 2, 3]),
        relations,
        Ragged.of([[], [], []]),
    )
    edges = Edges.join(
        [Edges.of("fact", [0, 0, 0], [1, 2, 3], facts=[0, 1, 2]), Edges.of("near", [0], [4], 0.5)]
    )
    graph = Graph.of(["text"] * 5, facts=facts, edges=edges)
    typed = graph.part(TypedLinksPart())
    assert typed.types == ("fact", "near", "likes", "works at")

    def order(table, default=1.0):
        return search_best_first(
            typed, [0], typed.factors(table, default), vectors=graph.vectors, threshold=0.01
        ).rows.tolist()

    assert order({}) == [0, 1, 2, 3, 4]
    assert order({"works at": 1.5, "likes": 0.4}) == [0, 1, 3, 4, 2]
    assert order({"fact": 0.3, "works at": 2.0}) == [0, 1, 3, 4, 2]
    assert order({"fact": 0.0}) == [0, 4]
    assert order({"likes": 1.0}, default=0.0) == [0, 2]


def test_one_relation_that_edges_of_two_kinds_state_is_a_type_of_each():
    facts = Facts(
        ("a", "b"),
        np.zeros((2, 2), np.float32),
        np.int32([0, 0]),
        np.int32([2, 3]),
        Labels.of(["likes", "likes"]),
        Ragged.of([[], []]),
    )
    kinds = [
        Edges.of("near", [0], [1]),
        Edges.of("fact", [0], [2], facts=[0]),
        Edges.of("cited", [0], [3], facts=[1]),
    ]
    typed = Graph.of(["text"] * 4, facts=facts, edges=Edges.join(kinds)).part(TypedLinksPart())
    assert set(typed.types) == {"cited", "fact", "likes", "near"}
    for factors, reached in (
        ({"near": 0.5, "fact": 1.0, "cited": 0.2}, [0, 2, 1, 3]),
        ({"likes": 0.1, "near": 0.05}, [0, 2, 3, 1]),
        ({"fact": 0.0}, [0, 1, 3]),
    ):
        found = search_best_first(
            typed, [0], typed.factors(factors), vectors=np.zeros((4, 2), np.float32), threshold=0.01
        )
        assert found.rows.tolist() == reached, factors


def test_a_hub_of_ten_thousand_leaves_no_edges_and_no_source():
    hub = Graph.of(["text"] * 10_001, edges=Edges.of("tie", np.zeros(10_000), np.arange(1, 10_001)))
    typed = hub.part(TypedLinksPart())
    found = search_best_first(
        typed, [0], typed.factors({}), vectors=hub.vectors, beam=50, max_nodes=60
    )
    assert found.rows.tolist() == list(range(51))  # of equals the beam keeps the lower rows
    assert found.notes == {
        "offered": 10_001,
        "dropped by the beam": 9_950,
        "below the threshold": 0,
    }
    alone = Graph.of(["text"])
    typed = alone.part(TypedLinksPart())
    assert search_best_first(
        typed, [0], typed.factors({}), vectors=alone.vectors
    ).rows.tolist() == [0]
    assert len(search_best_first(typed, [], typed.factors({}), vectors=alone.vectors)) == 0


@pytest.mark.parametrize("seed", range(8))
def test_every_edge_has_the_type_of_its_relation_or_else_of_its_kind(seed):
    """Kinds and relations in all combinations, and parallel edges of several types."""
    rng = np.random.default_rng(seed)
    names, kinds = ["likes", "met", "cites", "owns"], ["fact", "near", "cited"]
    n_facts = 9
    facts = Facts(
        tuple(f"fact {i}" for i in range(n_facts)),
        np.zeros((n_facts, 2), np.float32),
        rng.integers(0, 4, n_facts).astype(np.int32),
        rng.integers(0, 4, n_facts).astype(np.int32),
        Labels.of([names[i % 4] for i in range(n_facts)]),
        Ragged.of([[]] * n_facts),
    )
    edges = Edges.join(
        [
            Edges.of(
                kinds[int(rng.integers(3))],
                [int(rng.integers(0, 5))],
                [int(rng.integers(0, 5))],
                float(rng.choice([0.25, 0.5, 1.0])),
                facts=[int(rng.integers(-1, n_facts))],
            )
            for _ in range(25)
        ]
    )
    graph = Graph.of(["text"] * 5, facts=facts, edges=edges)
    typed = graph.part(TypedLinksPart())
    links = graph.links()
    assert typed.types == tuple(dict.fromkeys([*typed.kinds, *typed.relations]))
    table = {"likes": 0.3, "near": 0.7, "owns": 0.0}
    factors = typed.factors(table, 0.9)
    all_names = [*typed.kinds, *typed.relations]
    for slot in range(len(links.targets)):
        places = range(typed.edge_starts[slot], typed.edge_starts[slot + 1])
        for place, edge in zip(places, links.edges[slot].tolist(), strict=True):
            fact, kind = int(graph.edges.facts[edge]), graph.edges.kinds[edge]
            code = int(typed.codes[place])
            relation = names[fact % 4] if fact >= 0 else None
            assert all_names[code] == (relation or kind)
            if relation:
                assert typed.kinds[typed.kind_of[code - len(typed.kinds)]] == kind
            assert typed.weights[place] == graph.edges.weights[edge]
            assert factors[code] == table.get(relation, table.get(kind, 0.9))
