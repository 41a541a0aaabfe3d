"""An index as rows of tables, and what a change of it changes in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import AnyVectors, Graph, Ragged, Rows, freeze, take_vectors
from clew.read.json_values import to_json
from clew.remote.corpus import key_of_stem
from clew.seed._shared import MentionCountsPart
from clew.seed.bm25 import InvertedIndexPart
from clew.seed.in_sections import SectionSizesPart
from clew.seed.languages import LanguagesPart
from clew.store.column_kinds import VectorRows
from clew.store.difference import row_changes
from clew.store.graph_tables import EDGES, FACTS, NODES
from clew.store.row_changes import RowChange

TABLES = {NODES: "clew_node", FACTS: "clew_fact", EDGES: "clew_edge"}
TYPES = {
    NODES: (
        *("int4", "int4", "bytea", "text", "bytea", "int4", "int4", "int4", "int4", "int4"),
        *("int4", "bytea[]", "int4[]", "bool", "text", "int4[]", "int4", "int4", "int4", "vector"),
    ),
    FACTS: ("int4", "int4", "bytea", "int4", "int4", "bytea", "int4[]", "vector"),
    EDGES: ("int4", "int4", "int4", "int4", "text", "float4", "int4", "int4[]"),
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

    def of(self, table: str) -> Rows:
        """Return the numbers of a table's rows."""
        rows: Rows = {NODES: self.nodes, FACTS: self.facts, EDGES: self.edges}[table]
        return rows


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
    return changes, {table: len(changes[table].new) for table in TABLES}


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
    for table, change in changes.items():
        differs = _differs(table, (before, old), (after, new), change)
        rewritten = change.kept_after[differs]
        gone = [*change.gone.tolist(), *change.kept_before[differs].tolist()]
        result[table] = TableChange(
            old.of(table)[np.array(gone, np.int64)].tolist(),
            np.sort(np.concatenate([change.new, rewritten])).astype(np.int64),
        )
    return result


def _differs(
    table: str, before: tuple[Graph, RowNumbers], after: tuple[Graph, RowNumbers], change: RowChange
) -> NDArray[np.bool_]:
    """Return which of the rows that are kept have other values: bool [kept]."""
    if not len(change.kept_after):
        return np.zeros(0, np.bool_)
    then = plain_rows(table, *before, change.kept_before)
    now = plain_rows(table, *after, change.kept_after)
    differs = np.fromiter((one != other for one, other in zip(then, now, strict=True)), np.bool_)
    if table != EDGES:
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
    if table == EDGES:
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
    make = {NODES: _node_rows, FACTS: _fact_rows, EDGES: _edge_rows}[table]
    return make(graph, numbers, rows)


def _node_rows(
    graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64]
) -> Iterator[tuple[object, ...]]:
    own, some = numbers.nodes, rows.tolist()
    texts: dict[int, str] = {}
    columns: tuple[Iterable[object], ...] = (
        own[rows].tolist(),
        (_bytes(graph.ids[row]) for row in some),
        (graph.kinds[row] for row in some),
        (_bytes(graph.texts[row]) for row in some),
        graph.tokens[rows].tolist(),
        *(_numbers_of(own, rows_[rows]) for rows_ in (graph.documents, graph.parents)),
        _numbers_of(own, graph.previous[rows]),
        graph.spans[rows, 0].tolist(),
        graph.spans[rows, 1].tolist(),
        ([_bytes(link) for link in graph.references[row]] for row in some),
        _lists_of(own, graph.read_from, rows),
        graph.generated[rows].tolist(),
        (_metadata(graph, row, texts) for row in some),
        (own[_above(graph, row)].tolist() for row in some),
        graph.part(MentionCountsPart())[rows].tolist(),
        graph.part(SectionSizesPart())[rows].tolist(),
        graph.part(LanguagesPart()).of_rows[rows].tolist(),
    )
    return zip(*columns, strict=True)


def _metadata(graph: Graph, row: int, known: dict[int, str]) -> str:
    metadata = graph.metadata[row]
    if id(metadata) not in known:
        values = to_json(metadata, f"node {graph.ids[row]!r}: metadata")
        known[id(metadata)] = json.dumps(values, allow_nan=False)
    return known[id(metadata)]


def _above(graph: Graph, row: int) -> list[int]:
    """Return what contains a node: its document, and its containers outwards."""
    found, parent = dict.fromkeys([int(graph.documents[row])]), int(graph.parents[row])
    while parent >= 0:
        found[parent], parent = None, int(graph.parents[parent])
    return [one for one in found if one >= 0 and one != row]


def _fact_rows(
    graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64]
) -> Iterator[tuple[object, ...]]:
    facts = graph.facts
    return zip(
        numbers.facts[rows].tolist(),
        (_bytes(facts.texts[row]) for row in rows.tolist()),
        numbers.nodes[facts.subjects[rows]].tolist(),
        numbers.nodes[facts.objects[rows]].tolist(),
        (_bytes(facts.relations[row]) for row in rows.tolist()),
        _lists_of(numbers.nodes, facts.read_from, rows),
        strict=True,
    )


def _edge_rows(
    graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64]
) -> Iterator[tuple[object, ...]]:
    edges = graph.edges
    names = edges.kinds.names
    return zip(
        numbers.edges[rows].tolist(),
        numbers.nodes[edges.tails[rows]].tolist(),
        numbers.nodes[edges.heads[rows]].tolist(),
        (names[code] for code in edges.kinds.codes[rows].tolist()),
        edges.weights[rows].tolist(),
        _numbers_of(numbers.facts, edges.facts[rows]),
        _lists_of(numbers.nodes, edges.read_from, rows),
        strict=True,
    )


def _numbers_of(numbers: Rows, rows: Rows) -> list[int]:
    """Return the numbers of rows; -1 stays."""
    if not len(numbers):
        return [-1] * len(rows)
    found: list[int] = np.where(rows >= 0, numbers[rows], -1).tolist()
    return found


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


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def every_row(table: str, graph: Graph) -> NDArray[np.int64]:
    """Return all rows of a table."""
    parts: dict[str, Sequence[Any]] = {NODES: graph.ids, FACTS: graph.facts.texts}
    n = len(graph.edges) if table == EDGES else len(parts[table])
    return np.arange(n, dtype=np.int64)
