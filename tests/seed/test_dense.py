"""Dense seeds by definition."""

from __future__ import annotations

import numpy as np
import pytest

from clew.algorithms.cosines import Compared, compare
from clew.algorithms.nearest.hnsw import HNSW
from clew.graph import Graph
from clew.seed import Dense, LinkedFacts
from clew.types import Query
from tests.traced_memory import traced_memory

VECTORS = np.float32([[1, 0], [0.6, 0.8], [-1, 0], [0, 0], [0.8, 0.6]])
GRAPH = Graph.of(
    list("abcde"), kinds=["passage", "passage", "passage", "passage", "entity"], vectors=VECTORS
)


def test_weights_are_the_cosines_of_passages_and_never_negative():
    found = Dense().on(GRAPH)(Query("?", np.float32([1, 0])))
    assert found.scores == pytest.approx([1, 0.6, 0, 0, 0])
    assert Dense(("entity",)).on(GRAPH)(Query("?", np.float32([1, 0]))).scores == pytest.approx(
        [0, 0, 0, 0, 0.8]
    )


def test_given_candidates_keep_their_scores_and_no_search_is_made():
    found = Dense().on(GRAPH)(Query("?", np.float32([1, 0]), candidate_scores={1: 0.25, 3: 1.0}))
    assert found.scores.tolist() == [0, 0.25, 0, 1, 0]
    assert found.notes


@pytest.mark.parametrize("vector", [None, np.zeros(2, np.float32)])
def test_a_question_without_a_vector_finds_nothing_and_says_so(vector):
    found = Dense().on(GRAPH)(Query("?", vector))
    assert not found.scores.any()
    assert "no vector" in found.notes["fallback"]


def test_another_models_vector_is_refused():
    with pytest.raises(ValueError, match="3 dimensions and the graph's have 2"):
        Dense().on(GRAPH)(Query("?", np.float32([1, 0, 0])))


@pytest.mark.parametrize("n", [7, 1000, 4099])
def test_equal_passages_weigh_the_same_wherever_they_stand(n):
    """A matrix product in float32 rounds the last rows of a block differently from the first."""
    rng = np.random.default_rng(n)
    one, question = rng.normal(size=(2, 387)).astype(np.float32)
    vectors = np.tile(one / np.linalg.norm(one), (n, 1))
    found = Dense().on(Graph.of(["same"] * n, vectors=vectors))(
        Query("?", question / np.linalg.norm(question) + one)
    )
    assert len(set(np.round(found.scores, 9).tolist())) == 1


def test_an_approximate_index_finds_the_nearest_and_the_trace_says_so():
    pytest.importorskip("faiss", reason="the approximate index is an extra")
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((400, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    graph = Graph.of(
        [str(i) for i in range(400)], kinds=["passage", "entity"] * 200, vectors=vectors
    )
    query = Query("?", vectors[7])

    whole = Dense().on(graph)(query).scores
    near = Dense(index=HNSW(ef_search=400), nearest=20, exact_below=200).on(graph)(query)
    small = Dense(index=HNSW(), exact_below=201).on(graph)(query)

    rows = np.argsort(-whole, kind="stable")[:20]
    assert near.scores[rows].tolist() == whole[rows].tolist()
    assert not np.delete(near.scores, rows).any()
    assert "approximate" in near.notes["search"]
    assert small.scores.tolist() == whole.tolist()
    assert "exact: 200 nodes are fewer than 201" in small.notes["search"]
    with pytest.raises(ValueError, match="3 dimensions and the graph's have 8"):
        Dense(index=HNSW(), exact_below=1).on(graph)(Query("?", np.float32([1, 0, 0])))


def test_recipes_share_one_copy_of_the_vectors():
    """A section stands between the passages, so that their vectors are no slice of the graph's."""
    n, width = 4000, 96
    vectors = np.eye(width, dtype=np.float32)[np.arange(n) % width]
    graph = Graph.of(
        ["text"] * n,
        kinds=["passage", "section"] * (n // 2),
        vectors=vectors,
    )
    parts = (Dense(), LinkedFacts(), Dense(("passage",)))
    used, _ = traced_memory(lambda: [part.on(graph) for part in parts])
    own = 4 * width * n // 2
    assert own <= used < 1.8 * own
    np.testing.assert_array_equal(graph.vectors_of("passage"), graph.vectors[::2])


def test_products_that_are_known_are_taken_where_they_are_of_this_question_and_these_passages():
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((9, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    graph = Graph.of([f"text {i}" for i in range(9)], vectors=vectors.astype(np.float32))
    question = graph.vectors[3].copy()
    every, find = graph.vectors_of("passage"), Dense().on(graph)
    own = find(Query("?", question)).scores
    known = compare(every, question)
    assert find(Query("?", question, compared=known)).scores.tobytes() == own.tobytes()
    others = np.linspace(0.5, 0.9, 9, dtype=np.float32)
    taken = find(Query("?", question, compared=known._replace(products=others))).scores
    assert taken.tolist() == others.tolist()
    for stale in (Compared(every.copy(), question, others), Compared(every, question + 0, others)):
        assert find(Query("?", question, compared=stale)).scores.tobytes() == own.tobytes()
