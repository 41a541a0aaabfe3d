"""A record of an index after changes, each as `difference` returned it.

All changes are followed at once: a column is put together a single time, however many there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from clew.algorithms.nearest.hnsw import HNSW
from clew.graph import Edges, Facts, Graph, Labels, Mask, Rows, freeze
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
from clew.store.late_edges import with_late_edges
from clew.store.row_history import RowHistory
from clew.store.table_history import TableHistory, follow_changes
from clew.store.tables import Arrays, ColumnReader, array_of

Entry = TypeVar("Entry")

IDENTITY = ("kinds", "texts", "vectors", "documents", "parents", "spans", "metadata")
"""The columns of a node of which what is kept of a graph is made: of its words and of vectors."""


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
    readers = [ColumnReader(array_of(arrays)) for arrays in changes]
    base, kinds = columns.graph, graph_tables()
    sizes = (len(base), len(base.facts), len(base.edges))
    tables = {
        table: TableHistory(of_table, n, columns_of_table(base, table, of_table))
        for (table, of_table), n in zip(kinds.items(), sizes, strict=True)
    }
    vector_numbers, late = follow_changes(tables, readers, changes)
    nodes = tables[NODES].rows
    graph = _graph_of(base, {table: each.columns(tables) for table, each in tables.items()})
    graph = with_late_edges(graph, late, config)
    _carry_parts(graph, base, tables[NODES], readers[-1], changes[-1])
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
    graph: Graph, base: Graph, nodes: TableHistory, reader: ColumnReader, arrays: Arrays
) -> None:
    """Give the graph the words and the approximate index of the one before, where it has them.

    The words are carried where new nodes come last. A node that is another one under the same id
    is new.
    """
    now = np.where(_replaced(base, nodes), -1, nodes.rows.now[: len(base)])
    for part, before in base.kept_parts():
        if isinstance(part, HNSW):
            graph.set_part(part, part.carried(graph, before, now))
    stays = now >= 0
    if has_languages(arrays) and (now[stays] == np.arange(np.count_nonzero(stays))).all():
        carry_inverted_index(graph, base, stays, read_languages(reader, graph))


def _replaced(base: Graph, nodes: TableHistory) -> Mask:
    """Return the nodes that are others under the same ids, and all that stand in such: bool [n]."""
    replaced = nodes.replaced(*IDENTITY)
    if not replaced.any():
        return replaced
    documents = np.where(base.documents >= 0, base.documents, np.arange(len(base)))
    of_documents = np.zeros(len(base), np.bool_)
    of_documents[documents[replaced]] = True
    replaced = of_documents[documents]
    inside = base.parents >= 0
    while (found := replaced | (inside & replaced[base.parents])).sum() > replaced.sum():
        replaced = found
    return replaced


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
