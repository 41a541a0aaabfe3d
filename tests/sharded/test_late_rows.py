"""Columns of what was pulled: they are what the arrays and tuples would be that were made at once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.cosines import as_compared
from clew.graph import Labels, VectorColumn, has_vector, products
from clew.sharded.index_store import _EdgesOut
from clew.sharded.joined import _first_of_each
from clew.sharded.late_rows import (
    FewVectors,
    NumberedLabels,
    TextsInColumns,
    VectorsInColumns,
    WordNumbers,
)

NAMES = ("calls", "defines", "knows", "likes")


@given(st.data())
def test_late_columns_are_those_made_at_once(data):
    n = data.draw(st.integers(1, 12))
    whole = data.draw(st.lists(st.sampled_from(["", "sea", "isle"]), min_size=5, max_size=5))
    owners = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    rows = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    some = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=n)), np.int64)
    columns = tuple(whole), tuple(reversed(whole))
    texts = TextsInColumns(columns, owners, rows)
    made = tuple(columns[owner][row] for owner, row in zip(owners, rows, strict=True))
    assert texts == made
    assert [texts[row] for row in range(n)] == list(made)
    assert list(texts.take(some)) == [made[row] for row in some]

    plain = Labels.of([NAMES[row % len(NAMES)] for row in rows])
    words = WordNumbers()
    words.of(data.draw(st.permutations(NAMES)))
    labels = NumberedLabels(plain, words).at(np.arange(n))
    assert (labels.names, labels.codes.tolist()) == (plain.names, plain.codes.tolist())
    for name in (*NAMES, "none"):
        assert labels.has(name) == plain.has(name)
        assert labels.mask(name).tolist() == plain.mask(name).tolist()
    assert list(labels.take(some)) == list(plain.take(some))

    vectors = np.eye(5, 7, dtype=np.float32) * (np.arange(5)[:, None] % 2).astype(np.float32)
    dense = np.where(owners[:, None] == 0, vectors[rows], vectors[::-1][rows])
    query = np.linspace(1, 2, 7, dtype=np.float32)
    late = VectorsInColumns([vectors, VectorColumn.of(vectors[::-1].copy())], owners, rows)
    few = FewVectors.of(dense)
    for column in (VectorColumn([late]), VectorColumn([few])):
        assert has_vector(column).tolist() == has_vector(dense).tolist()
        assert (column[some] == dense[some]).all()
        assert (products(column.take(some), query) == products(dense[some], query)).all()
        assert (products(column, query) == products(dense, query)).all()
        assert (np.asarray(column) == dense).all()
        assert (as_compared(column, query)[0] == dense).all()  # a compiled search reads its rows


@given(st.lists(st.tuples(*[st.integers(0, 2**31 - 1) | st.integers(0, 2)] * 3), max_size=12))
def test_the_first_of_equal_rows_stands_for_all(rows):
    columns = list(np.array(rows, np.int64).reshape(-1, 3).T)
    first, place = _first_of_each(columns)
    distinct = list(dict.fromkeys(rows))
    assert [rows[i] for i in first] == distinct
    assert [distinct[i] for i in place] == rows


@given(st.data())
def test_the_strongest_edges_are_found_whenever_a_node_is_asked_for(data):
    n = data.draw(st.integers(1, 6))
    node, weight = st.integers(0, n - 1), st.sampled_from([0.25, 0.5, 2.0])
    edges = data.draw(st.lists(st.tuples(node, node, weight), max_size=30))
    columns = zip(*edges, strict=True) if edges else ((), (), ())
    kinds = (np.int32, np.int32, np.float32)
    own = [np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    out = _EdgesOut(*own, n)
    for _ in range(3):
        asked = data.draw(st.lists(node, min_size=1, max_size=n, unique=True))
        most = data.draw(st.integers(1, 9))
        targets, weights, lengths = out.strongest(np.array(asked, np.int32), most)
        each = [sorted((-w, b) for a, b, w in edges if a == one) for one in asked]
        assert lengths.tolist() == [len(some) for some in each]
        wanted = [(b, -w) for some in each for w, b in some[:most]]
        assert list(zip(targets.tolist(), weights.tolist(), strict=True)) == wanted
