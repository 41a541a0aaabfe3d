"""Summaries of entities: of those that enough passages speak of, by a model or of their facts, kept, saved, and paid for once."""

from __future__ import annotations

import json

import pytest

import clew
from clew.generate import Descriptions, Reports, Summaries

TEXTS = {
    "a": ("Anna sails to Corfu.", [("Anna", "sails to", "Corfu")]),
    "b": ("Ben mends nets on Corfu.", [("Ben", "mends nets on", "Corfu")]),
    "c": ("Corfu belongs to Greece.", [("Corfu", "belongs to", "Greece")]),
    "d": ("Anna paints boats.", [("Anna", "paints", "boats")]),
}


def index_of(ids="abcd", **options):
    documents = [clew.Document(id, TEXTS[id][0]) for id in ids]
    return clew.Index.from_documents(documents, facts={id: TEXTS[id][1] for id in ids}, **options)


def ionian_or_not(texts):
    return [[1, 0] if "Ionian" in text else [0, 1] for text in texts]


def summaries(index):
    graph = index.graph
    return {graph.ids[row]: graph.texts[row] for row in graph.rows("summary").tolist()}


class Asked:
    def __init__(self, say=None):
        self.prompts, self.say = [], say

    def __call__(self, prompt):
        self.prompts.append(prompt)
        name = prompt.split('"')[1]
        return json.dumps({"summary": f"{name} in short."}) if self.say is None else self.say(name)


def test_without_a_model_a_summary_is_the_facts_that_fit():
    index = index_of().generate(Summaries())
    assert summaries(index) == {
        "summary:Corfu": "Anna sails to Corfu; Ben mends nets on Corfu; Corfu belongs to Greece"
    }
    graph = index.graph
    (row,) = graph.rows("summary").tolist()
    assert [graph.ids[source] for source in graph.read_from[row]] == ["a", "b", "c"]
    assert dict(graph.metadata[row]) == {"entity": "entity:corfu", "passages": 3, "by": "extract"}
    (edge,) = [i for i in range(len(graph.edges)) if graph.edges.kinds[i] == "about"]
    assert {graph.edges.tails[edge], graph.edges.heads[edge]} == {row, graph.row("entity:corfu")}
    assert not graph.content[row]
    assert set(summaries(index_of().generate(Summaries(min_passages=2, tokens=8)))) == {
        "summary:Anna",
        "summary:Corfu",
    }
    assert all(
        graph.count(text) <= 8
        for text in summaries(index_of().generate(Summaries(min_passages=2, tokens=8))).values()
    )


def test_a_model_is_shown_facts_and_passages_and_asked_again_only_where_they_changed(tmp_path):
    model = Asked()
    writer = Summaries(model, min_passages=2)
    index = index_of().generate(writer)
    assert summaries(index) == {
        "summary:Anna": "Anna in short.",
        "summary:Corfu": "Corfu in short.",
    }
    assert "Anna paints boats" in model.prompts[0] + model.prompts[1]
    model.prompts.clear()
    smaller = index.delete("b")
    assert set(summaries(smaller)) == {"summary:Anna", "summary:Corfu"}
    assert [prompt.split('"')[1] for prompt in model.prompts] == ["Corfu"]
    index.save(tmp_path)
    loaded = clew.Index.load(tmp_path)
    assert summaries(loaded) == summaries(index)
    assert (
        loaded.ask("Who sails?", recipe="fused").ids
        == index_of().ask("Who sails?", recipe="fused").ids
    )


def test_a_question_that_touches_a_summary_is_led_to_the_passages_on_its_entity():
    index = index_of(embedder=ionian_or_not).generate(
        Summaries(Asked(lambda name: json.dumps({"summary": f"{name}: an Ionian destination."})))
    )
    seeds, walk = (
        clew.seed.Dense(("passage", "summary")),
        (clew.spread.PageRank(0.5, ("about", "mentions")),),
    )
    how = {"selects": (clew.select.Top(),), "order": clew.order.ByPrize()}
    question = "Which Ionian destination?"
    assert all(
        item.score < 1e-6 for item in index.ask(question, recipe=clew.Pipeline(seeds, **how))
    )
    assert set(index.ask(question, recipe=clew.Pipeline(seeds, walk, **how)).ids) == {
        "a",
        "b",
        "c",
        "d",
    }
    (row,) = index.graph.rows("summary").tolist()
    best = index.ask(question, recipe=clew.Pipeline(seeds, walk, **how), limit=3).ids
    assert set(best) == {index.graph.ids[source] for source in index.graph.read_from[row].tolist()}


@pytest.mark.parametrize(
    ("say", "reason"),
    [
        (lambda name: "I know nothing.", "no JSON"),
        (lambda name: '{"title": "x"}', 'wanted {"summary"'),
        (lambda name: json.dumps({"summary": "long " * 200}), "at most 100 are wanted"),
        (lambda name: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_what_cannot_be_used_is_recorded_and_an_extract_stands_there(say, reason):
    index = index_of().generate(Summaries(Asked(say)))
    assert summaries(index) == summaries(index_of().generate(Summaries()))
    ((id, why),) = index.failed
    assert id == "summary:Corfu"
    assert reason in why
    assert why.endswith("an extract stands in its place")


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="min_passages is a whole number"):
        Summaries(min_passages=0)


@pytest.mark.parametrize("make", [Summaries, Descriptions, Reports], ids=lambda one: one.__name__)
def test_what_was_paid_for_is_known_after_saving_and_loading(make, embed, tmp_path):
    texts = {f"d{i}": f"Anna sails to Corfu on day {i} of the year." for i in range(6)}
    facts = {id: [("Anna", "sails to", "Corfu")] for id in texts}
    asked = []

    def model(prompt):
        asked.append(prompt)
        return '{"title": "T", "summary": "Anna sails.", "description": "Anna.", "rating": 5}'

    def writer(**options):
        return make(model, **options) if make is Descriptions else make(model, min_passages=1)

    documents = [clew.Document(id, text) for id, text in texts.items()]
    index = clew.Index.from_documents(documents, embedder=embed, facts=facts).generate(writer())
    assert not index.failed
    calls = len(asked)
    index.save(tmp_path / "index")
    loaded = clew.Index.load(tmp_path / "index", embedder=embed, generators=[writer()])
    same = loaded.add([clew.Document("d6", "Ben bakes bread.")]).delete("d6")
    assert not set(asked[calls:]) & set(asked[:calls]), "what did not change is not asked again"
    assert same.graph.texts == index.graph.texts
