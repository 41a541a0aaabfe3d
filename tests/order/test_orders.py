"""Every order reads what was chosen, all of it and once; each one's own rule by definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.ranking import dense_ranks
from clew.graph import Edges, Facts, Graph, Labels, Ragged, freeze
from clew.order import ByAttention, ByDocument, ByGraph, ByPrize, Sandwich, Thread
from clew.types import Query, Subgraph

ORDERS = [
    ByPrize(),
    Sandwich(),
    Thread(),
    ByDocument(),
    ByGraph(),
    ByAttention(),
    ByAttention((3.0, 1.0, 2.0)),
]


def read(order, graph, prizes, nodes=None, edges=()):
    nodes = range(len(graph)) if nodes is None else nodes
    return order.on(graph)(
        Query("?"),
        np.array(prizes, np.float64),
        Subgraph(freeze(list(nodes), np.int32), freeze(edges, np.int32)),
    )


@st.composite
def cases(draw):
    n = draw(st.integers(1, 9))
    kinds = draw(
        st.lists(
            st.sampled_from(["passage", "passage", "passage", "entity"]), min_size=n, max_size=n
        )
    )
    row = st.integers(0, n - 1)
    ties = draw(
        st.lists(st.tuples(row, row, st.sampled_from([0.25, 0.5, 1.0]), st.booleans()), max_size=14)
    )
    stated = [e for e, tie in enumerate(ties) if tie[3]]
    number = {e: i for i, e in enumerate(stated)}
    k = len(stated)
    facts = Facts(
        tuple(f"fact {i}" for i in range(k)), freeze(np.zeros((k, 0)), np.float32), freeze([ties[e][0] for e in stated], np.int32),
        freeze([ties[e][1] for e in stated], np.int32), Labels.of(["r"] * k), Ragged.empty(k),
    )  # fmt: skip
    edges = Edges.of(
        "fact",
        [t for t, *_ in ties],
        [h for _, h, *_ in ties],
        np.array([w for *_, w, _ in ties]),
        [number.get(e, -1) for e in range(len(ties))],
    )
    graph = Graph.of([f"text {i}" for i in range(n)], kinds=kinds, facts=facts, edges=edges)
    # Two prizes are the same number, or differ by more than noise does.
    prize = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1).map(lambda x: round(x, 5))
    prizes = draw(st.lists(prize, min_size=n, max_size=n))
    chosen = draw(st.lists(st.integers(0, len(ties) - 1), unique=True, max_size=5)) if ties else []
    return graph, prizes, draw(st.lists(row, unique=True, max_size=n)), chosen


@pytest.mark.parametrize("order", ORDERS, ids=repr)
@given(cases())
def test_what_was_chosen_is_read_once_facts_first_and_connectors_not_at_all(order, case):
    graph, prizes, nodes, edges = case
    found = read(order, graph, prizes, nodes, edges)
    facts = [f for f in graph.edges.facts[edges].tolist() if f >= 0]
    assert found.facts.tolist() == [*facts, *[-1] * (len(found) - len(facts))]
    assert found.nodes[: len(facts)].tolist() == [-1] * len(facts)
    assert sorted(found.nodes[len(facts) :].tolist()) == sorted(
        row for row in nodes if graph.kinds[row] == "passage"
    )


@given(st.lists(st.floats(0, 1).map(lambda x: round(x, 5)), min_size=1, max_size=9))
def test_a_sandwich_has_the_best_first_the_second_best_last_and_the_least_inside(prizes):
    graph = Graph.of([f"{i}" for i in range(len(prizes))])
    ranked = read(ByPrize(), graph, prizes).nodes.tolist()
    assert ranked == sorted(range(len(prizes)), key=lambda row: (-prizes[row], row))
    found = read(Sandwich(), graph, prizes).nodes.tolist()
    outside_in = []
    while found:
        outside_in.append(found.pop(0))
        if found:
            outside_in.append(found.pop())
    assert outside_in == ranked


def test_a_sandwich_of_headings_reads_the_passages_of_each_together_only_where_that_is_wanted():
    kinds = ["section", "section", *["passage"] * 5]
    graph = Graph.of(
        ["Moon", "Sun", "dry", "hot", "grey", "far", "alone"],
        kinds=kinds,
        parents=[-1, -1, 0, 1, 0, 1, -1],
    )
    prizes = [0, 0, 0.9, 0.8, 0.1, 0.7, 0.6]
    # Ranks: dry .9 (Moon), hot .8 (Sun), alone .6; 1, 3, 2 of these runs.
    by_heading = read(Sandwich(by_heading=True), graph, prizes).nodes.tolist()
    assert by_heading == [2, 4, 6, 3, 5]
    # Ranks: dry, hot, far, alone, grey; 1, 3, 5, 4, 2 of them.
    assert read(Sandwich(), graph, prizes).nodes.tolist() == [2, 5, 4, 6, 3]


@given(cases())
def test_a_thread_goes_on_to_the_strongest_tie_of_what_was_read_last(case):
    graph, prizes, nodes, _ = case
    found = read(Thread(), graph, prizes, nodes).nodes.tolist()

    content = [row for row in nodes if graph.kinds[row] == "passage"]
    links = graph.links()
    weight = {
        (int(s), int(t)): float(w)
        for s, t, w in zip(links.sources, links.targets, links.weights, strict=True)
    }
    through = [
        row for row in range(len(graph)) if graph.kinds[row] == "entity" and row not in content
    ]

    def tie(a, b):
        return max(
            [
                weight.get((a, b), 0.0),
                *(weight.get((a, c), 0.0) * weight.get((c, b), 0.0) for c in through),
            ]
        )

    rank = {row: i for i, row in enumerate(sorted(content, key=lambda row: (-prizes[row], row)))}
    unread, expected, path = set(content), [], []
    while unread:
        while path and not any(tie(path[-1], row) for row in unread):
            path.pop()
        following = min(unread, key=lambda row: (-tie(path[-1], row) if path else 0, rank[row]))
        unread.remove(following)
        path.append(following)
        expected.append(following)
    assert found == expected


def test_by_document_reads_the_best_document_first_and_each_in_its_own_order():
    graph = Graph.of(
        ["A", "a1", "a2", "B", "b1", "c"],
        kinds=["document", "passage", "passage", "document", "passage", "passage"],
        documents=[0, 0, 0, 3, 3, 5],
        spans=[(0, 9), (5, 9), (0, 4), (0, 9), (0, 9), (0, 1)],
    )
    assert read(ByDocument(), graph, [0, 0.9, 0.1, 0, 0.5, 0.7]).nodes.tolist() == [2, 1, 5, 4]
    assert read(ByDocument(), graph, [0, 0.9, 0.1, 0, 0.9, 0.9]).nodes.tolist() == [2, 1, 4, 5], (
        "ties by row"
    )


@given(
    st.lists(st.floats(0, 1).map(lambda x: round(x, 5)), min_size=1, max_size=9),
    st.lists(st.floats(0, 5), min_size=2, max_size=6),
)
def test_the_nth_best_stands_where_the_curve_is_nth_highest(prizes, curve):
    graph = Graph.of([f"{i}" for i in range(len(prizes))])
    found = read(ByAttention(tuple(curve)), graph, prizes).nodes.tolist()
    places = [(i + 0.5) / len(prizes) for i in range(len(prizes))]
    heights = np.interp(places, np.linspace(0, 1, len(curve)), curve)
    low = dense_ranks(heights)
    by_height = sorted(range(len(prizes)), key=lambda place: (low[place], place))
    by_prize = sorted(range(len(prizes)), key=lambda row: (-prizes[row], row))
    assert [found[place] for place in by_height] == by_prize


def test_a_falling_curve_is_the_order_by_prize_and_a_valley_puts_the_least_inside():
    graph, prizes = Graph.of([f"{i}" for i in range(5)]), [5.0, 4.0, 3.0, 2.0, 1.0]
    assert read(ByAttention((1.0, 0.0)), graph, prizes).nodes.tolist() == [0, 1, 2, 3, 4]
    assert read(ByAttention((1.0, 0.0, 0.9)), graph, prizes).nodes.tolist()[2] == 4
    with pytest.raises(ValueError, match="at least two finite values"):
        ByAttention((1.0,))


def test_neighbours_are_read_together():
    """0 - 1 and, over the entity 4, 2 - 3: the best of each part first, then what is joined to it."""
    kinds = ["passage"] * 4 + ["entity"]
    graph = Graph.of(list("abcde"), kinds=kinds, edges=Edges.of("tie", [0, 2, 3], [1, 4, 4]))
    assert read(ByGraph(), graph, [0.9, 0.1, 0.8, 0.2, 0.0]).nodes.tolist() == [0, 1, 2, 3]
    assert read(ByGraph(), graph, [0.1, 0.2, 0.8, 0.9, 0.0]).nodes.tolist() == [3, 2, 1, 0]
    without = read(ByGraph(), graph, [0.1, 0.2, 0.8, 0.9, 0.0], nodes=[0, 1, 2, 3]).nodes.tolist()
    assert without == [3, 2, 1, 0]
