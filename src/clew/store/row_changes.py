"""Rows that come and go: what two lists of rows have in common.

A change keeps some rows in their order, and puts new ones anywhere between them. So a row that
moved is one that went, and one that came.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Mask, Rows, common_length, expand_ranges
from clew.store.tables import ColumnWriter
from clew.store.text_column import TextColumn

Places = NDArray[np.int64]

MAX_RUNS = 1000  # of kept rows; of more, all are sorted
WINDOW = 16_384  # rows in which the next one that was kept is looked for
MAX_SORTED_RUNS = 1 << 16  # of rows that were found, of which the longest chain is looked for
MAX_REPLACED = 64  # rows that went at one place
MAX_CAME = 1024  # objects that came at one place


@dataclass(frozen=True, eq=False)
class RowChange:
    """How the rows of a table changed.

    Attributes:
        n_before: The number of rows before.
        n_after: The number of rows after.
        runs: int64 [runs, 3], for each run of rows that are still there, ascending: its first row
            before, its first row now, and how many rows it has.
        is_exact: Whether it is known that rows that are still there have the very numbers that they
            were known again by.
    """

    n_before: int
    n_after: int
    runs: NDArray[np.int64]
    is_exact: bool = False

    @classmethod
    def of_rows(cls, n_before: int, n_after: int, before: Places, after: Places) -> RowChange:
        """Return the change that keeps some rows.

        Args:
            n_before: The number of rows before.
            n_after: The number of rows after.
            before: The rows before that are still there, ascending.
            after: Where they are now, ascending.
        """
        bounds = runs_of(before, after)
        firsts, lengths = bounds[:-1], np.diff(bounds)
        runs = np.stack([before[firsts], after[firsts], lengths], axis=1)
        return cls(n_before, n_after, runs.astype(np.int64, copy=False))

    @cached_property
    def kept_before(self) -> Places:
        """The rows before that are still there, ascending."""
        return expand_ranges(self.runs[:, 0], self.runs[:, 2])

    @cached_property
    def kept_after(self) -> Places:
        """Where they are now, ascending."""
        return expand_ranges(self.runs[:, 1], self.runs[:, 2])

    @property
    def gone(self) -> Places:
        """The rows before that are not there any more."""
        return rows_between(self.runs[:, 0], self.runs[:, 2], self.n_before)

    @property
    def new(self) -> Places:
        """The rows that are new."""
        return rows_between(self.runs[:, 1], self.runs[:, 2], self.n_after)

    @cached_property
    def numbering(self) -> Rows:
        """For every row before, where it is now, or -1."""
        numbers = np.full(self.n_before, -1, np.int32)
        if len(self.runs) > MAX_RUNS:
            numbers[self.kept_before] = self.kept_after
            return numbers
        for start, now, n in self.runs.tolist():
            numbers[start : start + n] = np.arange(now, now + n, dtype=np.int32)
        return numbers

    @property
    def keeps_numbers(self) -> bool:
        """Whether every row is where it was; others may have come behind them."""
        kept = (self.runs[:, 0] == self.runs[:, 1]).all() and self.runs[:, 2].sum()
        return bool(kept == self.n_before)


def rows_between(starts: Places, lengths: Places, n: int) -> Places:
    """Return the rows below n that are in none of some runs."""
    begins, ends = np.append(0, starts + lengths), np.append(starts, n)
    return expand_ranges(begins, ends - begins)


def runs_of(rows: NDArray[np.int64], *others: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where runs of consecutive rows begin, in all of some arrays, and where the last ends.

    Example:
        >>> runs_of(np.array([3, 4, 7]))
        array([0, 2, 3])
    """
    breaks = np.zeros(max(0, len(rows) - 1), np.bool_)
    for each in (rows, *others):
        breaks |= np.diff(each) != 1
    ends = [len(rows)] if len(rows) else []
    return np.concatenate([[0], np.flatnonzero(breaks) + 1, ends]).astype(np.int64)


def change_of_objects(before: Sequence[Hashable], after: Sequence[Hashable]) -> RowChange:
    """Return how the rows changed that have distinct keys.

    Example:
        >>> change = change_of_objects(["a", "b", "c"], ["a", "c", "d"])
        >>> change.gone, change.new, change.numbering
        (array([1]), array([2]), array([ 0, -1,  1], dtype=int32))
    """
    n_before, n_after = len(before), len(after)
    if before is after or (isinstance(before, TextColumn) and before.begins(after)):
        return RowChange(n_before, n_after, np.array([(0, 0, n_before)], np.int64))
    if isinstance(before, TextColumn) and isinstance(after, TextColumn):
        if before.table is after.table:
            return _change_of_stored(before, after)
        before, after = tuple(before), tuple(after)
    runs = None
    if type(before) is type(after) and isinstance(before, list | tuple):
        runs = _objects_in_runs(before, after)
    if runs is not None:
        return RowChange(n_before, n_after, runs[runs[:, 2] > 0])
    place = {key: i for i, key in enumerate(before)}
    return _in_order(n_before, np.array([place.get(key, -1) for key in after], np.int64))


