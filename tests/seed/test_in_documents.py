"""Passages beside their documents: the sum by hand, over whole texts counted by plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.graph import Graph
from clew.seed import BM25, InDocuments
from clew.types import Query

WORD = st.sampled_from(["red", "blue", "fox", "sky", "ferry"])
DOCUMENTS = st.lists(
    st.lists(st.lists(WORD, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=3),
    min_size=2,
    max_size=4,
)
QUESTION = "a red fox and a ferry"


def graph_of(documents, titles):
    texts, kinds, parents = [], [], []
    for passages, title in zip(documents, titles, strict=True):
        top = len(texts)
        texts += [title, *passages]
        kinds += ["document"] + ["passage"] * len(passages)
        parents += [-1] + [top] * len(passages)
    return Graph.of(texts, kinds=kinds, parents=parents)


@given(DOCUMENTS, st.sampled_from([0.0, 0.2, 1.0]))
def test_a_passage_has_its_own_score_and_a_share_of_its_documents(documents, weight):
    graph = graph_of(documents, [""] * len(documents))
    alone = BM25().on(graph)(Query(QUESTION)).scores
    whole = BM25().on(Graph.of([" ".join(passages) for passages in documents]))(Query(QUESTION))
    found = InDocuments(BM25(), weight).on(graph)(Query(QUESTION)).scores

    tops = np.flatnonzero(graph.parents < 0)
    assert not found[tops].any()  # a container is not read
    for row in np.flatnonzero(graph.parents >= 0).tolist():
        number = tops.tolist().index(int(graph.parents[row]))
        expected = alone[row] / (alone.max() or 1) if weight else alone[row]
        if expected and weight:
            expected += weight * whole.scores[number] / whole.scores.max()
            expected /= 1 + weight
        assert found[row] == pytest.approx(expected)


def test_passages_without_documents_keep_their_scores_and_one_alone_counts_by_itself():
    flat = Graph.of(["red fox", "blue sky", "fox"])
    assert (
        InDocuments(BM25()).on(flat)(Query("fox")).scores.tolist()
        == BM25().on(flat)(Query("fox")).scores.tolist()
    )
    mixed = Graph.of(
        ["Animals", "a fox ran", "a fox sat", "fox"],
        kinds=["document", "passage", "passage", "passage"],
        parents=[-1, 0, 0, -1],
    )
    alone = BM25().on(mixed)(Query("fox")).scores
    found = InDocuments(BM25(), 1.0).on(mixed)(Query("fox")).scores
    of_documents = (2 * found - alone / alone.max())[[1, 2, 3]]
    assert of_documents[0] == pytest.approx(of_documents[1])
    assert of_documents.max() == pytest.approx(1.0)
    assert of_documents[2] > 0


def test_a_single_document_is_taken_by_its_chapters():
    graph = Graph.of(
        ["Book", "Ferries", "They sail at ten.", "and at noon.", "Trains", "They run at ten."],
        kinds=["document", "section", "passage", "passage", "section", "passage"],
        parents=[-1, 0, 1, 1, 0, 4],
    )
    ferries, trains = (
        InDocuments(BM25(heading_weight=1), 1.0).on(graph)(Query(question)).scores
        for question in ("ten: ferries", "ten: trains")
    )
    assert ferries[2] > ferries[5]
    assert trains[5] > trains[2]
    assert np.flatnonzero(ferries).tolist() == [2, 3, 5]


def test_a_negative_weight_is_refused():
    with pytest.raises(ValueError, match="at least 0; got -1"):
        InDocuments(weight=-1)
