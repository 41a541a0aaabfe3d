"""The approximate index against exact search, through additions and deletions."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.nearest.hnsw import HNSW, HNSWIndex, recall, tune_ef
from clew.graph import Graph

pytest.importorskip("faiss", reason="the approximate index is an extra")


def unit_rows(n, width, seed=0):
    rows = np.random.default_rng(seed).standard_normal((n, width)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def index_of(vectors, how=HNSW(), rows=None):  # noqa: B008 - frozen
    made = HNSWIndex(how, vectors.shape[1])
    made.add(vectors, np.arange(len(vectors)) if rows is None else rows)
    return made


def exact(vectors, question, k):
    return np.argsort(-(vectors @ question), kind="stable")[:k]


@pytest.fixture(scope="module")
def large():
    return unit_rows(5000, 24)


def test_at_least_ninety_five_of_a_hundred_nearest_are_found_and_recall_says_the_true_share(large):
    index, questions = index_of(large), unit_rows(100, 24, 1)
    share = np.mean(
        [
            len(set(index.search(q, 10)[0].tolist()) & set(exact(large, q, 10).tolist())) / 10
            for q in questions
        ]
    )
    assert share >= 0.95
    assert recall(index, 10, questions) == pytest.approx(share, abs=1e-9)


def test_recall_grows_with_the_candidates_and_a_wanted_one_can_be_had(large):
    index, questions = index_of(large, HNSW(4, 20)), unit_rows(100, 24, 1)
    found = [recall(index, 5, questions, ef=ef) for ef in (5, 20, 80, 640)]
    assert found == sorted(found)
    assert found[0] < 0.9 < found[-1]
    ef = tune_ef(index, 0.9, 5)
    assert recall(index, 5, ef=ef) >= 0.9 > recall(index, 5, ef=ef // 2)
    with pytest.raises(ValueError, match="no ef up to 8 has a recall@5 of 1"):
        tune_ef(index, 1.0, 5, max_ef=8)


def test_with_as_many_candidates_as_rows_the_search_is_exact():
    vectors = unit_rows(300, 8)
    for question in unit_rows(30, 8, 2):
        rows, cosines = index_of(vectors).search(question, 10, ef=300)
        assert rows.tolist() == exact(vectors, question, 10).tolist()
        assert cosines == pytest.approx((vectors @ question)[rows], abs=1e-6)


def test_no_node_has_more_links_than_it_may_and_the_lowest_layer_holds_all():
    import faiss

    index = index_of(unit_rows(1000, 8), HNSW(5, 40))
    hnsw = index._index.hnsw
    levels, starts, links = (
        faiss.vector_to_array(part) for part in (hnsw.levels, hnsw.offsets, hnsw.neighbors)
    )
    assert len(levels) == 1000
    assert levels.max() > 1
    for row in range(1000):
        own = links[int(starts[row]) : int(starts[row + 1])]
        assert len(own) <= 10 + 5 * (levels[row] - 1)
        assert (own[:10] >= 0).any(), "linked on the lowest layer"


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 39)), max_size=60), st.integers(1, 12))
def test_rows_come_and_go_and_only_those_there_are_found(changes, k):
    vectors, index, there = unit_rows(40, 6), HNSWIndex(HNSW(8, 40), 6), set()
    for adding, row in changes:
        if adding and row not in there:
            index.add(vectors[[row]], [row])
            there.add(row)
        elif not adding and row in there:
            index.delete([row])
            there.remove(row)
    rows = np.array(sorted(there), np.int64)
    for question in unit_rows(5, 6, 3):
        wanted = rows[exact(vectors[rows], question, k)].tolist() if there else []
        assert index.search(question, k, ef=100)[0].tolist() == wanted
        assert index.compacted().search(question, k, ef=100)[0].tolist() == wanted
    assert len(index) == len(there)
    assert recall(index, 3, ef=100) == 1


def test_the_same_rows_make_the_same_index(large):
    one, other = index_of(large, HNSW(4, 10)), index_of(large, HNSW(4, 10))
    for question in unit_rows(50, 24, 1):
        assert one.search(question, 20)[0].tolist() == other.search(question, 20)[0].tolist()


def test_it_is_a_part_of_a_graph_over_its_kinds_and_rows_without_a_vector_are_nobodys_neighbours():
    vectors = np.vstack([unit_rows(20, 4), np.zeros((1, 4), np.float32)])
    graph = Graph.of(["text"] * 21, kinds=["passage", "entity"] * 10 + ["passage"], vectors=vectors)
    index = graph.part(HNSW(kinds=("passage",)))
    assert graph.part(HNSW(kinds=("passage",))) is index
    assert set(index.search(vectors[0], 99)[0].tolist()) == set(range(0, 20, 2))
    assert len(index.search(np.zeros(4, np.float32), 3)[0]) == 0


def test_bad_input_is_named(monkeypatch):
    index = index_of(unit_rows(5, 3))
    with pytest.raises(ValueError, match="in the index already"):
        index.add(unit_rows(1, 3), [4])
    with pytest.raises(ValueError, match=r"shape \(1, 2\); wanted \(1, 3\)"):
        index.add(unit_rows(1, 2), [7])
    with pytest.raises(ValueError, match="not in the index"):
        index.delete([1, 9])
    assert len(index) == 5
    with pytest.raises(ValueError, match="m is a whole number of at least 2; got 1"):
        HNSW(1)
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r"pip install 'clew\[ann\]'"):
        HNSWIndex(HNSW(), 3)


def test_several_threads_make_an_index_that_finds_nearly_the_same(large):
    for threads in (1, 2):
        index = index_of(large, HNSW(threads=threads))
        assert len(index) == len(large)
        assert recall(index, ef=200) > 0.97
    with pytest.raises(ValueError, match="threads is a whole number of at least 1; got 0"):
        HNSW(threads=0)


def test_where_links_lead_to_few_rows_only_these_are_found_with_their_cosines():
    """With two links of the first comer, most rows are out of reach."""
    vectors = np.sort(np.abs(unit_rows(200, 8, 5)), axis=1)
    vectors[::2] *= -1
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = index_of(vectors, HNSW(2, 1), np.arange(200) + 1000)
    rows, cosines = index.search(vectors[1], 150, ef=1)
    assert 1 < len(rows) < 150
    assert len(set(rows.tolist())) == len(rows)
    assert cosines == pytest.approx(vectors[rows - 1000] @ vectors[1], abs=1e-6)
    assert (np.diff(cosines) <= 1e-6).all()


def test_equal_rows_come_by_their_numbers_and_no_cosine_is_above_one():
    vectors = np.vstack([np.tile(unit_rows(1, 24, 3), (5, 1)), unit_rows(20, 24, 4)])
    index = index_of(vectors, rows=[9, 4, 7, 2, 30, *range(100, 120)])
    rows, cosines = index.search(vectors[0], 5)
    assert rows.tolist() == [2, 4, 7, 9, 30]
    assert cosines.max() <= 1.0
    assert index.search(vectors[0], 0)[0].tolist() == []


def test_links_as_bytes_come_back_with_the_vectors(large):
    vectors, numbers = large[:400], np.arange(400) * 3
    index = index_of(vectors, HNSW(6), numbers)
    same = HNSWIndex.from_bytes(HNSW(6), index.to_bytes(), vectors, numbers)
    for question in unit_rows(20, 24, 1):
        assert same.search(question, 9)[0].tolist() == index.search(question, 9)[0].tolist()
    assert len(same) == 400
    same.delete([0])
    same.add(vectors[[0]], [5000])
    assert 5000 in same.search(vectors[0], 3)[0]
    for bytes_, rows in ((index.to_bytes()[:50], 400), (index.to_bytes(), 399)):
        with pytest.raises(
            ValueError, match=r"cannot read the index|not an index of 399 rows of 24"
        ):
            HNSWIndex.from_bytes(HNSW(6), bytes_, vectors[:rows], numbers[:rows])
    with pytest.raises(ValueError, match="not an index of 400 rows of 20"):
        HNSWIndex.from_bytes(HNSW(6), index.to_bytes(), vectors[:, :20], numbers)


def test_the_threads_of_faiss_are_afterwards_as_they_were():
    import faiss

    before = faiss.omp_get_max_threads()
    index_of(unit_rows(50, 4), HNSW(threads=before + 1))
    assert faiss.omp_get_max_threads() == before


def test_recall_of_nothing_is_whole_and_that_of_wrong_links_is_what_is_missing(monkeypatch):
    assert recall(HNSWIndex(HNSW(), 4)) == 1.0
    vectors = unit_rows(30, 6)
    index = index_of(vectors, rows=np.arange(30)[::-1])
    assert recall(index, 3, ef=30) == 1.0
    assert recall(index, 99, ef=30) == 1.0
    assert recall(index, 5, ef=tune_ef(index, 1.0, 5)) == 1.0  # as high as it can be, and no error
    assert recall(index, 3, vectors[:0]) == 1.0
    monkeypatch.setattr(index, "search", lambda query, k, ef: (np.array([29, 0]), None))
    hits = sum(
        29 - row in set(exact(vectors, query, 3).tolist()) for query in vectors for row in (29, 0)
    )
    assert recall(index, 3) == pytest.approx(hits / 90)
