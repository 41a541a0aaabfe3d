"""What a node is read and found under: titles of containers, never the text of the passage around it."""

from __future__ import annotations

from clew.graph import Graph, heading_of, text_with_heading


def test_the_passage_around_a_sentence_is_no_title():
    graph = Graph.of(
        ["Moon", "Seas", "They are dry. Nobody swims.", "They are dry."],
        kinds=["document", "section", "passage", "sentence"],
        documents=[0, 0, 0, 0],
        parents=[-1, 0, 1, 2],
    )
    assert heading_of(graph, 3) == heading_of(graph, 2) == "Moon > Seas"
    assert text_with_heading(graph, 3) == "Moon > Seas\nThey are dry."
