"""Synonyms by words after changes in place: those that a graph of these nodes has, when one is wanted."""

from __future__ import annotations

import pytest

from clew import Document, Index, Names
from clew.graph import DeferredEdges
from clew.index import changed_edges
from clew.index.config import LINKS_OF_NAMES
from clew.link import Synonym
from tests.graph.test_deferred_edges import check_alike
from tests.store.test_changes import every_size

PEOPLE = ["Anna Berg", "Anna Maria Berg", "Ben Ito", "Dr Ben Ito", "Eva Lund"]
PLACES = ["Corfu", "Corfu Town", "Old Corfu Town"]
QUESTION = "Who met Anna Berg in Corfu?"


def documents(numbers):
    return [
        Document(f"d{i}", f"{PEOPLE[i % 5]} met {PEOPLE[(i * 3 + 1) % 5]} in {PLACES[i % 3]} {i}.")
        for i in numbers
    ]


@pytest.fixture
def index(monkeypatch):
    every_size(monkeypatch)
    built = Index.from_documents(documents(range(0, 30, 2)), extractor=Names())
    assert built.config.links == LINKS_OF_NAMES
    return built


def synonyms_of(graph):
    edges = graph.edges
    return edges.take(edges.kinds.mask("synonym").nonzero()[0])


def is_late(index):
    return isinstance(index.graph.edges, DeferredEdges) and not index.graph.edges.is_made


def test_they_are_those_of_the_nodes_that_are_there(index):
    steps = [
        lambda before: before.add(documents([1, 3])),
        lambda before: before.delete(["d4"]),
        lambda before: before.add(documents([5])).add(documents([7])),
        lambda before: before.delete(["d1", "d6"]),
    ]
    for step in steps:
        index = step(index)
        assert is_late(index)
        expected = Synonym(0.75, by="words").on(index.graph)
        assert len(expected)
        check_alike(synonyms_of(index.graph), expected)
        assert index.changed


def test_a_question_makes_them_once_and_is_answered_as_by_edges_at_once(index, monkeypatch):
    made, on = [], Synonym.on
    monkeypatch.setattr(Synonym, "on", lambda link, graph: made.append(graph) or on(link, graph))
    late = index.add(documents([1])).add(documents([3])).delete(["d0"])
    assert not made, "no change needs them"
    answer = late.ask(QUESTION)
    assert len(made) == 1
    assert late.ask(QUESTION, recipe="agrag").ids
    assert len(made) == 1
    monkeypatch.setattr(changed_edges, "_made_anew", lambda link, graph: link.on(graph))
    monkeypatch.setattr(changed_edges, "_edges_that_wait", lambda *_: {})
    at_once = index.add(documents([1])).add(documents([3])).delete(["d0"])
    assert not is_late(at_once)
    check_alike(synonyms_of(late.graph), synonyms_of(at_once.graph))
    other = at_once.ask(QUESTION)
    assert [(i.id, i.score) for i in answer] == [(i.id, i.score) for i in other]
