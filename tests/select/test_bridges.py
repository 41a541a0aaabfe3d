"""Bridges: a tree over the seeds that no later stage takes apart."""

from __future__ import annotations

from dataclasses import replace

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Pipeline
from clew.graph import Edges, Facts, Graph, Labels, Ragged
from clew.order import ByPrize
from clew.render import Render
from clew.seed import Dense, TopSeeds
from clew.select import MMR, Bridges, Top, bridges
from clew.select._shared import Offer
from clew.types import UNLIMITED, Query, Seeds, Subgraph

QUESTION = np.float32([1, 0])


def graph_of(ties, n=10, like=None):
    like = np.linspace(0.9, 0.1, n) if like is None else np.asarray(like)
    vectors = np.stack([like, np.sqrt(1 - like**2)], axis=1)
    return Graph.of(
        [f"text {i}" for i in range(n)],
        vectors=vectors,
        edges=Edges.of("tie", *zip(*ties, strict=True)) if ties else Edges(),
    )


def whole(graph):
    return Subgraph(np.arange(len(graph), dtype=np.int32))


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from([0.5, 1.0])), max_size=25
    ),
    st.integers(2, 4),
)
def test_the_tree_is_kept_joins_what_can_be_joined_and_survives_the_selectors_after_it(ties, k):
    graph = graph_of(ties)
    weights = Dense().on(graph)(Query("?", QUESTION)).scores
    query, seeds = Query("?", QUESTION), Seeds(weights)
    chosen = Bridges(k, budget_share=1.0).on(graph)(query, seeds, weights, whole(graph), UNLIMITED)
    network = networkx.Graph([(a, b) for a, b, _ in ties if a != b])
    network.add_nodes_from(range(10))

    tree = networkx.Graph(
        list(
            zip(
                graph.edges.tails[chosen.edges].tolist(),
                graph.edges.heads[chosen.edges].tolist(),
                strict=True,
            )
        )
    )
    tree.add_nodes_from(range(k))
    assert set(tree) == set(chosen.required.tolist())
    assert networkx.is_forest(tree)
    for one in range(k):
        for other in range(k):
            assert networkx.has_path(network, one, other) == networkx.has_path(tree, one, other)
    assert (len(chosen.missing) == 0) == all(
        networkx.has_path(network, 0, other) for other in range(k)
    )
    for later in (MMR(0.0, k=1), Top(1)):
        left = later.on(graph)(query, seeds, weights, chosen, UNLIMITED)
        assert set(chosen.required.tolist()) <= set(left.nodes.tolist())
        assert left.edges.tolist() == chosen.edges.tolist()


def test_an_edge_that_has_nothing_to_do_with_the_question_is_no_bridge():
    graph = graph_of(
        [(0, 2, 1.0), (2, 1, 1.0), (0, 3, 1.0), (3, 4, 1.0), (4, 1, 1.0)],
        5,
        [0.9, 0.9, 0.0, 0.6, 0.6],
    )
    weights = Dense().on(graph)(Query("?", QUESTION)).scores

    def kept(**settings):
        chosen = Bridges(2, **settings).on(graph)(
            Query("?", QUESTION), Seeds(weights), weights, whole(graph), UNLIMITED
        )
        return chosen.required.tolist(), chosen.missing

    assert kept() == ([0, 1, 3, 4], ())  # 0.125 + 0.2 + 0.125 beside 0.275 + 0.275
    assert kept(max_edge=0.15) == ([0, 1], ((0, 1),))
    assert kept(excluded_kinds=("other",)) == ([0, 1, 3, 4], ())
    assert kept(excluded_kinds=graph.edges.kinds.names) == ([0, 1], ((0, 1),))
    part = replace(whole(graph), nodes=np.int32([0, 1, 2]))
    chosen = Bridges(2).on(graph)(Query("?", QUESTION), Seeds(weights), weights, part, UNLIMITED)
    assert chosen.required.tolist() == [0, 1, 2]


