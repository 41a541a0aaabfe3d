"""What changed from one record of an index to the next, as columns.

They have the rows that are new, or other than before, as they are. No code makes them again, so
that a loaded index is the one that was saved whatever clew's own methods, or the caller's, have
become since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import GraphColumns, Labels, Mask, take_vectors
from clew.read import Triple
from clew.store.column_kinds import (
    MAX_RUNS,
    ColumnKind,
    MetadataColumn,
    Numbers,
    VectorRows,
    runs_of,
)
from clew.store.columns import ATTACHED_NAMES, ATTACHED_TEXTS, write_documents, write_triples
from clew.store.file_readings import write_changed_readings
from clew.store.graph_tables import EDGES, FACTS, NODES, columns_of_table, graph_tables
from clew.store.inverted_index import write_languages
from clew.store.knowledge import can_follow, write_learnt
from clew.store.row_changes import (
    RowChange,
    change_of_numbers,
    change_of_objects,
    write_row_change,
)
from clew.store.saved_index import SavedIndex
from clew.store.tables import Arrays, ColumnWriter

MAX_SHARE = 0.25
"""The share of the nodes that may be new. With more, the whole is written in little more time."""


def difference(before: SavedIndex, after: SavedIndex) -> Arrays | None:
    """Return what makes the next record of the one before; None where it is to be written whole.

    That is where the embedder was fitted anew, where something was learnt of questions, where
    vectors have another width, and where much is new.

    Args:
        before: The record that was saved. What is the same object in both is the same.
        after: The next record.

    Raises:
        ValueError, TypeError: Naming what the arrays cannot hold.
    """
    if _is_of_another_kind(before, after):
        return None
    changes = row_changes(before.graph, after.graph)
    if len(changes[NODES].new) > MAX_SHARE * len(after.graph):
        return None
    writer = ColumnWriter()
    for table, kinds in graph_tables().items():
        write_row_change(writer, table, changes[table])
        then = columns_of_table(before.graph, table, kinds)
        now = columns_of_table(after.graph, table, kinds)
        for name, kind in kinds.items():
            _write_column(writer, table, name, kind, (then[name], now[name]), changes, after)
    _write_documents(writer, before, after)
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


def _is_of_another_kind(before: SavedIndex, after: SavedIndex) -> bool:
    one, other = before.graph, after.graph
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
    used = np.bincount(labels.codes, minlength=len(labels.names)) > 0
    return bool(used.all()) and list(labels.names) == sorted(labels.names)


def row_changes(before: GraphColumns, after: GraphColumns) -> dict[str, RowChange]:
    """Return how the rows of each table changed.

    A fact is known again by its ends and its relation, an edge by its ends, its kind and its fact.
    """
    nodes = change_of_objects(before.ids, after.ids)
    of_node, n = nodes.numbering, len(after)
    one, other = before.facts, after.facts
    relations = _joint_codes(one.relations, other.relations)
    subjects, objects = _renumbered(one.subjects, of_node), _renumbered(one.objects, of_node)
    facts = change_of_numbers(
        np.where((subjects < 0) | (objects < 0), -1, _keys(n, subjects, objects, relations[0])),
        _keys(n, other.subjects, other.objects, relations[1]),
    )
    kinds = _joint_codes(before.edges.kinds, after.edges.kinds)
    tails, heads = (_renumbered(rows, of_node) for rows in (before.edges.tails, before.edges.heads))
    stated = _renumbered(before.edges.facts, facts.numbering)
    gone = (tails < 0) | (heads < 0) | ((stated < 0) & (before.edges.facts >= 0))
    edges = change_of_numbers(
        np.where(gone, -1, _keys(n, tails, heads, kinds[0], stated)),
        _keys(n, after.edges.tails, after.edges.heads, kinds[1], after.edges.facts),
    )
    return {NODES: nodes, FACTS: facts, EDGES: edges}


def _renumbered(rows: NDArray[np.int32], new: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.where(rows >= 0, new[rows], -1) if len(new) else rows


def _joint_codes(before: Labels, after: Labels) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the words of both as codes, the same for the same word."""
    joined = Labels.join([before, after]).codes
    return joined[: len(before)], joined[len(before) :]


def _keys(n: int, *columns: NDArray[Any]) -> NDArray[np.int64]:
    """Return a number >= 0 for every row, the same for the same row.

    Two rows may have one number by chance. Then one is written as the other, with new values.
    """
    tails, heads, *others = (column.astype(np.uint64) for column in columns)
    keys = tails * np.uint64(n) + heads
    for column in others:
        keys = keys * np.uint64(0x9E3779B97F4A7C15) + column
    return (keys & np.uint64(2**63 - 1)).astype(np.int64)


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
    differing = _differing(kind, columns, change, changes.get(kind.table))
    changed = change.kept_after[differing]
    rows = np.concatenate([change.new, changed])
    owners: tuple[str, ...] = ()
    if isinstance(kind, MetadataColumn):
        owners = tuple(f"node {after.graph.ids[row]!r}" for row in rows.tolist())
    kind.write(writer, f"{table}.{name}", kind.take(columns[1], rows), owners)
    if len(changed):
        writer.numbers(f"{table}.{name}.changed", changed, np.int32)


def _differing(
    kind: ColumnKind, columns: tuple[Any, Any], change: RowChange, referred: RowChange | None
) -> Mask:
    """Return True for the kept rows that have another value than before."""
    before, after = columns
    is_renumbered = referred is not None and not referred.is_everything_kept
    if before is after and not is_renumbered:
        return np.zeros(len(change.kept_after), np.bool_)
    if isinstance(kind, VectorRows):
        parts = (before, change.kept_before), (after, change.kept_after)
        return kind.differing(*(take_vectors(*part) for part in parts))
    if isinstance(kind, Numbers) and kind.dimensions > 1:
        return _differing_runs(kind, before, after, change)
    if not change.is_everything_kept:
        before = kind.take(before, change.kept_before)
        after = kind.take(after, change.kept_after)
    if referred is not None and is_renumbered:
        before = kind.renumbered(before, referred.numbering)
    return kind.differing(before, after)


def _differing_runs(
    kind: Numbers, before: NDArray[Any], after: NDArray[Any], change: RowChange
) -> Mask:
    """Compare rows of numbers, which may be large, without a copy where they are consecutive."""
    one, other = change.kept_before, change.kept_after
    bounds = runs_of(one, other)
    if len(bounds) > MAX_RUNS:
        return kind.differing(before[one], after[other])
    parts = [np.zeros(0, np.bool_)]
    for start, end in pairwise(bounds.tolist()):
        some = before[one[start] : one[start] + end - start]
        parts.append(kind.differing(some, after[other[start] : other[start] + end - start]))
    return np.concatenate(parts)


def _write_documents(writer: ColumnWriter, before: SavedIndex, after: SavedIndex) -> None:
    change = change_of_objects(
        [id(document) for document in before.documents],
        [id(document) for document in after.documents],
    )
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
