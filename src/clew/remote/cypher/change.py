"""What a change of an index changes among the rows that a graph database has of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Graph, Rows, distinct, freeze
from clew.remote.cypher.generation import RowNumbering
from clew.remote.cypher.rows import nodes_above
from clew.remote.filters import CONTENT_KINDS
from clew.remote.packed_rows import metadata_text
from clew.remote.rows import NUMBERED, RowNumbers, postings_of
from clew.seed._shared import MentionCountsPart
from clew.seed.languages import LanguagesPart
from clew.seed.section_sizes import SectionSizesPart
from clew.store.difference import row_changes, rows_with_other_values
from clew.store.graph_tables import EDGES, FACTS, NODES, columns_of_table, graph_tables
from clew.store.row_changes import RowChange, runs_of

Places = NDArray[np.int64]
Postings = dict[bytes, tuple[bytes, bytes]]

MAX_NUMBER = 2**31 - 1
SPACE = 1021
"""How far the numbers of neighbours are from each other; readers take remainders: a prime."""

GAP = 2**26
"""Numbers that are left out for passages to come."""

DERIVED = (MentionCountsPart(), SectionSizesPart())
"""What nodes are written with that is counted in the whole graph."""


@dataclass(frozen=True, eq=False)
class GraphChange:
    """What a change does to the rows of an index: rows that are not named here stay as they are.

    Attributes:
        numbering: The numbers of the rows after the change.
        gone: By table, the numbers of rows that are deleted.
        gone_edges: int64 [k, 3], tail, head and number of each edge that is deleted between two
            nodes that stay; other edges go with their nodes.
        new: By table, the rows of the graph that are new.
        changed: By table, the rows that are there and get other values.
        with_vector: By table, those of the nodes or facts among them that get another vector.
        gone_stems: The keys of stems whose passages are others now, or none.
        postings: The passages of each stem that are others now.
        stale_nodes: int32, the nodes of which something is other now, of their own, of their facts
            or of their edges, those that are gone or new among them, ascending.
        stale_facts: int32, the same of facts.
    """

    numbering: RowNumbering
    gone: dict[str, Places]
    gone_edges: Places
    new: dict[str, Places]
    changed: dict[str, Places]
    with_vector: dict[str, Places]
    gone_stems: Sequence[bytes]
    postings: Postings
    stale_nodes: Rows
    stale_facts: Rows

    def is_between_kept(self, graph: Graph, edges: Places) -> NDArray[np.bool_]:
        """Return which edges of the graph join two nodes that are not new: bool [k]."""
        is_new = np.zeros(len(graph), np.bool_)
        is_new[self.new[NODES]] = True
        return ~(is_new[graph.edges.tails[edges]] | is_new[graph.edges.heads[edges]])

    @property
    def rows_at_once(self) -> int:
        """How many rows are named in the one statement that makes the change."""
        parts = (*self.gone.values(), self.gone_edges, *self.changed.values(), self.gone_stems)
        return sum(map(len, parts))


def change_of(before: Graph, old: RowNumbering, after: Graph) -> GraphChange | None:
    """Return what a change does; None where everything is to be written anew.

    That is where nodes or facts would not be in the order of their numbers, and where vectors have
    another width.

    Args:
        before: The graph that is there.
        old: The numbers of its rows.
        after: The graph that is to be there.
    """
    widths = [(graph.vectors.shape[1], graph.facts.vectors.shape[1]) for graph in (before, after)]
    if widths[0] != widths[1]:
        return None
    changes = row_changes(before, after)
    numbering = _numbering_after(changes, old)
    if numbering is None:
        return None
    numbers = numbering.numbers
    changed, with_vector = {}, {}
    for table in NUMBERED:
        columns = _changed_columns(table, before, after, changes)
        if len(columns.pop("kinds", ())):  # of nodes: they would have another label
            return None
        with_vector[table] = columns.get("vectors", np.zeros(0, np.int64))
        changed[table] = _union(columns.values())
    changed[NODES] = _union([changed[NODES], *_changed_counts(before, after, changes[NODES])])
    then, now = postings_of(before, old.numbers), postings_of(after, numbers)
    written = {
        table: np.concatenate([changes[table].new, changed[table]]).astype(np.int64)
        for table in NUMBERED
    }
    gone = {table: changes[table].gone for table in NUMBERED}
    sides = ((before, old.numbers, gone), (after, numbers, written))
    return GraphChange(
        numbering,
        {
            table: old.numbers.of(table)[changes[table].gone].astype(np.int64)
            for table in (NODES, FACTS)
        },
        _gone_edges(before, old, changes),
        {table: changes[table].new.astype(np.int64) for table in NUMBERED},
        changed,
        with_vector,
        [stem for stem, value in then.items() if now.get(stem) != value],
        {stem: value for stem, value in now.items() if then.get(stem) != value},
        _stale_nodes(sides),
        freeze(
            distinct(np.concatenate([own.facts[some[FACTS]] for _, own, some in sides])), np.int32
        ),
    )


def _stale_nodes(sides: Sequence[tuple[Graph, RowNumbers, Mapping[str, Places]]]) -> Rows:
    """Return the nodes of which a row is other, or one of their facts or edges.

    Args:
        sides: A graph, the numbers of its rows, and by table the rows that are other, before the
            change and after it.
    """
    found = []
    for graph, own, some in sides:
        edges, facts = some[EDGES], some[FACTS]
        rows = (
            *(some[NODES], graph.edges.tails[edges], graph.edges.heads[edges]),
            *(graph.facts.subjects[facts], graph.facts.objects[facts]),
        )
        found += [own.nodes[one] for one in rows]
    return freeze(distinct(np.concatenate(found)), np.int32)


def first_numbering(graph: Graph) -> RowNumbering:
    """Return the numbers of the rows of a graph that is written whole.

    Numbers are left out between any two nodes and facts, and many between the passages, with what
    contains them, and what was read from these: there the next passages come.
    """
    is_content = graph.kinds.mask(*CONTENT_KINDS)
    ends = np.append(False, is_content[:-1] & ~is_content[1:])[: len(graph)]
    gap = min(GAP, MAX_NUMBER // 4 // (1 + int(ends.sum())))
    nodes = _spaced(len(graph)) + gap * np.cumsum(ends)
    columns = (nodes, _spaced(len(graph.facts)), 1 + np.arange(len(graph.edges)))
    rows = [freeze(numbers, np.int32) for numbers in columns]
    next_numbers = [1 + int(numbers.max(initial=0)) for numbers in rows]
    return RowNumbering(
        RowNumbers(*rows), dict(zip((NODES, FACTS, EDGES), next_numbers, strict=True))
    )


def _spaced(count: int) -> NDArray[np.int64]:
    return max(1, min(SPACE, MAX_NUMBER // 4 // (1 + count))) * np.arange(1, count + 1)


def _numbering_after(changes: dict[str, RowChange], old: RowNumbering) -> RowNumbering | None:
    """Return the numbers after a change; None where there are none left at some place.

    A node or a fact that is new has a number between those of its neighbours, or behind all that
    there were. Edges may be in any order.
    """
    found, next_numbers = {}, dict(old.next_numbers)
    for table, change in changes.items():
        space = 1 if table == EDGES else SPACE
        numbers = np.zeros(change.n_after, np.int64)
        numbers[change.kept_after] = old.numbers.of(table)[change.kept_before]
        new, last = change.new, change.kept_after.max(initial=-1)
        behind = new if table == EDGES else new[new > last]
        numbers[behind] = next_numbers[table] + space * np.arange(len(behind))
        next_numbers[table] += space * len(behind)
        if next_numbers[table] > MAX_NUMBER:
            return None
        between = new[: len(new) - len(behind)]
        for start, end in pairwise(runs_of(between).tolist()):
            rows = between[start:end]
            before = numbers[rows[0] - 1] if rows[0] else 0
            room = int(numbers[rows[-1] + 1] - before)
            if room <= len(rows):
                return None
            step = min(SPACE, room // (1 + len(rows)))
            numbers[rows] = before + step * np.arange(1, 1 + len(rows))
        found[table] = freeze(numbers, np.int32)
    return RowNumbering(RowNumbers(found[NODES], found[FACTS], found[EDGES]), next_numbers)


def _changed_columns(
    table: str, before: Graph, after: Graph, changes: dict[str, RowChange]
) -> dict[str, Places]:
    """Return the rows that are kept and have other values, by the name of their column."""
    kinds = graph_tables()[table]
    then, now = (columns_of_table(graph, table, kinds) for graph in (before, after))
    change = changes[table]
    found = {
        name: rows_with_other_values(
            kind, (then[name], now[name]), change, changes.get(kind.table)
        ).astype(np.int64)
        for name, kind in kinds.items()
    }
    if table == NODES:  # mappings that are not the same object may say the same
        found["metadata"] = _other_metadata(before, after, change, found["metadata"])
        found["above"] = _other_above(before, after, change, found)
    elif table == EDGES:
        del found["kinds"]  # an edge is known again by it
    return found


def _other_metadata(before: Graph, after: Graph, change: RowChange, rows: Places) -> Places:
    was = np.full(change.n_after, -1, np.int64)
    was[change.kept_after] = change.kept_before
    texts: tuple[dict[int, str], dict[int, str]] = ({}, {})
    differs = [
        metadata_text(before, int(was[row]), texts[0]) != metadata_text(after, row, texts[1])
        for row in rows.tolist()
    ]
    return rows[np.array(differs, np.bool_)]


def _other_above(
    before: Graph, after: Graph, change: RowChange, changed: dict[str, Places]
) -> Places:
    """Return the kept rows that are in other nodes than before, directly or not."""
    if not (len(changed["parents"]) or len(changed["documents"])):
        return np.zeros(0, np.int64)
    now = np.append(change.numbering, np.int32(-1))
    differs = [
        now[nodes_above(before, was)].tolist() != nodes_above(after, row)
        for was, row in zip(change.kept_before.tolist(), change.kept_after.tolist(), strict=True)
    ]
    return change.kept_after[np.array(differs, np.bool_)]


def _changed_counts(before: Graph, after: Graph, change: RowChange) -> list[Places]:
    """Return the kept nodes of which the whole graph says something else than before."""
    columns: list[tuple[Any, Any]] = [(before.part(part), after.part(part)) for part in DERIVED]
    columns.append((before.part(LanguagesPart()).of_rows, after.part(LanguagesPart()).of_rows))
    return [
        change.kept_after[then[change.kept_before] != now[change.kept_after]]
        for then, now in columns
    ]


def _gone_edges(before: Graph, old: RowNumbering, changes: dict[str, RowChange]) -> Places:
    edges, gone = before.edges, changes[EDGES].gone
    stays = changes[NODES].numbering >= 0
    tails, heads = edges.tails[gone], edges.heads[gone]
    kept = stays[tails] & stays[heads]
    own = old.numbers.nodes
    columns = (own[tails[kept]], own[heads[kept]], old.numbers.edges[gone[kept]])
    return np.stack(columns, axis=1).astype(np.int64)


def _union(parts: Any) -> Places:  # noqa: ANN401 - arrays of rows
    return distinct(np.fromiter(chain.from_iterable(part.tolist() for part in parts), np.int64))
