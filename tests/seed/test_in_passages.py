"""Sentences as shares of their passages: each compared with its siblings by plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.graph import Graph
from clew.seed import BM25, InPassages
from clew.types import Query

WORD = st.sampled_from(["red", "blue", "fox", "sky", "ferry"])
SENTENCE = st.lists(WORD, min_size=1, max_size=4).map(" ".join)
PASSAGES = st.lists(st.lists(SENTENCE, max_size=4), min_size=1, max_size=5)
QUESTION = Query("a red fox and a ferry")
BY_SENTENCE = BM25(kinds=("sentence",))


@given(PASSAGES)
def test_a_sentence_has_the_share_of_its_passage_that_it_has_of_the_nearest_sentence(passages):
    texts, kinds, parents = [], [], []
    for sentences in passages:
        top = len(texts)
        texts += [" ".join(sentences) or "fox", *sentences]
        kinds += ["passage"] + ["sentence"] * len(sentences)
        parents += [-1] + [top] * len(sentences)
    graph = Graph.of(texts, kinds=kinds, parents=parents)
    around, own = BM25().on(graph)(QUESTION).scores, BY_SENTENCE.on(graph)(QUESTION).scores
    found = InPassages(BM25(), BY_SENTENCE).on(graph)(QUESTION).scores
    for row, parent in enumerate(parents):
        if parent < 0:
            assert found[row] == around[row]
            continue
        siblings = [other for other, its in enumerate(parents) if its == parent]
        nearest = max(own[other] for other in siblings)
        assert found[row] == pytest.approx(around[parent] * own[row] / nearest if nearest else 0)


def test_without_sentences_the_scores_are_the_others_and_a_sentence_alone_has_none():
    flat = Graph.of(["red fox", "blue sky"])
    assert np.array_equal(
        InPassages(BM25()).on(flat)(QUESTION).scores, BM25().on(flat)(QUESTION).scores
    )
    lost = Graph.of(["red fox", "red fox"], kinds=["passage", "sentence"])
    scores = InPassages(BM25(), BY_SENTENCE).on(lost)(QUESTION).scores
    assert scores[0] > 0
    assert not scores[1]
