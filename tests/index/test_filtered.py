"""Filtered indexes are remembered: a bounded number for a graph, each computed once."""

from __future__ import annotations

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from clew import Document, Index
from clew.graph import Edges
from clew.index.filtering import FilteredIndexesPart

DOCUMENTS = [Document(f"d{i}", f"passage {i} of the sea", {"number": i}) for i in range(12)]


@pytest.fixture
def index(embed):
    return Index.from_documents(DOCUMENTS, embedder=embed)


def test_the_last_few_are_remembered(index):
    filtered = [index.filtered({"number": i}) for i in range(10)]
    cache = index.graph.part(FilteredIndexesPart())
    assert len(cache.indexes) == cache.max_indexes == 8
    assert index.filtered({"number": 9}) is filtered[9]
    assert index.filtered({"number": 2}) is filtered[2]
    assert index.filtered({"number": 0}) is not filtered[0]
    assert index.filtered({"number": 2}) is filtered[2], "what was used last stays"


def test_an_index_made_otherwise_over_the_same_graph_has_its_own(index):
    other = replace(index, config=replace(index.config, links=()))
    assert other.graph is index.graph
    assert len(index.filtered({"number": [1, 2]}).graph.edges) > 0
    assert len(other.filtered({"number": [1, 2]}).graph.edges) == 0


@dataclass(frozen=True)
class Slow:
    """A link that makes no edges, and waits for another thread before it does so."""

    kind: ClassVar[str] = "slow"
    corpus_wide: ClassVar[bool] = True
    started: ClassVar[threading.Event] = threading.Event()
    go_on: ClassVar[threading.Event] = threading.Event()
    waits: ClassVar[list[bool]] = [False]

    def on(self, graph):
        if self.waits[0]:
            self.waits[0] = False
            self.started.set()
            assert self.go_on.wait(timeout=30)
        return Edges.of("slow", np.zeros(0, int), np.zeros(0, int))


def test_a_filter_under_way_keeps_no_other_question_waiting(embed):
    index = Index.from_documents(DOCUMENTS, embedder=embed, links=[Slow()])
    Slow.waits[0] = True
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(index.filtered, {"number": 1})
        assert Slow.started.wait(timeout=30)
        assert index.filtered({"number": 2}).graph.ids == ("d2",)
        assert len(index.ask("sea", recipe="bm25")) == 12, "a part of the graph is not locked"
        Slow.go_on.set()
        assert first.result(timeout=30).graph.ids == ("d1",)


@pytest.mark.parametrize("is_compact", [False, True])
@pytest.mark.parametrize("is_asked", [False, True])
def test_a_filtered_index_is_sent_to_another_process(monkeypatch, is_compact, is_asked):
    monkeypatch.setattr("clew.embedding.attach.is_compact", lambda _: is_compact)
    documents = [
        Document(f"d{i}", f"Ferry {i} sails to Corfu with Anna.", {"group": i % 2})
        for i in range(12)
    ]
    facts = {one.id: [(f"Ferry {one.id}", "sails to", "Corfu")] for one in documents}
    filtered = Index.from_documents(documents, facts=facts).filtered({"group": 1})
    expected = filtered.ask("Who sails to Corfu?") if is_asked else None
    sent = pickle.loads(pickle.dumps(filtered))
    answer = sent.ask("Who sails to Corfu?")
    assert answer.ids == (expected or filtered.ask("Who sails to Corfu?")).ids
    for mine, theirs in ((filtered.graph, sent.graph), (filtered.graph.facts, sent.graph.facts)):
        assert np.array_equal(np.asarray(mine.vectors[:]), np.asarray(theirs.vectors[:]))