def test_what_there_is_no_room_for_is_left_out_and_said():
    graph = graph_of([(0, 3, 1.0), (3, 1, 1.0), (1, 4, 1.0), (4, 2, 1.0)], 5)
    weights = Dense().on(graph)(Query("?", QUESTION)).scores
    one = int(graph.tokens[0])
    ask = Bridges(3, budget_share=1.0).on(graph)
    chosen = {
        room: ask(Query("?", QUESTION), Seeds(weights), weights, whole(graph), room)
        for room in (5 * one, 4 * one, 2 * one)
    }
    assert [found.required.tolist() for found in chosen.values()] == [
        [0, 1, 2, 3, 4],
        [0, 1, 3],
        [],
    ]
    assert [found.notes.get("not joined") for found in chosen.values()] == [None, ["2"], ["1", "2"]]
    few = ask(Query("?", QUESTION, limit=3), Seeds(weights), weights, whole(graph), UNLIMITED)
    assert few.required.tolist() == [0, 1, 3]


def test_the_facts_of_a_bridge_are_read_in_the_budget():
    facts = Facts(
        ("musk cameo in iron man 2", "iron man 2 starring downey", "dull"),
        np.float32([[1, 0], [1, 0], [0, 1]]),
        np.int32([2, 3, 2]),
        np.int32([3, 1, 3]),
        Labels.of(["cameo in", "starring", "is"]),
        Ragged.of([[0], [1], [0]]),
    )
    edges = Edges.join(
        [Edges.of("mentions", [0], [2]), Edges.of("fact", [2, 2, 3], [3, 3, 1], facts=[2, 0, 1])]
    )
    graph = Graph.of(
        ["a passage on Musk", "a passage on Downey", "Musk", "Iron Man 2"],
        kinds=["passage", "passage", "entity", "entity"],
        vectors=np.float32([[0.8, 0.6], [0.6, 0.8], [0, 1], [0, 1]]),
        facts=facts,
        edges=edges,
    )
    method = Pipeline(Dense(), selects=(Bridges(2), Top()), order=ByPrize())
    context = method.on(graph)(Query("How?", QUESTION), UNLIMITED)
    assert [item.text for item in context] == [
        "musk cameo in iron man 2",
        "iron man 2 starring downey",
        "a passage on Musk",
        "a passage on Downey",
    ]
    assert {(tie.tail, tie.head) for tie in context.edges} == {("0", "2"), ("2", "3"), ("3", "1")}
    assert method.on(graph)(Query("How?", QUESTION, limit=2), UNLIMITED).ids == ["0", "1"]
    for budget in range(8, context.tokens + 1):
        assert method.on(graph)(Query("How?", QUESTION), budget).tokens <= budget
    assert "bridges" in method.on(graph)(Query("How?", QUESTION), UNLIMITED).trace[1].notes


def test_of_parallel_edges_one_that_states_a_fact_is_the_bridge_however_far_the_fact_is():
    facts = Facts(
        ("a dull fact", "what is asked for"),
        np.float32([[0, 1], [1, 0]]),
        np.int32([0, 2]),
        np.int32([1, 2]),
        Labels.of(["is", "is"]),
        Ragged.of([[0], [2]]),
    )
    for order in ([-1, 0], [0, -1]):
        graph = Graph.of(
            ["one", "two", "three"],
            vectors=np.float32([[1, 0], [0.8, 0.6], [0, 1]]),
            facts=facts,
            edges=Edges.of("fact", [0, 0], [1, 1], facts=order),
        )
        chosen = Bridges(2).on(graph)(
            Query("?", QUESTION),
            Seeds(np.array([1.0, 0.9, 0])),
            np.ones(3),
            whole(graph),
            UNLIMITED,
        )
        assert graph.edges.facts[chosen.edges].tolist() == [0]


def test_a_graph_without_vectors_is_joined_by_hops_and_settings_are_checked():
    graph = Graph.of(["text"] * 4, edges=Edges.of("tie", [0, 2, 0, 3], [2, 1, 3, 3]))
    seeds = Seeds(np.zeros(4), terminals=np.int32([0, 1]))
    chosen = Bridges().on(graph)(Query("?"), seeds, np.ones(4), whole(graph), UNLIMITED)
    assert chosen.required.tolist() == [0, 1, 2]
    for wrong in (
        {"max_edge": 0.0},
        {"budget_share": 1.1},
        {"budget_share": -0.1},
        {"max_terminals": 0},
    ):
        with pytest.raises(ValueError, match="got"):
            Bridges(**wrong)


