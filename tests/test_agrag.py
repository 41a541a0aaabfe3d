"""The whole of AGRAG on a few documents: facts that join two passages, and the same without any facts."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import clew
from clew import Index, recipes
from clew.graph import Edges, Facts, Graph, Labels, Ragged
from clew.seed.mapped_facts import MappedFacts, covered_share
from clew.spread.influence import Influence
from clew.types import Query, Seeds

DOCUMENTS = [
    clew.Document("anna", "Anna married Ben in spring.", {"year": 1}),
    clew.Document("ben", "Ben grew up in Corfu.", {"year": 2}),
    clew.Document("corfu", "Corfu lies in the Ionian Sea.", {"year": 1}),
    clew.Document("cats", "Cats sleep all day long.", {"year": 1}),
    clew.Document("dogs", "Dogs bark at the moon at night.", {"year": 2}),
]
FACTS = {
    "anna": [("Anna", "married", "Ben")],
    "ben": [("Ben", "grew up in", "Corfu")],
    "corfu": [("Corfu", "lies in", "Ionian Sea")],
    "dogs": [("Dogs", "bark at", "moon")],
}
QUESTION = "Where did the one that Anna married grow up?"


@pytest.fixture(scope="module")
def index(embed):
    return Index.from_documents(DOCUMENTS, embedder=embed, facts=FACTS)


def asked(index, **how):
    return index.ask(QUESTION, recipe="agrag", **how)


def step(context, name):
    return next(step.notes for step in context.trace if step.stage.startswith(name))


def test_the_facts_that_join_come_first_each_once_then_the_passages(index):
    context = asked(index)
    roles = [item.role for item in context]
    facts = [item.text for item in context if item.role == "fact"]
    assert roles.index("fact") == 0
    assert "fact" not in roles[len(facts) :]
    assert {"Anna married Ben", "Ben grew up in Corfu"} <= set(facts)
    assert len(set(facts)) == len(facts)
    assert {"anna", "ben"} <= set(context.ids)
    assert {tie.text for tie in context.edges if tie.kind == "fact"} == set(facts)


def test_the_trace_tells_costs_scores_and_a_falling_ratio(index):
    notes = step(asked(index), "MCMI")
    ratios = notes["ratios"]
    assert all(after < before for before, after in pairwise(ratios))
    assert len(notes["steps"]) == len(ratios) - 1
    for edge in [*notes["tree"], *notes["steps"]]:
        assert 1e-6 <= edge["cost"] <= 1
        assert min(edge["scores"]) >= 0


def test_without_facts_the_best_passages_are_joined_over_their_links(embed):
    index = Index.from_documents(DOCUMENTS, embedder=embed)
    context = asked(index)
    assert "the graph has no facts" in step(context, "MappedFacts")["fallback"]
    assert len(step(context, "MCMI")["tree"]) > 0
    assert set(context.ids) == {document.id for document in DOCUMENTS}
    assert context.missing == ()


def test_a_fact_can_be_left_to_the_passage_that_says_it(index):
    method = recipes.get("agrag")
    once = replace(
        method,
        selects=(replace(method.selects[0], repeat=False),),
        order=replace(method.order, repeat=False),
    )
    context = index.ask(QUESTION, recipe=once)
    assert {item.kind for item in context} == {"passage"}, (
        "all passages are read, and so no fact is"
    )
    assert {tie.text for tie in context.edges if tie.kind == "fact"} >= {
        "Anna married Ben",
        "Ben grew up in Corfu",
    }
    narrow = index.ask(
        QUESTION,
        recipe=replace(once, selects=(replace(once.selects[0], fact_share=0.5),)),
        budget=18,
    )
    facts = {item.text for item in narrow if item.role == "fact"}
    assert facts
    assert not facts & {" ".join(triple) for id in narrow.ids for triple in FACTS.get(id, ())}


def test_a_filter_leaves_nothing_of_what_it_forbids(index):
    context = asked(index, where={"year": 1})
    assert set(context.ids) == {"anna", "corfu", "cats"} | {
        item.id for item in context if item.role == "fact"
    }
    assert "Ben grew up in Corfu" not in context.text
    assert "Ben grew up in Corfu" not in repr(context.trace)


@pytest.mark.parametrize("limit", [1, 2, 3, 5])
def test_a_limit_counts_passages(index, limit):
    context = asked(index, limit=limit)
    assert len(context) == limit
    assert all(item.kind == "passage" for item in context)


def test_with_less_room_there_is_less_and_what_is_left_out_is_said(index):
    whole = asked(index)
    for budget in range(8, whole.tokens, 4):
        context = asked(index, budget=budget)
        assert context.tokens <= budget
        facts = sum(item.role == "fact" for item in context)
        notes = [step.notes for step in context.trace if step.stage.startswith("MCMI")]
        assert (
            facts == sum(item.role == "fact" for item in whole)
            or notes[-1]["facts_without_room"] > 0
        )


def test_no_room_for_facts_is_a_page_of_passages(index):
    method = recipes.get("agrag")
    bare = replace(method, selects=(replace(method.selects[0], fact_share=0.0),))
    assert {item.kind for item in index.ask(QUESTION, recipe=bare)} == {"passage"}


def seeds_on(graph, weights, terminals):
    return Seeds(np.array(weights, np.float64), np.array(terminals, np.int32))


WALKED = Graph.of(
    list("abcde"),
    kinds=["passage", "entity", "entity", "passage", "entity"],
    edges=Edges.of("next", [0, 1, 2], [1, 2, 3]),
)


def influence(stage, weights=(0.2, 0, 0, 0.9, 0), terminals=(1, 2)):
    return stage.on(WALKED)(Query("?"), seeds_on(WALKED, weights, terminals), np.zeros(5))


def test_influence_is_the_walk_from_the_terminals_and_its_modes_differ_as_said():
    dense = WALKED.links().matrix().toarray()
    walk = dense / np.maximum(dense.sum(axis=1, keepdims=True), 1)
    reset = np.array([0, 0.5, 0.5, 0, 0])
    expected = np.linalg.solve(np.eye(5) - 0.5 * walk.T, 0.5 * reset)

    none = influence(Influence(passage_mode="none"))
    assert none == pytest.approx(expected, abs=1e-9)
    assert none.sum() == pytest.approx(1)
    assert none[4] == 0, "what no way leads to has none"
    assert influence(Influence(passage_mode="post")) == pytest.approx(
        np.where(WALKED.content, 0.05 * expected, expected), abs=1e-9
    )
    with_passages = 2 * reset + 0.05 * np.array([0, 0, 0, 1, 0])
    by_reset = np.linalg.solve(np.eye(5) - 0.5 * walk.T, 0.5 * with_passages / with_passages.sum())
    assert influence(Influence(passage_mode="reset")) == pytest.approx(by_reset, abs=1e-9)
    assert influence(Influence(passage_mode="none", nonedge="rank1"))[4] > 0, (
        "a jump leads anywhere"
    )


def test_without_terminals_influence_leaves_the_prizes():
    assert influence(Influence(), terminals=()).tolist() == [0] * 5


def test_terminals_are_the_ends_of_the_nearest_facts_in_their_order_then_passages(index):
    vector = index.embedder.embed_question("Anna married Ben")
    query = Query("Anna married Ben", np.float32(vector))
    seeds = MappedFacts(max_facts=2, passages=1).on(index.graph)(query)
    assert index.graph.facts.texts[seeds.facts[0]] == "Anna married Ben"
    assert [index.graph.texts[row] for row in seeds.terminals[:2]] == ["Anna", "Ben"]
    assert index.graph.kinds[seeds.terminals[-1]] == "passage"
    assert seeds.fact_scores[0] >= seeds.fact_scores[1] > 0
    assert len(set(seeds.terminals.tolist())) == len(seeds.terminals)


def test_facts_of_a_few_passages_count_by_their_share_of_the_nearest(embed):
    few = {id: FACTS[id] for id in ("anna", "dogs")}
    graph = Index.from_documents(DOCUMENTS, embedder=embed, facts=few).graph
    seeds = MappedFacts(max_facts=5).on(graph)(Query(QUESTION, np.float32(embed([QUESTION])[0])))
    assert seeds.notes["covered"] == pytest.approx(2 / 5)
    assert len(seeds.facts) == 2
    assert (
        len(
            MappedFacts(max_facts=1)
            .on(graph)(Query(QUESTION, np.float32(embed([QUESTION])[0])))
            .facts
        )
        <= 1
    )
    none = MappedFacts(max_facts=1, passages=0).on(
        Index.from_documents(DOCUMENTS, embedder=embed, facts={"dogs": FACTS["dogs"]}).graph
    )
    found = none(Query("Ben grew up in Corfu.", np.float32(embed(["Ben grew up in Corfu."])[0])))
    assert len(found.facts) == 0
    assert "mapped to none of the facts" in found.notes["fallback"]


def test_the_question_is_mapped_to_facts_that_what_it_names_leads_to_and_passages_weigh_by_their_power(
    index,
):
    vector = np.float32(index.embedder.embed_question(QUESTION))
    query = Query("What did anna do?", vector)
    every, named = (
        MappedFacts(max_facts=9, recognised=only).on(index.graph)(query) for only in (False, True)
    )
    ends = [
        {index.graph.texts[row] for row in pair}
        for pair in zip(index.graph.facts.subjects, index.graph.facts.objects, strict=True)
    ]
    assert named.facts.tolist() == [
        fact for fact in every.facts.tolist() if not ends[fact] & {"Dogs"}
    ], "from Anna a way leads to the sea"
    assert 0 < len(named.facts) < len(every.facts)
    sharp = MappedFacts(exponent=3.0).on(index.graph)(query).scores
    assert sharp == pytest.approx((every.scores / every.scores.max()) ** 3)
    cosines = [np.dot(row, vector) for row in index.graph.vectors[index.graph.content]]
    scores = every.scores[index.graph.content]
    assert scores == pytest.approx(np.maximum(cosines, 0), abs=1e-5), "as they are"
    assert max(cosines) < 0.9, "so that a share of the best is something else"
    nobody = MappedFacts(recognised=True).on(index.graph)(Query("Who?", vector))
    assert not len(nobody.facts)
    assert index.graph.kinds[nobody.terminals[0]] == "passage"
    assert "mapped to none" in nobody.notes["fallback"]


def test_the_share_of_facts_is_of_twice_as_many_passages_as_facts_are_wanted():
    """Ten passages; facts were read from the third best alone, and from the worst."""
    n = 10
    cosines = np.linspace(0.9, 0.45, n)
    vectors = np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1)
    entities = [[1.0, 0.0]] * 4
    facts = Facts(
        tuple(f"fact {i}" for i in range(4)),
        np.float32([[0.9, 0.436], [0.8, 0.6], [-0.5, 0.866], [0.7, 0.714]]),
        np.int32([n, n + 1, n + 2, n]),
        np.int32([n + 1, n + 2, n + 3, n + 3]),
        Labels.of(["is"] * 4),
        Ragged.of([[2], [2], [2], [9]]),
    )
    graph = Graph.of(
        ["text"] * (n + 4),
        kinds=["passage"] * n + ["entity"] * 4,
        vectors=np.concatenate([vectors, entities]),
        facts=facts,
    )
    query = Query("?", np.float32([1, 0]))
    for wanted, covered, mapped in ((1, 0.0, []), (2, 0.25, []), (3, 1 / 6, []), (5, 0.2, [0])):
        seeds = MappedFacts(wanted, asks=False).on(graph)(query)
        assert seeds.notes["covered"] == pytest.approx(covered)
        assert seeds.facts.tolist() == mapped
        if not mapped:
            assert seeds.terminals.tolist() == list(range(wanted)), "the nearest passages"
            assert "none of the facts" in seeds.notes["fallback"]
    every = MappedFacts(3, passages=2, scale_by_coverage=False).on(graph)(query)
    assert every.facts.tolist() == [0, 1, 3], "not the one that is unlike the question"
    assert every.fact_scores == pytest.approx([0.9, 0.8, 0.7], abs=1e-3)
    assert every.terminals.tolist() == [n, n + 1, n + 2, n + 3, 0, 1]
    assert "covered" not in every.notes
    assert len(MappedFacts(4, scale_by_coverage=False).on(graph)(query).facts) == 3


def test_a_share_of_passages_with_facts_counts_those_that_score_alone():
    scores, has_facts = np.array([0.0, 0.3, 0.2, 0.1]), np.array([True, True, False, False])
    assert covered_share(scores, has_facts, 2) == 0.5
    assert covered_share(scores, has_facts, 9) == pytest.approx(1 / 3)
    assert covered_share(np.zeros(4), has_facts, 2) == 1.0
    assert covered_share(scores, np.zeros(4, np.bool_), 2) == 1.0
    assert covered_share(scores, np.array([True, False, False, False]), 9) == 0.0


def test_a_question_without_a_vector_is_mapped_to_no_fact(index):
    assert index.graph.facts.vectors.any()
    seeds = MappedFacts().on(index.graph)(Query("Anna married Ben"))
    assert len(seeds.facts) == 0
    assert "mapped to none of the facts" in seeds.notes["fallback"]
    bare = replace(index.graph.facts, vectors=np.zeros_like(index.graph.facts.vectors))
    vector = np.float32(index.embedder.embed_question(QUESTION))
    without = MappedFacts().on(replace(index.graph, facts=bare))(Query(QUESTION, vector))
    assert len(without.facts) == 0
