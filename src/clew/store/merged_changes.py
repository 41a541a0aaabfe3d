"""Several changes, each as `difference` returned it, as one that makes the same record.

A row that came and went is in none of it, and of a value that changed several times the last one
alone. Of the record before the changes little more than the numbers of rows is looked at, so that
this takes as long as the changes are large.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from clew.document import Document
from clew.graph import Labels, Rows
from clew.read import Knowledge, Triple
from clew.store.column_kinds import ColumnKind, MetadataColumn, Texts
from clew.store.columns import (
    ATTACHED_NAMES,
    ATTACHED_TEXTS,
    read_documents,
    read_triples,
    write_documents,
    write_triples,
)
from clew.store.file_readings import PATHS, write_merged_readings
from clew.store.file_readings import TABLE as FILES
from clew.store.graph_tables import EDGES, FACTS, NODES, graph_tables
from clew.store.inverted_index import copy_languages, has_languages
from clew.store.knowledge import read_knowledge, write_merged_learnt
from clew.store.late_edges import write_late_edges
from clew.store.row_history import RowHistory
from clew.store.table_history import TableHistory, follow_changes
from clew.store.tables import Arrays, ColumnReader, ColumnWriter

ROWS = {
    NODES: "nodes.made",
    FACTS: "facts.relations.codes",
    EDGES: "edges.kinds.codes",
    "documents": "documents.heading",
    "given": "given.documents",
    "read": "read.passages",
}
"""A column of each table, of which the length is looked at."""

KINDS = "edges.kinds"
NEEDED = (*ROWS.values(), KINDS, PATHS, "knowledge.", "strings.")
"""What the names of the arrays begin with that `Beginning.read` needs."""


@dataclass(frozen=True, eq=False)
class Beginning:
    """What is looked at of the record before the first change.

    Attributes:
        rows: How many rows every table has, by its name.
        edge_kinds: The kinds of the edges.
        knowledge: What the extractor had learnt.
    """

    rows: Mapping[str, int]
    edge_kinds: Labels
    knowledge: Knowledge | None

    @classmethod
    def read(cls, reader: ColumnReader) -> Beginning:
        """Return it of a generation that was written whole.

        Args:
            reader: Reads the arrays that have one of `NEEDED` in their names.
        """
        rows = {table: len(reader.numbers(column)) for table, column in ROWS.items()}
        rows[FILES] = len(reader.numbers(PATHS)) if reader.has(PATHS) else 0
        return cls(rows, reader.labels(KINDS), read_knowledge(reader))


def merged(beginning: Beginning, changes: Sequence[Arrays]) -> Arrays:
    """Return one change in the place of several: `with_changes` makes the same of both.

    Args:
        beginning: Of the record before the first change.
        changes: What `difference` returned each time, the first first; one at least.

    Raises:
        ValueError, TypeError, IndexError: The arrays do not fit together.
    """
    readers, writer = [ColumnReader(arrays.__getitem__) for arrays in changes], ColumnWriter()
    n, edge_kinds = beginning.rows, beginning.edge_kinds
    tables = {
        table: TableHistory(kinds, n[table], {"kinds": edge_kinds} if table == EDGES else {})
        for table, kinds in _tables().items()
    }
    vectors, late = follow_changes(tables, readers, changes)
    write_late_edges(writer, late)
    for table, history in tables.items():
        of = ~edge_kinds.mask(*late) if table == EDGES and late else None
        history.write(writer, table, tables, of)
    _write_documents(writer, n["documents"], readers, vectors, tables[NODES].rows.now)
    for table in ("given", "read"):
        _write_triples(writer, table, n[table], readers)
    write_merged_learnt(writer, beginning.knowledge, readers, changes)
    write_merged_readings(writer, n[FILES], readers)
    _write_last_pairs(writer, readers, changes)
    _write_attachments(writer, readers)
    if has_languages(changes[-1]):
        copy_languages(writer, readers[-1])
    return writer.done()


def _tables() -> dict[str, dict[str, ColumnKind]]:
    """Return the kinds of all columns; metadata is a text, which need not be understood."""
    return {
        table: {n: Texts() if isinstance(k, MetadataColumn) else k for n, k in kinds.items()}
        for table, kinds in graph_tables().items()
    }


def _write_documents(
    writer: ColumnWriter,
    n: int,
    readers: Sequence[ColumnReader],
    vectors: Sequence[Rows],
    rows: Rows,
) -> None:
    """Write the documents that came and are still there.

    Args:
        writer: The writer.
        n: How many there were before the first change.
        readers: Read the changes.
        vectors: The numbers of the nodes that have the own vectors of what came, by change.
        rows: The row of every such number, or -1.
    """
    history, documents, metadata = RowHistory(n), list[Document](), list[str]()
    for reader in readers:
        came, texts = history.follow(reader, "documents"), reader.texts("documents.metadata")
        some = read_documents(reader, [{}] * len(texts), [None] * len(texts))
        if len(some) != len(came):
            raise ValueError(f"documents has {len(some)} new entries for {len(came)} new rows")
        documents += some
        metadata += texts
    new = history.write(writer, "documents") - n
    write_documents(writer, [documents[each] for each in new.tolist()], None)
    of_vectors = np.concatenate(vectors)[new]
    writer.numbers("documents.vector", np.where(of_vectors >= 0, rows[of_vectors], -1), np.int32)
    writer.texts("documents.metadata", [metadata[each] for each in new.tolist()])


def _write_triples(
    writer: ColumnWriter, name: str, n: int, readers: Sequence[ColumnReader]
) -> None:
    history, entries = RowHistory(n), list[tuple[str, tuple[Triple, ...]]]()
    for reader in readers:
        came = history.follow(reader, name)
        new = list(read_triples(reader, f"{name}.keys", f"{name}.values"))
        if len(new) != len(came):
            raise ValueError(f"{name} has {len(new)} new entries for {len(came)} new rows")
        entries += new
    numbers = history.write(writer, name) - n
    those = dict(entries[number] for number in numbers.tolist())
    write_triples(writer, f"{name}.keys", f"{name}.values", those)


def _write_last_pairs(
    writer: ColumnWriter, readers: Sequence[ColumnReader], changes: Sequence[Arrays]
) -> None:
    for name in ("skipped", "failed"):
        for reader, arrays in zip(reversed(readers), reversed(changes), strict=True):
            if f"{name}.starts" in arrays:
                writer.lists(name, reader.lists(name))
                break


def _write_attachments(writer: ColumnWriter, readers: Sequence[ColumnReader]) -> None:
    gone, new = dict[str, None](), dict[str, str]()
    for reader in readers:
        for name in reader.texts("attached.gone"):
            gone[name] = None
            new.pop(name, None)
        texts = reader.texts(ATTACHED_TEXTS)
        new |= dict(zip(reader.texts(ATTACHED_NAMES), texts, strict=True))
    writer.texts("attached.gone", gone)
    writer.texts(ATTACHED_NAMES, new)
    writer.texts(ATTACHED_TEXTS, new.values())
