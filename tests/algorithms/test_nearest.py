"""Nearest rows against brute force, in one block and in many."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import second_thread
from clew.algorithms.nearest import exact as nearest
from clew.algorithms.nearest import pivots
from clew.algorithms.nearest.exact import (
    Neighbours,
    nearest_of_some,
    nearest_pairs,
    with_newer,
)
from clew.second_thread import Begun, _SecondThread
from tests.traced_memory import traced_memory


def unit(vectors):
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0).astype(
        np.float32
    )


def brute_force(vectors, k, least):
    cosines = np.round(vectors.astype(np.float64) @ vectors.T.astype(np.float64), 6)
    found = {}
    for row in range(len(vectors)):
        others = [
            other for other in range(len(vectors)) if other != row and cosines[row, other] >= least
        ]
        found[row] = sorted(others, key=lambda other: (-cosines[row, other], other))[:k]
    return found, cosines


@pytest.mark.parametrize("by", ["few", "all", "bounds", "first columns"])
@pytest.mark.parametrize(
    ("block_bytes", "tile"), [(nearest.BLOCK_BYTES, nearest.TILE), (1, 1), (100, 2), (100, 5)]
)
@given(
    st.lists(st.lists(st.sampled_from([0, 0, 1, 2, -1]), min_size=3, max_size=3), max_size=14),
    st.integers(1, 20),
    st.sampled_from([0.05, 0.5, 0.99]),
)
def test_the_nearest_are_those_of_brute_force(block_bytes, tile, by, rows, k, least):
    vectors = unit(
        np.array(rows, np.float64).reshape(-1, 3)
    )  # duplicates, zeros and ties are the rule here
    expected, cosines = brute_force(vectors, k, least)

    with pytest.MonkeyPatch.context() as patch:
        if by != "few":
            patch.setattr(nearest, "MAX_FEW", 0)
        patch.setattr(nearest, "BLOCK_BYTES", block_bytes)
        patch.setattr(nearest, "TILE", tile)
        patch.setattr(nearest, "MIN_HEIGHT", 1)
        patch.setattr(nearest, "MAX_WAITING", tile - 1)
        patch.setattr(nearest, "MAX_COMPARED", tile)
        patch.setattr(nearest, "AROUND", tile % 3)
        patch.setattr(nearest, "MAX_BY_ONE_THREAD", 3 * tile * tile)
        patch.setattr(nearest, "STRIP_BYTES", 1)
        patch.setattr(nearest, "MAX_IN_TILES", tile)
        if by == "first columns":  # whatever is behind them
            patch.setattr(nearest, "MIN_SIFTED", 1)
            patch.setattr(nearest, "MIN_THRESHOLD", 0)
            patch.setattr(nearest, "MAX_REST", np.inf)
            patch.setattr(nearest, "SIFTING", 2)
            patch.setattr(nearest, "MAX_PASSED", 8)
        if by == "bounds":  # by vectors that may be as long as these
            patch.setattr(nearest, "MIN_BOUNDED", 1)
            patch.setattr(nearest, "MIN_SAVING", 1)
        row, other, cosine = nearest_pairs(vectors, k, least)

    found = {i: [] for i in range(len(vectors))}
    for a, b, c in zip(row.tolist(), other.tolist(), cosine.tolist(), strict=True):
        found[a].append(b)
        assert c == pytest.approx(cosines[a, b], abs=2e-6)
    assert found == expected


@pytest.mark.parametrize("least", [0.7, 0.95])
def test_bounds_leave_out_nothing_that_is_near(least, monkeypatch):
    """Names are variants of some, in directions that a sample of them hardly shows."""
    rng = np.random.default_rng(1)
    spread = rng.normal(size=(1, 96)) / np.arange(1, 97)
    some = np.repeat(rng.normal(size=(300, 96)) * spread, 8, axis=0)
    vectors = unit(
        some + rng.normal(size=some.shape) * np.abs(spread) * rng.uniform(0, 1, (2400, 1))
    )
    vectors[::97] = 0
    bounds = nearest._bounding_vectors(vectors, least)
    assert bounds is not None
    assert (vectors @ vectors.T <= bounds @ bounds.T + 1e-6).all()
    by_bounds = nearest_pairs(vectors, 5, least)
    monkeypatch.setattr(nearest, "MIN_BOUNDED", len(vectors) + 1)
    by_all = nearest_pairs(vectors, 5, least)
    np.testing.assert_array_equal(by_bounds[0], by_all[0])
    np.testing.assert_array_equal(by_bounds[1], by_all[1])
    np.testing.assert_allclose(by_bounds[2], by_all[2], atol=2e-6)
    assert len(by_all[0]) > 1000


@pytest.mark.parametrize("block_bytes", [nearest.BLOCK_BYTES, 4 * 203 * 7])
def test_duplicates_in_many_dimensions_go_to_the_lower_row(block_bytes, monkeypatch):
    monkeypatch.setattr(nearest, "MIN_HEIGHT", 1)
    rng = np.random.default_rng(0)
    vectors = np.repeat(unit(rng.normal(size=(29, 97))), 7, axis=0)
    monkeypatch.setattr(nearest, "BLOCK_BYTES", block_bytes)
    row, other, _ = nearest_pairs(vectors, 3, 0.9)
    for i in range(len(vectors)):
        twins = [j for j in range(i - i % 7, i - i % 7 + 7) if j != i]
        assert other[row == i].tolist() == twins[:3]


@pytest.mark.parametrize("threads", [1, 2])
def test_equal_rows_by_the_thousand_are_not_held_pair_by_pair(threads, monkeypatch):
    monkeypatch.setattr(second_thread, "is_core_free", lambda: threads == 2)
    vectors = np.tile(np.float32([[0.6, 0.8]]), (4000, 1))
    _, peak = traced_memory(lambda: nearest_pairs(vectors, 5, 0.1))
    row, other, _ = nearest_pairs(vectors, 5, 0.1)
    assert len(row) == 4000 * 5
    assert other[:10].tolist() == [1, 2, 3, 4, 5, 0, 2, 3, 4, 5]
    assert peak < 4 * threads * nearest.BLOCK_BYTES


def test_nothing_has_no_neighbours():
    assert [len(part) for part in nearest_pairs(np.zeros((0, 4), np.float32), 3, 0.1)] == [0, 0, 0]
    assert [len(part) for part in nearest_pairs(np.zeros((5, 0), np.float32), 3, 0.1)] == [0, 0, 0]
    assert [len(part) for part in nearest_pairs(np.zeros((5, 2), np.float32), 3, 0.1)] == [0, 0, 0]


@pytest.mark.parametrize("around", [8, 0])
def test_rows_in_the_order_of_their_likeness_keep_few_candidates(around, monkeypatch):
    """Each block is nearer to the rows that come later than the block before it."""
    waiting, joined = [], nearest._joined
    monkeypatch.setattr(nearest, "AROUND", 1)
    monkeypatch.setattr(nearest, "MAX_BY_ONE_THREAD", 2 * around * around)
    monkeypatch.setattr(nearest, "BLOCK_BYTES", 1)
    monkeypatch.setattr(nearest, "MAX_WAITING", 1)
    monkeypatch.setattr(
        nearest,
        "_joined",
        lambda blocks: waiting.append(sum(len(block[2]) for block in blocks)) or joined(blocks),
    )
    monkeypatch.setattr(nearest, "MIN_HEIGHT", 8)
    angles = np.linspace(0, 1.4, 400)
    vectors = unit(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    row, other, _ = nearest_pairs(vectors, 3, 0.1)
    assert (np.abs(row - other) <= 3).all()
    assert len(row) == 1200
    if around:  # a floor is known from the first block on
        assert sum(waiting) < 2 * 1200
    else:
        assert len(waiting) > 5
    assert max(waiting) < 4 * 1200 + 400 * 8  # of fifty blocks' 400 * 3 and more


@pytest.mark.parametrize("k", [1, 3, 7, 40, 64, 70])
def test_candidates_are_the_columns_from_the_bar_on(k):
    """The bar is the k-th highest, of the columns or of the tiles where there are more of these."""
    cosines = np.random.default_rng(k).random((9, 67)).astype(np.float32)
    for size in (67, 64):
        block, floors = cosines[:, :size].copy(), np.full(9, 0.2, np.float32)
        floors[4] = 0.9
        rows, others, scores = nearest._candidates(block, k, floors)
        for row in range(9):
            tiles = [max(block[row, at : at + 32]) for at in range(0, size, 32)]
            highest = sorted(tiles if k < len(tiles) else block[row], reverse=True)
            bar = np.float32(0.9 if row == 4 else 0.2)
            bar = max(bar, highest[k - 1]) if k <= size else bar
            wanted = np.flatnonzero(block[row] >= bar)
            assert sorted(others[rows == row].tolist()) == wanted.tolist()
            assert floors[row] == bar
        assert scores == pytest.approx(block[rows, others])


def test_blocks_have_as_many_rows_as_fit_and_never_fewer_than_the_least(monkeypatch):
    heights, near_in_strip = [], nearest._near_in_strip

    def spy(vectors, strip, k, floors):
        heights.append(strip.end - strip.start)
        return near_in_strip(vectors, strip, k, floors)

    monkeypatch.setattr(nearest, "_near_in_strip", spy)
    monkeypatch.setattr(nearest, "begin", Begun)  # nothing is done beside
    monkeypatch.setattr(nearest, "MIN_HEIGHT", 3)
    vectors = unit(np.random.default_rng(0).normal(size=(100, 4)))
    for room, height in ((4 * 100 * 30 + 50, 30), (10, 3)):
        heights.clear()
        monkeypatch.setattr(nearest, "BLOCK_BYTES", room)
        nearest_pairs(vectors, 2, 0.1)
        assert heights == [height] * (100 // height) + [100 % height]


def test_pairs_above_the_floors_are_all_of_them_or_none_where_they_are_many():
    cosines = np.random.default_rng(2).random((6, 50)).astype(np.float32)
    for block in (cosines, np.asfortranarray(cosines), cosines[:, 10:]):
        of_rows = np.full((6, 1), 0.8, np.float32)
        of_columns = np.linspace(0.7, 1.1, block.shape[1]).astype(np.float32)
        for floors in (of_rows, of_columns):
            rows, others, scores = nearest._few_above(block, floors)
            found = zip(rows.tolist(), others.tolist(), strict=True)
            wanted = np.argwhere(block - floors >= 0)
            assert set(found) == set(map(tuple, wanted.tolist()))
            assert scores.tolist() == block[rows, others].astype(np.float64).tolist()
        assert nearest._few_above(block, of_rows - 1) is None
    assert all(len(column) == 0 for column in nearest._few_above(cosines[:, 50:], of_rows))


@pytest.mark.parametrize("seed", range(3))
def test_neighbours_are_the_same_whichever_way_pairs_are_looked_through(seed, monkeypatch):
    """Rows that come in clusters, as passages of one document do, and some of them twice."""
    generator = np.random.default_rng(seed)
    centres = np.repeat(generator.normal(size=(30, 12)), 10, axis=0)
    vectors = unit(centres + 0.3 * generator.normal(size=centres.shape))
    vectors[generator.integers(0, 300, 20)] = vectors[generator.integers(0, 300, 20)]
    monkeypatch.setattr(nearest, "BLOCK_BYTES", 4 * 300 * 70)
    found = []
    for at_once in (0, 10**9):
        monkeypatch.setattr(nearest, "MAX_ABOVE", at_once)
        found.append(nearest_pairs(vectors, 4, 0.3))
    assert all(map(np.array_equal, *found))
    rows, _, cosines = found[0]
    every = vectors.astype(np.float64) @ vectors.astype(np.float64).T
    np.fill_diagonal(every, -1)
    for row in range(300):
        wanted = sorted(every[row], reverse=True)[:4]
        assert cosines[rows == row] == pytest.approx([c for c in wanted if c >= 0.3], abs=1e-5)


@pytest.mark.parametrize("beside", [False, True])
def test_two_threads_look_through_all_strips_once(beside, monkeypatch):
    """The second one begins when half is done, or never."""
    looked, near_in_strip = [], nearest._near_in_strip

    def spy(vectors, strip, k, floors):
        looked.append((strip.start, threading.get_ident()))
        found = near_in_strip(vectors, strip, k, floors)
        while beside and len(looked) == 5 and len(set(looked_by())) < 2:
            time.sleep(0.001)  # until the other thread has taken one
        return found

    def looked_by():
        return [thread for _, thread in looked]

    def begin(work):
        begun = Begun(work)
        if beside and len(looked) == 4:
            thread = _SecondThread()
            thread.is_wanted = True
            thread.offer(begun)
            assert begun.is_offered
        return begun

    monkeypatch.setattr(second_thread, "is_core_free", lambda: True)
    monkeypatch.setattr(nearest, "_near_in_strip", spy)
    monkeypatch.setattr(nearest, "begin", begin)
    monkeypatch.setattr(nearest, "BLOCK_BYTES", 1)
    monkeypatch.setattr(nearest, "MIN_HEIGHT", 7)
    monkeypatch.setattr(nearest, "MAX_IN_TILES", 20)
    vectors = grid(3, 100)
    expected, _ = brute_force(vectors, 3, 0.3)
    rows, others, _ = nearest_pairs(vectors, 3, 0.3)
    assert {row: others[rows == row].tolist() for row in range(100)} == expected
    assert sorted(start for start, _ in looked) == list(range(0, 100, 7))
    assert len(set(looked_by())) == 1 + beside


def test_of_cosines_that_differ_by_noise_the_lower_rows_are_nearer():
    """Row 0 is a ten-millionth farther from the last row than row 1 is."""
    angles = np.array([1e-3 + 1e-4, 1e-3, 0.5, 0.0])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    rows, others, _ = nearest_pairs(vectors, 1, 0.5)
    assert dict(zip(rows.tolist(), others.tolist(), strict=True))[3] == 0


def grid(seed, n):
    """Unit rows of few values, so that many are equal; some are zeros."""
    return unit(np.random.default_rng(seed).choice([0.0, 0, 1, 2, -1], (n, 3)))


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("height", [2, 64])
def test_neighbours_of_some_and_with_newer_rows_are_those_of_brute_force(seed, height, monkeypatch):
    monkeypatch.setattr(nearest, "BLOCK_BYTES", 1)
    monkeypatch.setattr(nearest, "MIN_HEIGHT", height)
    n, vectors = 23, grid(seed, 23)
    k, least = 1 + seed % 5, (0.05, 0.5, 0.9)[seed % 3]
    expected, cosines = brute_force(vectors, k, least)
    chosen = np.flatnonzero(np.random.default_rng(seed).random(n) < 0.5)
    some = nearest_of_some(vectors, chosen, k, least)
    assert {row: some.others[some.rows == row].tolist() for row in chosen.tolist()} == {
        row: expected[row] for row in chosen.tolist()
    }
    assert some.cosines == pytest.approx(cosines[some.rows, some.others], abs=2e-6)
    assert len(nearest_of_some(vectors, chosen[:0], k, least).rows) == 0
    for n_before in (0, 1, 12, 22, 23):
        before = nearest_pairs(vectors[:n_before], k, least)
        old = Neighbours(before[0].astype(np.int64), before[1].astype(np.int64), before[2])
        found = with_newer(vectors, np.arange(len(vectors)), n_before, old, k, least)
        assert {row: found.others[found.rows == row].tolist() for row in range(n)} == expected
        assert found.cosines == pytest.approx(cosines[found.rows, found.others], abs=2e-6)


class TestPivots:
    """Of many rows, most of the nearest are found, and what is found is what it is said to be."""

    def rows(self, n=6000, width=48):
        rng = np.random.default_rng(3)
        centres = rng.normal(size=(n // 20, width))
        vectors = unit(centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, width)))
        vectors[::101] = 0
        vectors[7::500] = vectors[7]  # copies of one row
        return vectors

    @pytest.mark.parametrize(("k", "least"), [(5, 0.1), (40, 0.6)])
    def test_nearly_all_of_the_nearest_are_found(self, k, least, monkeypatch):
        vectors = self.rows()
        n = len(vectors)
        row, other, cosine = nearest_pairs(vectors, k, least)
        monkeypatch.setattr(nearest, "MAX_EXACT", 1000)
        monkeypatch.setattr(nearest, "MAX_EXACT_BY_BOUNDS", 1000)
        monkeypatch.setattr(nearest, "MAX_WAITING", 10_000)
        row2, other2, cosine2 = nearest_pairs(vectors, k, least)
        exact, found = (
            set((a.astype(int) * n + b).tolist()) for a, b in ((row, other), (row2, other2))
        )
        assert len(found) == len(row2), "each pair comes once"
        assert 0.95 < len(exact & found) / len(exact) < 1
        assert (row2 != other2).all()
        assert np.bincount(row2).max() <= k
        np.testing.assert_allclose(
            cosine2, np.einsum("ij,ij->i", vectors[row2], vectors[other2]), atol=2e-6
        )
        assert cosine2.min() >= least - 1e-5
        assert vectors[row2].any(axis=1).all()
        assert vectors[other2].any(axis=1).all()
        assert (np.diff(row2) >= 0).all()
        assert (np.diff(cosine2)[np.diff(row2) == 0] <= 1e-6).all(), "the nearest come first"
        assert cosine2.sum() > 0.98 * cosine.sum()

    def test_with_as_many_probes_as_pivots_all_are_found(self, monkeypatch):
        vectors = self.rows(900, 8)
        expected = nearest_pairs(vectors, 6, 0.3)
        monkeypatch.setattr(nearest, "MAX_EXACT", 10)
        monkeypatch.setattr("clew.algorithms.nearest.pivots.PIVOTS_PER_ROOT", 1)
        for one, other in zip(nearest_pairs(vectors, 6, 0.3), expected, strict=True):
            np.testing.assert_allclose(one, other, atol=2e-6)

    def test_pivots_are_sorted_the_same_in_any_parts(self, monkeypatch):
        vectors = self.rows(900, 8)
        blocks = list(pivots.blocks_by_pivots(vectors, probes=5))
        monkeypatch.setattr(pivots, "SORTED", 7)
        for one, other in zip(blocks, pivots.blocks_by_pivots(vectors, probes=5), strict=True):
            np.testing.assert_array_equal(one[0], other[0])
            np.testing.assert_array_equal(one[1], other[1])

    @pytest.mark.parametrize("vectors", [np.zeros((40, 3)), np.tile([0.6, 0.8], (40, 1))])
    def test_rows_of_zeros_and_copies(self, vectors, monkeypatch):
        vectors = np.float32(vectors)
        expected = nearest_pairs(vectors, 3, 0.5)
        monkeypatch.setattr(nearest, "MAX_EXACT", 10)
        monkeypatch.setattr(nearest, "MAX_FEW", 0)
        for one, other in zip(nearest_pairs(vectors, 3, 0.5), expected, strict=True):
            np.testing.assert_array_equal(one, other)

    def test_newer_rows_find_all_and_older_ones_keep_what_they_had(self, monkeypatch):
        vectors, k, n_before = self.rows(3000), 4, 2900
        monkeypatch.setattr(nearest, "MAX_EXACT", 1000)
        before = Neighbours(*nearest_pairs(vectors[:n_before], k, 0.2))
        grown = with_newer(vectors, np.arange(len(vectors)), n_before, before, k, 0.2)
        cosines = vectors @ vectors.T
        had = {row: set() for row in range(n_before)}
        for row, other in zip(before.rows.tolist(), before.others.tolist(), strict=True):
            had[row].add(other)
        for row in range(len(vectors)):
            known = had.get(row, set(range(n_before))) | set(range(n_before, 3000)) - {row}
            near = [one for one in known if cosines[row, one] >= 0.2]
            best = sorted((cosines[row, one] for one in near), reverse=True)[:k]
            np.testing.assert_allclose(grown.cosines[grown.rows == row], best, atol=2e-6)
