"""Bounds of cosines by whole numbers: the nearest are those of all cosines, to the last bit."""

from __future__ import annotations

import mmap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.cosines import cosines
from clew.algorithms.kernels.sums import products_of_codes
from clew.algorithms.nearest.coarse import CoarseVectors
from clew.algorithms.ranking import top_k
from clew.graph import Facts, Graph, Labels, Ragged, freeze, release_pages, vectors_of
from clew.seed import RecognisedFacts, _shared
from clew.types import Query


def unit(rows):
    rows = np.asarray(rows, float)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return freeze(rows / np.where(lengths > 0, lengths, 1), np.float32)


def rows_of(n, d, seed):
    """Unit rows of which many are near copies of others, and some are zeros."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) * rng.random(d) ** 4
    rows[n // 2 :] = rows[rng.integers(0, n // 2, n - n // 2)]
    rows[n // 2 :] += rng.normal(size=(n - n // 2, d)) * 10.0 ** -rng.integers(
        1, 9, (n - n // 2, 1)
    )
    rows[rng.random(n) < 0.05] = 0
    return unit(rows)


@given(
    st.integers(40, 200), st.sampled_from([1, 3, 24, 384]), st.integers(1, 9), st.integers(0, 9999)
)
def test_the_nearest_and_both_ends_are_those_of_all_cosines(n, d, k, seed):
    vectors, rng = rows_of(n, d, seed), np.random.default_rng(seed + 1)
    query = unit(vectors[rng.integers(n)] + rng.normal(size=d) * 0.3 + 1e-3)
    among = rng.random(n) < 0.8
    found = CoarseVectors.of(vectors).extremes(vectors, query, k, among)
    every = cosines(vectors, query)
    if found is None:
        assert every.max() < 0.25 or among.sum() < k
        return
    wanted = top_k(np.where(among, every, every.min()), k)
    assert found.rows.tolist() == wanted.tolist()
    assert found.cosines.tolist() == every[wanted].tolist()
    assert (found.lowest, found.highest) == (every.min(), every.max())
    assert found.farthest == top_k(-every, 1)[0]


def test_rows_that_come_later_are_rounded_as_if_they_had_come_at_once():
    vectors = rows_of(700, 24, 0)
    at_once = CoarseVectors.of(vectors)
    later = CoarseVectors.of(vectors[:650]).with_rows(vectors[650:])
    for name in ("codes", "scales", "rests"):
        assert np.array_equal(getattr(at_once, name), getattr(later, name))
    assert (at_once.has_vector == vectors.any(axis=1)).all()


def test_products_of_the_largest_whole_numbers_are_exact_both_ways():
    codes = np.full((3, 2048), 127, np.int8)
    codes[1] = -127
    query = np.full(2048, 2047, np.int16)
    query[::7] = -2047
    exact = codes.astype(np.int64) @ query.astype(np.int64)
    assert products_of_codes.plain(codes, query).tolist() == exact.tolist()
    assert products_of_codes.function(codes, query).tolist() == exact.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_a_question_finds_the_same_facts_by_bounds_as_by_all_cosines(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    n, vectors = 300, rows_of(300, 16, seed)
    ends = rng.integers(3, 8, (n, 2))
    facts = Facts(
        tuple(f"fact {i}" for i in range(n)), vectors,
        freeze(ends[:, 0], np.int32), freeze(ends[:, 1], np.int32),
        Labels.of(["knows"] * n), Ragged.of([[i % 3] for i in range(n)]),
    )  # fmt: skip
    texts = ("one", "two", "three", "Ada", "Ben", "Kim", "Lou", "Max")
    kinds = ["passage"] * 3 + ["entity"] * 5
    graph = Graph.of(texts, kinds=kinds, vectors=rows_of(8, 16, seed + 1), facts=facts)
    query = Query("Who knows Ada, Ben or Kim?", unit(vectors[rng.integers(n)] + 0.1))
    by_all = RecognisedFacts().on(graph)(query)
    monkeypatch.setattr(_shared, "MIN_COARSE", 1)
    by_bounds = RecognisedFacts().on(graph)(query)
    assert by_bounds.facts.tolist() == by_all.facts.tolist()
    assert by_bounds.fact_scores.tolist() == by_all.fact_scores.tolist()
    assert by_bounds.scores.tolist() == by_all.scores.tolist()


def test_pages_of_a_mapped_file_are_released_and_read_again(tmp_path):
    rows = rows_of(5000, 64, 0)
    np.save(tmp_path / "rows.npy", rows)
    mapped = freeze(np.load(tmp_path / "rows.npy", mmap_mode="r"), np.float32)
    base = mapped
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base, mmap.mmap)
    chosen = np.arange(0, 5000, 3)
    assert np.array_equal(vectors_of(mapped, chosen), rows[chosen])
    release_pages(mapped)
    assert np.array_equal(mapped, rows)
    release_pages(rows)  # no file: nothing happens
