"""Vectors in segments: read as one array is, with the same bits, and shared by what grows of them."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Graph
from clew.algorithms.cosines import as_compared, cosines
from clew.graph import (
    DenseSegment,
    VectorColumn,
    has_vector,
    products,
    row_addresses,
    take_vectors,
    unit_rows,
    vector_column,
    with_nodes,
    with_rows,
)

WIDTH = 7


def rows_of(chance, n):
    rows = unit_rows(chance.normal(size=(n, WIDTH))).astype(np.float32)
    rows[chance.random(n) < 0.2] = 0
    return rows


@given(st.integers(0, 2**32 - 1), st.lists(st.booleans(), min_size=1, max_size=25))
def test_a_column_is_the_array_of_its_rows(seed, steps):
    chance = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_column, "MIN_ROWS", 8)
        patch.setattr(vector_column, "MIN_SHARED", 10)
        patch.setattr(vector_column, "MAX_RUNS", 5)
        array = rows_of(chance, int(chance.integers(0, 60)))
        column, whole = array, array.copy()
        for grows in steps:
            if grows:
                more = rows_of(chance, int(chance.integers(0, 6)))
                column, whole = with_rows(column, more), np.concatenate([whole, more])
            else:
                chosen = np.flatnonzero(chance.random(len(whole)) < chance.choice([0.5, 0.98]))
                column, whole = take_vectors(column, chosen), whole[chosen]
        if len(steps) > 20:
            column = pickle.loads(pickle.dumps(column))
    assert column.shape == whole.shape
    assert np.asarray(column).tobytes() == whole.tobytes()
    assert np.array_equal(has_vector(column), [bool(row.any()) for row in whole])
    query = unit_rows(chance.normal(size=(1, WIDTH)))[0].astype(np.float32)
    wanted = np.einsum("ij,j->i", whole, query)
    assert products(column, query).tobytes() == wanted.tobytes()
    assert cosines(column, query).tobytes() == cosines(whole, query).tobytes()
    rows, vector = as_compared(column, query)
    np.testing.assert_allclose(rows @ vector, wanted, atol=1e-6)
    if len(whole):
        some = chance.integers(-len(whole), len(whole), 9)
        mask = chance.random(len(whole)) < 0.5
        first, last, step = (int(chance.integers(-9, 99)) for _ in range(3))
        for key in (some, some.tolist(), mask, slice(first, last), slice(first, last, step or 1)):
            assert np.asarray(column[key]).tobytes() == whole[key].tobytes()
        assert column[int(some[0])].tobytes() == whole[some[0]].tobytes()
        assert [row.tobytes() for row in column] == [row.tobytes() for row in whole]


def test_rows_that_were_there_are_not_copied_and_segments_stay_few():
    chance = np.random.default_rng(1)
    base = rows_of(chance, 5000)
    column = with_rows(base, rows_of(chance, 1))
    for _ in range(2000):
        column = with_rows(column, rows_of(chance, 1))
        assert np.shares_memory(column.segments[0].array, base)
        assert len(column.segments) <= 5
    assert len(column) == 7001
    assert np.array_equal(row_addresses(column)[:5000], row_addresses(base))
    assert len(np.unique(row_addresses(column))) == 7001
    assert np.shares_memory(column[3:700], base)
    fewer = column.take(np.delete(np.arange(7001), [17, 300]))
    assert np.shares_memory(fewer.segments[-1].array, column.segments[-1].array)
    with pytest.raises(IndexError, match="of 7001"):
        column[7001]


def test_an_array_of_one_segment_is_that_array():
    array = rows_of(np.random.default_rng(2), 9)
    assert np.shares_memory(np.asarray(VectorColumn([DenseSegment(array)])), array)


def test_a_graph_that_grows_shares_its_vectors_and_refuses_what_does_not_fit():
    base = Graph.of(["one", "two"], ids=["a", "b"], vectors=[[1, 0], [0, 1]])
    grown = with_nodes(base, Graph.of(["three"], ids=["c"], vectors=[[0.6, 0.8]]))
    assert np.allclose(grown.vectors, [[1, 0], [0, 1], [0.6, 0.8]])
    assert grown.row("c") == 2
    with pytest.raises(ValueError, match="1 of the new ones are in the graph, for instance 'b'"):
        with_nodes(base, Graph.of(["three"], ids=["b"], vectors=[[0.6, 0.8]]))
    with pytest.raises(ValueError, match="vectors of 2 dimensions and what comes of 3"):
        with_nodes(base, Graph.of(["three"], ids=["c"], vectors=[[0, 0.6, 0.8]]))
    with pytest.raises(ValueError, match=r"edges\.heads must be rows from 0 to 2"):
        grown.with_edges(type(grown.edges).of("next", [0], [3]))


def test_a_row_may_begin_with_zeros_and_have_a_vector():
    rows = np.zeros((4, 20), np.float32)
    rows[1, 19] = rows[2, 8] = rows[3, 0] = 1
    assert has_vector(rows).tolist() == [False, True, True, True]
    assert has_vector(np.zeros((2, 0), np.float32)).tolist() == [False, False]