def test_the_presets_and_the_journey_are_told_in_the_trace(embed):
    import clew

    index = clew.Index.from_documents(
        ["Anna moved to Rome.", "Rome lies on the Tiber.", "Ben married Anna.", "Cats sleep."],
        embedder=embed,
    )
    for name in ("baseline", "lightweight", "enterprise", "agentic", "journey"):
        context = index.ask("Where does Anna live?", recipe=name)
        stages = [step.stage.partition("(")[0] for step in context.trace]
        assert stages[0] == ("InDefinitions" if name == "baseline" else "TopSeeds")
        assert all(step.seconds >= 0 and step.notes for step in context.trace)
        assert ("LocalPageRank" in stages) == (name != "baseline")
        assert ("Bridges" in stages) == (name in ("agentic", "journey"))
    told = {
        step.stage.partition("(")[0]: step.notes
        for step in index.ask("Where does Anna live?", recipe="journey").trace
    }
    assert len(told["TopSeeds"]["terminals"]) == 3
    assert (
        told["LocalPageRank"]["BreadthFirst"]["reached"]
        <= told["LocalPageRank"]["nodes"]
        == told["LocalPageRank"]["prized"]
    )
    assert told["Bridges"]["kept"] >= 3
    assert told["TopReports"]["left out"] == told["Bridges"]["nodes"] - told["TopReports"]["nodes"]


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from([0.5, 1.0])),
        min_size=4,
        max_size=25,
    ),
    st.sampled_from(["mehlhorn", "kou"]),
    st.sampled_from([0.3, 0.6, 1.2]),
)
def test_seeds_are_joined_over_chains_of_neighbours_that_are_no_farther_apart_than_the_longest_path(
    ties, method, max_path
):
    """By definition: shortest paths by networkx over the lengths (1 - weighted mean cosine) / 2."""
    graph, k = graph_of(ties), 4
    scores = Dense().on(graph)(Query("?", QUESTION)).scores
    chosen = Bridges(k, max_path=max_path, method=method, budget_share=1.0).on(graph)(
        Query("?", QUESTION), Seeds(scores), scores, whole(graph), UNLIMITED
    )
    tree = networkx.Graph(
        zip(
            graph.edges.tails[chosen.edges].tolist(),
            graph.edges.heads[chosen.edges].tolist(),
            strict=True,
        )
    )
    tree.add_nodes_from(range(k))
    links = graph.links()
    offer = Offer(graph, Query("?", QUESTION), Seeds(scores), scores, whole(graph), UNLIMITED)
    slot_facts = graph.part(bridges._SlotFactsPart(None))
    lengths = bridges._lengths(offer, links, slot_facts, "mehlhorn")
    network = networkx.Graph()
    network.add_nodes_from(range(10))
    network.add_weighted_edges_from(
        zip(
            links.sources.tolist(),
            links.targets.tolist(),
            lengths.measure_all(links).tolist(),
            strict=True,
        )
    )
    near = networkx.Graph()
    near.add_nodes_from(range(k))
    for one, reached in networkx.all_pairs_dijkstra_path_length(network):
        if one < k:
            near.add_edges_from((one, b) for b, far in reached.items() if b < k and far <= max_path)
    for one in range(k):
        for other in range(k):
            assert networkx.has_path(near, one, other) == networkx.has_path(tree, one, other)


def test_unknown_methods_and_paths_that_a_method_does_not_know_are_refused():
    for wrong in (
        {"method": "prim"},
        {"max_path": 0.0},
        {"max_path": 1.0, "method": "exact"},
    ):
        with pytest.raises(ValueError, match=r"got|known"):
            Bridges(**wrong)


