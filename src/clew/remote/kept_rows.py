"""Rows of an index that were read before, kept by whoever asks it, up to a number of bytes.

A row is kept under its number, and holds for one version of one index. Where the index was written
since, the rows that were changed are forgotten, if the database still says which; else all are.
What is kept says nothing of who may read it: whoever asks under a filter lets the database allow
each number first.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Generic, Protocol, TypeVar

MAX_BYTES = 256 * 2**20
"""Bytes of rows that one `RemoteIndex` keeps: of vectors with 768 numbers, some 50,000 passages."""

OVERHEAD = 700  # bytes that Python takes for a row beside what it holds
LEFT = 0.9  # of the bytes, after the oldest have been forgotten


class Measured(Protocol):
    """What is kept of a node, whatever it is."""

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        ...


Row = TypeVar("Row", bound=Measured)


@dataclass(frozen=True, slots=True)
class KeptRow:
    """What is kept of a node.

    Attributes:
        numbers: See `clew.remote.packed_rows`.
        neighbours: The strongest, the first of all first.
        has_others: Whether there are other neighbours.
        id: The node's.
        text: The node's.
        metadata: The node's, as JSON.
        links: The node's.
        fact_texts: Those of the facts in this row.
        relations: Of the same facts.
        vector: float32, little-endian; empty for none.
    """

    numbers: bytes
    neighbours: bytes
    has_others: bool
    id: str
    text: str
    metadata: str
    links: tuple[str, ...]
    fact_texts: Sequence[str]
    relations: Sequence[str]
    vector: bytes

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        texts = len(self.id) + len(self.text) + len(self.metadata)
        texts += sum(map(len, (*self.links, *self.fact_texts, *self.relations)))
        return OVERHEAD + len(self.numbers) + len(self.neighbours) + len(self.vector) + texts


class RowsOfVersion(Generic[Row]):
    """The rows that are kept of one version of one index; threads share them.

    Args:
        index: The number of the index.
        version: Its version.
        kinds: The kinds of its nodes and edges.
        max_bytes: How many bytes are kept at most.
        rows: What is kept already.
    """

    def __init__(
        self,
        index: int,
        version: int,
        kinds: Sequence[str],
        max_bytes: int,
        rows: Mapping[int, Row] | None = None,
    ) -> None:
        self.index, self.version, self.kinds = index, version, tuple(kinds)
        self._max_bytes = max_bytes
        self._rows: dict[int, Row] = dict(rows or {})
        self._last_use: dict[int, int] = dict.fromkeys(self._rows, 0)
        self._bytes = sum(row.size for row in self._rows.values())
        self._turn = 0
        self._lock = threading.Lock()

    def get(self, numbers: Sequence[int]) -> dict[int, Row]:
        """Return the rows of these nodes that are kept."""
        rows = self._rows
        found = {number: row for number in numbers if (row := rows.get(number)) is not None}
        with self._lock:
            self._turn += 1
            self._last_use.update(zip(found, repeat(self._turn)))
        return found

    def put(self, rows: Mapping[int, Row]) -> None:
        """Keep rows; those that were used longest ago go where there are too many bytes."""
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

    @property
    def bytes(self) -> int:
        """About how many bytes are kept."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._rows)

    def after(
        self, version: int, kinds: Sequence[str], changed: Iterable[int]
    ) -> RowsOfVersion[Row]:
        """Return the rows of a later version, of which some nodes have changed.

        Args:
            version: The later version.
            kinds: Its kinds of nodes and edges.
            changed: The numbers of the nodes.
        """
        with self._lock:
            rows = dict(self._rows)
        for number in changed:
            rows.pop(number, None)
        return RowsOfVersion(self.index, version, kinds, self._max_bytes, rows)


class KeptRows:
    """The rows that are kept of the newest version that was asked.

    Args:
        max_bytes: How many bytes are kept at most.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self.newest: RowsOfVersion[KeptRow] | None = None

    def of(self, index: int, version: int) -> RowsOfVersion[KeptRow] | None:
        """Return the rows of exactly this version of exactly this index; None where none are."""
        newest = self.newest
        is_it = newest is not None and (newest.index, newest.version) == (index, version)
        return newest if is_it else None

    def begin(
        self, index: int, version: int, kinds: Sequence[str], changed: Iterable[int] | None
    ) -> RowsOfVersion[KeptRow]:
        """Return the rows of a version that was not asked before.

        An older one than the newest has rows of its own, which are not kept.

        Args:
            index: The number of the index.
            version: The version.
            kinds: Its kinds of nodes and edges.
            changed: The nodes that changed since the newest version; None where nobody knows.
        """
        newest = self.newest
        if newest is not None and newest.index == index and changed is not None:
            rows = newest.after(version, kinds, changed)
        else:
            rows = RowsOfVersion(index, version, kinds, self.max_bytes)
        if newest is None or newest.index != index or newest.version < version:
            self.newest = rows
        return rows
