"""Sparse matrices of numpy's arrays against dense ones, and against scipy bit by bit."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from clew.algorithms import compressed_rows
from clew.algorithms.compressed_rows import CompressedRows


def drawn(seed, n, width, m):
    generator = np.random.default_rng(seed)
    rows, columns = generator.integers(0, n, m), generator.integers(0, width, m)
    return rows, columns, generator.normal(size=m)


@pytest.mark.parametrize(("n", "width", "m"), [(1, 1, 0), (3, 2, 9), (9, 40, 30), (40, 7, 500)])
def test_a_matrix_is_that_of_its_entries(n, width, m):
    rows, columns, values = drawn(m, n, width, m)
    summed, counted = np.zeros((n, width)), np.zeros((n, width))
    np.add.at(summed, (rows, columns), values)
    np.add.at(counted, (rows, columns), 1)
    matrix = CompressedRows.summed(rows, columns, values, (n, width))
    assert matrix.dense() == pytest.approx(summed)
    assert np.array_equal(CompressedRows.counted(rows, columns, (n, width)).dense(), counted)
    assert matrix.part(1, n).dense() == pytest.approx(summed[1:])
    stays = np.arange(width) % 3 > 0
    assert matrix.with_columns(stays).dense() == pytest.approx(summed[:, stays])
    other = np.random.default_rng(0).normal(size=(width, 5))
    assert matrix.times_dense(other) == pytest.approx(summed @ other)
    sparse = CompressedRows.summed(*drawn(1, width, 6, 2 * m), (width, 6))
    assert matrix.times(sparse).dense() == pytest.approx(summed @ sparse.dense())


@pytest.mark.parametrize("seed", range(5))
def test_numpy_and_scipy_give_the_same_bits(seed, monkeypatch):
    matrix = CompressedRows.summed(*drawn(seed, 20, 30, 300), (20, 30))
    sparse = CompressedRows.summed(*drawn(seed + 9, 30, 8, 150), (30, 8))
    dense = np.random.default_rng(seed).normal(size=(30, 16))
    found = []
    for by_scipy in (False, True):
        monkeypatch.setattr(compressed_rows, "_is_for_scipy", lambda _, by_scipy=by_scipy: by_scipy)
        product = matrix.times(sparse)
        assert (np.diff(product.columns)[np.diff(product.rows) == 0] > 0).all()
        products = product.dense(), matrix.dense_product(sparse), matrix.times_dense(dense)
        found.append([one.tobytes() for one in products])
    assert found[0] == found[1]
    assert found[0][0] == found[0][1]


@pytest.mark.parametrize("are_there", [True, False])
def test_a_small_product_is_left_to_the_loops_alone_where_they_are_there(are_there, monkeypatch):
    monkeypatch.setattr(compressed_rows.sparse_loops, "are_there_alone", lambda: are_there)
    monkeypatch.delitem(sys.modules, "scipy.sparse", raising=False)
    called = []
    real = compressed_rows.sparse_loops.product_with_array
    monkeypatch.setattr(
        compressed_rows.sparse_loops,
        "product_with_array",
        lambda rows, other: called.append(len(rows.values)) or real(rows, other),
    )
    matrix = CompressedRows.summed(*drawn(3, 4, 5, 9), (4, 5))
    other = np.random.default_rng(3).normal(size=(5, 2))
    assert matrix.times_dense(other) == pytest.approx(matrix.dense() @ other)
    assert bool(called) == are_there
