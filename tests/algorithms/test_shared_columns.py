"""Nearest rows by the columns that they share, against all products."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.compressed_rows import CompressedRows
from clew.algorithms.kernels.row_pairs import near_pairs
from clew.algorithms.nearest import exact, shared_columns
from clew.algorithms.nearest.shared_columns import nearest_by_columns
from tests.traced_memory import traced_memory

ROWS = st.lists(st.lists(st.sampled_from([0, 0, 0, 1, 2, 5]), min_size=5, max_size=5), max_size=12)


@pytest.mark.parametrize("max_compared", [1, 3, shared_columns.MAX_COMPARED])
@given(ROWS, st.integers(1, 12), st.sampled_from([0.05, 0.5, 0.75, 0.99, 1.0]))
def test_they_are_those_of_brute_force(max_compared, rows, k, least):
    dense = np.array(rows, np.float64).reshape(-1, 5)
    lengths = np.linalg.norm(dense, axis=1, keepdims=True)
    dense = np.divide(dense, lengths, out=np.zeros_like(dense), where=lengths > 0)
    owners, columns = np.nonzero(dense)
    matrix = CompressedRows.summed(owners, columns, dense[owners, columns], dense.shape)
    products = dense @ dense.T
    expected = [
        (row, other)
        for row in range(len(dense))
        for other in sorted(
            (o for o in range(len(dense)) if o != row and products[row, o] >= least - 1e-9),
            key=lambda o, row=row: (-round(products[row, o], 6), o),
        )[:k]
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_columns, "MAX_COMPARED", max_compared)
        found = nearest_by_columns(matrix, k, least)
    assert list(zip(found.rows.tolist(), found.others.tolist(), strict=True)) == expected
    np.testing.assert_allclose(found.cosines, [products[pair] for pair in expected], atol=1e-6)


@given(ROWS, st.sampled_from([0.05, 0.5, 0.99]))
def test_a_block_of_pairs_is_the_same_both_ways(rows, lowest):
    seen = []

    def both_ways(*arguments):
        found, loop = near_pairs.plain(*arguments), near_pairs.function(*arguments)
        assert [each.tobytes() for each in found] == [each.tobytes() for each in loop]
        assert [each.dtype for each in found] == [each.dtype for each in loop]
        seen.append(len(found[0]))
        return found

    dense = np.array(rows, np.float64).reshape(-1, 5) / 7
    owners, columns = np.nonzero(dense)
    matrix = CompressedRows.summed(owners, columns, dense[owners, columns], dense.shape)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_columns, "MAX_COMPARED", 3)
        patch.setattr(shared_columns, "near_pairs", both_ways)
        pairs = list(shared_columns._near_pairs(matrix, np.ones(len(owners), np.bool_), lowest))
    above = np.triu(dense @ dense.T, 1)
    assert sum(seen) == np.count_nonzero(above >= lowest)
    for some, others, products in pairs:
        np.testing.assert_allclose(products, above[some, others], atol=1e-12)


def test_equal_rows_by_the_thousand_are_not_held_pair_by_pair():
    n = 6000  # 18 million pairs, of which 60,000 are wanted
    rows = CompressedRows(np.arange(n + 1), np.zeros(n, np.int32), np.ones(n), 1)
    _, peak = traced_memory(lambda: nearest_by_columns(rows, 10, 0.75))
    others = nearest_by_columns(rows, 10, 0.75).others.tolist()
    assert len(others) == 10 * n
    assert others[:10] == list(range(1, 11))
    assert others[-10:] == list(range(10))
    assert peak < 8 * exact.BLOCK_BYTES
