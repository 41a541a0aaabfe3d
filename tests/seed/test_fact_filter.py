"""The question's language model sifts the nearest facts, as HippoRAG 2 and AGRAG are published."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import clew
from clew import Index, recipes
from clew.model import Model
from clew.seed import LinkedFacts, MappedFacts, RecognisedFacts
from clew.seed._fact_filter import choose_facts, fact_prompt, read_numbers
from clew.types import Query

QUESTION = "Where did the one that Anna married grow up?"
FACTS = {
    "anna": [("Anna", "married", "Ben")],
    "ben": [("Ben", "grew up in", "Corfu")],
    "corfu": [("Corfu", "lies in", "Ionian Sea")],
    "cats": [("Cats", "married", "dogs")],
    "dogs": [("Dogs", "grew up in", "Rome")],
}
DOCUMENTS = [
    clew.Document(id, f"{subject} {relation} {end}.")
    for id, [(subject, relation, end)] in FACTS.items()
]
SEEDS = [MappedFacts(), MappedFacts(recognised=True), LinkedFacts(), RecognisedFacts()]
FILTERED = ("agrag", "agrag_paper", "hipporag", "hipporag2_paper", "budgeted")


@pytest.fixture(scope="module")
def index(embed):
    return Index.from_documents(DOCUMENTS, embedder=embed, facts=FACTS)


class Chooser:
    """A model that chooses the facts in which one of the wanted names stands."""

    def __init__(self, *wanted):
        self.wanted, self.prompts = wanted, []

    def __call__(self, prompt):
        self.prompts.append(prompt)
        facts = re.findall(r"^(\d+)\. (.*)$", prompt, re.MULTILINE)
        return json.dumps(
            {"facts": [int(number) for number, fact in facts if set(self.wanted) & {*fact.split()}]}
        )


def seeds_of(stage, index, model, text=QUESTION):
    vector = np.float32(index.embedder.embed_question(text))
    return stage.on(index.graph)(Query(text, vector, model=model))


def notes_of(context):
    return context.trace[0].notes


@pytest.mark.parametrize("stage", SEEDS, ids=repr)
def test_the_facts_are_those_that_the_model_chose_and_the_terminals_are_their_ends(stage, index):
    model, graph = Chooser("Ben"), index.graph
    seeds = seeds_of(stage, index, model)
    assert {graph.facts.texts[fact] for fact in seeds.facts} == {
        "Anna married Ben",
        "Ben grew up in Corfu",
    }
    assert {graph.texts[row] for row in seeds.terminals} == {"Anna", "Ben", "Corfu"}
    assert len(model.prompts) == 1
    shown = set(re.findall(r"^\d\. (.*)$", model.prompts[0], re.MULTILINE))
    assert shown <= set(graph.facts.texts)
    assert len(shown) == stage.max_facts or not isinstance(stage, MappedFacts)
    assert QUESTION in model.prompts[0]


@pytest.mark.parametrize("stage", SEEDS, ids=repr)
@pytest.mark.parametrize("answer", ["", "all of them", '{"facts": [9]}', '{"facts": "1"}', '["x"]'])
def test_an_answer_that_cannot_be_read_removes_no_fact_and_that_is_noted(stage, answer, index):
    asked = []
    seeds = seeds_of(stage, index, lambda prompt: asked.append(prompt) or answer)
    without = seeds_of(stage, index, None)
    assert seeds.facts.tolist() == without.facts.tolist()
    assert seeds.terminals.tolist() == without.terminals.tolist()
    assert (seeds.scores == without.scores).all()
    assert len(without.facts)
    assert "the language model has chosen no facts" in seeds.notes["fallback"]
    assert len(asked) == 2, "it is asked once more, and not again"


@pytest.mark.parametrize("stage", SEEDS, ids=repr)
def test_where_the_model_chooses_none_passages_are_the_seeds(stage, index):
    seeds = seeds_of(stage, index, Chooser("nobody"))
    assert not len(seeds.facts)
    assert seeds.notes["fallback"]
    kinds = {index.graph.kinds[row] for row in np.flatnonzero(seeds.scores)}
    assert kinds == {"passage"}


@pytest.mark.parametrize("stage", SEEDS, ids=repr)
def test_a_stage_that_may_not_ask_does_not(stage, index):
    silent = replace(stage, asks=False)
    assert not silent.asks_model
    model = Chooser("Ben")
    assert seeds_of(silent, index, model).facts.tolist() == (
        seeds_of(stage, index, None).facts.tolist()
    )
    assert not model.prompts


@pytest.mark.parametrize("recipe", FILTERED)
def test_a_recipe_asks_once_and_not_again_for_what_is_cached(recipe, index, tmp_path):
    chooser = Chooser("Ben")
    model = Model.of(chooser, answers=tmp_path / "answers")
    first = index.ask(QUESTION, recipe=recipe, model=model)
    assert (first.usage.calls, len(chooser.prompts)) == (1, 1)
    assert re.match(r"2 of \d, by the language model", notes_of(first)["facts chosen"])
    again = index.ask(QUESTION, recipe=recipe, model=model)
    assert (again.usage.calls, again.usage.remembered, len(chooser.prompts)) == (0, 1, 1)
    assert again.text == first.text
    assert "facts chosen" not in notes_of(index.ask(QUESTION, recipe=recipe))


def test_what_the_model_leaves_out_is_not_on_the_page(index):
    with_model = index.ask(QUESTION, recipe="agrag_paper", model=Chooser("Ben"))
    without = index.ask(QUESTION, recipe="agrag_paper")
    printed = [{one.text for one in page if one.role == "fact"} for page in (with_model, without)]
    assert {"Anna married Ben", "Ben grew up in Corfu"} <= printed[0]
    assert "Cats married dogs" in printed[1] - printed[0]
    assert without.missing
    assert not with_model.missing


@pytest.mark.parametrize("ceiling", [120, 300, 16_000])
@pytest.mark.parametrize("words", [1, 5_000])
def test_no_prompt_is_above_its_ceiling_and_facts_not_shown_remain(ceiling, words, embed):
    facts = {f"d{i}": [(f"Anna {i}", "met", f"Ben {i}" + " x" * 400)] for i in range(5)}
    documents = [clew.Document(id, "Anna met Ben.") for id in facts]
    index = Index.from_documents(documents, embedder=embed, facts=facts)
    chooser = Chooser("nobody")
    model = Model.of(chooser, max_prompt_tokens=ceiling)
    text = "Whom did Anna meet? " * words
    seeds = seeds_of(MappedFacts(), index, model, text)
    assert all(model.tokens(prompt) <= min(ceiling, 2000) for prompt in chooser.prompts)
    shown = sum(len(re.findall(r"^\d\. ", prompt, re.MULTILINE)) for prompt in chooser.prompts)
    assert 0 < shown < 5
    assert len(seeds.facts) == 5 - shown
    assert "facts" in seeds.notes["not shown to the model"]
    assert ("question" in seeds.notes["not shown to the model"]) == (words > 1)


def test_a_limited_question_to_da_rag_does_not_hide_that_no_model_is_asked(index):
    context = index.ask(QUESTION, recipe="da_rag", limit=2, model=Chooser("Ben"))
    assert not context.usage
    assert "asked for no reports" in context.trace[-1].notes["fallback"]
    assert all(
        "language model" not in step.notes.get("fallback", "")
        for step in index.ask(QUESTION, recipe="da_rag", limit=2).trace
    )


def test_the_filter_is_part_of_the_published_recipes():
    for name in FILTERED:
        assert clew.types.may_ask_model(recipes.get(name))
    assert not clew.types.may_ask_model(recipes.get("fused"))


@pytest.mark.parametrize("asks", [True, False])
def test_a_stage_inside_one_that_does_not_ask_may_ask(asks):
    within = MappedFacts(asks=False, passage_seed=RecognisedFacts(asks=asks))
    assert clew.types.may_ask_model(within) is asks
    baseline = replace(recipes.get("fused"), seed=RecognisedFacts(asks=asks))
    presets = dict.fromkeys(("baseline", "lightweight", "enterprise", "agentic"), baseline)
    router = replace(recipes.get("router"), asks=False, **presets)
    assert clew.types.may_ask_model(router) is asks


def test_numbers_of_facts_are_from_one_on_and_each_counts_once():
    assert read_numbers('{"facts": [3, 1, "1", " 2 "]}', 3) == [3, 1, 2]
    assert read_numbers("[2]", 2) == [2]
    assert read_numbers('{"facts": []}', 0) == []
    for answer, n in (("[0]", 3), ("[4]", 3), ('["one"]', 3), ("[1]", 0), ("[1.5]", 3)):
        with pytest.raises(ValueError, match=f"numbered from 1 to {n}"):
            read_numbers(answer, n)
    for answer in ('{"facts": 1}', '{"chosen": [1]}'):
        with pytest.raises(ValueError, match="wanted"):
            read_numbers(answer, 3)
    long = "".join(str(i % 10) for i in range(200))  # an error shows eighty letters of it
    with pytest.raises(ValueError, match=f"no fact '{long[:80]}'; they"):
        read_numbers(f'["{long}"]', 3)
    answer = f'{{"facts": "{long}"}}'
    with pytest.raises(ValueError, match=re.escape(f"got {answer[:80]!r}") + "$"):
        read_numbers(answer, 3)


def test_the_prompt_is_of_two_thousand_tokens_and_half_of_its_room_is_the_questions():
    model = Model.of(lambda prompt: "", max_prompt_tokens=16_000)
    facts = [f"Fact  {number} has\nsome words" for number in range(5)]
    short = fact_prompt(model, QUESTION, facts)
    assert "Choose at most 4 facts" in short.text
    assert QUESTION in short.text
    assert all(f"{n}. Fact {n - 1} has some words" in short.text for n in range(1, 6))
    assert (short.shown, short.left_out) == (5, "")
    frame = model.tokens(fact_prompt(model, "", []).text)
    for most, ceiling in ((16_000, 2000), (500, 500)):
        model = Model.of(lambda prompt: "", max_prompt_tokens=most)
        long = fact_prompt(model, "word " * 5000, [f"{i} " + "fact " * 300 for i in range(30)])
        words = long.text.count("word ")
        assert 0.8 * (ceiling - frame) / 2 <= words <= (ceiling - frame) / 2 + 2
        assert 0.75 * ceiling <= model.tokens(long.text) <= ceiling
        assert "the end of the question, of 25,000 characters" in long.left_out
        assert "facts" in long.left_out


def test_short_facts_fill_the_prompt_to_its_last_token():
    model = Model.of(lambda prompt: "", max_prompt_tokens=16_000)
    facts = ["yes"] * 900
    sizes = [model.tokens(fact_prompt(model, "w " * n, facts).text) for n in range(8)]
    assert max(sizes) == 2000


def test_of_the_facts_that_a_model_was_shown_those_it_named_remain_and_others_do_not():
    graph = clew.Graph.from_triples([(f"Anna {i}", "met", f"Ben {i}") for i in range(5)])
    query = Query("Who?", model=lambda prompt: '{"facts": [2, 5]}')
    choice = choose_facts(graph, query, [4, 3, 2, 1, 0])
    assert choice.mask.tolist() == [False, True, False, False, True]
    assert choice.notes == {"facts chosen": "2 of 5, by the language model"}
    assert choose_facts(graph, query, []).mask is None
    assert choose_facts(graph, query, [1], asks=False) == (None, {})
    wrong = choose_facts(graph, query, [4, 3])
    assert wrong.mask is None
    assert list(wrong.notes) == ["fallback"]
