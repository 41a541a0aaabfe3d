"""What changed from one record of an index to the next, as columns.

They have the rows that are new, or other than before, as they are. No code makes them again, so
that a loaded index is the one that was saved whatever clew's own methods, or the caller's, have
become since. Only the edges between names that are alike are left out (`clew.store.late_edges`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.kernels.renumbering import renumber
from clew.graph import GraphColumns, Labels, freeze
from clew.read import Triple
from clew.store.column_kinds import (
    MAX_RUNS,
    ColumnKind,
    MetadataColumn,
    RowLists,
    VectorRows,
    codes_among,
)
from clew.store.columns import ATTACHED_NAMES, ATTACHED_TEXTS, write_documents, write_triples
from clew.store.file_readings import write_changed_readings
from clew.store.graph_tables import EDGES, FACTS, NODES, columns_of_table, graph_tables
from clew.store.inverted_index import write_languages
from clew.store.knowledge import can_follow, write_learnt
from clew.store.late_edges import without_late_edges, write_late_edges
from clew.store.row_changes import (
    RowChange,
    change_of_numbers,
    change_of_objects,
    write_row_change,
)
from clew.store.saved_index import SavedIndex
from clew.store.tables import Arrays, ColumnWriter

KEYS: Mapping[str, tuple[str, ...]] = {
    FACTS: ("subjects", "objects", "relations"),
    EDGES: ("tails", "heads", "kinds", "facts"),
}
"""The columns by which a row is known again."""

MAX_SHARE = 0.25
"""The share of the nodes that may be new. With more, the whole is written in little more time."""


def difference(
    before: SavedIndex, after: SavedIndex, late: frozenset[str] = frozenset()
) -> Arrays | None:
    """Return what makes the next record of the one before; None where it is to be written whole.

    That is where the embedder was fitted anew, where something was learnt of questions, where
    vectors have another width, and where much is new.

    Args:
        before: The record that was saved. What is the same object in both is the same.
        after: The next record.
        late: The kinds of edges that are left out, some of what `late_kinds` returned.

    Raises:
        ValueError, TypeError: Naming what the arrays cannot hold.
    """
    one, _ = without_late_edges(before.graph, late)
    other, places = without_late_edges(after.graph, late)
    if _is_of_another_kind(before, after, one, other):
        return None
    changes = row_changes(one, other)
    if len(changes[NODES].new) > MAX_SHARE * len(other):
        return None
    writer = ColumnWriter()
    write_late_edges(writer, places)
    for table, kinds in graph_tables().items():
        write_row_change(writer, table, changes[table])
        then = columns_of_table(one, table, kinds)
        now = columns_of_table(other, table, kinds)
        for name, kind in kinds.items():
            _write_column(writer, table, name, kind, (then[name], now[name]), changes, after)
    _write_documents(writer, before, after, changes[NODES])
    _write_triples(writer, "given", before.facts, after.facts)
    _write_triples(writer, "read", before.extracted, after.extracted)
    write_learnt(writer, before.knowledge, after.knowledge)
    write_changed_readings(writer, before.files, after.files)
    for name in ("skipped", "failed"):
        if getattr(before, name) != getattr(after, name):
            writer.lists(name, getattr(after, name))
    _write_attachments(writer, before.attachments, after.attachments)
    write_languages(writer, after.graph)
    return writer.done()


def _is_of_another_kind(
    before: SavedIndex, after: SavedIndex, one: GraphColumns, other: GraphColumns
) -> bool:
    labels = (other.kinds, other.facts.relations, other.edges.kinds)
    return (
        before.embedder.fitted is not after.embedder.fitted
        or before.fitted != after.fitted
        or before.strengths != after.strengths
        or before.built_strengths != after.built_strengths
        or one.vectors.shape[1:] != other.vectors.shape[1:]
        or one.facts.vectors.shape[1:] != other.facts.vectors.shape[1:]
        or not can_follow(before.knowledge, after.knowledge)
        or not all(_are_used_and_sorted(each) for each in labels)
    )


def _are_used_and_sorted(labels: Labels) -> bool:
    """Whether the names are those that are read again of the words of the rows."""
    return labels.are_used and labels.is_sorted


def row_changes(before: GraphColumns, after: GraphColumns) -> dict[str, RowChange]:
    """Return how the rows of each table changed.

    A fact is known again by its ends and its relation, an edge by its ends, its kind and its fact.
    """
    nodes = change_of_objects(before.ids, after.ids)
    one, other = before.facts, after.facts
    subjects, objects = _renumbered(one.subjects, nodes), _renumbered(one.objects, nodes)
    facts = change_of_numbers(
        (subjects, objects, codes_among(one.relations, other.relations)),
        (other.subjects, other.objects, other.relations.codes),
        None if nodes.keeps_numbers else (subjects < 0) | (objects < 0),
    )
    then, now = before.edges, after.edges
    tails, heads = _renumbered(then.tails, nodes), _renumbered(then.heads, nodes)
    stated, gone = _renumbered(then.facts, facts), None
    if not (nodes.keeps_numbers and facts.keeps_numbers):
        gone = (tails < 0) | (heads < 0) | ((stated < 0) & (then.facts >= 0))
    edges = change_of_numbers(
        (tails, heads, codes_among(then.kinds, now.kinds), stated),
        (now.tails, now.heads, now.kinds.codes, now.facts),
        gone,
    )
    return {NODES: nodes, FACTS: facts, EDGES: edges}


def _renumbered(rows: NDArray[np.int32], change: RowChange) -> NDArray[np.int32]:
    if change.keeps_numbers or not change.n_before:
        return rows
    numbers: NDArray[np.int32] = renumber(rows, change.numbering)
    return numbers


def _write_column(
    writer: ColumnWriter,
    table: str,
    name: str,
    kind: ColumnKind,
    columns: tuple[Any, Any],
    changes: Mapping[str, RowChange],
    after: SavedIndex,
) -> None:
    """Write a column of the rows that are new, and then of those that have another value."""
    change = changes[table]
    if change.is_exact and name in KEYS.get(table, ()):
        changed = np.zeros(0, np.int64)
    else:
        changed = rows_with_other_values(kind, columns, change, changes.get(kind.table))
    rows = np.concatenate([change.new, changed])
    owners: tuple[str, ...] = ()
    if isinstance(kind, MetadataColumn):
        owners = tuple(f"node {after.graph.ids[row]!r}" for row in rows.tolist())
    kind.write(writer, f"{table}.{name}", kind.take(columns[1], rows), owners)
    if len(changed):
        writer.numbers(f"{table}.{name}.changed", changed, np.int32)


def rows_with_other_values(
    kind: ColumnKind, columns: tuple[Any, Any], change: RowChange, referred: RowChange | None
) -> NDArray[np.int64]:
    """Return the rows that were kept and have another value than before, ascending."""
    before, after = columns
    is_renumbered = referred is not None and not referred.keeps_numbers
    if before is after and change.keeps_numbers and not is_renumbered:
        return np.zeros(0, np.int64)
    if referred is not None and is_renumbered:
        before = kind.renumbered(before, referred.numbering)
    if isinstance(before, Labels):  # words are looked up once, not for each run
        before = Labels(after.names, freeze(codes_among(before, after), np.int32))
    few_runs = len(change.runs) <= MAX_RUNS
    if isinstance(kind, VectorRows) or (isinstance(kind, RowLists) and few_runs):
        return kind.differing_in_runs(before, after, change.runs)
    if not few_runs:
        kept = kind.take(before, change.kept_before), kind.take(after, change.kept_after)
        return change.kept_after[kind.differing(*kept)]
    found = [np.zeros(0, np.int64)]
    for start, now, n in change.runs.tolist():  # they are compared without a copy
        run = kind.between(before, start, start + n), kind.between(after, now, now + n)
        found.append(now + np.flatnonzero(kind.differing(*run)))
    return np.concatenate(found)


def _write_documents(
    writer: ColumnWriter, before: SavedIndex, after: SavedIndex, nodes: RowChange
) -> None:
    then, now = (
        np.fromiter(map(id, each.documents), np.int64, len(each.documents))
        for each in (before, after)
    )
    came = {after.graph.ids[row] for row in nodes.new.tolist()}
    moved = came.intersection(before.graph.ids[row] for row in nodes.gone.tolist())
    for place, document in enumerate(after.documents if moved else ()):
        # The vector of a document is that of its node: one that moved is written with it again.
        if document.id in moved and document.vector is not None:
            now[place] = -1 - place
    change = change_of_numbers([then], [now])  # each comes once
    write_row_change(writer, "documents", change)
    new = [after.documents[row] for row in change.new.tolist()]
    write_documents(writer, new, after.graph)
    owners = [f"document {document.id!r}" for document in new]
    metadata = [document.metadata for document in new]
    MetadataColumn().write(writer, "documents.metadata", metadata, owners)


def _write_triples(
    writer: ColumnWriter,
    name: str,
    before: Mapping[str, Sequence[Triple]],
    after: Mapping[str, Sequence[Triple]],
) -> None:
    then, now = ([(key, id(triples)) for key, triples in each.items()] for each in (before, after))
    change = change_of_objects(then, now)
    write_row_change(writer, name, change)
    new = (now[row][0] for row in change.new.tolist())
    write_triples(writer, f"{name}.keys", f"{name}.values", {key: after[key] for key in new})


def _write_attachments(
    writer: ColumnWriter, before: Mapping[str, str], after: Mapping[str, str]
) -> None:
    writer.texts("attached.gone", [name for name in before if name not in after])
    new = {name: text for name, text in after.items() if before.get(name) != text}
    writer.texts(ATTACHED_NAMES, new)
    writer.texts(ATTACHED_TEXTS, new.values())
