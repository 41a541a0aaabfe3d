"""Writing a change of an index into the generation that is asked: what changed, and no other row.

New nodes, facts, words and files are written first. They have the number of the change in the place
of the generation's, so that nobody sees them, and an edge is not seen where one of its ends is not.
Then one statement, which a database carries out whole or not at all, gives them the number of the
generation, deletes and changes what was there, and raises the version. A change that was
interrupted before has changed nothing, and the next writer clears away what it wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from clew.graph import Graph
from clew.index.contents import IndexContents
from clew.remote.cypher.change import GraphChange
from clew.remote.cypher.dialect import Dialect
from clew.remote.cypher.generation import (
    KEPT_CHANGES,
    PLACES,
    FoundGeneration,
    Generation,
    VersionChange,
    keys_of,
    label_of,
)
from clew.remote.cypher.lease import HELD, lost_lease
from clew.remote.cypher.statement import CypherSession, CypherStatement
from clew.remote.cypher.texts import keepable
from clew.remote.cypher.writing import (
    LABELS,
    RowWriter,
    edge_made_of_row,
    posting_key,
    searched_approximately,
)
from clew.remote.cypher.written_rows import (
    EDGE_PROPERTIES,
    EDGE_TYPES,
    FACT_PROPERTIES,
    NODE_PROPERTIES,
    characters_of,
    edge_rows,
    fact_rows,
    grouped,
    node_rows,
)
from clew.remote.files import FOR_QUESTIONS, NUMBERING, newest_paths
from clew.store.graph_tables import EDGES, FACTS, NODES

MAX_CHARACTERS = 32 * 2**20
"""Characters of the statement that makes a change; a larger change writes a new generation."""

SECONDS, ROWS_A_SECOND = 5.0, 200
"""How long a change may take where it is not seen at once: readers wait for it, or for its end."""

UNCHANGED = {"number", "id", "kind", "subject", "object", "key", "data"}
"""Properties by which a row is known again, and the vector, which is set apart."""

SET_NODE, SET_FACT = (
    tuple(name for name in names if name not in UNCHANGED)
    for names in (NODE_PROPERTIES, FACT_PROPERTIES)
)
SET_EDGE = tuple(name for name in EDGE_PROPERTIES if name not in ("number", "kind"))
OF_VERSION = (FOR_QUESTIONS, NUMBERING, PLACES)


@dataclass(frozen=True)
class StatementPart:
    """A part of the statement that makes a change.

    Attributes:
        text: What is done, of which some rows come.
        name: The name of what is bound; "" where it is bound for all parts.
        rows: What is bound.
    """

    text: str
    name: str = ""
    rows: list[list[object]] | list[str] | None = None


async def write_change(
    session: CypherSession,
    dialect: Dialect,
    found: FoundGeneration,
    index: IndexContents,
    change: GraphChange,
    live: Generation,
    root: Path,
) -> bool:
    """Write a change of an index, whose folder is saved already; return whether it was written.

    It is not where the change is large, or where an approximate index is due.

    Args:
        session: A session with the lease of the index.
        dialect: What the database has of its own.
        found: Where the index is.
        index: What is written.
        change: What is other than in the generation that is there.
        live: That generation.
        root: The folder with the files of the saved index.

    Raises:
        BlockingIOError: The lease was lost.
    """
    is_large = searched_approximately(index.graph, dialect)
    is_due = any(now and not then for now, then in zip(is_large, live.is_approximate, strict=True))
    writer = ChangeWriter(session, dialect, found, change, live)
    steps = writer.steps_of(index.graph)
    if is_due or sum(_size(step) for step in steps) > MAX_CHARACTERS:
        return False
    await writer.clear_others()
    await writer.begin()
    gone_files = await writer.write(index, root)
    await writer.show(index.graph, [*steps, *gone_files, *writer.steps_that_show()])
    return True


class ChangeWriter(RowWriter):
    """What writes one change.

    Args:
        session: A session with the lease of the index.
        dialect: What the database has of its own.
        found: Where the index is.
        change: What is written.
        live: The generation that is changed.
    """

    def __init__(
        self,
        session: CypherSession,
        dialect: Dialect,
        found: FoundGeneration,
        change: GraphChange,
        live: Generation,
    ) -> None:
        super().__init__(session, dialect, found)
        self.change, self.live = change, live

    async def begin(self) -> None:
        """Get a number of its own; the keys of rows have that of the generation."""
        await super().begin()
        self.named = self.live.number

    def ends(self, at: int) -> str:
        """Return what finds two nodes, those of this change among them."""
        return (
            f"WITH r, r[{at}] AS tail, r[{at + 1}] AS head MATCH (t:ClewNode {{key: tail}}) "
            "WITH r, t, head WHERE t.index IN [$index, $live] MATCH (h:ClewNode {key: head}) "
            "WITH r, t, h WHERE h.index IN [$index, $live]"
        )

    def bound(self) -> dict[str, object]:
        return {"live": self.live.number}

    async def write(self, index: IndexContents, root: Path) -> list[StatementPart]:
        """Write what is new; return what deletes the files that it stands in the place of."""
        graph, change = index.graph, self.change
        numbering, numbers = change.numbering, change.numbering.numbers
        await self.write_nodes(graph, numbers, change.new[NODES], "")
        await self.write_facts(graph, numbers, change.new[FACTS], "")
        edges = change.new[EDGES]
        await self.write_edges(graph, numbers, edges[~change.is_between_kept(graph, edges)])
        await self.write_postings(change.postings)
        live = self.live
        last = VersionChange(self.found.version + 1, change.stale_nodes, change.stale_facts)
        places = Generation(
            *(live.number, numbers.nodes, numbers.facts, live.slot, live.is_approximate),
            (*live.changes, last)[-KEPT_CHANGES:],
        )
        new, gone = await self._changed_files(root)
        await self.write_files(root, new, index, places, numbering)
        text = "UNWIND $gone_files AS path MATCH (n:ClewFile {index: $index}) WITH n, path "
        return [StatementPart(f"{text} WHERE n.path = path DELETE n", "gone_files", gone)]

    async def _changed_files(self, root: Path) -> tuple[list[str], list[str]]:
        """Return the paths of the files that are not there, and of those that go, as they are."""
        [rows] = await self.run(
            "MATCH (n:ClewFile {index: $index}) WHERE n.block = 0 RETURN n.path",
            {"index": self.live.number},
        )
        there = {path for (path,) in rows} - {*OF_VERSION}
        paths, manifest = newest_paths(root)
        known = {keepable(path): path for path in paths}
        new = [*sorted(known[one] for one in known.keys() - there), manifest]
        return new, sorted({*(there - known.keys()), keepable(manifest), *OF_VERSION})

    def steps_of(self, graph: Graph) -> list[StatementPart]:
        """Return what is done with the rows that are there, and with edges between nodes there."""
        change, named = self.change, self.live.number
        gone_edges = [[*keys_of(named, ends), n] for *ends, n in change.gone_edges.tolist()]
        gone_stems = [posting_key(named, stem) for stem in change.gone_stems]
        seek_node, seek_fact, seek_stem = (
            self._seek(label) for label in ("ClewNode", "ClewFact", "ClewPosting")
        )
        steps = [
            StatementPart(
                f"UNWIND $gone_nodes AS key {seek_node} DETACH DELETE n",
                "gone_nodes",
                keys_of(named, change.gone[NODES].tolist()),
            ),
            StatementPart(
                f"UNWIND $gone_facts AS key {seek_fact} DETACH DELETE n",
                "gone_facts",
                keys_of(named, change.gone[FACTS].tolist()),
            ),
            StatementPart(
                f"UNWIND $gone_stems AS key {seek_stem} DELETE n",
                "gone_stems",
                gone_stems,
            ),
            StatementPart(
                f"UNWIND $gone_edges AS r {super().ends(0)} MATCH (t)-[e]->(h) "
                "WITH e, r WHERE e.number = r[2] DELETE e",
                "gone_edges",
                gone_edges,
            ),
            *self._steps_of_nodes(graph, seek_node),
            *self._steps_of_facts(graph, seek_fact),
            *self._steps_of_edges(graph),
        ]
        return [step for step in steps if step.rows]

    def _seek(self, label: str) -> str:
        """Return what finds node `n` by its key."""
        return self.dialect.seek.format("n", "key").replace("ClewNode", label)

    def _steps_of_nodes(self, graph: Graph, seek: str) -> Iterator[StatementPart]:
        change, numbers = self.change, self.change.numbering.numbers
        rows = node_rows(self.live.number, graph, numbers, change.changed[NODES])
        yield _changed(
            "changed_nodes", seek, SET_NODE, map(_by_name(NODE_PROPERTIES, SET_NODE), rows)
        )
        rows = node_rows(self.live.number, graph, numbers, change.with_vector[NODES])
        kind, key, data = (NODE_PROPERTIES.index(name) for name in ("kind", "key", "data"))
        yield self._vectors(
            "node",
            seek,
            ([row[key], row[data], row[-1] if row[kind] == "passage" else None] for row in rows),
        )

    def _steps_of_facts(self, graph: Graph, seek: str) -> Iterator[StatementPart]:
        change, numbers = self.change, self.change.numbering.numbers
        rows = fact_rows(self.live.number, graph, numbers, change.changed[FACTS])
        yield _changed(
            "changed_facts", seek, SET_FACT, map(_by_name(FACT_PROPERTIES, SET_FACT), rows)
        )
        rows = fact_rows(self.live.number, graph, numbers, change.with_vector[FACTS])
        key, data = (FACT_PROPERTIES.index(name) for name in ("key", "data"))
        yield self._vectors("fact", seek, ([row[key], row[data], row[-3]] for row in rows))

    def _vectors(self, what: str, seek: str, rows: Iterator[list[object]]) -> StatementPart:
        searched = ", n.vector = vecf32(r[2])" if self.dialect.searches_vectors else ""
        name = f"vectors_of_{what}s"
        text = f"UNWIND ${name} AS r WITH r, r[0] AS key {seek} SET n.data = r[1]{searched}"
        return StatementPart(text, name, list(rows))

    def _steps_of_edges(self, graph: Graph) -> Iterator[StatementPart]:
        change, numbers, named = self.change, self.change.numbering.numbers, self.live.number
        set_edge = ", ".join(f"e.{name} = r[{at}]" for at, name in enumerate(SET_EDGE, 3))
        take = _by_name(EDGE_PROPERTIES, ("number", *SET_EDGE))
        rows = edge_rows(named, graph, numbers, change.changed[EDGES])
        yield StatementPart(
            f"UNWIND $changed_edges AS r {super().ends(0)} MATCH (t)-[e]->(h) "
            f"WITH e, r WHERE e.number = r[2] SET {set_edge}",
            "changed_edges",
            [[*row[-2:], *take(row)] for row in rows],
        )
        new = change.new[EDGES]
        rows = edge_rows(named, graph, numbers, new[change.is_between_kept(graph, new)])
        by_kind = dict[str, list[list[object]]]()
        for kind, some in grouped(rows, lambda row: EDGE_TYPES.get(str(row[1]), "EDGE")):
            by_kind.setdefault(kind, []).extend(some)
        for kind, some in by_kind.items():
            name = f"new_{kind.lower()}"
            ends = super().ends(len(EDGE_PROPERTIES))
            yield StatementPart(f"UNWIND ${name} AS r {ends} {edge_made_of_row(kind)}", name, some)

    def steps_that_show(self) -> Iterator[StatementPart]:
        """Return what lets those who ask see what was written."""
        passages, facts = self.live.is_approximate
        if passages:
            label = label_of(self.live.slot, "Passage")
            yield StatementPart(
                "MATCH (n:ClewNode {index: $change}) WITH n WHERE n.kind = 'passage' "
                f"SET n:{label}"
            )
        if facts:
            label = label_of(self.live.slot, "Fact")
            yield StatementPart(f"MATCH (n:ClewFact {{index: $change}}) SET n:{label}")
        for label in LABELS:
            yield StatementPart(f"MATCH (n:{label} {{index: $change}}) SET n.index = $index")

    async def show(self, graph: Graph, steps: list[StatementPart]) -> None:
        """Make the change, in one statement.

        Where not all of it is seen at once, those who read the version wait until it is; see
        `clew.remote.cypher.version`.
        """
        if self.dialect.shows_at_once:
            await self._show(graph, steps)
            return
        rows = sum(len(step.rows or ()) for step in steps) + sum(map(len, self.change.new.values()))
        seconds = SECONDS + rows / ROWS_A_SECOND
        if not await self._announce(2 * seconds):
            raise lost_lease(self.found.key)
        await self._show(graph, steps, seconds)
        await self._announce(0)

    async def _announce(self, seconds: float) -> bool:
        """Say until when rows are being changed, 0 for no more; return whether the lease is held.

        Where it was lost once the change was made, what was announced ends by itself.
        """
        clock = self.dialect.clock if seconds else "0"
        [rows] = await self.run(
            f"{HELD} MATCH (i:ClewIndex {{key: $key}}) "
            f"SET i.changing = {clock} + $milliseconds RETURN i.version",
            {
                "key": self.found.key,
                "holder": self.holder,
                "milliseconds": round(1000 * seconds),
            },
        )
        return bool(rows)

    async def _show(
        self, graph: Graph, steps: list[StatementPart], seconds: float | None = None
    ) -> None:
        """Make the change; it is over before the end of what was announced, or was not made."""
        condition, milliseconds = "", 0
        if seconds is not None:
            condition = f" AND i.changing > {self.dialect.clock} + $milliseconds"
            milliseconds = round(1000 * seconds)
        text = (
            f"{HELD} MATCH (g:ClewGeneration {{number: $change}}) "
            "MATCH (i:ClewIndex {key: $key}) WHERE i.version = $version AND i.number = $index "
            f"{condition} SET i.version = $version + 1, i.nodes = $nodes DELETE g WITH i "
        )
        parts = (f"CALL {{ {s.text} RETURN count(*) AS step_{n} }}" for n, s in enumerate(steps))
        values: Mapping[str, object] = {
            "key": self.found.key,
            "holder": self.holder,
            "version": self.found.version,
            "nodes": len(graph),
            "index": self.live.number,
            "change": self.number,
            "milliseconds": milliseconds,
            **{step.name: step.rows for step in steps if step.name},
        }
        statement = CypherStatement(f"{text} {' '.join(parts)} RETURN i.version", values, True)
        [rows] = await self.session.run(statement, seconds=seconds)
        if not rows:
            raise lost_lease(self.found.key)


def _changed(
    what: str, seek: str, names: tuple[str, ...], rows: Iterator[list[object]]
) -> StatementPart:
    """Return what sets properties of nodes; each row has the key, and then their values."""
    assignments = ", ".join(f"n.{name} = r[{at}]" for at, name in enumerate(names, 1))
    text = f"UNWIND ${what} AS r WITH r, r[0] AS key {seek} SET {assignments}"
    return StatementPart(text, what, list(rows))


def _by_name(
    names: tuple[str, ...], wanted: tuple[str, ...]
) -> Callable[[list[object]], list[object]]:
    """Return what takes the key of a row, where it has one, and then its wanted values."""
    places = [names.index(name) for name in wanted]
    key = [names.index("key")] if "key" in names else []

    def take(row: list[object]) -> list[object]:
        return [row[at] for at in (*key, *places)]

    return take


def _size(step: StatementPart) -> int:
    return sum(len(row) if isinstance(row, str) else characters_of(row) for row in step.rows or ())
