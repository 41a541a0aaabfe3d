"""The columns of a table through changes, each as `difference` returned it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Mask, Ragged, Rows, distinct
from clew.store.column_kinds import ColumnKind
from clew.store.graph_tables import EDGES, NODES
from clew.store.late_edges import read_late_edges
from clew.store.row_history import RowHistory
from clew.store.tables import Arrays, ColumnReader, ColumnWriter

Tables = Mapping[str, "TableHistory"]


def follow_changes(
    tables: Tables, readers: Sequence[ColumnReader], changes: Sequence[Arrays]
) -> tuple[list[Rows], dict[str, int]]:
    """Let the tables of a graph follow changes.

    Args:
        tables: The tables before the first change.
        readers: Read the changes.
        changes: The changes.

    Returns:
        For each change the numbers of the nodes that have the own vectors of documents which came,
        or -1; and where the edges of a kind belong that the last change leaves out.

    Raises:
        ValueError, IndexError: The arrays do not fit together.
    """
    vectors, late = list[Rows](), dict[str, int]()
    for reader, arrays in zip(readers, changes, strict=True):
        before, late = late, read_late_edges(reader, arrays)
        if new := late.keys() - before.keys():
            tables[EDGES].leave_out("kinds", new)
        came = {table: history.rows.follow(reader, table) for table, history in tables.items()}
        for table, history in tables.items():
            history.follow(table, reader, arrays, came[table], tables)
        vectors.append(tables[NODES].rows.numbers_of(reader.numbers("documents.vector")))
    return vectors, late


class TableHistory:
    """The columns of a table through changes.

    A value is at a place in the parts of its column, one part behind the other: first the values
    of the beginning, then those of each change.

    Args:
        kinds: The kinds of its columns, by name.
        n: How many rows it has before the first change.
        columns: The columns before the first change: for `columns` all of them, for `leave_out` the
            one that is looked at.

    Attributes:
        rows: Its rows through the changes.
        n: As above.
    """

    def __init__(self, kinds: Mapping[str, ColumnKind], n: int, columns: Mapping[str, Any]) -> None:
        self.rows = RowHistory(n)
        self.n, self._kinds, self._first = n, kinds, columns
        self._parts: dict[str, list[Any]] = {name: [] for name in kinds}
        self._empty: dict[str, Any] = {}  # a part without rows
        self._lengths = dict.fromkeys(kinds, n)
        self._places: dict[str, list[tuple[Rows, int]]] = {name: [] for name in kinds}

    def follow(
        self,
        table: str,
        reader: ColumnReader,
        arrays: Arrays,
        came: range,
        tables: Tables,
    ) -> None:
        """Take the values of the next change, whose rows have been followed in all tables."""
        for name, kind in self._kinds.items():
            part = kind.read(reader, f"{table}.{name}")
            changed = f"{table}.{name}.changed"
            numbers = np.arange(came.start, came.stop, dtype=np.int32)
            if changed in arrays:
                of_changed = self.rows.numbers_of(reader.numbers(changed))
                numbers = np.concatenate([numbers, of_changed])
            if len(part) != len(numbers):
                raise ValueError(f"{table}.{name} has {len(part)} values for {len(numbers)} rows")
            if not len(numbers):
                self._empty[name] = part
                continue
            if kind.table:
                part = _with_numbers(part, tables[kind.table].rows)
            self._parts[name].append(part)
            self._places[name].append((numbers, self._lengths[name]))
            self._lengths[name] += len(part)

    def leave_out(self, name: str, words: Collection[str]) -> None:
        """Let the rows go that have one of some words in a column of labels."""
        stays = np.ones(self.rows.total, np.bool_)
        stays[: self.n] = ~self._first[name].mask(*words)
        for part, (numbers, _) in zip(self._parts[name], self._places[name], strict=True):
            stays[numbers] = ~part.mask(*words)
        self.rows.keep(stays)

    def replaced(self, *names: str) -> Mask:
        """Return which rows of the beginning have got another value in some columns: bool [n]."""
        found = np.zeros(self.n, np.bool_)
        for name in names:
            found[self._changed(name)] = True
        return found

    def write(
        self, writer: ColumnWriter, table: str, tables: Tables, of: Mask | None = None
    ) -> None:
        """Write all changes as one, in the columns of `clew.store.difference`.

        Args:
            writer: The writer.
            table: The name of the table.
            tables: All tables.
            of: bool [n], the rows of the beginning that the change is of; None for all of them.
        """
        new, now = self.rows.write(writer, table, of), self.rows.now
        for name, kind in self._kinds.items():
            changed = self._changed(name)
            changed = changed[now[changed] >= 0]
            places = self._places_of_some(name, np.concatenate([new, changed]))
            parts = self._parts[name] or [self._empty[name]]
            column = kind.gather(parts, places)
            if kind.table:
                column = kind.renumbered(column, tables[kind.table].rows.now)
            kind.write(writer, f"{table}.{name}", column, ())
            if len(changed):
                writer.numbers(f"{table}.{name}.changed", now[changed], np.int32)

    def columns(self, tables: Tables) -> dict[str, Any]:
        """Return the columns of the rows that there are in the end."""
        return {name: self._column(name, kind, tables) for name, kind in self._kinds.items()}

    def _column(self, name: str, kind: ColumnKind, tables: Tables) -> Any:  # noqa: ANN401  # its own
        parts = [self._first[name], *self._parts[name]]
        column = kind.gather(parts, self._places_of(name)[self.rows.numbers])
        return kind.renumbered(column, tables[kind.table].rows.now) if kind.table else column

    def _changed(self, name: str) -> Rows:
        """Return the rows of the beginning that have got another value in a column, ascending."""
        changed = [numbers[numbers < self.n] for numbers, _ in self._places[name]]
        return distinct(np.concatenate([np.zeros(0, np.int32), *changed]))

    def _places_of_some(self, name: str, numbers: Rows) -> NDArray[np.int64]:
        """Return where the last values of some rows are in the parts behind the beginning.

        Args:
            name: The column.
            numbers: The numbers of the rows, each of which has come or changed.
        """
        places = np.zeros(len(numbers), np.int64)
        if len(numbers):
            written = np.concatenate([those for those, _ in self._places[name]])
            order = np.argsort(numbers)
            at = order[np.searchsorted(numbers, written, sorter=order).clip(max=len(order) - 1)]
            found = np.flatnonzero(numbers[at] == written)
            places[at[found]] = found  # of several values of one row, the last
        return places

    def _places_of(self, name: str) -> NDArray[np.int64]:
        """Return where the last value of every row is in the parts of a column, by its number."""
        places = np.arange(self.rows.total, dtype=np.int64)
        for numbers, start in self._places[name]:
            places[numbers] = np.arange(start, start + len(numbers))
        return places


def _with_numbers(part: Any, rows: RowHistory) -> Any:  # noqa: ANN401  # of the kind's own type
    """Return a column that refers to rows by the numbers that they keep."""
    if isinstance(part, Ragged):
        return Ragged(part.starts, rows.numbers_of(part.values))
    return rows.numbers_of(part)
