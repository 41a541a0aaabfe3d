"""The router: which preset, by whom, and why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import clew
from clew import Index, recipes
from clew.graph import Edges, Graph
from clew.index.answer import UnusedModelWarning
from clew.types import Query

DOCUMENTS = [
    "Anna moved to Rome.",
    "Rome lies on the Tiber.",
    "Ben married Anna in Paris.",
    "Cats sleep all day.",
]
FACTS = [("Anna", "moved to", "Rome"), ("Rome", "lies on", "Tiber"), ("Ben", "married", "Anna")]


@pytest.fixture(scope="module")
def plain(embed):
    return Index.from_documents(DOCUMENTS, embedder=embed)


@pytest.fixture(scope="module")
def typed(embed):
    documents = [clew.Document(str(i), text) for i, text in enumerate(DOCUMENTS)]
    return Index.from_documents(
        documents, embedder=embed, facts={str(i): [fact] for i, fact in enumerate(FACTS)}
    )


def chosen(index, question, recipe="router", **more):
    context = index.ask(question, recipe=recipe, **more)
    assert context.trace[0].stage == "Router"
    assert context.method == repr(recipes.get(recipe))
    return context.trace[0].notes["chosen"], context.trace[0].notes


def test_rules_look_at_the_graph_first(plain, typed, embed):
    alone = Index.from_documents(DOCUMENTS, embedder=embed, links=())
    assert chosen(alone, "What are the main themes overall?")[0] == "baseline"
    assert chosen(plain, "Where does Anna live?")[0] == "lightweight"
    assert chosen(plain, "How is Anna related to the Tiber?")[0] == "lightweight"  # no facts
    assert chosen(typed, "Where does Anna live?")[0] == "lightweight"
    assert chosen(typed, "How is Anna related to the Tiber?")[0] == "agentic"
    name, notes = chosen(typed, "Anna ... Tiber?")  # no word of English
    assert name == "agentic"
    assert notes["why"].endswith("names 'anna' and 'tiber'") or notes["why"].endswith(
        "names 'Anna' and 'Tiber'"
    )
    assert notes["by"] == "the rules"


def test_cues_are_heard_in_the_languages_of_the_table_and_the_table_can_be_another(plain, typed):
    for question in (
        "Give me an overview",
        "Fasse zusammen, was gesagt wird",
        "请总结全部内容",
        "В целом, о чём речь?",
    ):
        assert chosen(plain, question)[0] == "enterprise", question
    assert chosen(typed, "Anna 和河有什么关系?")[0] == "agentic"
    own = replace(recipes.get("router"), cues=(("whole", ("kokonaisuudessaan",)),))
    context = plain.ask("Mistä kokonaisuudessaan on kyse?", recipe=own)
    assert context.trace[0].notes["chosen"] == "enterprise"
    assert plain.ask("Give me an overview", recipe=own).trace[0].notes["chosen"] == "lightweight"
    with pytest.raises(ValueError, match="'whole' and 'relation'"):
        replace(own, cues=(("other", ("x",)),))


def test_the_callers_model_chooses_and_a_bad_answer_leaves_it_to_the_rules(typed):
    name, notes = chosen(typed, "Where does Anna live?", model=lambda _: "I would say: Agentic.")
    assert (name, notes["by"]) == ("agentic", "the language model")
    for answer in ("all of them", "baseline or agentic", ""):
        name, notes = chosen(typed, "Where does Anna live?", model=lambda _, answer=answer: answer)
        assert (name, notes["by"]) == ("lightweight", "the rules")
        assert "wanted one of" in notes["fallback"]
    own = replace(recipes.get("router"), asks=False)
    with pytest.warns(UnusedModelWarning):
        context = typed.ask("Where?", recipe=own, model=lambda _: 1 / 0)
    assert context.trace[0].notes["by"] == "the rules"


def test_a_routed_answer_is_that_of_the_preset(typed):
    for question in ("Where does Anna live?", "How is Anna related to the Tiber?"):
        routed = typed.ask(question, recipe="router")
        name = routed.trace[0].notes["chosen"]
        assert routed.text == typed.ask(question, recipe=name).text


@pytest.mark.parametrize(
    "name", ["baseline", "lightweight", "enterprise", "agentic", "journey", "router"]
)
def test_a_hub_of_ten_thousand_leaves_and_a_question_that_touches_nothing(name):
    n = 10_001
    vectors = np.tile(np.float32([0.6, 0.8]), (n, 1))
    vectors[0] = [1, 0]
    hub = Graph.of(
        [f"text {i}" for i in range(n)],
        vectors=vectors,
        tokens=np.full(n, 3),
        edges=Edges.of("tie", np.zeros(n - 1), np.arange(1, n)),
    )
    answer = recipes.get(name).on(hub)
    context = answer(Query("?", np.float32([1, 0])), 100)
    assert context.ids[0] == "0"
    assert 1 < len(context) <= 15
    assert context.tokens <= 100
    nothing = answer(Query("?"), 100)
    assert len(nothing) == 0
    assert any("fallback" in step.notes for step in nothing.trace)
