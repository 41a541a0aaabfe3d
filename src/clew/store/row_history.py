"""The rows of a table through many changes, each row with a number that it keeps.

Between two changes most rows stay beside their neighbours. So the numbers are kept as runs of
consecutive ones: a change costs as much as there are runs, and not as many rows as there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Mask, Rows, distinct, expand_ranges, freeze, offsets_of
from clew.store.row_changes import rows_between
from clew.store.tables import ColumnReader, ColumnWriter

Places = NDArray[np.int64]

MIN_LOOKED_UP = 16
"""Of more than one in so many rows the numbers are read off a list of all of them."""


class RowHistory:
    """The rows of a table through changes, each with a number that it keeps.

    The rows at the beginning are numbered from 0, and new ones in the order in which they come.

    Attributes:
        n: How many rows there were at the beginning.
        total: How many rows there ever were.

    Example:
        >>> from clew.store.row_changes import change_of_objects, write_row_change
        >>> writer, history = ColumnWriter(), RowHistory(3)
        >>> write_row_change(writer, "t", change_of_objects("abc", "adc"))
        >>> history.follow(ColumnReader(writer.done().__getitem__), "t")
        range(3, 4)
        >>> history.numbers
        array([0, 3, 2], dtype=int32)
    """

    def __init__(self, n: int) -> None:
        self.n = self.total = n
        self._runs = _Runs.of([(0, n)])

    @property
    def numbers(self) -> Rows:
        """The number of each row: int32 [rows now]."""
        return self._runs.numbers

    @property
    def now(self) -> Rows:
        """For every number, the row that has it now, or -1: int32 [total]."""
        return self._runs.rows_of_all(self.total)

    def follow(self, reader: ColumnReader, table: str) -> range:
        """Take the next change, and return the numbers of the rows that are new.

        Raises:
            ValueError: The change is of other rows.
        """
        n = len(self._runs)
        gone = _ascending(reader, f"{table}.gone", n)
        new = _ascending(reader, f"{table}.new", n - len(gone), past_end=True)
        came = range(self.total, self.total + len(new))
        self._runs, self.total = self._runs.without(gone).having(new, self.total), came.stop
        return came

    def keep(self, stays: Mask) -> None:
        """Let other rows go.

        Args:
            stays: bool [total], by number.
        """
        self._runs = self._runs.of_some(stays)

    def numbers_of(self, rows: NDArray[Any]) -> Rows:
        """Return the numbers of rows as they are now; -1 stays.

        Raises:
            ValueError: There is no such row.
        """
        n = len(self._runs)
        if len(rows) and not -1 <= rows.min() <= rows.max() < n:
            raise ValueError(f"a change points outside the {n} rows that there are")
        return freeze(np.where(rows >= 0, self._runs.at(rows), -1) if n else rows, np.int32)

    def write(self, writer: ColumnWriter, table: str, of: Mask | None = None) -> Rows:
        """Write all changes as one, in the columns of `clew.store.row_changes.write_row_change`.

        Args:
            writer: The writer.
            table: The name of the table.
            of: bool [n], the rows of the beginning that the change is of; None for all of them.

        Returns:
            The numbers of the rows that are new, in their order.
        """
        gone = rows_between(*self._runs.ranges_below(self.n), self.n)
        if of is not None:
            gone = np.cumsum(of)[gone[of[gone]]] - 1
        new, numbers = self._runs.from_number(self.n)
        writer.numbers(f"{table}.gone", gone, np.int32)
        writer.numbers(f"{table}.new", new, np.int32)
        return freeze(numbers, np.int32)


@dataclass(frozen=True, eq=False)
class _Runs:
    """Distinct numbers in an order, as runs of consecutive ones.

    Attributes:
        firsts: int64 [runs], the first number of each run.
        lengths: int64 [runs], how many it has, at least 1.
    """

    firsts: Places
    lengths: Places

    @classmethod
    def of(cls, ranges: list[tuple[int, int]]) -> _Runs:
        """Return the runs of ranges, each a first number and a length."""
        firsts, lengths = np.array(ranges, np.int64).reshape(-1, 2).T
        return cls(firsts[lengths > 0], lengths[lengths > 0])

    @cached_property
    def starts(self) -> Places:
        """Where each run begins, and where the last one ends."""
        return offsets_of(self.lengths)

    def __len__(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def numbers(self) -> Rows:
        """All numbers: int32."""
        return freeze(expand_ranges(self.firsts, self.lengths), np.int32)

    def at(self, places: NDArray[Any]) -> NDArray[np.integer]:
        """Return the numbers at some places; that of the last one at -1."""
        if "numbers" in self.__dict__ or MIN_LOOKED_UP * len(places) > len(self):
            read_off: Rows = self.numbers[places]
            return read_off
        runs = np.searchsorted(self.starts, places, side="right") - 1
        numbers: Places = self.firsts[runs] + places - self.starts[runs]
        return numbers

    def rows_of_all(self, total: int) -> Rows:
        """Return the place of every number below a total, or -1."""
        if "_rows" not in self.__dict__:
            rows = np.full(total, -1, np.int32)
            rows[self.numbers] = np.arange(len(self), dtype=np.int32)
            self.__dict__["_rows"] = freeze(rows, np.int32)
        known: Rows = self.__dict__["_rows"]
        return known

    def without(self, gone: Places) -> _Runs:
        """Return the numbers without those at some places, which ascend."""
        if not len(gone):
            return self
        begins, runs = self._cut(np.concatenate([gone, gone + 1]))
        stays = np.ones(len(begins), np.bool_)
        stays[np.searchsorted(begins, gone)] = False
        return runs.taken(stays)

    def having(self, places: Places, first: int) -> _Runs:
        """Return the numbers with others between them, from a first one on.

        Args:
            places: Where the others are then, ascending.
            first: The number of the first of them.
        """
        if not len(places):
            return self
        before = places - np.arange(len(places))  # how many of the numbers are before each
        heads = np.flatnonzero(np.diff(before, prepend=-1))
        begins, runs = self._cut(before[heads])
        at = np.searchsorted(begins, before[heads])
        return _Runs(
            np.insert(runs.firsts, at, first + heads),
            np.insert(runs.lengths, at, np.diff(heads, append=len(places))),
        )

    def of_some(self, stays: Mask) -> _Runs:
        """Return the numbers that stay: bool, by number."""
        ends = self.firsts + self.lengths
        turns = np.flatnonzero(np.diff(stays)) + 1  # the first number of each that is not as before
        order = np.argsort(self.firsts)
        run = order[np.searchsorted(self.firsts[order], turns, side="right") - 1]
        is_inside = (self.firsts[run] < turns) & (turns < ends[run]) if len(run) else turns > 0
        run, turns = run[is_inside], turns[is_inside]
        _, runs = self._cut(self.starts[run] + turns - self.firsts[run])
        return runs.taken(stays[runs.firsts])

    def ranges_below(self, n: int) -> tuple[Places, Places]:
        """Return the firsts and the lengths of the runs below a number, by number."""
        of_beginning = self.firsts < n
        order = np.argsort(self.firsts[of_beginning])
        return self.firsts[of_beginning][order], self.lengths[of_beginning][order]

    def from_number(self, n: int) -> tuple[Places, Places]:
        """Return the places of the numbers from one on, and these numbers."""
        chosen = self.firsts >= n
        lengths = self.lengths[chosen]
        starts = self.starts[:-1][chosen]
        return expand_ranges(starts, lengths), expand_ranges(self.firsts[chosen], lengths)

    def taken(self, stays: Mask) -> _Runs:
        """Return some of the runs."""
        return _Runs(self.firsts[stays], self.lengths[stays])

    def _cut(self, places: Places) -> tuple[Places, _Runs]:
        """Return the same numbers in more runs: some places have one that begins there.

        Returns:
            Where each run begins; the runs.
        """
        bounds = distinct(np.concatenate([self.starts, places]))
        begins = bounds[:-1]
        runs = np.searchsorted(self.starts, begins, side="right") - 1
        return begins, _Runs(self.firsts[runs] + begins - self.starts[runs], np.diff(bounds))


def _ascending(reader: ColumnReader, name: str, n: int, past_end: bool = False) -> Places:
    """Return a column of distinct rows, ascending; of those that come, n others are there."""
    rows = reader.numbers(name).astype(np.int64)
    n += len(rows) if past_end else 0
    if len(rows) and not (rows[0] >= 0 and rows[-1] < n and (np.diff(rows) > 0).all()):
        raise ValueError(f"{name} points outside the {n} rows that there are")
    return rows
