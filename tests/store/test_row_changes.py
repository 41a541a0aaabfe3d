"""What two lists of rows have in common: as few rows are written as moved, against longest common subsequences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.store import row_changes
from clew.store.row_changes import change_of_numbers, change_of_objects


def longest_common(one, other):
    """Return the length of the longest common subsequence, by the table of all beginnings."""
    above = [0] * (len(other) + 1)
    for each in one:
        row = [0]
        for i, another in enumerate(other):
            row.append(above[i] + 1 if each == another else max(above[i + 1], row[i]))
        above = row
    return above[-1]


@st.composite
def lists(draw):
    """Distinct numbers, and some of them with others, in any order."""
    before = draw(st.lists(st.integers(0, 30), unique=True, max_size=14))
    after = draw(st.permutations([*before, *range(31, 34)]))
    return before, list(after[: draw(st.integers(0, len(after)))])


@given(case=lists())
def test_of_rows_that_are_sorted_as_many_stay_as_can(case):
    before, after = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_changes, "MAX_RUNS", 0)
        columns = [[np.array(each, np.int64)] for each in case]
        changes = [change_of_numbers(*columns), change_of_objects(tuple(before), after)]
    for change in changes:
        assert len(after) - len(change.new) == longest_common(before, after)
        kept = [before[row] for row in change.kept_before.tolist()]
        assert kept == [after[row] for row in change.kept_after.tolist()]


@pytest.mark.parametrize("most_sorted", [0, 1 << 16])
@given(case=lists())
def test_what_stays_is_in_its_order_whatever_is_sorted(most_sorted, case):
    before, after = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_changes, "MAX_RUNS", 0)
        patch.setattr(row_changes, "MAX_SORTED_RUNS", most_sorted)
        change = change_of_objects(tuple(before), after)
    rows = [change.kept_before.tolist(), change.kept_after.tolist()]
    assert rows == [sorted(each) for each in rows]
    assert [before[row] for row in rows[0]] == [after[row] for row in rows[1]]


@pytest.mark.parametrize("is_back", [False, True])
@given(
    first=st.integers(0, 300),
    block=st.integers(1, 200),
    passed=st.integers(1, 5000),
    last=st.integers(0, 300),
)
def test_of_rows_that_moved_the_fewer_are_new_and_not_all_that_they_passed(
    is_back, first, block, passed, last
):
    numbers = np.random.default_rng(first).permutation(first + block + passed + last)
    parts = np.split(numbers, [first, first + block, first + block + passed])
    moved = np.concatenate([parts[0], parts[2], parts[1], parts[3]])
    one, other = (moved, numbers) if is_back else (numbers, moved)
    change = change_of_numbers([one // 7, one % 7], [other // 7, other % 7])
    assert change.is_exact  # nothing was sorted
    assert len(change.new) == len(change.gone) == min(block, passed)
    assert (one[change.kept_before] == other[change.kept_after]).all()
