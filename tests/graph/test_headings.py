"""What a node is read and found under: titles of containers, never the text of the passage around it."""

from __future__ import annotations

import numpy as np
import pytest

import clew
from clew.graph import Graph, heading_of, known_heading_of, known_headings, text_with_heading


@pytest.mark.parametrize("key", ["title", "source", "path", "file_path", "file_name"])
@pytest.mark.parametrize("value", [float("nan"), np.array(["a", "b"]), np.array([]), None])
def test_what_names_nothing_is_no_title_and_no_file(key, value):
    """As a table has it where a value is missing, or where several are in one cell."""
    texts = {"a": "Ferries sail at ten.", "b": "Anna Berg sails at nine."}
    plain = [clew.Document(id, text) for id, text in texts.items()]
    named = [clew.Document(id, text, {key: value}) for id, text in texts.items()]
    for recipe in ("dense", clew.recipes.DEFAULT):
        contexts = [
            clew.Index.from_documents(some).ask("When do ferries sail?", recipe=recipe)
            for some in (plain, named)
        ]
        assert contexts[1].text == contexts[0].text
        narrowed = [clew.narrow("When do ferries sail?", some) for some in (plain, named)]
        assert narrowed[1].text == narrowed[0].text


def test_the_passage_around_a_sentence_is_no_title():
    graph = Graph.of(
        ["Moon", "Seas", "They are dry. Nobody swims.", "They are dry."],
        kinds=["document", "section", "passage", "sentence"],
        documents=[0, 0, 0, 0],
        parents=[-1, 0, 1, 2],
    )
    assert heading_of(graph, 3) == heading_of(graph, 2) == "Moon > Seas"
    assert text_with_heading(graph, 3) == "Moon > Seas\nThey are dry."


def test_a_heading_that_was_asked_for_before_is_the_same(monkeypatch):
    monkeypatch.setattr(known_headings, "MAX_KEPT", 2)
    graph = Graph.of(
        ["Moon", "Seas", "", "dry", "wet", "far", "own", "bare"],
        kinds=["document", "section", "section", *["passage"] * 5],
        parents=[-1, 0, -1, 1, 1, 0, 2, -1],
        metadata=tuple({"title": f"Title {row}"} for row in range(8)),
    )
    for _ in range(3):
        found = [known_heading_of(graph, row) for row in range(8)]
        assert found == [heading_of(graph, row) for row in range(8)]
    assert found[3:] == ["Moon > Seas", "Moon > Seas", "Moon", "Title 6", "Title 7"]
