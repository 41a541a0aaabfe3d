"""Rows through changes: their numbers, and all changes as one, against lists of Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.store import row_changes
from clew.store.row_changes import RowHistory
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


@pytest.mark.parametrize("max_runs", [0, 2, 1000])
@given(case=changes())
def test_rows_that_come_and_go_are_those_of_a_list(max_runs, case):
    first, steps = case
    rows, total = list(range(first)), first
    history = RowHistory(first)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_changes, "MAX_RUNS", max_runs)
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
            assert history.numbers.tolist() == rows
            assert history.numbers.dtype == np.int32
        writer = ColumnWriter()
        found = history.write(writer, "t", np.arange(first, dtype=np.int32))
        arrays = writer.done()
        again = RowHistory(first)
        again.follow(ColumnReader(arrays.__getitem__), "t")
    assert found.tolist() == [row for row in rows if row >= first]
    assert arrays["t.gone"].tolist() == [row for row in range(first) if row not in rows]
    kept = [row if row < first else None for row in again.numbers.tolist()]
    assert kept == [row if row < first else None for row in rows]
