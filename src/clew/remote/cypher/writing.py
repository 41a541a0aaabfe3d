"""Writing an index into a graph database: as a new generation, or what has changed in one.

A generation is written beside the one that is asked, and one statement turns to it. Of a change
the new rows are written beside those that are asked, and one statement shows them and makes the
rest; see `clew.remote.cypher.changing`.

A person can look at what is written with ordinary Cypher, such as
`MATCH (p:Passage)-[r:MENTIONS]->(e) RETURN p.text, r.weight, e.text`. The files of the saved index
(`clew.store`), which are what a writer changes, are nodes with the label `ClewFile`, and the
passages of each word those with `ClewPosting`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Graph
from clew.index.contents import IndexContents
from clew.remote.cypher.change import first_numbering
from clew.remote.cypher.dialect import Dialect
from clew.remote.cypher.generation import (
    PLACES,
    FoundGeneration,
    Generation,
    RowNumbering,
    label_of,
    pack_generation,
    pack_numbering,
)
from clew.remote.cypher.lease import HELD, lost_lease
from clew.remote.cypher.statement import CypherSession, CypherStatement
from clew.remote.cypher.texts import keepable, text_of_bytes
from clew.remote.cypher.written_rows import (
    EDGE_PROPERTIES,
    EDGE_TYPES,
    FACT_PROPERTIES,
    NODE_PROPERTIES,
    batches,
    edge_rows,
    fact_rows,
    grouped,
    node_labels,
    node_rows,
    properties_of_row,
)
from clew.remote.files import FOR_QUESTIONS, NUMBERING, newest_paths, pack_for_questions
from clew.remote.rows import RowNumbers, every_row, postings_of
from clew.store.graph_tables import EDGES, FACTS, NODES

FILE_BYTES = 2**20
CLEARED_AT_ONCE = 2000
APPROXIMATE_FROM = (200_000, 20_000)
"""Passages, and facts, from which the nearest are found by an approximate index (HNSW).

