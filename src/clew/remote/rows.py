"""An index as rows of tables, and what a change of it changes in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from clew.graph import AnyVectors, Graph, Ragged, Rows, distinct, freeze, take_vectors
from clew.remote.corpus import key_of_stem
from clew.remote.packed_rows import PackedRows, PackedRowsPart, metadata_text
from clew.seed.bm25 import InvertedIndexPart
from clew.store.column_kinds import VectorRows
from clew.store.difference import row_changes
from clew.store.graph_tables import EDGES, FACTS, NODES
from clew.store.row_changes import RowChange

ROWS = "rows"
"""What is read of a node by its number alone: see `clew.remote.packed_rows`."""

NUMBERED = (NODES, FACTS, EDGES)
TABLES = {NODES: "clew_node", FACTS: "clew_fact", ROWS: "clew_row"}
TYPES = {
    NODES: ("int4", "int4", "text", "int4[]", "text", "vector"),
    FACTS: ("int4", "int4", "int4", "int4", "int4[]", "vector"),
    ROWS: ("int4", "int4", "bytea", "bytea", "bytea", "bytea"),
}
BLOCK = 512  # vectors that are made at once


@dataclass(frozen=True, eq=False)
class RowNumbers:
    """The numbers of the rows of a graph.

    Attributes:
        nodes: int32 [n].
        facts: int32 [f].
        edges: int32 [e].
    """

    nodes: Rows
    facts: Rows
    edges: Rows
    _packed: list[PackedRows] = field(default_factory=list, init=False, repr=False)

    def of(self, table: str) -> Rows:
        """Return the numbers of a table's rows."""
        numbers = {NODES: self.nodes, FACTS: self.facts, EDGES: self.edges, ROWS: self.nodes}
        rows: Rows = numbers[table]
        return rows

    def packed(self, graph: Graph) -> PackedRows:
        """Return the packed rows of the graph, made once for as long as a write has its numbers."""
        if not self._packed or self._packed[0].graph is not graph:
            part = PackedRowsPart(self.nodes, self.facts, self.edges)
            self._packed[:] = [part.compute(graph)]
        return self._packed[0]


@dataclass(frozen=True, eq=False)
class TableChange:
    """What a write does to one table.

    Attributes:
        gone: The numbers of rows that are deleted.
        written: The rows of the graph that are written, some of them in the place of others.
    """

    gone: list[int]
    written: NDArray[np.int64]


def next_numbering(
    before: Graph, after: Graph
) -> tuple[dict[str, RowChange], dict[str, int]] | None:
    """Return how the rows change, and how many new numbers each table needs.

    None where nodes or facts would not be in the order of their numbers.
    """
    changes = row_changes(before, after)
    for table in (NODES, FACTS):
        change = changes[table]
        if len(change.new) and len(change.kept_after) and change.new[0] < change.kept_after[-1]:
            return None
    return changes, {table: len(changes[table].new) for table in NUMBERED}


def numbering_after(
    changes: dict[str, RowChange], numbers: RowNumbers, new: dict[str, Rows]
) -> RowNumbers:
    """Return the numbers of the rows after a change, of which the new ones have got theirs."""
    found = {}
    for table, change in changes.items():
        rows = np.zeros(change.n_after, np.int32)
        rows[change.kept_after] = numbers.of(table)[change.kept_before]
        rows[change.new] = new[table]
        found[table] = freeze(rows, np.int32)
    return RowNumbers(found[NODES], found[FACTS], found[EDGES])


def changed_rows(
    before: Graph,
    old: RowNumbers,
    after: Graph,
    new: RowNumbers,
    changes: dict[str, RowChange],
) -> dict[str, TableChange]:
    """Return what a write does to each table."""
    result = {}
    for table in TABLES:
        change = changes[NODES if table == ROWS else table]
        differs = _differs(table, (before, old), (after, new), change)
        rewritten = change.kept_after[differs]
        gone = [*change.gone.tolist(), *change.kept_before[differs].tolist()]
        result[table] = TableChange(
            old.of(table)[np.array(gone, np.int64)].tolist(),
            np.sort(np.concatenate([change.new, rewritten])).astype(np.int64),
        )
    return result


def changed_nodes(changes: dict[str, TableChange], numbers: RowNumbers) -> NDArray[np.int32]:
    """Return the numbers of the nodes of which a write changes what is read, ascending."""
    some = [
        part
        for table in (NODES, ROWS)
        for part in (changes[table].gone, numbers.nodes[changes[table].written].tolist())
    ]
    return distinct(np.concatenate([np.array(part, np.int32) for part in some]))


