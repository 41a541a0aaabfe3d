"""The budgeted selector: connected, within the budget, no better choice in its working graph, and a bound that is one."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clew
from clew import Pipeline
from clew.algorithms.budgeted import METHODS
from clew.graph import Edges, Facts, Graph, freeze
from clew.order import Sandwich
from clew.seed import Dense
from clew.select.budgeted import Budgeted
from clew.types import UNLIMITED, Query, Seeds, Subgraph

NOTHING = ()


def select(stage, graph, prizes, budget=UNLIMITED, candidates=None, limit=None, terminals=NOTHING):
    prizes = np.array(prizes, np.float64)
    everything = (
        Subgraph(freeze(np.arange(len(graph)), np.int32)) if candidates is None else candidates
    )
    return stage.on(graph)(
        Query("?", limit=limit),
        Seeds(prizes, freeze(terminals, np.int32)),
        prizes,
        everything,
        budget,
    )


def graph_of(kinds, tokens, ties, kind="mentions"):
    ends = [t for t, _ in ties], [h for _, h in ties]
    return Graph.of(
        [f"text {i}" for i in range(len(kinds))],
        kinds=kinds,
        tokens=tokens,
        edges=Edges.of(kind, *ends),
    )


@st.composite
def cases(draw):
    n = draw(st.integers(1, 8))
    ends = st.integers(0, n - 1)
    column = lambda values: draw(st.lists(values, min_size=n, max_size=n))  # noqa: E731
    graph = graph_of(
        column(st.sampled_from(["passage", "passage", "entity"])),
        column(st.integers(0, 5)),
        draw(st.lists(st.tuples(ends, ends), max_size=10)),
    )
    nodes = draw(st.lists(ends, unique=True, min_size=1, max_size=n))
    kept = draw(st.lists(st.sampled_from(nodes), unique=True, max_size=2))
    candidates = Subgraph(
        freeze(nodes, np.int32),
        required=freeze(kept, np.int32),
        missing=((0, n - 1),),
        dropped=((0, "earlier"),),
    )
    return (
        graph,
        column(st.sampled_from([0.0, 0.25, 0.5, 1.0])),
        candidates,
        draw(st.integers(0, 15)),
        draw(st.none() | st.integers(1, 4)),
    )


def hangs_together(graph, rows, roots):
    """Whether the rows, with Q linked to the roots, are one piece."""
    net = nx.Graph()
    net.add_nodes_from(["Q", *rows])
    net.add_edges_from(("Q", row) for row in roots if row in rows)
    net.add_edges_from(
        (t, h)
        for t, h in zip(graph.edges.tails.tolist(), graph.edges.heads.tolist(), strict=True)
        if {t, h} <= set(rows)
    )
    return nx.is_connected(net)


def tokens_of(graph, rows):
    return sum(int(graph.tokens[row]) for row in rows if graph.content[row])


@settings(max_examples=2 * settings().max_examples)
@given(cases(), st.sampled_from(["best", "tree", "greedy", "auto"]), st.booleans())
def test_what_the_selector_keeps_to(case, method, alone):
    graph, prizes, candidates, budget, limit = case
    found = select(
        Budgeted(method, q_links=2, connected_without_query=alone),
        graph,
        prizes,
        budget,
        candidates,
        limit,
    )

    chosen, kept = found.nodes.tolist(), candidates.required.tolist()
    assert len(set(chosen)) == len(chosen)
    assert set(kept) <= set(chosen) <= set(candidates.nodes.tolist())
    assert set(kept) <= set(found.required.tolist()) <= set(chosen)
    assert tokens_of(graph, [row for row in chosen if row not in kept]) <= max(
        0, budget - tokens_of(graph, kept)
    )
    content = [row for row in chosen if graph.content[row]]
    assert limit is None or len(content) <= max(
        limit, sum(bool(graph.content[row]) for row in kept)
    )
    left_out = set(np.flatnonzero(graph.content).tolist()) - set(chosen)
    everything = np.dot(prizes, graph.content)
    assert found.value == pytest.approx(everything - sum(prizes[row] for row in left_out))
    assert found.bound >= found.value
    assert found.missing == candidates.missing
    assert candidates.dropped[0] in found.dropped
    assert all(row not in chosen for row, reason in found.dropped if reason != "earlier")
    free = [
        row
        for row in candidates.nodes.tolist()
        if graph.content[row] and prizes[row] > 0 and row not in kept
    ]
    fits = sorted(
        (row for row in free if tokens_of(graph, [row]) <= budget - tokens_of(graph, kept)),
        key=lambda r: (-prizes[r], r),
    )
    assert hangs_together(graph, chosen, {*fits[: 1 if alone else 2], *kept})
    tree = nx.Graph([(int(graph.edges.tails[e]), int(graph.edges.heads[e])) for e in found.edges])
    assert set(tree) <= set(chosen)
    assert not len(tree) or nx.is_forest(tree)


@settings(max_examples=2 * settings().max_examples)
@given(cases())
def test_the_bound_is_above_every_connected_choice_that_fits(case):
    graph, prizes, _, budget, _ = case
    stage = Budgeted("best", q_links=2)
    found = select(stage, graph, prizes, budget)
    content = [
        row
        for row in range(len(graph))
        if graph.content[row] and prizes[row] > 0 and tokens_of(graph, [row]) <= budget
    ]
    roots = sorted(content, key=lambda row: (-prizes[row], row))[:2]
    for size in range(1, len(graph) + 1):
        for rows in combinations(range(len(graph)), size):
            if tokens_of(graph, rows) <= budget and hangs_together(graph, rows, roots):
                assert sum(prizes[row] for row in rows if graph.content[row]) <= found.bound


@given(cases(), st.sampled_from([0.0, 0.2, 0.6]))
def test_the_bound_is_of_the_prizes_as_they_are_printed_whatever_a_node_must_be_worth(case, w_min):
    graph, prizes, candidates, budget, limit = case
    found = select(Budgeted("best", w_min=w_min), graph, prizes, budget, candidates, limit)
    assert found.bound >= sum(prizes[row] for row in found.nodes.tolist() if graph.content[row])


def test_what_is_worth_too_little_to_be_chosen_counts_in_the_bound_of_a_large_graph():
    graph = graph_of(["passage"] * 9, [1] * 9, [(row, row + 1) for row in range(8)])
    prizes = [1.0] + [0.25] * 8
    found = select(Budgeted("best", w_min=0.5, working=1), graph, prizes, budget=3)
    assert found.value == 1.0
    assert not found.notes["proved"]
    assert hangs_together(graph, [0, 1, 2], [0]), "a page of three within the budget"
    assert found.bound == pytest.approx(sum(prizes[:3]))


def test_the_bound_of_a_large_graph_is_the_fractional_knapsack_with_what_costs_nothing():
    n = 40
    tokens = [3] * n + [0]
    prizes = np.append(np.linspace(1.0, 0.5, n), 0.1)
    graph = graph_of(["passage"] * (n + 1), tokens, [(row, row + 1) for row in range(n)])
    found = select(Budgeted("density", q_links=1, working=4), graph, prizes, budget=7)
    assert found.bound == pytest.approx(prizes[0] + prizes[1] + prizes[2] / 3 + 0.1)


def test_what_joins_the_choice_is_kept_and_the_edges_are_its_forest():
    # 0 - entity 3 - 1 - 2, and 4 alone; Q at 0
    graph = graph_of(
        ["passage", "passage", "passage", "entity", "passage"],
        [2, 2, 2, 9, 2],
        [(0, 3), (3, 1), (1, 2)],
    )
    found = select(Budgeted("best", q_links=1), graph, [1.0, 0.1, 0.9, 0.0, 0.8], budget=6)
    assert sorted(found.nodes.tolist()) == [0, 1, 2, 3], (
        "the connector costs nothing, the passage of little worth leads to a better one"
    )
    assert found.required.tolist() == [0, 1, 3]
    assert found.edges.tolist() == [0, 1, 2]
    assert {row for row, _ in found.dropped} == {4}


def test_the_island_of_the_relaxed_rule_is_not_chosen():
    graph = graph_of(["passage"] * 4, [2] * 4, [(0, 1), (2, 3)])
    prizes = [1.0, 0.4, 0.9, 0.9]
    assert sorted(select(Budgeted("best", q_links=1), graph, prizes, budget=4).nodes.tolist()) == [
        0,
        1,
    ]
    assert sorted(select(Budgeted("best", q_links=2), graph, prizes, budget=4).nodes.tolist()) == [
        0,
        2,
    ], "two islands hang on the question"
    alone = Budgeted("best", q_links=2, connected_without_query=True)
    assert sorted(select(alone, graph, prizes, budget=4).nodes.tolist()) == [0, 1], (
        "no island without it"
    )


def test_a_way_over_a_fact_that_is_not_read_joins_nothing_unless_it_is_asked_for():
    facts = Facts(
        ("a knows b",),
        freeze(np.zeros((1, 0)), np.float32),
        freeze([0], np.int32),
        freeze([1], np.int32),
        clew.graph.Labels.of(["knows"]),
        clew.graph.Ragged.empty(1),
    )
    graph = Graph.of(
        ["a", "b"], tokens=[1, 1], facts=facts, edges=Edges.of("fact", [0], [1], facts=[0])
    )
    assert select(Budgeted("best", q_links=1), graph, [1.0, 0.5]).nodes.tolist() == [0]
    over = select(Budgeted("best", q_links=1, kinds=("fact",)), graph, [1.0, 0.5])
    assert (sorted(over.nodes.tolist()), over.edges.tolist()) == ([0, 1], []), (
        "it is passed, not printed"
    )


def test_facts_are_printed_by_their_prizes_as_far_as_each_fits_in_what_is_left():
    """Facts of 7, 9, 5 and 5 words over the four entities that join a passage with four others."""
    texts = [
        "one two three four five six",
        "long " * 8,
        "one two three four",
        "five six seven eight",
    ]
    pairs = [(1, 2), (1, 3), (2, 3), (3, 4)]
    facts = Facts(
        tuple(text.strip() for text in texts),
        freeze(np.zeros((4, 0)), np.float32),
        freeze([subject for subject, _ in pairs], np.int32),
        freeze([near for _, near in pairs], np.int32),
        clew.graph.Labels.of(["knows"] * 4),
        clew.graph.Ragged.empty(4),
    )
    subjects, objects = zip(*pairs, strict=True)
    stating = Edges.of("fact", subjects, objects, facts=range(4))
    edges = Edges.join([Edges.of("mentions", [0] * 4 + [5, 6, 7, 8], [1, 2, 3, 4] * 2), stating])
    prizes = [4.0, 0.4, 0.3, 0.2, 0.1, 1.0, 1.0, 1.0, 1.0]  # entities come second
    numbers = set()
    graph = Graph.of(
        list("pabcdqrst"),
        kinds=["passage"] + ["entity"] * 4 + ["passage"] * 4,
        tokens=[1] * 9,
        facts=facts,
        edges=edges,
        count=lambda text: len(text.split()),
    )
    stage = Budgeted("best", q_links=1, fact_share=0.6)
    for budget in (13, 15, 18, 21, 27, 40):
        found = select(stage, graph, prizes, budget)
        inside = set(found.nodes.tolist())
        assert len(inside) == 9
        room, expected = budget - 5, []
        for fact, pair in enumerate(pairs):  # in the order of the sums of their prizes
            words = len(graph.facts.texts[fact].split()) + 1  # with the mark of a list
            if set(pair) <= inside and words <= room:
                expected.append(fact)
                room -= words
        stated = [fact for fact in graph.edges.facts[found.edges].tolist() if fact >= 0]
        assert stated == expected
        numbers.add(tuple(stated))
    assert {(0,), (0, 2), (0, 1, 2, 3)} <= numbers
    assert select(replace(stage, fact_share=0.0), graph, prizes, 40).edges.tolist() == list(
        range(8)
    )
    for share in (-0.1, -1, 1.0, 1.5):
        with pytest.raises(ValueError, match=r"a share of the budget in \[0, 1\)"):
            Budgeted(fact_share=share)


@pytest.mark.parametrize("scale", [2.0**-40, 1.0, 2.0**20])
def test_what_is_taken_and_what_is_dropped_are_the_same_for_prizes_of_another_scale(scale):
    """Row 1 is too large for the page; row 2 is in the way of the others."""
    graph = graph_of(["passage"] * 5, [3, 9, 4, 2, 1], [])
    found = select(Budgeted("best"), graph, scale * np.array([1.0, 0.9, 0.5, 0.4, 0.3]), budget=6)
    assert sorted(found.nodes.tolist()) == [0, 3, 4]
    assert found.dropped == (
        (1, "its 9 tokens do not fit in 6"),
        (2, "its 4 tokens, and what joins it, buy less than others do"),
    )


def test_from_terminals_that_reach_nothing_the_best_candidates_are_linked_and_that_is_said():
    graph = graph_of(["passage", "entity"], [3, 1], [])
    found = select(Budgeted("best"), graph, [1.0, 0.0], terminals=[1])
    assert found.nodes.tolist() == [0]
    assert "terminals" in found.notes["fallback"]
    assert (
        "fallback"
        not in select(
            Budgeted("best"),
            graph_of(["passage", "entity"], [3, 1], [(0, 1)]),
            [1.0, 0.0],
            terminals=[1],
        ).notes
    )


def test_the_working_graph_has_about_as_many_nodes_as_wanted_and_reaches_the_best():
    n = 300  # a chain over entities: passage 2i, entity 2i + 1
    graph = graph_of(["passage", "entity"] * n, [1, 1] * n, [(i, i + 1) for i in range(2 * n - 1)])
    prizes = np.zeros(2 * n)
    prizes[::2] = np.linspace(1, 0.1, n)
    found = select(Budgeted("best", q_links=1, working=40), graph, prizes, budget=10)
    assert found.notes["working nodes"] <= 40
    assert found.nodes[graph.content[found.nodes]].tolist() == list(range(0, 20, 2))


@pytest.fixture(scope="module")
def index(embed):
    texts = [
        f"{who} {does} {what}."
        for who in ["Anna", "Ben", "Cleo"]
        for does in ["paints", "met", "left"]
        for what in ["Rome", "Oslo"]
    ]
    return clew.Index.from_documents(
        [clew.Document(f"d{i}", text, {"title": "Notes"}) for i, text in enumerate(texts)],
        embedder=embed,
    )


@pytest.mark.parametrize("w_min", [0.0, 0.3])
def test_value_bound_and_gap_are_of_what_is_printed_and_the_rendered_budget_holds(index, w_min):
    method = Pipeline(Dense(), (), (Budgeted("best", w_min=w_min),), order=Sandwich())
    for budget in (12, 30, 60, 120, None):
        context = index.ask("Who met Anna in Rome?", recipe=method, budget=budget)
        assert context.value == pytest.approx(sum(item.score for item in context))
        assert context.bound >= context.value > 0
        assert 0 <= context.gap < 1
        assert budget is None or index.graph.count(context.text) <= budget
        assert context.items[0].score == max(item.score for item in context)


def test_a_question_that_touches_nothing_is_answered_with_nothing(index):
    graph = index.graph
    found = select(Budgeted("best"), graph, np.zeros(len(graph)))
    assert (len(found.nodes), found.value, found.bound) == (0, 0.0, 0.0)


def test_a_question_that_is_linked_to_nothing_is_refused():
    with pytest.raises(ValueError, match=r"q_links is a whole number of at least 1.*; got 0"):
        Budgeted(q_links=0)


@pytest.mark.parametrize("w_min", [-0.5, np.nan, np.inf])
def test_a_least_prize_below_0_by_which_the_bound_would_be_too_low_is_refused(w_min):
    with pytest.raises(ValueError, match=f"w_min .*, at least 0; got {w_min}"):
        Budgeted(w_min=w_min)


def test_the_methods_that_the_solver_knows_are_named():
    assert not [name for name in ("auto", *METHODS) if f'"{name}"' not in Budgeted.__doc__]
