"""Languages are identified beside a build: the same ones, whatever happens to the thread."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import clew
from clew.index import languages_beside
from clew.index.languages_beside import LanguagesBeside
from clew.seed.languages import LanguagesPart

GERMAN = "Die Fähre fährt um {} Uhr von der Insel ab, und kommt am Abend wieder an."
ENGLISH = "The ferry {} to the island leaves at {}, and it is there in the evening of that day."
TEXTS = [ENGLISH.format(i, i % 24) for i in range(200)] + [GERMAN.format(i) for i in range(100)]


@pytest.mark.parametrize("embedder", [None, lambda texts: [[len(text), 1.0] for text in texts]])
def test_languages_are_those_that_are_identified_afterwards(embedder):
    graph = clew.Index.from_documents(TEXTS, embedder=embedder).graph
    known, anew = graph.known_part(LanguagesPart()), LanguagesPart().compute(graph)
    assert known.names == anew.names == ("en", "de")
    assert vars(known.sample) == vars(anew.sample)
    assert known.of_rows.tolist() == anew.of_rows.tolist()
    german = graph.rows("passage")[200:]
    assert np.count_nonzero(known.of_rows) == len(german)


def test_few_passages_and_generated_texts_are_identified_when_they_are_asked_for():
    few = clew.Index.from_documents(TEXTS[:50])
    made = clew.Index.from_documents(TEXTS, generators=[clew.generate.Reports()])
    assert few.graph.known_part(LanguagesPart()) is None
    assert made.graph.known_part(LanguagesPart()) is None


def test_an_error_is_raised_where_the_languages_are_wanted(monkeypatch):
    def fail(part, graph):
        raise MemoryError("no room for languages")

    monkeypatch.setattr(LanguagesPart, "compute", fail)
    index = clew.Index.from_documents(TEXTS)
    with pytest.raises(MemoryError, match="no room"):
        index.ask("Which ferry sails at 7?", recipe="bm25")
    monkeypatch.undo()
    assert index.ask("Which ferry sails at 7?", recipe="bm25").ids


def test_a_block_that_fails_waits_for_nothing(monkeypatch):
    begun, may_end = threading.Event(), threading.Event()

    class Slow:
        def compute(self, graph):
            begun.set()
            may_end.wait(60)

    monkeypatch.setattr(languages_beside, "LANGUAGES", Slow())
    with pytest.raises(KeyboardInterrupt), LanguagesBeside(clew.Graph.of(TEXTS)):
        interrupt(begun)
    assert not may_end.is_set()
    may_end.set()


def interrupt(begun):
    assert begun.wait(60)
    raise KeyboardInterrupt