def _change_of_stored(before: TextColumn, after: TextColumn) -> RowChange:
    """Return how the rows changed of two columns of one table, which has every text once.

    A stored text that came back as a new one is one that went and one that came.
    """
    stored = change_of_numbers([before.codes], [after.codes])
    others = change_of_objects(before.others, after.others)
    runs = others.runs + np.array([len(before.codes), len(after.codes), 0])
    return RowChange(len(before), len(after), np.concatenate([stored.runs, runs]))


def _objects_in_runs(
    before: Sequence[Hashable], after: Sequence[Hashable]
) -> NDArray[np.int64] | None:
    """Return the runs of objects that stayed where little changed; None where much did."""
    runs: list[tuple[int, int, int]] = []
    i = j = 0
    for _ in range(MAX_RUNS):
        same = common_length(before, after, i, j)
        runs.append((i, j, same))
        i, j = i + same, j + same
        if i == len(before) or j == len(after):
            return np.array(runs, np.int64)
        went = _steps_to(after[j], before, i, MAX_REPLACED)
        came = _steps_to(before[i], after, j, MAX_CAME)
        if went is not None and (came is None or went <= came):
            i += went  # and not where it moved to
        elif came is not None:
            j += came
        else:
            for went in range(1, min(MAX_REPLACED, len(before) - i)):
                came = _steps_to(before[i + went], after, j, MAX_CAME)
                if came is not None:
                    i, j = i + went, j + came
                    break
            else:
                is_end = len(before) - i <= MAX_REPLACED
                return np.array(runs, np.int64) if is_end else None
    return None


def _steps_to(one: Hashable, others: Sequence[Hashable], start: int, n: int) -> int | None:
    """Return how many steps behind a place an object stands; None where it is in none of some."""
    try:
        return others.index(one, start, start + n) - start
    except ValueError:
        return None


def change_of_numbers(
    before: Sequence[NDArray[Any]], after: Sequence[NDArray[Any]], gone: Mask | None = None
) -> RowChange:
    """Return how the rows changed that have these numbers; several rows may have the same.

    Where little changed, that takes as long as comparing the columns.

    Args:
        before: The columns before: integers [n] each.
        after: The columns now: integers [m] each.
        gone: bool [n], which rows before are gone in any case; None for none.

    Example:
        >>> change = change_of_numbers([np.array([7, 5, 5])], [np.array([7, 5, 8, 5])])
        >>> change.gone, change.new
        (array([], dtype=int64), array([2]))
    """
    n_before, n_after, there = len(before[0]), len(after[0]), None
    if gone is not None and np.count_nonzero(gone) > MAX_RUNS:
        there, gone = np.flatnonzero(~gone), None
        before = [column[there] for column in before]
    left = _Left.of(before, gone)
    head = left.common_length(0, after, 0)
    tail = left.common_end(head, after)
    inner = _found_in_runs(left, after, head, tail)
    is_exact = inner is not None
    if inner is None:
        middle = left.between(head, left.n - tail), [c[head : n_after - tail] for c in after]
        inner = _found_by_sorting(*map(_keys, middle))
        inner[:, :2] += head
    ends = [(0, 0, head)], [(left.n - tail, n_after - tail, tail)]
    runs = np.concatenate([ends[0], inner, ends[1]]).astype(np.int64)
    change = RowChange(left.n, n_after, runs[runs[:, 2] > 0], is_exact)
    if there is not None:
        change = RowChange.of_rows(n_before, n_after, there[change.kept_before], change.kept_after)
        return replace(change, is_exact=is_exact)
    return RowChange(n_before, n_after, left.runs_of_all(change.runs), is_exact)


