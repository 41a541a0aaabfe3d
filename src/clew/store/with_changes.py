"""A record of an index after changes, each as `difference` returned it.

All changes are followed at once: a column is put together a single time, however many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.nearest.hnsw import HNSW
from clew.graph import Edges, Facts, Graph, Labels, Ragged, Rows, freeze
from clew.read import Triple
from clew.store.column_kinds import ColumnKind
from clew.store.columns import (
    ATTACHED_NAMES,
    ATTACHED_TEXTS,
    StoredColumns,
    read_documents,
    read_triples,
)
from clew.store.file_readings import follow_readings
from clew.store.graph_tables import EDGES, FACTS, NODES, columns_of_table, graph_tables
from clew.store.inverted_index import carry_inverted_index, has_languages, read_languages
from clew.store.knowledge import follow_learnt
from clew.store.late_edges import read_late_edges, with_late_edges
from clew.store.row_changes import RowHistory
from clew.store.tables import Arrays, ColumnReader

Entry = TypeVar("Entry")


class _TableHistory:
    """The columns of a table through changes.

    A value is at a place in the parts of its column, one part behind the other: first the values
    of the beginning, then those of each change.
    """

    def __init__(self, columns: Mapping[str, Any], kinds: Mapping[str, ColumnKind], n: int) -> None:
        self.rows = RowHistory(n)
        self._n, self._kinds = n, kinds
        self._parts = {name: [column] for name, column in columns.items()}
        self._lengths = dict.fromkeys(columns, n)
        self._places: dict[str, list[tuple[Rows, int]]] = {name: [] for name in columns}

    def follow(
        self,
        table: str,
        reader: ColumnReader,
        arrays: Arrays,
        came: range,
        tables: Mapping[str, _TableHistory],
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
                continue
            if kind.table:
                part = _with_numbers(part, tables[kind.table].rows)
            self._parts[name].append(part)
            self._places[name].append((numbers, self._lengths[name]))
            self._lengths[name] += len(part)

    def leave_out(self, name: str, words: Collection[str]) -> None:
        """Let the rows go that have one of some words in a column of labels."""
        labels = self._parts[name][0].join(self._parts[name])
        stays = ~labels.mask(*words)[self._places_of(name)[self.rows.numbers]]
        self.rows.numbers = self.rows.numbers[stays]

    def columns(self, tables: Mapping[str, _TableHistory]) -> dict[str, Any]:
        """Return the columns of the rows that there are in the end."""
        return {name: self._column(name, kind, tables) for name, kind in self._kinds.items()}

    def _column(self, name: str, kind: ColumnKind, tables: Mapping[str, _TableHistory]) -> Any:  # noqa: ANN401  # of the kind's own type
        column = kind.gather(self._parts[name], self._places_of(name)[self.rows.numbers])
        return kind.renumbered(column, tables[kind.table].rows.now) if kind.table else column

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


def with_changes(
    columns: StoredColumns,
    changes: Sequence[Arrays],
    config: Mapping[str, object] | None = None,
) -> StoredColumns:
    """Return what the columns hold after all changes, one after the other.

    Args:
        columns: What a generation holds that was saved whole.
        changes: What `difference` returned each time.
        config: What the index is made with; None leaves out the edges that changes leave out.

    Raises:
        ValueError, TypeError, IndexError: The arrays do not fit together.
    """
    readers = [ColumnReader(_getter(arrays)) for arrays in changes]
    base, kinds = columns.graph, graph_tables()
    tables = {
        table: _TableHistory(columns_of_table(base, table, of_table), of_table, n)
        for (table, of_table), n in zip(
            kinds.items(), (len(base), len(base.facts), len(base.edges)), strict=True
        )
    }
    nodes, vector_numbers = tables[NODES].rows, []
    late = dict[str, int]()  # where the edges of a kind belong that are left out
    for reader, arrays in zip(readers, changes, strict=True):
        before, late = late, read_late_edges(reader, arrays)
        if new := late.keys() - before.keys():
            tables[EDGES].leave_out("kinds", new)
        came = {table: history.rows.follow(reader, table) for table, history in tables.items()}
        for table, history in tables.items():
            history.follow(table, reader, arrays, came[table], tables)
        vector_numbers.append(nodes.numbers_of(reader.numbers("documents.vector")))
    graph = _graph_of(base, {table: each.columns(tables) for table, each in tables.items()})
    graph = with_late_edges(graph, late, config)
    _carry_parts(graph, base, nodes, readers[-1], changes[-1])
    documents = [
        _read_new_documents(reader, kinds[NODES]["metadata"], graph, _now(nodes, numbers))
        for reader, numbers in zip(readers, vector_numbers, strict=True)
    ]
    return replace(
        columns,
        graph=graph,
        documents=_followed("documents", columns.documents, readers, documents),
        facts={key: list(some) for key, some in _triples("given", columns.facts, readers)},
        extracted=dict(_triples("read", columns.extracted, readers)),
        knowledge=follow_learnt(columns.knowledge, readers, changes),
        skipped=_last_pairs("skipped", columns.skipped, readers, changes),
        files=follow_readings(columns.files, readers),
        failed=_last_pairs("failed", columns.failed, readers, changes),
        attachments=_attachments(columns.attachments, readers),
    )


def _getter(arrays: Arrays) -> Callable[[str], NDArray[Any]]:
    def array(name: str) -> NDArray[Any]:
        if name not in arrays:
            raise ValueError(f"{name} is missing")
        return arrays[name]

    return array


def _graph_of(base: Graph, columns: Mapping[str, dict[str, Any]]) -> Graph:
    nodes, facts, edges = (
        {name: _frozen(column) for name, column in columns[table].items()}
        for table in (NODES, FACTS, EDGES)
    )
    originals = (None,) * len(nodes["ids"])
    return replace(base, **nodes, originals=originals, facts=Facts(**facts), edges=Edges(**edges))


def _frozen(column: Any) -> Any:  # noqa: ANN401  # a column of any kind
    if isinstance(column, np.ndarray):
        column.flags.writeable = False  # nobody else has it: `freeze` need not copy it
        return freeze(column, column.dtype.type)
    if isinstance(column, Labels):
        return column.take(np.arange(len(column)))  # without names that no row has any more
    return column


def _carry_parts(
    graph: Graph, base: Graph, nodes: RowHistory, reader: ColumnReader, arrays: Arrays
) -> None:
    """Give the graph the words and the approximate index of the one before, where it has them.

    The words are carried where new nodes come last.
    """
    for part, before in base.kept_parts():
        if isinstance(part, HNSW):
            graph.set_part(part, part.carried(graph, before, nodes.now[: len(base)]))
    n_kept = int(np.searchsorted(nodes.numbers, len(base)))
    in_order = bool((np.diff(nodes.numbers) > 0).all())
    if has_languages(arrays) and in_order:
        stays = np.zeros(len(base), np.bool_)
        stays[nodes.numbers[:n_kept]] = True
        carry_inverted_index(graph, base, stays, read_languages(reader, graph))


def _now(nodes: RowHistory, numbers: Rows) -> list[int]:
    """Return the rows that have some numbers now, or -1."""
    now = nodes.now
    return [int(now[number]) if number >= 0 else -1 for number in numbers.tolist()]


def _read_new_documents(
    reader: ColumnReader, metadata: ColumnKind, graph: Graph, vector_rows: Sequence[int]
) -> tuple[Any, ...]:
    vectors = [graph.vectors[row] if row >= 0 else None for row in vector_rows]
    return read_documents(reader, metadata.read(reader, "documents.metadata"), vectors)


def _followed(
    table: str,
    base: Sequence[Entry],
    readers: Sequence[ColumnReader],
    new: Sequence[Sequence[Entry]],
) -> tuple[Entry, ...]:
    """Return the entries of a table after all changes, of which each brings new ones."""
    history, entries = RowHistory(len(base)), [*base]
    for reader, some in zip(readers, new, strict=True):
        if len(history.follow(reader, table)) != len(some):
            raise ValueError(f"{table} has {len(some)} new entries in other numbers than rows")
        entries += some
    return tuple(entries[number] for number in history.numbers.tolist())


def _triples(
    name: str, base: Mapping[str, Sequence[Triple]], readers: Sequence[ColumnReader]
) -> Sequence[tuple[str, Sequence[Triple]]]:
    new = [list(read_triples(reader, f"{name}.keys", f"{name}.values")) for reader in readers]
    entries: list[tuple[str, Sequence[Triple]]] = list(base.items())
    return _followed(name, entries, readers, new)


def _last_pairs(
    name: str,
    base: tuple[tuple[str, str], ...],
    readers: Sequence[ColumnReader],
    changes: Sequence[Arrays],
) -> tuple[tuple[str, str], ...]:
    """Return the pairs of texts of the last change that has some of this name."""
    for reader, arrays in zip(reversed(readers), reversed(changes), strict=True):
        if f"{name}.starts" in arrays:
            return tuple((one, other) for one, other in reader.lists(name))
    return base


def _attachments(base: Mapping[str, str], readers: Sequence[ColumnReader]) -> Mapping[str, str]:
    attachments = dict(base)
    for reader in readers:
        for gone in reader.texts("attached.gone"):
            attachments.pop(gone, None)
        texts = reader.texts(ATTACHED_TEXTS)
        attachments |= dict(zip(reader.texts(ATTACHED_NAMES), texts, strict=True))
    return attachments
