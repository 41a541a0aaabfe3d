"""Fusion by definition: reciprocal ranks, and a weighted mean of shares of the best."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from clew.graph import Graph
from clew.seed import BM25, Blend, Dense, ReciprocalRank
from clew.types import Query, Seeds

GRAPH = Graph.of(
    ["red fox", "blue sky", "red sky", "grey"], vectors=[[1, 0], [0.6, 0.8], [0.8, 0.6], [0, -1]]
)
QUESTION = Query("red fox", np.float32([0.6, 0.8]))


def test_reciprocal_rank_sums_over_the_lists_that_hold_a_passage():
    found = ReciprocalRank(k=10).on(GRAPH)(QUESTION)
    # dense: 1 (1.0), 2 (.96), 0 (.6); words: 0 (two words), 2 (one)
    assert found.scores == pytest.approx([1 / 13 + 1 / 11, 1 / 11, 1 / 12 + 1 / 12, 0])


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_blend_is_a_weighted_mean_of_shares_of_the_best(share):
    dense, said = Dense().on(GRAPH)(QUESTION).scores, BM25().on(GRAPH)(QUESTION).scores
    expected = share * dense / dense.max() + (1 - share) * said / said.max()
    assert Blend(dense_share=share).on(GRAPH)(QUESTION).scores == pytest.approx(expected)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_vectors_that_count_a_third_are_a_third_of_a_part_in_the_mean(share):
    dense, said = Dense().on(GRAPH)(QUESTION).scores, BM25().on(GRAPH)(QUESTION).scores
    parts = np.array([share / 3, 1 - share])
    expected = np.average([dense / dense.max(), said / said.max()], axis=0, weights=parts)
    found = Blend(dense_share=share).on(GRAPH)(replace(QUESTION, vector_weight=1 / 3))
    assert found.scores == pytest.approx(expected)


def test_a_list_that_finds_nothing_says_so_and_leaves_the_other():
    unheard = Query("zebra", np.float32([1, 0]))
    found = Blend(dense_share=0.5).on(GRAPH)(unheard)
    assert found.scores == pytest.approx(0.5 * Dense().on(GRAPH)(unheard).scores)
    assert "no word" in found.notes["fallback"]


@pytest.mark.parametrize("scores", [[0.9, 0.95, 1.0, 0.93], [0.2, 0.9, 0.4, 1.0], [1.0] * 4])
def test_a_blend_of_candidates_has_the_order_of_the_sum_of_standard_scores(scores):
    query = replace(QUESTION, candidate_scores=dict(enumerate(scores)))
    dense, said = np.array(scores), BM25().on(GRAPH)(query).scores
    standard = sum(s / s.std() for s in (dense, said) if s.std() > 0)
    found = Blend(seeds=(Given(dense), BM25())).on(GRAPH)(query).scores
    assert np.argsort(-found).tolist() == np.argsort(-standard).tolist()


@dataclass(frozen=True, eq=False)
class Given:
    """Scores that are known."""

    scores: np.ndarray

    def on(self, graph):
        return lambda query: Seeds(self.scores)


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_a_share_by_which_scores_would_be_below_0_is_refused(share):
    with pytest.raises(ValueError, match=f"dense_share is the weight .*; got {share}"):
        Blend(dense_share=share)


@pytest.mark.parametrize("k", [-1, float("nan")])
def test_a_constant_by_which_a_rank_would_be_0_is_refused(k):
    with pytest.raises(ValueError, match=f"k is added to every rank, at least 0; got {k}"):
        ReciprocalRank(k=k)
