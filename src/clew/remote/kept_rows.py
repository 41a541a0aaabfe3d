"""Rows of an index that were read before, kept by whoever asks it, up to a number of bytes.

A row is kept under its number, and holds for one version of one index. Where the index was written
since, the rows that were changed are forgotten, if the database still says which; else all are.
What is kept says nothing of who may read it: whoever asks under a filter lets the database allow
each number first.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Generic, Protocol, TypeVar

import numpy as np

from clew.graph import Rows
from clew.remote.kept_columns import KeptColumns, Places, RowBlock

MAX_BYTES = 256 * 2**20
"""Bytes of rows that one `RemoteIndex` keeps: of vectors with 768 numbers, some 50,000 passages."""

LEFT = 0.9  # of the bytes, after the oldest have been forgotten
MAX_SPAN = 1_000_000  # of numbers that are looked up in an array; of more, in a dictionary
NOWHERE = np.full(2, -1, np.int64)


class Measured(Protocol):
    """What is kept of a node, whatever it is."""

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        ...


Row = TypeVar("Row", bound=Measured)


class KeptValues(Generic[Row]):
    """Values that are kept of nodes, by their numbers; threads share them.

    Args:
        max_bytes: How many bytes are kept at most.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._rows: dict[int, Row] = {}
        self._last_use: dict[int, int] = {}
        self._bytes = self._turn = 0
        self._lock = threading.Lock()

    def get(self, numbers: Sequence[int]) -> dict[int, Row]:
        """Return the values of these nodes that are kept."""
        rows = self._rows
        found = {number: row for number in numbers if (row := rows.get(number)) is not None}
        with self._lock:
            self._turn += 1
            self._last_use.update(zip(found, repeat(self._turn)))
        return found

    def put(self, rows: Mapping[int, Row]) -> None:
        """Keep values; those that were used longest ago go where there are too many bytes."""
        with self._lock:
            self._turn += 1
            for number, row in rows.items():
                before = self._rows.get(number)
                self._bytes += row.size - (0 if before is None else before.size)
                self._rows[number] = row
                self._last_use[number] = self._turn
            if self._bytes > self._max_bytes:
                self._forget_oldest()

    def _forget_oldest(self) -> None:
        kept = dict(self._rows)  # readers go on with the dictionary that they have
        for number in sorted(kept, key=lambda one: self._last_use.get(one, 0)):
            self._bytes -= kept.pop(number).size
            if self._bytes <= LEFT * self._max_bytes:
                break
        self._rows = kept
        self._last_use = {number: self._last_use.get(number, 0) for number in kept}

    def without(self, numbers: Iterable[int]) -> KeptValues[Row]:
        """Return the values of all other nodes."""
        others = KeptValues[Row](self._max_bytes)
        with self._lock:
            rows = dict(self._rows)
        for number in numbers:
            rows.pop(number, None)
        others.put(rows)
        return others

    @property
    def bytes(self) -> int:
        """About how many bytes are kept."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._rows)


class _Lookup:
    """Where rows are, by numbers that are not far apart: looked up in one array.

    Args:
        first: The number of the first slot.
        slots: int64, where the row of each number is, -1 for none, and -1 at both ends; None where
            the numbers are too far apart.
    """

    def __init__(self, first: int = 0, slots: Places | None = NOWHERE) -> None:
        self._first, self._slots = first, slots

    def places(self, numbers: Rows) -> Places | None:
        """Return the places of some rows; None where the numbers are too far apart."""
        if self._slots is None:
            return None
        return self._slots.take(numbers.astype(np.int64) - self._first, mode="clip")

    def with_places(self, numbers: Places, places: Places) -> _Lookup:
        """Return what has other rows, too; who looks others up meanwhile may see them already."""
        if self._slots is None or not len(numbers):
            return self
        lowest, highest = int(numbers.min()), int(numbers.max())
        first, end = self._first + 1, self._first + len(self._slots) - 1
        if first <= lowest and highest < end:
            self._slots[numbers - self._first] = places
            return self
        if first < end:
            lowest, highest = min(lowest, first), max(highest, end - 1)
        room = (highest - lowest) // 2  # for more
        begin, n_slots = lowest - room - 1, highest - lowest + 2 * room + 3
        if n_slots > MAX_SPAN:
            return _Lookup(0, None)
        slots = np.full(n_slots, -1, np.int64)
        if first < end:
            slots[first - begin : end - begin] = self._slots[1:-1]
        slots[numbers - begin] = places
        return _Lookup(begin, slots)


class KeptTable:
    """Where the rows of some nodes are in columns.

    A question goes on with the table that it has begun with, also where the rows that are kept have
    become others.

    Args:
        columns: The columns, which several versions may share.
        places: Where the rows are that are there, by the numbers of their nodes.
    """

    def __init__(self, columns: KeptColumns, places: Mapping[int, int]) -> None:
        self.columns = columns
        self._places = dict(places)
        self._lookup = _Lookup()
        if self._places:
            numbers = np.fromiter(self._places, np.int64, len(self._places))
            own = np.fromiter(self._places.values(), np.int64, len(numbers))
            self._lookup = self._lookup.with_places(numbers, own)

    def places(self, numbers: Rows) -> Places:
        """Return where the rows of nodes are; -1 for one that is not there."""
        found = self._lookup.places(numbers)
        if found is None:
            known = map(self._places.get, numbers.tolist(), repeat(-1))
            found = np.fromiter(known, np.int64, len(numbers))
        self.columns.use(found[found >= 0])
        return found

    def put(self, numbers: Rows, block: RowBlock) -> None:
        """Add the rows of nodes; one that is there already stays.

        Args:
            numbers: int32 [n], the nodes.
            block: Their rows.
        """
        with self.columns.lock:
            is_new = self.places(numbers) < 0
            if not is_new.all():
                rows = np.flatnonzero(is_new)
                numbers, block = numbers[rows], block.taken(rows)
            places = self.columns.append(block)
            # First: what `numbers` has can be looked up, also by another thread.
            self._lookup = self._lookup.with_places(numbers.astype(np.int64), places)
            self._places.update(zip(numbers.tolist(), places.tolist(), strict=True))

    def without(self, numbers: Iterable[int]) -> KeptTable:
        """Return the table without some nodes; what was in their rows may be read no more."""
        places = dict(self._places)
        for number in numbers:
            places.pop(number, None)
        return KeptTable(self.columns, places)

    def newest(self, max_bytes: float) -> KeptTable:
        """Return a table of those rows alone that were used last, as many as the bytes hold."""
        with self.columns.lock:
            numbers = np.fromiter(self._places, np.int64, len(self._places))
            places = np.fromiter(self._places.values(), np.int64, len(numbers))
            chosen = self.columns.newest_places(places, max_bytes)
            order = np.argsort(places)
            own = numbers[order[np.searchsorted(places[order], chosen)]].tolist()
            return KeptTable(self.columns.copied(chosen), {one: i for i, one in enumerate(own)})

    @property
    def numbers(self) -> list[int]:
        """The nodes whose rows are there."""
        return list(self._places)

    def __len__(self) -> int:
        return len(self._places)


class RowsOfVersion:
    """The rows that are kept of one version of one index; threads share them.

    Args:
        index: The number of the index.
        version: Its version.
        kinds: The kinds of its nodes and edges.
        max_bytes: How many bytes are kept at most.
        table: What is kept already.
    """

    def __init__(
        self, index: int, version: int, kinds: Sequence[str], max_bytes: int, table: KeptTable
    ) -> None:
        self.index, self.version, self.kinds = index, version, tuple(kinds)
        self._max_bytes = max_bytes
        self.table = table
        self._lock = threading.Lock()

    def put(self, table: KeptTable, numbers: Rows, block: RowBlock) -> None:
        """Keep rows; those that were used longest ago go where there are too many bytes.

        Args:
            table: What the question has begun with, which gets the rows in any case.
            numbers: int32 [n], the nodes.
            block: Their rows.
        """
        table.put(numbers, block)
        with self._lock:
            if table is self.table and table.columns.bytes > self._max_bytes:
                self.table = table.newest(LEFT * self._max_bytes)

    @property
    def bytes(self) -> int:
        """About how many bytes are kept."""
        return self.table.columns.bytes

    def __len__(self) -> int:
        return len(self.table)

    def after(self, version: int, kinds: Sequence[str], changed: Iterable[int]) -> RowsOfVersion:
        """Return the rows of a later version, of which some nodes have changed.

        Args:
            version: The later version.
            kinds: Its kinds of nodes and edges.
            changed: The numbers of the nodes.
        """
        table = self.table.without(changed)
        return RowsOfVersion(self.index, version, kinds, self._max_bytes, table)


class KeptRows:
    """The rows that are kept of the newest version that was asked.

    Args:
        max_bytes: How many bytes are kept at most.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self.newest: RowsOfVersion | None = None

    def of(self, index: int, version: int) -> RowsOfVersion | None:
        """Return the rows of exactly this version of exactly this index; None where none are."""
        newest = self.newest
        is_it = newest is not None and (newest.index, newest.version) == (index, version)
        return newest if is_it else None

    def begin(
        self,
        index: int,
        version: int,
        kinds: Sequence[str],
        dimension: int,
        changed: Iterable[int] | None,
    ) -> RowsOfVersion:
        """Return the rows of a version that was not asked before.

        An older one than the newest has rows of its own, which are not kept.

        Args:
            index: The number of the index.
            version: The version.
            kinds: Its kinds of nodes and edges.
            dimension: The width of its vectors.
            changed: The nodes that changed since the newest version; None where nobody knows.
        """
        newest = self.newest
        rows = no_rows(index, version, kinds, dimension, self.max_bytes)
        if (
            newest is not None
            and (newest.index, newest.table.columns.dimension) == (index, dimension)
            and changed is not None
        ):
            rows = newest.after(version, kinds, changed)
        if newest is None or newest.index != index or newest.version < version:
            self.newest = rows
        return rows


def no_rows(
    index: int, version: int, kinds: Sequence[str], dimension: int, max_bytes: int
) -> RowsOfVersion:
    """Return the rows of a version of which nothing is kept yet; see `RowsOfVersion`."""
    return RowsOfVersion(index, version, kinds, max_bytes, KeptTable(KeptColumns(dimension), {}))