Of 61,354 passages FalkorDB's found a tenth of the nearest for some questions, however many it was
asked for, and of 121,771 facts nearly all. It takes a second for a million to be measured.
"""

HNSW = "{dimension: %d, similarityFunction: 'cosine', M: 16, efConstruction: 200, efRuntime: 200}"
BUILDING = 0.1  # seconds between two looks at an index that the database builds
LABELS = ("ClewPosting", "ClewFile", "ClewFact", "ClewNode")  # of what a generation has


async def write_generation(
    session: CypherSession,
    dialect: Dialect,
    found: FoundGeneration,
    index: IndexContents,
    root: Path,
) -> None:
    """Write an index, whose folder is saved already, beside the one that is asked, and turn to it.

    Args:
        session: A session with the lease of the index.
        dialect: What the database has of its own.
        found: Where the index is.
        index: What is written.
        root: The folder with the files of the saved index.

    Raises:
        BlockingIOError: The lease was lost.
    """
    writer = GenerationWriter(session, dialect, found)
    await writer.clear_others()
    await writer.begin()
    await writer.write(index, root)
    await writer.turn(index.graph)
    await writer.clear_others()


def searched_approximately(graph: Graph, dialect: Dialect) -> tuple[bool, bool]:
    """Return whether passages, and whether facts, are so many that an approximate index is made."""
    is_searched = dialect.searches_vectors and bool(graph.vectors.shape[1])
    counts = (int(graph.kinds.mask("passage").sum()), len(graph.facts))
    passages, facts = (
        is_searched and count >= least
        for count, least in zip(counts, APPROXIMATE_FROM, strict=True)
    )
    return passages, facts


class RowWriter:
    """What writes rows that nobody sees yet, since they have a number of their own.

    Args:
        session: A session with the lease of the index.
        dialect: What the database has of its own.
        found: Where the index is.
    """

    def __init__(self, session: CypherSession, dialect: Dialect, found: FoundGeneration) -> None:
        self.session, self.dialect, self.found = session, dialect, found
        self.number, self.slot, self.named = 0, 0, 0

    async def begin(self) -> None:
        """Get a number, and a slot that no other generation has."""
        values = {"key": self.found.key, "holder": self.holder}
        [rows] = await self.run(
            "MATCH (l:ClewLock {key: $key, holder: $holder}) MATCH (s:ClewSchema) "
            "SET s.numbers = s.numbers + 1 WITH s.numbers AS number "
            "OPTIONAL MATCH (g:ClewGeneration) WITH number, collect(g.slot) AS used "
            "WITH number, [one IN range(0, size(used)) WHERE NOT one IN used][0] AS slot "
            "CREATE (g:ClewGeneration {number: number, slot: slot, owner: $key}) "
            "RETURN number, slot",
            values,
        )
        if not rows:
            raise lost_lease(self.found.key)
        self.number, self.slot = rows[0]
        self.named = self.number

    async def write_nodes(
        self, graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64], near: str
    ) -> None:
        """Write nodes; passages get the label `near`, where it is one."""
        made = node_rows(self.named, graph, numbers, rows)
        for labels, group in grouped(made, lambda row: node_labels(row, near)):
            for batch in batches(group):
                vector = self.vector_of(len(NODE_PROPERTIES)) if "Passage" in labels else ""
                await self.create(
                    f"CREATE (n:{labels} {properties_of_row(NODE_PROPERTIES)}) {vector} "
                    "RETURN count(n)",
                    batch,
                )

    async def write_facts(
        self, graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64], near: str
    ) -> None:
        """Write facts, which get the label `near`, where it is one."""
        at = len(FACT_PROPERTIES)
        labels = f"ClewFact:Fact:{near}" if near else "ClewFact:Fact"
        properties = properties_of_row(FACT_PROPERTIES)
        text = (
            # In one pattern: after three of them ArcadeDB has made some facts several times.
            f"{self.ends(at + 1)} "
            f"CREATE (t)<-[:SUBJECT]-(n:{labels} {properties})-[:OBJECT]->(h) "
            f"{self.vector_of(at)} RETURN count(n)"
        )
        for batch in batches(fact_rows(self.named, graph, numbers, rows)):
            await self.create(text, batch)

    async def write_edges(self, graph: Graph, numbers: RowNumbers, rows: NDArray[np.int64]) -> None:
        """Write edges, which are seen where both ends are."""
        made = edge_rows(self.named, graph, numbers, rows)
        for kind, group in grouped(made, lambda row: EDGE_TYPES.get(str(row[1]), "EDGE")):
            text = f"{self.ends(len(EDGE_PROPERTIES))} {edge_made_of_row(kind)} RETURN count(n)"
            for batch in batches(group):
                await self.create(text, batch)

    async def write_postings(self, postings: Mapping[bytes, tuple[bytes, bytes]]) -> None:
        """Write the passages of stems."""
        rows: Iterator[list[object]] = (
            [posting_key(self.named, stem), *map(text_of_bytes, (stem, passages, counts))]
            for stem, (passages, counts) in postings.items()
        )
        properties = properties_of_row(("key", "stem", "passages", "counts"))
        for batch in batches(rows):
            await self.create(f"CREATE (n:ClewPosting {properties}) RETURN count(n)", batch)

    async def write_files(
        self,
        root: Path,
        paths: Iterable[str],
        index: IndexContents,
        places: Generation,
        numbering: RowNumbering,
    ) -> None:
        """Write files of the saved index, and those that every version has its own of.

        Args:
            root: The folder with the files.
            paths: Which of them.
            index: What is written.
            places: What nodes it has.
            numbering: The numbers of its rows.
        """
        files = chain(
            ((path, np.fromfile(root / path, np.uint8)) for path in paths),
            ((FOR_QUESTIONS, pack_for_questions(index, places.nodes)) for _ in range(1)),
            [(NUMBERING, pack_numbering(numbering)), (PLACES, pack_generation(places))],
        )
        properties = properties_of_row(("path", "block", "blocks", "data", "written"))
        rows = (row for path, data in files for row in self._blocks(path, data))
        for batch in batches(rows):
            await self.create(f"CREATE (n:ClewFile {properties}) RETURN count(n)", batch)

    def _blocks(self, path: str, data: NDArray[np.uint8]) -> Iterator[list[object]]:
        """Yield the blocks of a file, which know the number of the writer that wrote them."""
        starts = range(0, max(1, len(data)), FILE_BYTES)
        for block, at in enumerate(starts):
            text = text_of_bytes(data[at : at + FILE_BYTES].tobytes())
            yield [keepable(path), block, len(starts), text, self.number]

    def ends(self, at: int) -> str:
        """Return what finds two nodes, whose keys stand in a row."""
        seek = self.dialect.seek  # a planner knows a key by a name, and not in a row
        return (
            f"WITH r, r[{at}] AS tail, r[{at + 1}] AS head "
            f"{seek.format('t', 'tail')} WITH r, t, head {seek.format('h', 'head')}"
        )

    def vector_of(self, at: int) -> str:
        """Return what gives node `n` the vector that stands at a place of its row."""
        return f"SET n.vector = vecf32(r[{at}])" if self.dialect.searches_vectors else ""

    async def create(self, text: str, rows: Sequence[object]) -> None:
        """Make something of each row, while the generation is there, and nothing otherwise."""
        [found] = await self.run(
            f"MATCH (g:ClewGeneration {{number: $index}}) WITH g UNWIND $rows AS r {text}",
            {"index": self.number, "rows": rows, **self.bound()},
        )
        if not found or found[0][0] != len(rows):
            raise lost_lease(self.found.key)

    def bound(self) -> dict[str, object]:
        """Return what is bound in `ends` besides."""
        return {}

    async def clear_others(self) -> None:
        """Clear away every generation of the index but the one that is asked.

        Only who has the lease may: what another writer has made since is the one that is asked, or
        will be. Those that are found here can never be, for their writers have lost their leases.
        """
        [rows] = await self.run(
            "MATCH (l:ClewLock {key: $key, holder: $holder}) MATCH (i:ClewIndex {key: $key}) "
            "MATCH (g:ClewGeneration) WHERE g.owner = $key AND g.number <> i.number "
            "RETURN g.number, g.slot",
            {"key": self.found.key, "holder": self.holder},
        )
        for number, slot in rows:
            await self._clear(number, slot)

    async def _clear(self, number: int, slot: int) -> None:
        number = abs(number)
        own = {"index": number, "cleared": -number}
        # A writer that has lost its lease finds the number no more, and writes no more. The slot
        # is kept until its labels are free.
        await self.run("MATCH (g:ClewGeneration {number: $index}) SET g.number = $cleared", own)
        for label in LABELS:
            while True:
                [[[count]]] = await self.run(
                    f"MATCH (n:{label} {{index: $index}}) WITH n LIMIT $some DETACH DELETE n "
                    "RETURN count(*)",
                    {"index": number, "some": CLEARED_AT_ONCE},
                )
                if not count:
                    break
        if self.dialect.searches_vectors:
            await self._drop_approximate([label_of(slot, what) for what in ("Passage", "Fact")])
        await self.run("MATCH (g:ClewGeneration {number: $cleared}) DELETE g", own)

    async def _drop_approximate(self, labels: list[str]) -> None:
        [rows] = await self.run(
            "CALL db.indexes() YIELD label WHERE label IN $labels RETURN label", {"labels": labels}
        )
        for (label,) in rows:
            if label in labels:
                await self.run(f"DROP VECTOR INDEX FOR (n:{label}) ON (n.vector)", {})

    @property
    def holder(self) -> str:
        """The holder of the lease."""
        if self.session.lease is None:
            raise ValueError("an index is written in a session that found it to write")
        return self.session.lease.holder

    async def run(self, text: str, values: Mapping[str, object]) -> list[list[list[Any]]]:
        """Run a statement that writes."""
        return await self.session.run(CypherStatement(text, values, writes=True))


class GenerationWriter(RowWriter):
    """What writes one generation."""

    async def write(self, index: IndexContents, root: Path) -> None:
        """Write all that the generation has."""
        graph = index.graph
        is_large = searched_approximately(graph, self.dialect)
        rows = {table: every_row(table, graph) for table in (NODES, FACTS, EDGES)}
        numbering = first_numbering(graph)
        numbers = numbering.numbers
        near = [
            label_of(self.slot, what) if is_one else ""
            for what, is_one in zip(("Passage", "Fact"), is_large, strict=True)
        ]
        await self.write_nodes(graph, numbers, rows[NODES], near[0])
        await self.write_facts(graph, numbers, rows[FACTS], near[1])
        await self.write_edges(graph, numbers, rows[EDGES])
        await self.write_postings(postings_of(graph, numbers))
        places = Generation(self.number, numbers.nodes, numbers.facts, self.slot, is_large)
        paths, manifest = newest_paths(root)
        await self.write_files(root, (*sorted(paths), manifest), index, places, numbering)
        for label in filter(None, near):
            await self._make_approximate(label, graph.vectors.shape[1])

    async def _make_approximate(self, label: str, dimension: int) -> None:
        options = HNSW % dimension
        await self.run(f"CREATE VECTOR INDEX FOR (n:{label}) ON (n.vector) OPTIONS {options}", {})
        while True:
            [rows] = await self.run(
                "CALL db.indexes() YIELD label, status WHERE label = $label RETURN status",
                {"label": label},
            )
            if rows == [["OPERATIONAL"]]:
                return
            time.sleep(BUILDING)

    async def turn(self, graph: Graph) -> None:
        """Let the new generation be the one that is asked."""
        [rows] = await self.run(
            f"{HELD} MATCH (g:ClewGeneration {{number: $number}}) "
            "MATCH (i:ClewIndex {key: $key}) "
            "WHERE i.version = $version SET i.number = $number, i.version = $version + 1, "
            "i.nodes = $nodes, i.dimension = $dimension RETURN i.version",
            {
                "key": self.found.key,
                "holder": self.holder,
                "number": self.number,
                "version": self.found.version,
                "nodes": len(graph),
                "dimension": graph.vectors.shape[1],
            },
        )
        if not rows:
            raise lost_lease(self.found.key)


def edge_made_of_row(kind: str) -> str:
    """Return what makes an edge of row `r` between the nodes `t` and `h`."""
    return f"CREATE (t)-[n:{kind} {properties_of_row(EDGE_PROPERTIES, indexed=False)}]->(h)"


def posting_key(named: int, stem: bytes) -> str:
    """Return the key of the passages of a stem."""
    return f"{named}:{text_of_bytes(stem)}"