def test_the_page_says_what_could_not_be_joined_and_pays_for_it():
    names = ["Musk", "Socrates", "Swift", "Tesla"]
    graph = Graph.of(
        names,
        vectors=np.float32([[0.8, 0.6], [0.8, 0.6], [0.8, 0.6], [0.6, 0.8]]),
        edges=Edges.of("tie", [0], [3]),
    )
    seed_stage = TopSeeds(3)
    answers = {}
    for said in (False, True):
        method = Pipeline(
            seed_stage,
            selects=(Bridges(3), Top()),
            order=ByPrize(),
            render=Render(missing=said),
        ).on(graph)
        answers[said] = method(Query("How?", QUESTION), UNLIMITED)
        for budget in range(6, 60):
            context = method(Query("How?", QUESTION), budget)
            assert context.tokens <= budget
            assert context.tokens == graph.count(context.text)
            assert len(context.items) > 0
            # The line gives way where it would leave no room for anything else, never before.
            line = context.text.splitlines()[-1]
            if said and context.missing and "No connection" not in line:
                with_line = f"- {context.items[0].text}\n{line_of(answers[True])}"
                assert graph.count(with_line) > budget or len(context.missing) < 2
    assert answers[False].missing == answers[True].missing == (("0", "1"), ("0", "2"))
    assert (
        line_of(answers[True]) == '(No connection was found from "Musk" to "Socrates" or "Swift".)'
    )
    assert answers[True].text == f"{answers[False].text}\n{line_of(answers[True])}"


def line_of(context):
    return context.text.splitlines()[-1]


def test_recipes_that_promise_a_connection_say_where_there_is_none(embed):
    import clew

    index = clew.Index.from_documents(
        ["Anna moved to Rome.", "Cats sleep in the sun.", "Ferries sail at ten."],
        embedder=embed,
        links=(),
    )
    question = "Where do cats sleep, Anna moved and ferries sail?"
    for name in ("agentic", "journey", "journey_paper"):
        context = index.ask(question, recipe=name)
        assert context.missing
        assert "No connection was found" in line_of(context)
    assert clew.recipes.get("agrag").render.missing
    assert "No connection" not in index.ask(question, recipe="lightweight").text


def test_what_is_not_offered_is_neither_joined_nor_read():
    graph = graph_of([(0, 3, 1.0), (3, 1, 1.0), (1, 2, 1.0), (2, 4, 1.0)], 5)
    prizes = np.array([0.5, 0.4, 0.3, 0.2, 0.1])
    offered = replace(whole(graph), nodes=np.int32([1, 2, 4]))
    query, seeds = Query("?", QUESTION), Seeds(prizes)
    chosen = Bridges(3, budget_share=1.0).on(graph)(query, seeds, prizes, offered, UNLIMITED)
    assert chosen.notes["seeds"] == ["1", "2"], "row 0 is not offered"
    assert chosen.required.tolist() == [1, 2]
    assert sorted(chosen.nodes.tolist()) == [1, 2, 4]
    every = Bridges(3, budget_share=1.0).on(graph)(query, seeds, prizes, whole(graph), UNLIMITED)
    assert every.required.tolist() == [0, 1, 2, 3]
    assert sorted(every.nodes.tolist()) == [0, 1, 2, 3, 4]


def test_by_itself_a_tree_joins_three_seeds_in_half_of_the_budget():
    graph = graph_of([(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)], 4)
    prizes = np.array([0.5, 0.4, 0.3, 0.2])
    one, select = int(graph.tokens[0]), Bridges().on(graph)
    assert (graph.tokens == one).all()
    for room, joined in ((6 * one, 3), (6 * one - 1, 2), (4 * one, 2), (4 * one - 1, 1)):
        chosen = select(Query("?", QUESTION), Seeds(prizes), prizes, whole(graph), room)
        assert chosen.notes["seeds"] == ["0", "1", "2"][:joined]
        assert len(chosen.required) == (joined if joined > 1 else 0)
    tight = Bridges(1).on(graph)(Query("?", QUESTION), Seeds(prizes), prizes, whole(graph), one)
    assert tight.dropped == ()
    less = Bridges(1).on(graph)(Query("?", QUESTION), Seeds(prizes), prizes, whole(graph), one - 1)
    assert [row for row, _ in less.dropped] == [0, 1, 2, 3]
    for name, wrong in (("max_edge", 0.0), ("max_path", -1.0), ("max_edge", np.nan)):
        with pytest.raises(ValueError, match=f"{name} is a length above 0"):
            Bridges(**{name: wrong})
    with pytest.raises(ValueError, match="max_path is for the methods"):
        Bridges(max_path=1.0, method="exact")
    with pytest.raises(ValueError, match="unknown method 'x'"):
        Bridges(method="x")
    assert Bridges(max_path=0.5, method="kou", budget_share=1.0, max_terminals=1)
    assert Bridges(budget_share=0.0)
