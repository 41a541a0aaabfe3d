"""The loops of scipy, loaded without the package, against the package and against dense arrays."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

from clew.algorithms import sparse_loops
from clew.algorithms.sparse_loops import SparseRows, dense_product, product, product_with_array

ALONE = """
import sys
import numpy as np
from clew.algorithms.sparse_loops import SparseRows, product
rows = SparseRows(np.array([0, 2, 2]), np.array([0, 1]), np.array([2.0, 3.0]), 2)
product(rows, rows)
assert "scipy" not in sys.modules and "scipy.sparse._sparsetools" not in sys.modules
import scipy.sparse
found = scipy.sparse.csr_array([[2.0, 3.0], [0.0, 0.0]])
assert (found @ found).toarray().tolist() == [[4.0, 6.0], [0.0, 0.0]]
assert product(rows, rows).values.tolist() == [4.0, 6.0]
"""


def drawn(seed, n, width):
    generator = np.random.default_rng(seed)
    found = generator.normal(size=(n, width)) * (generator.random((n, width)) < 0.2)
    return csr_array(found), found


def as_rows(matrix, dtype=np.int64):
    return SparseRows(matrix.indptr.astype(dtype), matrix.indices, matrix.data, matrix.shape[1])


class OtherLoops:
    """Those of a version of scipy that takes other arguments, or multiplies otherwise."""

    def __init__(self, loops, name, does):
        self._loops = loops
        setattr(self, name, does)

    def __getattr__(self, name):
        return getattr(self._loops, name)


@pytest.fixture(params=["alone", "not found", "other arguments", "other products"])
def loops(request, monkeypatch):
    sparse_loops._loops.cache_clear()
    monkeypatch.delitem(sys.modules, sparse_loops.PACKAGE)
    found = sparse_loops._load_alone()
    others = {
        "not found": None,
        "other arguments": OtherLoops(found, "csr_matmat_maxnnz", lambda n, m: n * m),
        "other products": OtherLoops(found, "csr_matvecs", lambda *_: None),
    }
    if request.param in others:
        monkeypatch.setattr(sparse_loops, "_load_alone", lambda: others[request.param])
    yield sparse_loops._loops()
    sparse_loops._loops.cache_clear()


def test_loops_that_do_not_multiply_as_they_should_are_left_to_the_package(loops, request):
    is_alone = request.node.callspec.params["loops"] == "alone"
    assert (loops is not None) == is_alone


@pytest.mark.parametrize("max_short", [sparse_loops.MAX_SHORT, 3])
@pytest.mark.parametrize("seed", range(4))
def test_products_are_those_of_the_package_to_the_bit(seed, max_short, loops, monkeypatch):
    monkeypatch.setattr(sparse_loops, "MAX_SHORT", max_short)
    (one, own), (other, others) = drawn(seed, 30, 20), drawn(seed + 9, 20, 25)
    expected = one @ other
    assert np.array_equal(dense_product(as_rows(one), as_rows(other)), expected.toarray())
    expected.sort_indices()
    found = product(as_rows(one), as_rows(other))
    assert np.array_equal(found.starts, expected.indptr)
    assert np.array_equal(found.columns, expected.indices)
    assert np.array_equal(found.values, expected.data)
    assert found.width == 25
    assert np.array_equal(product_with_array(as_rows(one), others), one @ others)
    assert product_with_array(as_rows(one), others) == pytest.approx(own @ others)


def test_without_rows_or_entries_there_is_nothing(loops):
    none = SparseRows(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0), 3)
    empty = SparseRows(np.zeros(4, np.int64), np.zeros(0, np.int32), np.zeros(0), 2)
    assert dense_product(none, empty).shape == (0, 2)
    assert (
        dense_product(empty, none._replace(starts=np.zeros(3, np.int64))).tolist() == [[0] * 3] * 3
    )


def test_the_package_is_not_imported_and_can_be_afterwards():
    subprocess.run([sys.executable, "-c", ALONE], check=True)
