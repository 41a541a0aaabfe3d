"""The odd cases of joining and of budgeted selection: little to join, nothing to tell apart, no way, a hub, no room."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import clew
from clew import Index, Render, recipes
from clew.graph import Edges, Facts, Graph, Labels, Ragged, freeze
from clew.select.budgeted import Budgeted
from clew.select.mcmi import MCMI
from clew.types import UNLIMITED, Query, Seeds, Subgraph

TEXTS = {
    "anna": "Anna married Ben in spring.",
    "ben": "Ben grew up in Corfu.",
    "tea": "Assam grows black tea.",
    "kettle": "Black tea fills the kettle.",
}
FACTS = {
    "anna": [("Anna", "married", "Ben")],
    "ben": [("Ben", "grew up in", "Corfu")],
    "tea": [("Assam", "grows", "black tea")],
    "kettle": [("black tea", "fills", "kettle")],
}
BY_FACTS = ("fact", "mentions")
BOTH = "Who married Ben, and where does black tea come from?"
METHODS = ["agrag", "budgeted"]


@pytest.fixture(scope="module")
def index(embed):
    return Index.from_documents(
        [clew.Document(*each) for each in TEXTS.items()], embedder=embed, facts=FACTS
    )


def by_facts(max_facts=5, **how):
    """AGRAG over facts and mentions alone, with so many facts and no passages as terminals."""
    recipe, how = recipes.get("agrag"), {"kinds": BY_FACTS, "fact_share": 1.0, **how}
    return replace(
        recipe,
        seed=replace(recipe.seed, max_facts=max_facts, passages=0),
        selects=(replace(recipe.selects[0], **how),),
    )


def test_a_question_whose_facts_lie_in_two_parts_says_so_and_reads_of_both(index):
    context = index.ask(BOTH, recipe=by_facts())
    (one, other), *more = context.missing
    part = dict.fromkeys(("Anna", "Ben", "Corfu"), "love") | dict.fromkeys(
        ("Assam", "black tea", "kettle"), "tea"
    )
    texts = dict(zip(index.graph.ids, index.graph.texts, strict=True))
    assert {part[texts[one]], part[texts[other]]} == {"love", "tea"}
    assert more == []
    assert {"Anna married Ben", "Assam grows black tea"} <= {
        item.text for item in context if item.role == "fact"
    }
    assert context.to_dict()["missing"] == [[one, other]]


def test_a_bridge_joins_both_parts_to_one_tree_and_still_says_that_the_graph_does_not(index):
    bridged = index.ask(BOTH, recipe=by_facts(bridge_cost=10.0))
    assert len(bridged.missing) == 1
    assert {"Anna married Ben", "Assam grows black tea"} <= {
        item.text for item in bridged if item.role == "fact"
    }


def test_a_fact_says_what_it_scored_and_cost_and_so_does_every_edge(index):
    context = index.ask(
        "Whom did Anna marry?", recipe=by_facts(max_facts=1, variant="official", max_steps=3)
    )
    facts = [item for item in context if item.role == "fact"]
    mapped = facts[0]
    assert mapped.text == "Anna married Ben"
    assert mapped.why[-1].weight == pytest.approx(mapped.score)
    assert mapped.why[-1].cost == pytest.approx((1 - mapped.score) / 2, abs=1e-6), "equation 6"
    assert all(0 < item.why[-1].cost <= 1 for item in facts)
    further = next(item for item in facts if item.text == "Ben grew up in Corfu")
    assert [(hop.kind, hop.text) for hop in further.why][-1] == ("fact", "Ben grew up in Corfu")
    assert all(tie.cost is not None for tie in context.edges)
    assert all(hop.cost is None for item in index.ask("Anna?", recipe="dense") for hop in item.why)


@pytest.mark.parametrize("style", ["triples", "bullets"])
def test_facts_are_printed_as_triples_or_as_bullets(index, style):
    context = index.ask(BOTH, recipe=replace(by_facts(), render=Render(style)))
    wanted = "(Anna, married, Ben)" if style == "triples" else "- Anna married Ben"
    assert wanted in context.text.splitlines()
    assert context.tokens == index.graph.count(context.text) <= 2000


@pytest.mark.parametrize("recipe", METHODS)
def test_a_budget_of_one_passage_buys_one_passage(index, recipe):
    page = index.graph.count("- " + TEXTS["anna"])
    context = index.ask("Anna married Ben in spring.", recipe=recipe, budget=page)
    assert [item.id for item in context if item.role != "fact"] in (["anna"], [])
    assert 0 < context.tokens <= page


@pytest.mark.parametrize("recipe", METHODS)
def test_one_terminal_and_none_are_answered(index, recipe):
    method = recipes.get(recipe)
    answer = method.on(index.graph)
    assert len(answer(Query("?", None), UNLIMITED)) >= 0
    vector = np.float32(index.embedder.embed_question("Anna married Ben"))
    context = replace(method, seed=clew.seed.Dense()).on(index.graph)(
        Query("Anna married Ben", vector), UNLIMITED
    )
    assert "anna" in context.ids


def hub(n):
    """One entity in the middle of n passages, of which the last has another neighbour."""
    kinds = ["entity", *["passage"] * n, "entity"]
    edges = Edges.of("mentions", [*range(1, n + 1), n], [0] * n + [n + 1])
    return Graph.of(
        [f"text {i}" for i in range(n + 2)], kinds=kinds, tokens=[5] * (n + 2), edges=edges
    )


def chosen(stage, graph, prizes, terminals, budget):
    everything = Subgraph(freeze(np.arange(len(graph)), np.int32))
    return stage.on(graph)(
        Query("?"), Seeds(prizes, freeze(terminals, np.int32)), prizes, everything, budget
    )


@pytest.mark.parametrize(
    "stage",
    [MCMI(), MCMI(steiner_weight="cost_over_score"), Budgeted(), Budgeted("best", working=50)],
)
@pytest.mark.parametrize("alike", [True, False])
def test_a_hub_of_ten_thousand_leaves_is_passed_not_flooded(stage, alike):
    n = 10_000
    graph = hub(n)
    prizes = np.where(graph.content, 0.5 if alike else np.linspace(0.1, 1, n + 2), 0.0)
    found = chosen(stage, graph, prizes, [1, n], 50)
    passages = found.nodes[graph.content[found.nodes]].tolist()
    assert 1 <= len(passages) <= 10
    assert graph.tokens[passages].sum() <= 50
    assert len(found.nodes) < 100
    assert {1, n} <= set(passages) or not isinstance(stage, MCMI), "both terminals are read"
    assert found.missing == ()


@pytest.mark.parametrize("stage", [MCMI(), MCMI("ratio"), Budgeted()])
def test_scores_of_zero_are_no_error_and_bring_nothing(stage):
    graph = hub(20)
    found = chosen(stage, graph, np.zeros(22), [1, 2] if isinstance(stage, MCMI) else [], 50)
    assert set(found.nodes[graph.content[found.nodes]].tolist()) == (
        {1, 2} if isinstance(stage, MCMI) else set()
    )
    assert found.value in (None, 0.0)


def test_of_costs_and_prizes_all_alike_the_lower_rows_are_taken():
    facts = Facts(
        ("a is b", "a is c"), freeze(np.zeros((2, 0)), np.float32), freeze([1, 1], np.int32), freeze([2, 3], np.int32),
        Labels.of(["is", "is"]), Ragged.of([[0], [0]]),
    )  # fmt: skip
    edges = Edges.of("fact", [1, 1], [2, 3], facts=[0, 1])
    graph = Graph.of(
        list("pabc"), kinds=["passage", *["entity"] * 3], tokens=[1] * 4, facts=facts, edges=edges
    )
    once, again = (chosen(MCMI(max_steps=1), graph, np.ones(4), [1], 99) for _ in range(2))
    assert [step["to"] for step in once.notes["steps"]] == [graph.ids[2]]
    assert once.nodes.tolist() == again.nodes.tolist()
