"""Marginal relevance against its definition and LangChain's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.algorithms.mmr import mean_cosine, select_mmr


def by_definition(vectors, relevance, share, most, costs, budget, before, floor=None):
    """The rule, all of it anew for every choice."""
    products = (
        np.floor(
            vectors.astype(np.float64)
            @ np.concatenate([before, vectors]).astype(np.float64).T
            * 1e6
            + 0.5
        )
        / 1e6
    )
    if floor is not None:
        products = np.maximum(0, products - floor) / (1 - floor)
    read, chosen, passed = list(range(len(before))), [], []
    left = list(range(len(relevance)))
    while left and len(chosen) < most:
        value = [
            relevance[i]
            if not read
            else share * relevance[i] - (1 - share) * max(products[i, j] for j in read)
            for i in left
        ]
        i = left.pop(int(np.argmax(np.round(value, 9))))
        if costs[i] > budget:
            passed.append(i)
            continue
        chosen.append(i)
        read.append(len(before) + i)
        budget -= costs[i]
    return chosen, passed


@settings(max_examples=3 * settings().max_examples)
@given(
    st.integers(0, 12),
    st.integers(0, 999),
    st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    st.integers(0, 12),
    st.sampled_from([20, 10**6]),
    st.integers(0, 2),
    st.sampled_from([None, 0.0, 0.7]),
)
def test_the_choice_is_the_definition(n, seed, share, most, budget, m, floor):
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-1, 3, (n + m, 3)).astype(
        np.float64
    )  # many alike, some without a vector
    vectors = (vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)).astype(
        np.float32
    )
    relevance, costs = rng.integers(0, 5, n) / 4, rng.integers(1, 12, n)
    found = select_mmr(
        vectors[m:],
        relevance,
        share,
        most,
        costs=costs,
        budget=budget,
        selected=vectors[:m],
        floor=floor,
    )
    chosen, passed = by_definition(
        vectors[m:], relevance, share, most, costs.tolist(), budget, vectors[:m], floor
    )
    assert found.chosen.tolist() == chosen
    assert found.passed.tolist() == passed


def test_relevance_alone_is_the_ranking_and_a_copy_waits_as_soon_as_difference_counts():
    vectors = np.float32([[1, 0], [1, 0], [0, 1]])
    relevance = np.array([1.0, 0.99, 0.5])
    assert select_mmr(vectors, relevance, 1.0).chosen.tolist() == [0, 1, 2]
    assert select_mmr(vectors, relevance, 0.6).chosen.tolist() == [0, 2, 1]
    assert select_mmr(vectors, relevance, 0.0).chosen.tolist()[0] == 0
    with pytest.raises(ValueError, match="from 0, difference alone"):
        select_mmr(vectors, relevance, 1.5)
    with pytest.raises(ValueError, match="below 1"):
        select_mmr(vectors, relevance, 0.5, floor=1.0)


def test_above_a_floor_a_copy_waits_and_what_is_only_of_the_same_topic_does_not():
    topic = np.float32([[1, 0, 0], [0.8, 0.6, 0], [1, 0, 0], [0, 0, 1]])
    relevance = np.array([1.0, 0.9, 0.8, 0.5])
    assert select_mmr(topic, relevance, 0.5).chosen.tolist() == [0, 3, 1, 2]
    assert select_mmr(topic, relevance, 0.5, floor=0.8).chosen.tolist() == [0, 1, 3, 2]


@given(st.integers(0, 9), st.integers(0, 99))
def test_what_any_two_have_in_common_is_their_mean_product(n, seed):
    vectors = np.random.default_rng(seed).normal(size=(n, 3)).astype(np.float32)
    products = [
        float(vectors[i].astype(float) @ vectors[j].astype(float))
        for i in range(n)
        for j in range(n)
        if i != j
    ]
    assert mean_cosine(vectors) == pytest.approx(np.mean(products) if products else 0.0, abs=1e-5)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_langchain_picks_the_same(share):
    theirs = pytest.importorskip("langchain_core.vectorstores.utils").maximal_marginal_relevance
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((200, 32))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    question = vectors[:8].sum(axis=0)
    question /= np.linalg.norm(question)
    relevance = vectors @ question
    assert select_mmr(vectors.astype(np.float32), relevance, share, 40).chosen.tolist() == theirs(
        question, vectors, share, 40
    )


def test_hundreds_are_chosen_as_many_as_are_wanted():
    """By relevance alone, where many tie: the lower place first."""
    relevance = np.floor(np.arange(300)[::-1] / 3) / 100
    vectors = np.tile(np.float32([[1, 0]]), (300, 1))
    found = select_mmr(vectors, relevance, 1.0, 270)
    assert found.chosen.tolist() == list(range(270))
    assert select_mmr(vectors, relevance, 1.0, -1).chosen.tolist() == []
    assert select_mmr(vectors[:1], relevance[:1], 0.5, 9).chosen.tolist() == [0]
    assert select_mmr(vectors[:0], relevance[:0], 0.5).chosen.tolist() == []
    few = select_mmr(vectors[:3], relevance[:3], 1.0, costs=[5, 9, 5], budget=11)
    assert (few.chosen.tolist(), few.passed.tolist(), few.left.tolist()) == ([0, 2], [1], [6])