def _differs(
    table: str, before: tuple[Graph, RowNumbers], after: tuple[Graph, RowNumbers], change: RowChange
) -> NDArray[np.bool_]:
    """Return which of the rows that are kept have other values: bool [kept]."""
    if not len(change.kept_after):
        return np.zeros(0, np.bool_)
    then = plain_rows(table, *before, change.kept_before)
    now = plain_rows(table, *after, change.kept_after)
    differs = np.fromiter((one != other for one, other in zip(then, now, strict=True)), np.bool_)
    if table != ROWS:
        one, other = (_vectors(table, graph) for graph in (before[0], after[0]))
        differs |= VectorRows(np.float32, 2).differing(
            take_vectors(one, change.kept_before), take_vectors(other, change.kept_after)
        )
    return differs


def _vectors(table: str, graph: Graph) -> AnyVectors:
    return graph.vectors if table == NODES else graph.facts.vectors


def rows_of(
    table: str, index: int, graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64]
) -> Iterator[tuple[object, ...]]:
    """Yield rows of a table as they are written.

    Args:
        table: The table, by the name that the store has for it.
        index: The number of the index.
        graph: The whole graph.
        numbers: Those of its rows.
        rows: Which rows.
    """
    plain = plain_rows(table, graph, numbers, rows)
    if table == ROWS:
        for values in plain:
            yield index, *values
        return
    for values, vector in zip(plain, _each_vector(_vectors(table, graph), rows), strict=True):
        yield index, *values, vector


def _each_vector(vectors: AnyVectors, rows: NDArray[np.int64]) -> Iterator[object]:
    """Yield the vector of each row; None for none."""
    for start in range(0, len(rows), BLOCK):
        block = np.asarray(take_vectors(vectors, rows[start : start + BLOCK]))
        has: list[bool] = np.any(block, axis=1).tolist()
        if not np.isfinite(block).all():
            raise ValueError("a vector of the index is not finite")
        yield from (vector if there else None for vector, there in zip(block, has, strict=True))


def plain_rows(
    table: str, graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64]
) -> Iterator[tuple[object, ...]]:
    """Yield rows of a table without their vectors."""
    make = {NODES: _node_rows, FACTS: _fact_rows, ROWS: _packed_rows}[table]
    return make(graph, numbers, rows)


def _node_rows(
    graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64]
) -> Iterator[tuple[object, ...]]:
    texts: dict[int, str] = {}
    return zip(
        numbers.nodes[rows].tolist(),
        (graph.kinds[row] for row in rows.tolist()),
        _lists_of(numbers.nodes, graph.read_from, rows),
        (metadata_text(graph, row, texts) for row in rows.tolist()),
        strict=True,
    )


def _fact_rows(
    graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64]
) -> Iterator[tuple[object, ...]]:
    facts = graph.facts
    return zip(
        numbers.facts[rows].tolist(),
        numbers.nodes[facts.subjects[rows]].tolist(),
        numbers.nodes[facts.objects[rows]].tolist(),
        _lists_of(numbers.nodes, facts.read_from, rows),
        strict=True,
    )


def _packed_rows(
    graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64]
) -> Iterator[tuple[object, ...]]:
    packed = numbers.packed(graph).rows(rows)
    for number, values in zip(numbers.nodes[rows].tolist(), packed, strict=True):
        yield number, *values


def _lists_of(numbers: Rows, lists: Ragged, rows: NDArray[np.int64]) -> Iterator[list[int]]:
    taken = lists.take(rows)
    values = numbers[taken.values].tolist() if len(taken.values) else []
    starts = taken.starts.tolist()
    return (values[a:b] for a, b in pairwise(starts))


def postings_of(graph: Graph, numbers: RowNumbers) -> dict[bytes, tuple[bytes, bytes]]:
    """Return the passages with each stem, and how often each has it, by the key of the stem."""
    words = graph.part(InvertedIndexPart())
    starts, texts, counts = words.postings.arrays(len(words.stems))
    passages = numbers.nodes[words.rows]
    data, values = passages[texts].astype("<i4").tobytes(), counts.astype("<f4").tobytes()
    bounds = (4 * starts).tolist()
    return {
        key_of_stem(stem): (data[a:b], values[a:b])
        for stem, a, b in ((stem, bounds[n], bounds[n + 1]) for stem, n in words.stems.items())
        if b > a
    }


def every_row(table: str, graph: Graph) -> NDArray[np.int64]:
    """Return all rows of what is numbered, or of a table."""
    lengths = {NODES: len(graph), FACTS: len(graph.facts), EDGES: len(graph.edges)}
    return np.arange(lengths[NODES if table == ROWS else table], dtype=np.int64)
