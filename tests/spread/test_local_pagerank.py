"""A neighbourhood and the walk in it: by definition, what it says of itself, and how types of edge are weighed for a question."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.traversal.breadth_first import search_breadth_first
from clew.graph import Edges, Facts, Graph, Labels, Ragged
from clew.spread import BestFirst, BreadthFirst, Cues, LocalPageRank, ModelIntent
from clew.types import Prizes, Query, Seeds, may_ask_model

TIES = st.lists(
    st.tuples(st.integers(0, 11), st.integers(0, 11), st.sampled_from([0.25, 0.5, 1.0])),
    max_size=30,
)


@given(
    TIES,
    st.dictionaries(st.integers(0, 11), st.sampled_from([0.5, 1.0]), min_size=1, max_size=4),
    st.sampled_from([0.5, 0.85]),
)
def test_the_prizes_are_the_pagerank_of_what_is_near(ties, touched, damping):
    graph = Graph.of(
        ["text"] * 12, edges=Edges.of("tie", *zip(*ties, strict=True)) if ties else Edges()
    )
    weights = np.zeros(12)
    weights[list(touched)] = list(touched.values())

    found = LocalPageRank((BreadthFirst(1, None),), damping, max_start_rows=2).on(graph)(
        Query("?"), Seeds(weights), weights
    )

    starts = sorted(touched, key=lambda row: (-weights[row], row))[:2]
    rows = np.sort(search_breadth_first(graph.links(), starts, max_depth=1, max_degree=None).rows)
    matrix = graph.links().matrix().toarray()[np.ix_(rows, rows)]
    total = matrix.sum(axis=1, keepdims=True)
    walk = np.divide(matrix, total, out=np.zeros_like(matrix), where=total > 0)
    reset = np.where(np.isin(rows, starts), weights[rows], 0)
    solved = np.linalg.solve(
        np.eye(len(rows)) - damping * walk.T, (1 - damping) * reset / reset.sum()
    )
    assert isinstance(found, Prizes)
    assert found.values[rows] == pytest.approx(solved / solved.sum(), abs=1e-8)
    assert found.values.sum() == pytest.approx(1)
    assert found.notes["from"] == [str(row) for row in starts]
    assert found.notes["nodes"] == len(rows)


def test_ways_are_joined_terminals_come_first_and_nothing_touched_stays_so():
    graph = Graph.of(
        ["text"] * 5,
        edges=Edges.join([Edges.of("near", [0, 1], [1, 2]), Edges.of("far", [0], [3], 0.05)]),
    )
    weights = np.float64([0, 0, 0, 0, 1])
    both = LocalPageRank((BreadthFirst(1), BestFirst(max_depth=2)), max_start_rows=1).on(graph)
    found = both(Query("?"), Seeds(weights, terminals=np.int32([0, 4])), weights)
    assert np.flatnonzero(found.values).tolist() == [0, 1, 2, 3]
    assert found.notes["BreadthFirst"]["by hops"] == [1, 2]
    assert found.notes["BestFirst"]["below the threshold"] == 1
    nothing = both(Query("?"), Seeds(np.zeros(5)), np.zeros(5))
    assert not nothing.values.any()
    assert "touches nothing" in nothing.notes["fallback"]


@given(
    TIES,
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=12, max_size=12),
    st.integers(0, 14),
)
def test_the_walk_starts_again_at_all_that_the_question_touches_best(ties, weights, most):
    graph = Graph.of(
        ["text"] * 12, edges=Edges.of("tie", *zip(*ties, strict=True)) if ties else Edges()
    )
    weights = np.array(weights)
    found = (
        LocalPageRank((BreadthFirst(1, None),), max_start_rows=1, max_restart_rows=most)
        .on(graph)(Query("?"), Seeds(weights), weights)
        .values
    )
    ranked = sorted(np.flatnonzero(weights).tolist(), key=lambda row: (-weights[row], row))
    again = ranked[: max(1, most)]
    near = (
        set(again)
        | set(
            search_breadth_first(
                graph.links(), ranked[:1], max_depth=1, max_degree=None
            ).rows.tolist()
        )
        if ranked
        else set()
    )
    assert set(np.flatnonzero(found > 1e-9).tolist()) <= near
    assert set(again) <= set(np.flatnonzero(found > 0).tolist())
    if not ties and ranked:  # nothing to follow: what the question touches keeps its worth
        assert found[again] == pytest.approx(weights[again] / weights[again].sum())


def test_kinds_of_edge_that_are_left_out_lead_nowhere_and_others_of_any_name_do():
    graph = Graph.of(
        ["text"] * 4,
        edges=Edges.join([Edges.of("similar", [0, 1], [1, 2]), Edges.of("my own", [0], [3])]),
    )
    weights = np.float64([1, 0, 0, 0])

    def reached(**how):
        found = LocalPageRank((BreadthFirst(2, **how),), max_start_rows=1, **how).on(graph)(
            Query("?"), Seeds(weights), weights
        )
        return np.flatnonzero(found.values).tolist()

    assert reached() == [0, 1, 2, 3]
    assert reached(excluded_kinds=("similar",)) == [0, 3]
    assert reached(excluded_kinds=("other",)) == [0, 1, 2, 3]
    assert reached(excluded_kinds=("similar", "my own")) == [0]
    assert reached(kinds=(("similar", 0.5), "my own"), excluded_kinds=("my own",)) == [0, 1, 2]
    with pytest.raises(ValueError, match="max_restart_rows is a number"):
        LocalPageRank(max_restart_rows=-1)


def test_best_first_leaves_out_a_kind_of_edge_and_not_the_relation_of_its_name():
    graph = Graph.from_triples([("Anna", "next", "Ben"), ("Ben", "likes", "Cleo")])
    names = [graph.texts[row] for row in range(len(graph))]
    start = np.int32([names.index("Anna")])
    beside = Edges.of("next", [names.index("Anna")], [names.index("Cleo")])
    graph = graph.with_edges(Edges.join([graph.edges, beside]))

    def reached(**how):
        found = BestFirst(threshold=0.0, max_depth=1, **how).bind(graph)(Query("?"), start)
        return sorted(names[row] for row in found.rows.tolist())

    assert reached() == ["Anna", "Ben", "Cleo"]
    assert reached(excluded_kinds=("next",)) == ["Anna", "Ben"]
    assert reached(excluded_kinds=("fact",)) == ["Anna", "Cleo"]
    assert reached(types=(("next", 0.0),)) == ["Anna"]


def test_one_node_no_edges_a_hub_and_a_token_ceiling():
    for graph in (Graph.of(["only"]), Graph.of(["one", "two", "three"])):
        weights = np.zeros(len(graph))
        weights[0] = 1
        assert (
            LocalPageRank().on(graph)(Query("?"), Seeds(weights), weights).values.tolist()
            == weights.tolist()
        )
    n = 10_001
    hub = Graph.of(
        ["text"] * n, tokens=np.full(n, 3), edges=Edges.of("tie", np.zeros(n - 1), np.arange(1, n))
    )
    weights = np.zeros(n)
    weights[7] = 1
    found = LocalPageRank((BreadthFirst(3, 50),)).on(hub)(Query("?"), Seeds(weights), weights)
    assert found.notes["nodes"] == 52
    assert (
        np.count_nonzero(
            LocalPageRank((BreadthFirst(3, 50, max_tokens=30),))
            .on(hub)(Query("?"), Seeds(weights), weights)
            .values
        )
        == 10
    )


def typed():
    """0 works at 1, likes 2; facts with relations."""
    relations = Labels.of(["works at", "likes"])
    facts = Facts(
        ("a", "b"),
        np.zeros((2, 2), np.float32),
        np.int32([0, 0]),
        np.int32([1, 2]),
        relations,
        Ragged.of([[], []]),
    )
    return Graph.of(["text"] * 3, facts=facts, edges=Edges.of("fact", [0, 0], [1, 2], facts=[0, 1]))


def reached(intent, question, model=None):
    weights = np.float64([1, 0, 0])
    way = BestFirst(types=(("likes", 0.0),), intent=intent)
    found = LocalPageRank((way,)).on(typed())(Query(question, model=model), Seeds(weights), weights)
    return np.flatnonzero(found.values).tolist(), found.notes["BestFirst"]


def test_a_question_weighs_the_types_by_a_table_of_cues_in_any_language():
    cues = Cues((("喜欢", (("likes", 1.0), ("works at", 0.0))), ("at all", (("fact", 0.0),))))
    assert reached(cues, "他喜欢谁?") == (
        [0, 2],
        {**reached(cues, "他喜欢谁?")[1], "cues": ["喜欢"]},
    )
    assert reached(cues, "Who is it?")[0] == [0, 1]
    assert reached(cues, "Who is it at all?")[0] == [
        0
    ]  # "works at" is a relation of facts, "likes" has a word of its own


def test_a_question_weighs_the_types_by_the_callers_model_or_says_why_not():
    prompts = []

    def model(prompt):
        prompts.append(prompt)
        return 'Sure: {"likes": 2, "works at": 0}'

    rows, notes = reached(ModelIntent(), "Whom does he like?", model)
    assert rows == [0, 2]
    assert notes["types for this question"] == {"likes": 2.0, "works at": 0.0}
    assert "- works at" in prompts[0]
    for answer in ("no idea", '{"hates": 1}', '{"likes": 99}', '{"likes": true}', "[1]"):
        rows, notes = reached(ModelIntent(), "Whom?", lambda _, answer=answer: answer)
        assert rows == [0, 1]
        assert "as the table has them" in notes["fallback"]
    assert "without a language model" in reached(ModelIntent(), "Whom?")[1]["fallback"]
    assert may_ask_model(BestFirst(intent=ModelIntent()))
    assert not may_ask_model(BestFirst())


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: LocalPageRank(()),
        lambda: LocalPageRank(max_start_rows=0),
        lambda: BestFirst(decay=0),
        lambda: BestFirst((("a", -1.0),)),
    ],
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match="got"):
        wrong()


def chain_and_star():
    """A chain of six rows, and from row 0 sixty leaves."""
    tails, heads = [0, 1, 2, 3, 4, *[0] * 60], [1, 2, 3, 4, 5, *range(6, 66)]
    weights = [1.0] * 5 + list(np.linspace(0.9, 0.2, 60))
    return Graph.of(["text"] * 66, edges=Edges.of("tie", tails, heads, weights))


def test_a_search_in_waves_goes_two_hops_far_and_follows_fifty_links_of_a_node():
    reached = BreadthFirst().bind(chain_and_star())(Query("?"), np.int32([0]))
    assert set(reached.rows.tolist()) == {0, 1, 2, *range(6, 55)}  # 1 and the 49 nearest leaves
    best = BestFirst(threshold=0.0).bind(chain_and_star())(Query("?"), np.int32([0]))
    assert len(best.rows) == 50
    assert best.depths.max() == 4
    far = BestFirst(max_nodes=None, beam=None).bind(chain_and_star())(Query("?"), np.int32([5]))
    assert far.rows.tolist() == [5, 4, 3, 2, 1], "four hops"


def test_a_best_first_search_takes_nothing_below_a_tenth():
    edges = Edges.of("tie", [0, 0, 0], [1, 2, 3], [0.11, 0.1, 0.09])
    search = BestFirst().bind(Graph.of(["text"] * 4, edges=edges))
    assert search(Query("?"), np.int32([0])).rows.tolist() == [0, 1, 2]


def test_what_is_no_content_costs_no_tokens_of_a_search():
    kinds = ["passage", "entity", "passage", "passage"]
    edges = Edges.of("tie", [0, 1, 2], [1, 2, 3])
    graph = Graph.of(["text"] * 4, kinds=kinds, tokens=[5, 9, 5, 5], edges=edges)
    for room, reached in ((4, []), (5, [0, 1]), (9, [0, 1]), (10, [0, 1, 2]), (15, [0, 1, 2, 3])):
        search = BreadthFirst(max_depth=None, max_tokens=room).bind(graph)
        assert search(Query("?"), np.int32([0])).rows.tolist() == reached


def test_by_itself_it_starts_from_five_rows_and_damps_by_85_in_100():
    n = 9
    edges = Edges.of("tie", [0, 6, 7], [6, 7, 8])
    graph, prizes = Graph.of(["text"] * n, edges=edges), np.arange(n, 0, -1) / 10
    found = LocalPageRank().on(graph)(Query("?"), Seeds(prizes), prizes)
    assert found.notes["from"] == ["0", "1", "2", "3", "4"]
    assert found.notes["nodes"] == 7, "five, and what is two hops from row 0"
    assert found.notes["links"] == 2
    assert found.notes["BreadthFirst"] == {"reached": 7, "by hops": [5, 1, 1]}
    walk = np.zeros((n, n))
    walk[0, 6] = walk[7, 6] = 1
    walk[6, [0, 7]] = 0.5
    reset = np.where(np.arange(n) < 5, prizes, 0)
    solved = np.linalg.solve(np.eye(n) - 0.85 * walk.T, 0.15 * reset / reset.sum())
    assert found.values == pytest.approx(solved / solved.sum(), abs=1e-8)


def test_the_walk_restarts_by_prizes_and_as_from_1_at_terminals_without_one():
    graph = Graph.of(["text"] * 4, edges=Edges.of("tie", [0], [1]))
    prizes = np.array([0.0, 0.0, 0.5, 0.25])
    seeds = Seeds(prizes, terminals=np.int32([0, 3]))
    stage = LocalPageRank(damping=0.0, max_restart_rows=2)
    found = stage.on(graph)(Query("?"), seeds, prizes).values
    assert found == pytest.approx(np.array([1.0, 0, 0.5, 0.25]) / 1.75)


def test_factors_of_types_are_numbers_from_0_on():
    assert BestFirst(types=(("tie", 0.0),), default=0.0, decay=1.0)
    for wrong in ({"default": -0.5}, {"types": (("tie", float("nan")),)}, {"decay": 1.01}):
        with pytest.raises(ValueError, match="got"):
            BestFirst(**wrong)
    assert BestFirst(decay=0.01)
