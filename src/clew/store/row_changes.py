"""Rows that come and go: what two lists of rows have in common, and a list after many changes.

A change keeps some rows in their order, and puts new ones anywhere between them. So a row that
moved forwards is one that went, and one that came.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Rows, freeze
from clew.store.tables import ColumnReader, ColumnWriter
from clew.store.text_column import TextColumn

Places = NDArray[np.int64]

MAX_RUNS = 1000  # of kept rows; of more, all are sorted
WINDOW = 16_384  # rows in which the next one that was kept is looked for
MAX_REPLACED = 64  # rows that went at one place


@dataclass(frozen=True, eq=False)
class RowChange:
    """How the rows of a table changed.

    Attributes:
        n_before: The number of rows before.
        n_after: The number of rows after.
        kept_before: The rows before that are still there, ascending.
        kept_after: Where they are now, ascending.
    """

    n_before: int
    n_after: int
    kept_before: Places
    kept_after: Places

    @property
    def gone(self) -> Places:
        """The rows before that are not there any more."""
        return _others(self.kept_before, self.n_before)

    @property
    def new(self) -> Places:
        """The rows that are new."""
        return _others(self.kept_after, self.n_after)

    @property
    def numbering(self) -> Rows:
        """For every row before, where it is now, or -1."""
        numbers = np.full(self.n_before, -1, np.int32)
        numbers[self.kept_before] = self.kept_after
        return numbers

    @property
    def is_everything_kept(self) -> bool:
        """Whether no row came or went."""
        return self.n_before == self.n_after == len(self.kept_before)


def change_of_objects(before: Sequence[Hashable], after: Sequence[Hashable]) -> RowChange:
    """Return how the rows changed that have distinct keys.

    Example:
        >>> change = change_of_objects(["a", "b", "c"], ["a", "c", "d"])
        >>> change.gone, change.new, change.numbering
        (array([1]), array([2]), array([ 0, -1,  1], dtype=int32))
    """
    if before is after or (isinstance(before, TextColumn) and before.begins(after)):
        rows = np.arange(len(after))
        return _in_order(len(before), np.where(rows < len(before), rows, -1))
    head = _common_beginning(before, after)
    place = {key: i for i, key in enumerate(before[head:], head)}
    others = np.array([place.get(key, -1) for key in after[head:]], np.int64)
    return _in_order(len(before), np.concatenate([np.arange(head), others]))


def _common_beginning(before: Sequence[Hashable], after: Sequence[Hashable]) -> int:
    """Return how many rows are the same at the beginning, by whole steps."""
    head = 0
    if type(before) is type(after) and isinstance(before, list | tuple):
        while head < len(before) and before[head : head + WINDOW] == after[head : head + WINDOW]:
            head += WINDOW
    return min(head, len(before), len(after))


def change_of_numbers(before: NDArray[Any], after: NDArray[Any]) -> RowChange:
    """Return how the rows changed that have these keys; several rows may have one.

    Args:
        before: int64 [n], with -1 for a row that is gone in any case.
        after: int64 [m], >= 0.

    Example:
        >>> change = change_of_numbers(np.array([7, -1, 5, 5]), np.array([7, 5, 8, 5]))
        >>> change.gone, change.new
        (array([1]), array([2]))
    """
    there = np.flatnonzero(before >= 0)
    left = before[there]
    n_same = min(len(left), len(after))
    unequal = np.flatnonzero(left[:n_same] != after[:n_same])
    head = int(unequal[0]) if len(unequal) else n_same
    n_same -= head
    backwards = np.flatnonzero(
        left[len(left) - n_same :][::-1] != after[len(after) - n_same :][::-1]
    )
    tail = int(backwards[0]) if len(backwards) else n_same
    middle = _found(left[head : len(left) - tail], after[head : len(after) - tail])
    found = np.concatenate(
        [
            np.arange(head),
            np.where(middle >= 0, middle + head, -1),
            np.arange(len(left) - tail, len(left)),
        ]
    )
    found = np.where(found >= 0, there[found], -1) if len(there) else np.full(len(after), -1)
    return _in_order(len(before), found)


def _found(before: NDArray[Any], after: NDArray[Any]) -> Places:
    """Where each key is among those before; -1 for none."""
    runs = _found_in_runs(before, after)
    return _found_by_sorting(before, after) if runs is None else runs


def _found_in_runs(before: NDArray[Any], after: NDArray[Any]) -> Places | None:
    """Return what `_found` returns where little changed, run by run; None where much did.

    Sorting all keys to find the few that came takes longer than all else that is saved of these.
    """
    found = np.full(len(after), -1, np.int64)
    i = j = 0
    for _ in range(MAX_RUNS):
        same = _common_length(before[i:], after[j:])
        found[j : j + same] = np.arange(i, i + same)
        i, j = i + same, j + same
        if i == len(before) or j == len(after):
            return found
        for went in range(MAX_REPLACED):
            if i + went == len(before):
                return found
            came = np.flatnonzero(after[j : j + WINDOW] == before[i + went])
            if len(came):
                i, j = i + went, j + int(came[0])
                break
        else:
            return None
    return None


def _common_length(one: NDArray[Any], other: NDArray[Any]) -> int:
    """Return how many rows two lists have in common at their beginning."""
    n, start, size = min(len(one), len(other)), 0, WINDOW
    while start < n:
        end = min(start + size, n)
        unequal = one[start:end] != other[start:end]
        if unequal.any():
            return start + int(unequal.argmax())
        start, size = end, 2 * size
    return n


def _found_by_sorting(before: NDArray[Any], after: NDArray[Any]) -> Places:
    """Where each key is among those before, the first with the first; -1 for none."""
    order_before = np.argsort(before, kind="stable")
    order_after = np.argsort(after, kind="stable")
    keys, wanted = before[order_before], after[order_after]
    repeat = np.arange(len(wanted)) - np.searchsorted(wanted, wanted)  # of a key that comes again
    at = np.searchsorted(keys, wanted) + repeat
    matches = at < len(keys)
    matches[matches] = keys[at[matches]] == wanted[matches]
    found = np.full(len(after), -1, np.int64)
    found[order_after[matches]] = order_before[at[matches]]
    return found


def _in_order(n_before: int, found: Places) -> RowChange:
    """The change that keeps those of the rows found that are behind all before them."""
    highest = np.maximum.accumulate(found) if len(found) else found
    behind = np.append(-1, highest[:-1])
    kept = np.flatnonzero(found > behind) if len(found) else np.zeros(0, np.int64)
    return RowChange(n_before, len(found), found[kept].astype(np.int64), kept)


def _others(rows: Places, n: int) -> Places:
    mask = np.ones(n, np.bool_)
    mask[rows] = False
    return np.flatnonzero(mask)


def write_row_change(writer: ColumnWriter, table: str, change: RowChange) -> None:
    """Write which rows went and where new ones are."""
    writer.numbers(f"{table}.gone", change.gone, np.int32)
    writer.numbers(f"{table}.new", change.new, np.int32)


class RowHistory:
    """The rows of a table through changes, each with a number that it keeps.

    The rows at the beginning are numbered from 0, and new ones in the order in which they come.

    Attributes:
        numbers: int32 [rows now], the number of each row.
        total: How many rows there ever were.

    Example:
        >>> writer, history = ColumnWriter(), RowHistory(3)
        >>> write_row_change(writer, "t", change_of_objects("abc", "adc"))
        >>> history.follow(ColumnReader(writer.done().__getitem__), "t")
        range(3, 4)
        >>> history.numbers
        array([0, 3, 2], dtype=int32)
    """

    def __init__(self, n: int) -> None:
        self.numbers: Rows = np.arange(n, dtype=np.int32)
        self.total = n

    def follow(self, reader: ColumnReader, table: str) -> range:
        """Take the next change, and return the numbers of the rows that are new.

        Raises:
            ValueError: The change is of other rows.
        """
        gone = _ascending(reader, f"{table}.gone", len(self.numbers))
        new = _ascending(reader, f"{table}.new", len(self.numbers) - len(gone), past_end=True)
        came = range(self.total, self.total + len(new))
        kept = self.numbers[_others(gone, len(self.numbers))]
        numbers = np.empty(len(kept) + len(new), np.int32)
        numbers[_others(new, len(numbers))] = kept
        numbers[new] = came
        self.numbers, self.total = numbers, came.stop
        return came

    def numbers_of(self, rows: NDArray[Any]) -> Rows:
        """Return the numbers of rows as they are now; -1 stays.

        Raises:
            ValueError: There is no such row.
        """
        if len(rows) and not -1 <= rows.min() <= rows.max() < len(self.numbers):
            raise ValueError(f"a change points outside the {len(self.numbers)} rows that there are")
        return freeze(
            np.where(rows >= 0, self.numbers[rows], -1) if len(self.numbers) else rows, np.int32
        )

    @property
    def now(self) -> Rows:
        """For every number, the row that has it now, or -1."""
        rows = np.full(self.total, -1, np.int32)
        rows[self.numbers] = np.arange(len(self.numbers))
        return rows


def _ascending(reader: ColumnReader, name: str, n: int, past_end: bool = False) -> Places:
    """Return a column of distinct rows, ascending; of those that come, n others are there."""
    rows = reader.numbers(name).astype(np.int64)
    n += len(rows) if past_end else 0
    if len(rows) and not (rows[0] >= 0 and rows[-1] < n and (np.diff(rows) > 0).all()):
        raise ValueError(f"{name} points outside the {n} rows that there are")
    return rows