@dataclass(frozen=True, eq=False)
class _Left:
    """The rows of columns without those that are gone, of which no column is copied.

    Attributes:
        columns: The columns, with the rows that are gone.
        starts: int64 [spans], where each span of rows that are left starts in the columns.
        bounds: int64 [spans + 1], where each span starts among the rows that are left, and where
            the last one ends.
    """

    columns: Sequence[NDArray[Any]]
    starts: Places
    bounds: Places

    @classmethod
    def of(cls, columns: Sequence[NDArray[Any]], gone: Mask | None) -> _Left:
        """Return the rows of columns without those that are gone, bool [n]; None for none."""
        ends = np.append(np.flatnonzero(gone) if gone is not None else [], len(columns[0]))
        starts = np.append(0, ends[:-1] + 1).astype(np.int64)
        lengths = ends.astype(np.int64) - starts
        spans = lengths > 0
        return cls(columns, starts[spans], np.append(0, np.cumsum(lengths[spans])))

    @property
    def n(self) -> int:
        """How many rows are left."""
        return int(self.bounds[-1])

    def place(self, row: int) -> int:
        """Return where a row that is left is in the columns."""
        span = int(np.searchsorted(self.bounds, row, side="right")) - 1
        return int(self.starts[span]) + row - int(self.bounds[span])

    def spans(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield the spans of the rows that are left from one on, and before another.

        Each is its first row among those that are left, that in the columns, and its length.
        """
        span = int(np.searchsorted(self.bounds, start, side="right")) - 1
        while start < end:
            n = min(int(self.bounds[span + 1]), end) - start
            yield start, int(self.starts[span]) + start - int(self.bounds[span]), n
            start, span = start + n, span + 1

    def common_length(self, row: int, after: Sequence[NDArray[Any]], now: int) -> int:
        """Return how many rows from one on are those of other columns from a row on."""
        most = min(self.n - row, len(after[0]) - now)
        for start, place, n in self.spans(row, row + most):
            at = now + start - row
            own, others = _cut(self.columns, place, n), _cut(after, at, n)
            same = _common_length(own, others)
            if same < n:
                return start - row + same
        return max(most, 0)

    def common_end(self, head: int, after: Sequence[NDArray[Any]]) -> int:
        """Return how many rows at the end are those of other columns, behind the first ones."""
        most = min(self.n, len(after[0])) - head
        end, now = self.n, len(after[0])
        for start, place, n in reversed(list(self.spans(end - most, end))):
            at = now - (end - start)
            own, others = _cut(self.columns, place, n), _cut(after, at, n)
            same = _common_length([c[::-1] for c in own], [c[::-1] for c in others])
            if same < n:
                return end - start - n + same
        return max(most, 0)

    def between(self, start: int, end: int) -> list[NDArray[Any]]:
        """Return the columns of the rows that are left from one on, and before another."""
        parts = [(place, place + n) for _, place, n in self.spans(start, end)]
        return [
            np.concatenate([column[:0], *(column[a:b] for a, b in parts)])
            for column in self.columns
        ]

    def runs_of_all(self, runs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return runs of rows that are left as runs of rows of the columns, which end at a gap."""
        found = [
            (place, now + first - start, length)
            for start, now, n in runs.tolist()
            for first, place, length in self.spans(start, start + n)
        ]
        return np.array(found, np.int64).reshape(-1, 3)


def _cut(columns: Sequence[NDArray[Any]], start: int, n: int) -> list[NDArray[Any]]:
    return [column[start : start + n] for column in columns]


def _keys(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return a number for every row, the same for the same row.

    Two rows may have one number by chance. Then one is written as the other, with new values.
    """
    first, *others = (column.astype(np.uint64) for column in columns)
    for column in others:
        first = first * np.uint64(0x9E3779B97F4A7C15) + column
    return first


def _found_in_runs(
    before: _Left, after: Sequence[NDArray[Any]], head: int, tail: int
) -> NDArray[np.int64] | None:
    """Return the runs of rows that stayed where little changed; None where much did.

    Sorting all rows to find the few that came takes longer than all else that is saved of these.

    Args:
        before: The rows before.
        after: The columns now.
        head: How many rows at the beginning are not looked at.
        tail: How many at the end.
    """
    runs: list[tuple[int, int, int]] = []
    n_before, n_after = before.n - tail, len(after[0]) - tail
    after = [column[:n_after] for column in after]
    i = j = head
    for _ in range(MAX_RUNS):
        same = min(before.common_length(i, after, j), n_before - i)
        runs.append((i, j, same))
        i, j = i + same, j + same
        if i == n_before or j == n_after:
            return np.array(runs, np.int64)
        step = _step_to_kept(before, after, i, j, n_before)
        if step is None:
            return np.array(runs, np.int64) if n_before - i < MAX_REPLACED else None
        i, j = i + step[0], j + step[1]
    return None


def _step_to_kept(
    before: _Left, after: Sequence[NDArray[Any]], i: int, j: int, n_before: int
) -> tuple[int, int] | None:
    """Return how many rows went, and came, until the next one that stayed; None where none is near.

    It is the nearest one. Behind a row that moved far back all rows stayed, and behind one that
    moved far forwards, too: what moved went and came, and not all that it passed.

    Args:
        before: The rows before.
        after: The columns now.
        i: The first row before that is looked at.
        j: The first row now.
        n_before: Where the rows before end that are looked at.
    """
    for size in (MAX_REPLACED, WINDOW):  # most are near
        then = before.between(i, min(i + size, n_before))
        now = [column[j : j + size] for column in after]
        found, nearest = None, size
        gone = np.flatnonzero(_like(now, 0, then))
        if len(gone):
            found, nearest = (int(gone[0]), 0), int(gone[0])
        for went in range(min(MAX_REPLACED, len(then[0]))):
            if went >= nearest:
                break
            came = np.flatnonzero(_like(then, went, [one[: nearest - went] for one in now]))
            if len(came):
                found, nearest = (went, int(came[0])), went + int(came[0])
        if found is not None:
            return found
    return None


def _like(before: Sequence[NDArray[Any]], row: int, after: Sequence[NDArray[Any]]) -> Mask:
    """Return which rows now are like one row before."""
    alike = np.ones(len(after[0]), np.bool_)
    for one, other in zip(before, after, strict=True):
        alike &= other == one[row]
    return alike


def _common_length(before: Sequence[NDArray[Any]], after: Sequence[NDArray[Any]]) -> int:
    """Return how many rows two tables have in common at their beginning."""
    n = min(len(before[0]), len(after[0]))
    for one, other in zip(before, after, strict=True):
        start, size = 0, WINDOW
        while start < n:
            end = min(start + size, n)
            unequal = one[start:end] != other[start:end]
            if unequal.any():
                n = start + int(unequal.argmax())
            start, size = end, 2 * size
    return n


def _found_by_sorting(before: NDArray[Any], after: NDArray[Any]) -> NDArray[np.int64]:
    """Return the runs of rows that stayed, the first of equal ones for the first."""
    order_before = np.argsort(before, kind="stable")
    order_after = np.argsort(after, kind="stable")
    keys, wanted = before[order_before], after[order_after]
    repeat = np.arange(len(wanted)) - np.searchsorted(wanted, wanted)  # of a key that comes again
    at = np.searchsorted(keys, wanted) + repeat
    matches = at < len(keys)
    matches[matches] = keys[at[matches]] == wanted[matches]
    found = np.full(len(after), -1, np.int64)
    found[order_after[matches]] = order_before[at[matches]]
    return _in_order(len(before), found).runs


def _in_order(n_before: int, found: Places) -> RowChange:
    """The change that keeps as many of the rows found as there are in their order."""
    rows = np.flatnonzero(found >= 0)
    places = found[rows]
    bounds = runs_of(places)
    kept = np.zeros(0, np.int64)
    if len(bounds) > MAX_SORTED_RUNS:  # each that is behind all before it
        kept = np.flatnonzero(places > np.append(-1, np.maximum.accumulate(places)[:-1]))
    elif len(bounds) > 1:
        starts, lengths = places[bounds[:-1]], np.diff(bounds)
        chosen = _heaviest_ascending(starts.tolist(), lengths.tolist())
        kept = expand_ranges(bounds[chosen], lengths[chosen])
    return RowChange.of_rows(n_before, len(found), places[kept], rows[kept])


def _heaviest_ascending(starts: Sequence[int], lengths: Sequence[int]) -> list[int]:
    """Return which ranges are the longest together of those that ascend; no two have a number both.

    Example:
        >>> _heaviest_ascending([0, 9, 3], [3, 1, 5])
        [0, 2]
    """
    ends, totals, last = list[int](), list[int](), list[int]()  # of chains: all ascend
    before = list[int]()  # the range before each in its chain, or -1
    for i, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        place = bisect_left(ends, start)
        total = length + (totals[place - 1] if place else 0)
        before.append(last[place - 1] if place else -1)
        end = start + length - 1
        first = bisect_left(ends, end)
        if first and totals[first - 1] >= total:
            continue
        behind = bisect_right(totals, total, lo=first)
        ends[first:behind], totals[first:behind], last[first:behind] = [end], [total], [i]
    chain, i = list[int](), last[-1] if last else -1
    while i >= 0:
        chain.append(i)
        i = before[i]
    return chain[::-1]


def _others(rows: Places, n: int) -> Mask:
    mask = np.ones(n, np.bool_)
    mask[rows] = False
    return mask


def write_row_change(writer: ColumnWriter, table: str, change: RowChange) -> None:
    """Write which rows went and where new ones are."""
    writer.numbers(f"{table}.gone", change.gone, np.int32)
    writer.numbers(f"{table}.new", change.new, np.int32)
