"""What a node is read and found under: titles of containers, never the text of the passage around it."""

from __future__ import annotations

from clew.graph import Graph, heading_of, known_heading_of, known_headings, text_with_heading


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
