"""Titles and descriptions of passages, and the chunks that are found by them."""

from __future__ import annotations

import json

import numpy as np

import clew
from clew.generate import Descriptions
from clew.methods.da_rag.layers import DescribedPart

TEXT = "Corfu is an island. Ships of the harbour of Corfu sail to Corfu and back. It rains."


def indexed(embed, **how):
    documents = [
        clew.Document("a", TEXT, {"title": "Islands"}),
        clew.Document("b", "Anna met Ben."),
        clew.Document("c", "Purple rain."),
    ]
    facts = {"b": [("Anna", "met", "Ben")], "c": []}
    return clew.Index.from_documents(documents, facts=facts, embedder=embed, **how)


def test_without_a_model_there_are_headings_or_names_or_words_and_a_central_sentence(embed):
    graph = indexed(embed).generate(Descriptions(tokens=20)).graph
    told = {id: graph.metadata[graph.row(f"description:{id}")] for id in "abc"}
    assert [told[id]["title"] for id in "ab"] == ["Islands", "Anna, Ben"]
    assert set(told["c"]["title"].split(", ")) == {"purple", "rain"}
    assert told["a"]["description"] == "Corfu is an island."
    assert {one["by"] for one in told.values()} == {"extract"}
    assert graph.texts[graph.row("description:a")] == f"Islands: {told['a']['description']}"


def test_a_chunk_is_compared_with_the_question_by_its_description_and_never_reads_it(embed):
    index = indexed(embed).generate(
        Descriptions(
            lambda prompt: json.dumps({"title": "Zebra", "description": f"On {len(prompt)}"})
        )
    )
    graph, speaker = index.graph, index.graph.part(DescribedPart())
    for id in "abc":
        assert graph.ids[speaker[graph.row(id)]] == f"description:{id}"
        assert graph.metadata[graph.row(f"description:{id}")]["by"] == "model"
        assert np.linalg.norm(graph.vectors[speaker[graph.row(id)]]) > 0.99
    context = index.ask("Who met Ben?", recipe="da_rag", budget=None)
    assert set("abc") <= set(context.ids)
    assert not any(item.kind == "description" for item in context)
    assert (
        indexed(embed).graph.part(DescribedPart()) == np.arange(len(indexed(embed).graph))
    ).all()


def test_an_answer_that_cannot_be_used_leaves_the_extract_and_the_reason(embed):
    index = indexed(embed).generate(Descriptions(lambda prompt: '{"title": ""}'))
    assert {id for id, _ in index.failed} == set("abc")
    assert {
        index.graph.metadata[row]["by"] for row in index.graph.rows("description").tolist()
    } == {"extract"}


def test_a_description_goes_with_its_passage(embed):
    index = indexed(embed).generate(Descriptions()).delete("a")
    assert sorted(index.graph.ids[row] for row in index.graph.rows("description")) == [
        "description:b",
        "description:c",
    ]


def test_what_was_described_is_not_paid_for_again(embed):
    calls = []

    def model(prompt):
        calls.append(prompt)
        return json.dumps({"title": "T", "description": "D"})

    index = indexed(embed).generate(Descriptions(model))
    assert len(calls) == 3
    _ = index.add([clew.Document("d", "New.")])
    assert len(calls) == 4
