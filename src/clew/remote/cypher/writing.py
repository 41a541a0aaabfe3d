"""Writing an index into a graph database: a new generation, which one statement turns to.

A person can look at what is written with ordinary Cypher, such as
`MATCH (p:Passage)-[r:MENTIONS]->(e) RETURN p.text, r.weight, e.text`. The files of the saved index
(`clew.store`), which are what a writer changes, are nodes with the label `ClewFile`, and the
passages of each word those with `ClewPosting`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Graph, freeze
from clew.index.contents import IndexContents
from clew.remote.cypher.dialect import Dialect
from clew.remote.cypher.generation import (
    PLACES,
    FoundGeneration,
    Generation,
    key_of_node,
    label_of,
    pack_generation,
)
from clew.remote.cypher.lease import lost_lease
from clew.remote.cypher.rows import rows_of
from clew.remote.cypher.statement import CypherSession, CypherStatement
from clew.remote.cypher.texts import keepable, text_of_bytes, text_of_vector
from clew.remote.cypher.wanted_values import metadata_values
from clew.remote.files import FOR_QUESTIONS, newest_paths, pack_for_questions
from clew.remote.rows import RowNumbers, postings_of
from clew.store.graph_tables import EDGES, FACTS, NODES

BATCH_CHARACTERS, BATCH_ROWS = 2 * 2**20, 1000
"""How much one statement writes: the first that is reached."""

FILE_BYTES = 2**20
CLEARED_AT_ONCE = 2000
DECIMALS = 8  # of a vector that is searched; the one that is read is exact
APPROXIMATE_FROM = 20_000
"""Vectors of one index from which the nearest are found by an approximate index (HNSW)."""

HNSW = "{dimension: %d, similarityFunction: 'cosine', M: 16, efConstruction: 200, efRuntime: 200}"
BUILDING = 0.1  # seconds between two looks at an index that the database builds

NODE_LABELS = {
    name: name.capitalize()
    for name in ("passage", "entity", "section", "document", "sentence", "report", "description")
}
"""The label of each kind of node beside `ClewNode`; those of another kind have that alone."""

EDGE_TYPES = {
    name: name.upper()
    for name in ("contains", "next", "mentions", "fact", "similar", "synonym", "shared")
} | {name: name.upper() for name in ("hyperlink", "related", "alike", "short_form")}
"""The type of each kind of edge; those of another kind are `EDGE`."""

NODE_PROPERTIES = (
    *("number", "id", "kind", "text", "tokens", "document", "parent", "previous"),
    *("span_start", "span_end", "links", "read_from", "generated", "metadata", "above"),
    *("mentions", "contents", "language", "values", "data", "key"),
)
FACT_PROPERTIES = (
    *("number", "text", "subject", "object", "relation", "read_from", "data", "key"),
)
EDGE_PROPERTIES = ("number", "kind", "weight", "bits", "fact", "read_from")
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
    writer = _Writer(session, dialect, found)
    await writer.clear_others()
    await writer.begin()
    await writer.write(index, root)
    await writer.turn(index.graph)
    await writer.clear_others()


class _Writer:
    """What writes one generation."""

    def __init__(self, session: CypherSession, dialect: Dialect, found: FoundGeneration) -> None:
        self.session, self.dialect, self.found = session, dialect, found
        self.number, self.slot = 0, 0

    async def begin(self) -> None:
        """Get a number, and a slot that no other generation has."""
        values = {"key": self.found.key, "holder": self._holder()}
        [rows] = await self._run(
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

    async def write(self, index: IndexContents, root: Path) -> None:
        """Write all that the generation has."""
        graph, dimension = index.graph, index.graph.vectors.shape[1]
        passages = int(graph.kinds.mask("passage").sum())
        is_large = tuple(
            bool(dimension and self.dialect.searches_vectors and count >= APPROXIMATE_FROM)
            for count in (passages, len(graph.facts))
        )
        nodes, facts, edges = (
            freeze(np.arange(1, size + 1), np.int32)
            for size in (len(graph), len(graph.facts), len(graph.edges))
        )
        numbers = RowNumbers(nodes, facts, edges)
        near = [
            label_of(self.slot, what) if is_one else ""
            for what, is_one in zip(("Passage", "Fact"), is_large, strict=True)
        ]
        ids = await self._write_nodes(graph, numbers, near[0])
        places = Generation(
            self.number, numbers.nodes, ids, len(graph.facts), self.slot, (is_large[0], is_large[1])
        )
        await self._write_facts(graph, numbers, places, near[1])
        await self._write_edges(graph, numbers, places)
        await self._write_postings(graph, numbers)
        paths, manifest = newest_paths(root)
        for path in (*sorted(paths), manifest):
            await self._write_file(path, np.fromfile(root / path, np.uint8))
        await self._write_file(FOR_QUESTIONS, pack_for_questions(index, numbers.nodes))
        await self._write_file(PLACES, pack_generation(places))
        for label in filter(None, near):
            await self._make_approximate(label, dimension)

    async def _write_nodes(self, graph: Graph, numbers: RowNumbers, near: str) -> NDArray[np.int64]:
        """Write the nodes; return the place of each in the database, where it gives them one."""
        ids = np.zeros(len(graph) if self.dialect.place else 0, np.int64)
        columns = {"number": ("number", "n.number"), "id": ("number", self.dialect.place)}
        end = self.dialect.returned(columns, "n") if len(ids) else "RETURN count(n)"
        rows = _node_rows(self.number, graph, numbers)
        for labels, group in _grouped(rows, lambda row: _node_labels(row, near)):
            for batch in _batches(group):
                vector = self._vector_of(len(NODE_PROPERTIES)) if "Passage" in labels else ""
                found = await self._create(
                    f"CREATE (n:{labels} {_properties(NODE_PROPERTIES)}) {vector} {end}", batch
                )
                if len(ids):
                    read = self.dialect.read(columns, found)
                    ids[read["number"] - 1] = read["id"]
        return ids

    async def _write_facts(
        self, graph: Graph, numbers: RowNumbers, places: Generation, near: str
    ) -> None:
        at = len(FACT_PROPERTIES)
        labels = f"ClewFact:Fact:{near}" if near else "ClewFact:Fact"
        text = (
            # In one pattern: after three of them ArcadeDB has made some facts several times.
            f"{self._ends(at + 1)} "
            f"CREATE (t)<-[:SUBJECT]-(n:{labels} {_properties(FACT_PROPERTIES)})-[:OBJECT]->(h) "
            f"{self._vector_of(at)} RETURN count(n)"
        )
        for batch in _batches(_fact_rows(self.number, graph, numbers, places)):
            await self._create(text, batch)

    async def _write_edges(self, graph: Graph, numbers: RowNumbers, places: Generation) -> None:
        at = len(EDGE_PROPERTIES)
        rows = _edge_rows(graph, numbers, places)
        for kind, group in _grouped(rows, lambda row: EDGE_TYPES.get(str(row[1]), "EDGE")):
            text = (
                f"{self._ends(at)} "
                f"CREATE (t)-[n:{kind} {_properties(EDGE_PROPERTIES, indexed=False)}]->(h) "
                "RETURN count(n)"
            )
            for batch in _batches(group):
                await self._create(text, batch)

    async def _write_postings(self, graph: Graph, numbers: RowNumbers) -> None:
        rows: Iterator[list[object]] = (
            [f"{self.number}:{text_of_bytes(stem)}", *map(text_of_bytes, (stem, passages, counts))]
            for stem, (passages, counts) in postings_of(graph, numbers).items()
        )
        properties = _properties(("key", "stem", "passages", "counts"))
        for batch in _batches(rows):
            await self._create(f"CREATE (n:ClewPosting {properties}) RETURN count(n)", batch)

    async def _write_file(self, path: str, data: NDArray[np.uint8]) -> None:
        starts = range(0, max(1, len(data)), FILE_BYTES)
        properties = _properties(("path", "block", "blocks", "data"))
        rows = (
            [
                keepable(path),
                block,
                len(starts),
                text_of_bytes(data[at : at + FILE_BYTES].tobytes()),
            ]
            for block, at in enumerate(starts)
        )
        for batch in _batches(rows):
            await self._create(f"CREATE (n:ClewFile {properties}) RETURN count(n)", batch)

    def _ends(self, at: int) -> str:
        """Return what finds two nodes, whose places stand in a row."""
        seek = self.dialect.seek  # a planner knows a place by a name, and not in a row
        return (
            f"WITH r, r[{at}] AS tail, r[{at + 1}] AS head "
            f"{seek.format('t', 'tail')} WITH r, t, head {seek.format('h', 'head')}"
        )

    def _vector_of(self, at: int) -> str:
        """Return what gives node `n` the vector that stands at a place of its row."""
        return f"SET n.vector = vecf32(r[{at}])" if self.dialect.searches_vectors else ""

    async def _create(self, text: str, rows: Sequence[object]) -> list[list[Any]]:
        """Make something of each row, while the generation is there, and nothing otherwise."""
        [found] = await self._run(
            f"MATCH (g:ClewGeneration {{number: $index}}) WITH g UNWIND $rows AS r {text}",
            {"index": self.number, "rows": rows},
        )
        if not found or found[0][0] != len(rows):
            raise lost_lease(self.found.key)
        return found

    async def _make_approximate(self, label: str, dimension: int) -> None:
        options = HNSW % dimension
        await self._run(f"CREATE VECTOR INDEX FOR (n:{label}) ON (n.vector) OPTIONS {options}", {})
        while True:
            [rows] = await self._run(
                "CALL db.indexes() YIELD label, status WHERE label = $label RETURN status",
                {"label": label},
            )
            if rows == [["OPERATIONAL"]]:
                return
            time.sleep(BUILDING)

    async def turn(self, graph: Graph) -> None:
        """Let the new generation be the one that is asked."""
        [rows] = await self._run(
            "MATCH (l:ClewLock {key: $key, holder: $holder}) "
            "MATCH (g:ClewGeneration {number: $number}) MATCH (i:ClewIndex {key: $key}) "
            "WHERE i.version = $version SET i.number = $number, i.version = $version + 1, "
            "i.nodes = $nodes, i.dimension = $dimension RETURN i.version",
            {
                "key": self.found.key,
                "holder": self._holder(),
                "number": self.number,
                "version": self.found.version,
                "nodes": len(graph),
                "dimension": graph.vectors.shape[1],
            },
        )
        if not rows:
            raise lost_lease(self.found.key)

    async def clear_others(self) -> None:
        """Clear away every generation of the index but the one that is asked.

        Only who has the lease may: what another writer has made since is the one that is asked, or
        will be. Those that are found here can never be, for their writers have lost their leases.
        """
        [rows] = await self._run(
            "MATCH (l:ClewLock {key: $key, holder: $holder}) MATCH (i:ClewIndex {key: $key}) "
            "MATCH (g:ClewGeneration) WHERE g.owner = $key AND g.number <> i.number "
            "RETURN g.number, g.slot",
            {"key": self.found.key, "holder": self._holder()},
        )
        for number, slot in rows:
            await self._clear(number, slot)

    async def _clear(self, number: int, slot: int) -> None:
        number = abs(number)
        own = {"index": number, "cleared": -number}
        # A writer that has lost its lease finds the number no more, and writes no more. The slot
        # is kept until its labels are free.
        await self._run("MATCH (g:ClewGeneration {number: $index}) SET g.number = $cleared", own)
        for label in LABELS:
            while True:
                [[[count]]] = await self._run(
                    f"MATCH (n:{label} {{index: $index}}) WITH n LIMIT $some DETACH DELETE n "
                    "RETURN count(*)",
                    {"index": number, "some": CLEARED_AT_ONCE},
                )
                if not count:
                    break
        if self.dialect.searches_vectors:
            await self._drop_approximate([label_of(slot, what) for what in ("Passage", "Fact")])
        await self._run("MATCH (g:ClewGeneration {number: $cleared}) DELETE g", own)

    async def _drop_approximate(self, labels: list[str]) -> None:
        [rows] = await self._run(
            "CALL db.indexes() YIELD label WHERE label IN $labels RETURN label", {"labels": labels}
        )
        for (label,) in rows:
            if label in labels:
                await self._run(f"DROP VECTOR INDEX FOR (n:{label}) ON (n.vector)", {})

    def _holder(self) -> str:
        if self.session.lease is None:
            raise ValueError("an index is written in a session that found it to write")
        return self.session.lease.holder

    async def _run(self, text: str, values: Mapping[str, object]) -> list[list[list[Any]]]:
        return await self.session.run(CypherStatement(text, values, writes=True))


def _properties(names: Sequence[str], *, indexed: bool = True) -> str:
    """Return the properties that are taken from a row, and the number of the generation."""
    own = ["index: $index"] if indexed else []
    return "{" + ", ".join([*own, *(f"{name}: r[{at}]" for at, name in enumerate(names))]) + "}"


def _text(data: object) -> str:
    assert isinstance(data, bytes)
    return keepable(data.decode("utf-8", "surrogatepass"))


def _node_rows(index: int, graph: Graph, numbers: RowNumbers) -> Iterator[list[object]]:
    made: Iterator[Any] = rows_of(NODES, graph, numbers)
    for row, (number, id, kind, text, *plain, vector) in enumerate(made):
        before, links, between, metadata, after = (
            plain[:6],
            [_text(link) for link in plain[6]],
            plain[7:9],
            plain[9],
            plain[10:],
        )
        yield [
            *(number, _text(id), keepable(str(kind)), _text(text), *before, links, *between),
            *(metadata, *after, metadata_values(graph.metadata[row]), text_of_vector(vector)),
            *(key_of_node(index, number), _searched(vector)),
        ]


def _fact_rows(
    index: int, graph: Graph, numbers: RowNumbers, places: Generation
) -> Iterator[list[object]]:
    made: Iterator[Any] = rows_of(FACTS, graph, numbers)
    for number, text, subject, object, relation, read_from, vector in made:
        yield [
            *(number, _text(text), subject, object, _text(relation), read_from),
            *(text_of_vector(vector), key_of_node(index, number), _searched(vector)),
            *places.places([subject, object]),
        ]


def _edge_rows(graph: Graph, numbers: RowNumbers, places: Generation) -> Iterator[list[object]]:
    bits = graph.edges.weights.astype(np.float32).view(np.int32).tolist()
    made: Iterator[Any] = rows_of(EDGES, graph, numbers)
    for bit, (number, tail, head, kind, weight, fact, read_from) in zip(bits, made, strict=True):
        yield [
            *(number, keepable(str(kind)), weight, bit, fact, read_from),
            *places.places([tail, head]),
        ]


def _searched(vector: NDArray[np.float32] | None) -> list[float] | None:
    """Return a vector as it is searched; None for none."""
    return None if vector is None else np.round(vector.astype(np.float64), DECIMALS).tolist()


def _node_labels(row: Sequence[object], near: str) -> str:
    kind = str(row[NODE_PROPERTIES.index("kind")])
    label = NODE_LABELS.get(kind)
    labels = ["ClewNode", *([label] if label else [])]
    if near and kind == "passage":
        labels.append(near)
    return ":".join(labels)


def _grouped(
    rows: Iterable[list[object]],
    of: Any,  # noqa: ANN401
) -> Iterator[tuple[str, list[list[object]]]]:
    """Yield rows by what a function says of each, some of them at once, in their order."""
    waiting: dict[str, list[list[object]]] = {}
    for row in rows:
        group = waiting.setdefault(of(row), [])
        group.append(row)
        if len(group) >= BATCH_ROWS:
            yield of(row), waiting.pop(of(row))
    yield from waiting.items()


def _batches(rows: Iterable[list[object]]) -> Iterator[list[list[object]]]:
    """Yield rows, as many at once as one statement writes."""
    batch, size = list[list[object]](), 0
    for row in rows:
        batch.append(row)
        size += sum(
            len(one) if isinstance(one, str) else 12 * len(one) if isinstance(one, list) else 8
            for one in row
        )
        if len(batch) >= BATCH_ROWS or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
