"""Languages are identified beside a build: the same ones, whatever happens to the thread."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import clew
from clew.index import words_beside
from clew.index.words_beside import WordsBeside
from clew.seed.bm25 import InvertedIndexPart
from clew.seed.in_own_words import LinkedWordsPart
from clew.seed.languages import LanguagesPart

GERMAN = "Die Fähre fährt um {} Uhr von der Insel ab, und kommt am Abend wieder an."
ENGLISH = "The ferry {} to the island leaves at {}, and it is there in the evening of that day."
TEXTS = [ENGLISH.format(i, i % 24) for i in range(200)] + [GERMAN.format(i) for i in range(100)]


@pytest.mark.parametrize("embedder", [None, lambda texts: [[len(text), 1.0] for text in texts]])
def test_languages_are_those_that_are_identified_afterwards(embedder):
    graph = clew.Index.from_documents(TEXTS, embedder=embedder).graph
    known, anew = graph.known_part(LanguagesPart()), LanguagesPart().compute(graph)
    assert known.names == anew.names == ("en", "de")
    for name, value in vars(anew.sample).items():
        own = getattr(known.sample, name)
        if name == "lowest":
            assert own.keys.tolist() == value.keys.tolist() != []
            assert own.rows.tolist() == value.rows.tolist()
        else:
            assert own == value
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

    monkeypatch.setattr(words_beside, "LANGUAGES", Slow())
    with pytest.raises(KeyboardInterrupt), WordsBeside(clew.Graph.of(TEXTS)):
        interrupt(begun)
    assert not may_end.is_set()
    may_end.set()


@pytest.fixture
def folder(tmp_path):
    """Files that two processes read."""
    for i in range(30):
        lines = (ENGLISH.format(n, i) if i % 4 else GERMAN.format(n) for n in range(i, 1000))
        link = "See [the other ferries](ferries.md) of this isle.\n\n" * (i % 3)
        (tmp_path / f"{i}.md").write_text(f"# Ferry_{i}\n\n" + link + "\n\n".join(lines))
    return tmp_path


@pytest.mark.parametrize("canonical", [None, clew.Plain()])
def test_words_are_those_that_are_counted_afterwards(folder, canonical):
    graph = clew.Index.from_documents(folder, processes=2, canonical=canonical).graph
    known = graph.known_part(InvertedIndexPart())
    assert known is not None
    bare = graph.unchecked()
    languages, words = bare.part(LanguagesPart()), bare.part(InvertedIndexPart())
    assert graph.known_part(LanguagesPart()).of_rows.tolist() == languages.of_rows.tolist()
    assert known.languages == words.languages == ("en", "de")
    assert list(known.stems.items()) == list(words.stems.items())
    assert [list(one.items()) for one in known.forms] == [list(one.items()) for one in words.forms]
    n = len(words.stems)
    for one, other in zip(known.postings.arrays(n), words.postings.arrays(n), strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)
    assert np.array_equal(known.rows, graph.rows("passage"))
    beside_links = graph.known_part(LinkedWordsPart())
    assert np.array_equal(beside_links, bare.part(LinkedWordsPart()))
    assert (beside_links > 0).any()


def test_words_that_another_process_cannot_count_are_counted_when_asked_for(folder):
    texts = []

    def canonical(text):  # which no other process has
        texts.append(text)
        return text.lower()

    index = clew.Index.from_documents(folder, processes=2, canonical=canonical)
    assert index.graph.known_part(InvertedIndexPart()) is None
    assert "ferry_3" in index.graph.part(InvertedIndexPart()).stems


def interrupt(begun):
    assert begun.wait(60)
    raise KeyboardInterrupt
