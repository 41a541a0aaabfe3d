"""Which rows of a column have other values, where rows came and went between them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.kernels.compiled import compile_first
from clew.algorithms.kernels.renumbering import renumber
from clew.graph import Ragged, VectorColumn, with_rows
from clew.store.column_kinds import RowLists, VectorRows
from clew.store.row_changes import RowChange

LISTS = st.lists(st.lists(st.integers(0, 3), max_size=3), min_size=9, max_size=9)
KEPT = st.lists(st.booleans(), min_size=9, max_size=9)


def kept_of(before, after):
    """The rows before that are kept, and where they are: as many of both as there are."""
    kept = [np.flatnonzero(mask) for mask in (before, after)]
    n = min(map(len, kept))
    return [rows[:n] for rows in kept]


@given(LISTS, LISTS, KEPT, KEPT, KEPT)
def test_lists_differ_that_are_other_lists(before, others, alike, was, now):
    then, at = kept_of(was, now)
    after = list(others)
    for old, new in zip(then.tolist(), at.tolist(), strict=True):
        if alike[new]:
            after[new] = before[old]
    change = RowChange.of_rows(9, 9, then, at)
    one, other = Ragged.of(before), Ragged.of(after)
    wanted = [
        new
        for old, new in zip(then.tolist(), at.tolist(), strict=True)
        if before[old] != after[new]
    ]
    assert RowLists("nodes").differing_in_runs(one, other, change.runs).tolist() == wanted
    same_rows = [one == other for one, other in zip(before, after, strict=True)]
    assert (~RowLists("nodes").differing(one, other)).tolist() == same_rows


@given(KEPT, KEPT, st.lists(st.integers(0, 8), max_size=4))
def test_vectors_differ_by_their_bits_wherever_they_are(was, now, changed):
    then, at = kept_of(was, now)
    chance = np.random.default_rng(len(changed))
    before = chance.normal(size=(9, 4)).astype(np.float32)
    after = chance.normal(size=(9, 4)).astype(np.float32)
    after[at] = before[then]
    after[changed, 2] = np.where(after[changed, 2] == 0.0, -0.0, 0.0)
    change = RowChange.of_rows(9, 9, then, at)
    wanted = sorted({*changed} & {*at.tolist()})
    in_segments = with_rows(VectorColumn.of(after[:5].copy()).take(np.arange(5)), after[5:].copy())
    for column in (after, in_segments):
        found = VectorRows(np.float32, 2).differing_in_runs(before, column, change.runs)
        assert found.tolist() == wanted


@pytest.mark.parametrize("n", [0, 7])
def test_rows_have_the_numbers_that_they_come_to(n):
    numbers = np.array([4, -1, 0, 2], np.int32)
    rows = np.array([3, -1, 0, 1, 2, 2, -1][:n], np.int32)
    wanted = [-1 if row < 0 else numbers.tolist()[row] for row in rows.tolist()]
    with compile_first():
        by_machine = renumber(rows, numbers)
    for found in (by_machine, renumber.plain(rows, numbers), renumber.function(rows, numbers)):
        assert found.tolist() == wanted
        assert found.dtype == np.int32
