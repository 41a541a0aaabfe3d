"""Rows through changes: their numbers, and all changes as one, against lists of Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.store import row_history
from clew.store.row_history import RowHistory
from clew.store.tables import ColumnReader, ColumnWriter


@st.composite
def changes(draw):
    """How many rows there are first, and changes: for each place what comes before it, and whether its row stays."""
    n = first = draw(st.integers(0, 12))
    steps = []
    for _ in range(draw(st.integers(0, 4))):
        stays = draw(st.lists(st.booleans(), min_size=n, max_size=n))
        came = draw(st.lists(st.integers(0, 2), min_size=n + 1, max_size=n + 1))
        steps.append((stays, came))
        n = sum(stays) + sum(came)
    return first, steps


def written(name, gone, new):
    writer = ColumnWriter()
    writer.numbers(f"{name}.gone", gone, np.int32)
    writer.numbers(f"{name}.new", new, np.int32)
    return ColumnReader(writer.done().__getitem__)


@pytest.mark.parametrize("min_looked_up", [0, 1, 10**6])
@given(case=changes())
def test_rows_that_come_and_go_are_those_of_a_list(min_looked_up, case):
    first, steps = case
    rows, total = list(range(first)), first
    history = RowHistory(first)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_history, "MIN_LOOKED_UP", min_looked_up)
        for stays, came in steps:
            gone = [place for place, one in enumerate(stays) if not one]
            after, new = [], []
            for place, n_new in enumerate(came):
                new += range(len(after), len(after) + n_new)
                after += ["new"] * n_new
                if place < len(rows) and stays[place]:
                    after.append(rows[place])
            numbers = iter(range(total, total + sum(came)))
            rows = [next(numbers) if one == "new" else one for one in after]
            total += sum(came)
            assert [*history.follow(written("t", gone, new), "t")] == [*range(total)][
                total - sum(came) :
            ]
            few = np.array([-1, len(rows) - 1, 0][: 3 if rows else 1])
            assert history.numbers_of(few).tolist() == [-1, *rows[-1:], *rows[:1]]
            assert history.numbers.tolist() == rows
            assert history.numbers.dtype == np.int32
            places = {number: place for place, number in enumerate(rows)}
            assert history.now.tolist() == [places.get(number, -1) for number in range(total)]
        writer = ColumnWriter()
        found = history.write(writer, "t")
        arrays = writer.done()
        again = RowHistory(first)
        again.follow(ColumnReader(arrays.__getitem__), "t")
    assert found.tolist() == [row for row in rows if row >= first]
    assert arrays["t.gone"].tolist() == [row for row in range(first) if row not in rows]
    kept = [row if row < first else None for row in again.numbers.tolist()]
    assert kept == [row if row < first else None for row in rows]


@given(case=changes(), data=st.data())
def test_rows_that_are_let_go_are_gone_from_the_list(case, data):
    first, steps = case
    history = RowHistory(first)
    for stays, came in steps:
        rows = history.numbers.tolist()
        let_go = data.draw(st.sets(st.sampled_from(rows))) if rows else set()
        history.keep(np.array([number not in let_go for number in range(history.total)], np.bool_))
        rows = [number for number in rows if number not in let_go]
        assert history.numbers.tolist() == rows
        gone = [place for place in range(len(rows)) if not stays[place]]
        left = [number for place, number in enumerate(rows) if place not in gone]
        new = list(range(len(left), len(left) + sum(came)))
        _ = history.follow(written("t", gone, new), "t")
        assert history.numbers.tolist()[: len(left)] == left
    writer = ColumnWriter()
    of = np.array(data.draw(st.lists(st.booleans(), min_size=first, max_size=first)), np.bool_)
    is_left = np.isin(np.arange(first), history.numbers)
    _ = history.write(writer, "t", of | is_left)
    gone = writer.done()["t.gone"]
    assert np.flatnonzero(of | is_left)[gone].tolist() == np.flatnonzero(of & ~is_left).tolist()
