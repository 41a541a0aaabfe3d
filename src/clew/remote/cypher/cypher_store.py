"""An index in a graph database as a graph store: frontier by frontier, a column in one value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clew.deadline import DeadlineError, current
from clew.graph import Graph, Ragged, Rows, Vectors, freeze, offsets_of
from clew.remote.cypher.dialect import Dialect
from clew.remote.cypher.generation import Generation, keys_of, label_of
from clew.remote.cypher.kept_generation import KeptGeneration, KeptNeighbours
from clew.remote.cypher.nearest import GenerationVectors, near_facts, near_rows
from clew.remote.cypher.rows_of_columns import (
    EDGE,
    FACT,
    NODE,
    block_of,
    kept_neighbours_of,
    read_neighbours,
)
from clew.remote.cypher.statement import (
    CypherRows,
    CypherSession,
    CypherStatement,
    PlainKeys,
    PlainNumbers,
)
from clew.remote.cypher.texts import bytes_of_text, text_of_bytes, vectors_of_texts
from clew.remote.cypher.version import settled_version, version_statement
from clew.remote.cypher.wanted_values import wanted_values
from clew.remote.database import IndexChangedError
from clew.remote.fact_vectors import (
    ASKED_BEFORE,
    FACT_BYTES,
    READ_SECONDS,
    FactEnds,
    FactVectors,
)
from clew.remote.filters import CONTENT_KINDS
from clew.remote.kept_rows import KeptTable
from clew.remote.numbers import is_among
from clew.remote.packed_rows import UnpackedRows
from clew.remote.passage_vectors import PassageVectors
from clew.remote.protocol import Capabilities, Expansion, FoundSeeds, Near, PulledNodes, Wanted
from clew.remote.pulled_rows import ReadRows

BLOCK = 2000  # vectors that are read at once, where they are kept here
EQUALLY_FAR = 100  # facts among which that with the lowest number is the farthest, as far as others
FACT_ENDS = {
    **{name: ("number", f"n.{name}") for name in ("number", "subject", "object")},
    "read_from": ("numbers", "n.read_from"),
}
NEAR_FACT = {**FACT_ENDS, "data": ("text", "n.data")}
NUMBER = {"number": ("number", "n.number")}
VECTOR = {**NUMBER, "data": ("text", "n.data")}
SOURCES = {**NUMBER, "kind": ("text", "n.kind"), "read_from": ("numbers", "n.read_from")}
FOLLOWED = {
    "start": ("number", "t.number"),
    "number": ("number", "number"),
    "bits": ("number", "bits"),
}
EITHER_WAY = ("(t)-[r]->(n)", "(t)<-[r]-(n)")


@dataclass(eq=False)
class _Question:
    """What one question has read so far.

    Attributes:
        version: The version of the index that its seeds are of; None before they are known.
        is_checked: Whether the index had that version after everything that was read.
        matching: The nodes that a filter allows, by the filter.
        fact_vectors: Those of the facts that are near.
        table: Where the rows are that are kept, and those that it has read.
        compares_facts: Whether the facts are compared here.
    """

    version: int | None = None
    is_checked: bool = True
    matching: dict[str, Rows] = field(default_factory=dict)
    fact_vectors: dict[int, Vectors] = field(default_factory=dict)
    table: KeptTable | None = None
    compares_facts: bool = False


@dataclass(frozen=True, eq=False)
class CypherStore:
    """One generation of an index of one tenant in a graph database.

    A filter is kept to in two steps: a statement says which nodes have the wanted metadata, by
    their numbers, and whatever else is read is looked at by its number, kind and sources before its
    texts are read.

    Attributes:
        session: What it is asked by.
        dialect: What the database has of its own.
        generation: Where the nodes are. Every statement binds its number.
        dimension: The width of vectors.
        count: The tokenizer of the index.
        canonical: As in `clew.graph.Graph`.
        passage_vectors: Those of all passages of the version that is asked, where they are known
            here; None where they are not.
        kept: What earlier questions to the same version have read.
    """

    session: CypherSession
    dialect: Dialect
    generation: Generation
    dimension: int
    count: Callable[[str], int]
    canonical: Callable[[str], str] | None = None
    passage_vectors: PassageVectors | None = None
    kept: KeptGeneration = field(default_factory=lambda: KeptGeneration(0, 0, 0))
    _question: _Question = field(default_factory=_Question, init=False, repr=False)

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        return Capabilities(
            enforces_where=True,
            searches_vectors=self.dialect.searches_vectors,
            snapshot=True,
            is_async=True,
        )

    async def version(self) -> int:
        """Return the version of the index, which every write raises.

        Raises:
            KeyError: There is no such index any more.
        """
        version = await self._settled(await self._run(self._version()))
        if version is None:
            raise KeyError("the index is not in the database any more, or was written anew")
        return version

    async def seeds(
        self,
        vector: Vectors | None,
        stems: Sequence[bytes],
        passages: int,
        facts: int,
        where: Wanted | None = None,
    ) -> FoundSeeds:
        """Return what a question leads to directly; see `GraphStore`."""
        if vector is not None and not np.isfinite(vector).all():
            raise ValueError("the vector of the question is not finite")
        if vector is not None and not vector.any():
            vector = None
        matching = None if where is None else await self._matching_numbers(where)
        keys = PlainKeys(f"{self.generation.number}:{text_of_bytes(stem)}" for stem in stems)
        statements = [
            self._statement(
                "UNWIND $keys AS key MATCH (p:ClewPosting {key: key}) WHERE p.index = $index "
                "RETURN p.stem, p.passages, p.counts",
                keys=keys,
            ),
        ]
        if where is not None:
            statements.append(self._allowed_passages(where))
        self.kept.questions += 1
        self._question.compares_facts = self._compares_facts()
        searched = self._searched(vector, passages, facts, where)
        # The version at last: where it is that of the corpus, all that came before it is, too.
        postings, *found, rows = await self._run(*statements, *searched, self._version())
        version, question = await self._settled([rows]), self._question
        question.version, question.is_checked = (-1 if version is None else version), True
        allowed = None
        if where is not None:
            allowed = np.sort(self.dialect.read(NUMBER, found.pop(0))["number"])
        near = (_near([], []), _near([], []))
        if vector is not None and self.dialect.searches_vectors:
            near = await self._near_there(vector, passages, facts, found, allowed, matching)
        elif vector is not None:
            near = await self._near_here(vector, passages, facts, allowed, matching)
        return FoundSeeds(
            question.version,
            *near,
            {
                bytes_of_text(stem): (
                    np.frombuffer(bytes_of_text(numbers), "<i4"),
                    np.frombuffer(bytes_of_text(counts), "<f4").astype(float),
                )
                for stem, numbers, counts in postings
            },
            None if allowed is None else freeze(allowed, np.int32),
        )

    def _searched(
        self, vector: Vectors | None, passages: int, facts: int, where: Wanted | None
    ) -> list[CypherStatement]:
        """Return what finds the nearest passages and facts, where the database searches them."""
        if vector is None or not self.dialect.searches_vectors:
            return []
        found = []
        if self.passage_vectors is None:
            found += self._near_passages(vector, passages, where)
        if where is None and not self._question.compares_facts:
            found += self._near_facts(vector, facts)
        return found

    def _compares_facts(self) -> bool:
        """Return whether the facts are compared here, though the database searches, too."""
        n_facts, known = len(self.generation.facts), self.kept.facts
        if self.generation.is_approximate[1] or 4 * self.dimension * n_facts > FACT_BYTES:
            return False
        if known is not None and len(known.ends.numbers) == n_facts:
            return True
        return self.kept.questions > ASKED_BEFORE and current().remaining() > READ_SECONDS

    async def _near_there(
        self,
        vector: Vectors,
        passages: int,
        facts: int,
        found: Sequence[CypherRows],
        allowed: Rows | None,
        matching: Rows | None,
    ) -> tuple[Near, Near]:
        """Return the nearest passages and facts that the database has found."""
        if self.passage_vectors is None:
            every = self.dialect.read(NUMBER, found[0])["number"]
            near_passages, found = [every[:-1], every[-1:]], found[1:]
            if self.generation.is_approximate[0] and matching is None:
                far = self.dialect.read(NUMBER, found[0])["number"]
                near_passages, found = [every, far], found[1:]
        else:
            directions = ((vector, passages), (-vector, 1))
            near_passages = [
                self.passage_vectors.nearest(direction, k, allowed)[0]
                for direction, k in directions
            ]
        if self._question.compares_facts:
            ends = list(self._near_facts_here(await self._fact_vectors(), vector, facts, matching))
        elif matching is not None:
            ends = [
                await self._allowed_facts(vector, facts, matching),
                await self._allowed_facts(-vector, 1, matching),
            ]
        elif self.generation.is_approximate[1]:
            ends = [self._fact_ends(NEAR_FACT, rows) for rows in found]
        else:  # of one search, the farthest as the last
            every = self._fact_ends(NEAR_FACT, found[0])
            rows = np.arange(len(every.numbers))
            ends = [every.taken(freeze(some, np.int32)) for some in (rows[:-1], rows[-1:])]
        return _near(*near_passages), near_facts(*ends)

    def _near_passages(
        self, vector: Vectors, k: int, where: Wanted | None
    ) -> list[CypherStatement]:
        condition, values = _condition(where)
        if self.generation.is_approximate[0] and where is None:
            return [
                self._nearest("Passage", sign * vector, limit, None, {}, NUMBER)
                for sign, limit in ((1, k), (-1, 1))
            ]
        of_passages = f"n.kind = 'passage' AND n.vector IS NOT NULL{condition}"
        return [self._nearest_and_farthest("ClewNode", of_passages, values, vector, k, NUMBER)]

    def _near_facts(self, vector: Vectors, k: int) -> list[CypherStatement]:
        if self.generation.is_approximate[1]:
            return [
                self._nearest("Fact", sign * vector, limit, None, {}, NEAR_FACT)
                for sign, limit in ((1, k), (-1, 1))
            ]
        return [
            self._nearest_and_farthest("ClewFact", "n.vector IS NOT NULL", {}, vector, k, NEAR_FACT)
        ]

    def _nearest_and_farthest(
        self,
        label: str,
        condition: str,
        values: Mapping[str, object],
        vector: Vectors,
        k: int,
        columns: Mapping[str, tuple[str, str]],
    ) -> CypherStatement:
        """Return what measures all, once, and finds the nearest, and the farthest as the last."""
        text = (
            f"WITH vecf32($vector) AS wanted MATCH (n:{label} {{index: $index}}) "
            f"WHERE {condition} "
            "WITH n, vec.cosineDistance(n.vector, wanted) AS distance ORDER BY distance, n.number "
            "WITH collect(n) AS every, collect(distance) AS distances "
            "WITH every, [place IN range(CASE WHEN size(every) > $n THEN size(every) - $n ELSE 0 "
            "END, size(every) - 1) WHERE distances[place] = distances[size(every) - 1]] AS far "
            "UNWIND every[0..$k] + [place IN far[0..1] | every[place]] AS n "
            f"{self.dialect.returned(columns)}"
        )
        wanted = PlainNumbers(vector.astype(np.float64).tolist())
        return self._statement(text, **values, vector=wanted, k=k, n=EQUALLY_FAR)

    def _nearest(
        self,
        what: str,
        vector: Vectors,
        k: int,
        condition: str | None,
        values: Mapping[str, object],
        columns: Mapping[str, tuple[str, str]],
    ) -> CypherStatement:
        """Return the statement that finds the nearest nodes.

        A filter and the approximate index do not go together: nothing may be missed. So that is
        asked where there is no condition at all.
        """
        is_approximate = self.generation.is_approximate[what == "Fact"] and condition is None
        label, kind = (
            ("ClewFact", "") if what == "Fact" else ("ClewNode", "n.kind = 'passage' AND ")
        )
        if is_approximate:
            found = (
                "CALL db.idx.vector.queryNodes($label, 'vector', $k, vecf32($vector)) "
                "YIELD node, score WITH node AS n, score AS distance WHERE n.index = $index "
                "WITH n, distance "
            )
            values = {"label": label_of(self.generation.slot, what), **values}
        else:
            found = (
                f"MATCH (n:{label} {{index: $index}}) "
                f"WHERE {kind}n.vector IS NOT NULL{condition or ''} "
                "WITH n, vec.cosineDistance(n.vector, vecf32($vector)) AS distance "
            )
        return self._statement(
            f"{found}ORDER BY distance, n.number LIMIT $k {self.dialect.returned(columns)}",
            **values,
            vector=PlainNumbers(vector.astype(np.float64).tolist()),
            k=k,
        )

    async def _allowed_facts(self, vector: Vectors, k: int, matching: Rows) -> FactEnds:
        """Return the nearest facts that were read from what may be read."""
        limit = 4 * k
        while True:
            one = self._nearest("Fact", vector, limit, "", {}, FACT_ENDS)
            [rows] = await self._run(one)
            ends = self._fact_ends(FACT_ENDS, rows)
            best = np.flatnonzero(_has_any(ends.read_from, matching))[:k]
            if len(best) == k or len(ends.numbers) < limit:
                return ends.taken(freeze(best, np.int32))
            limit *= 4

    def _fact_ends(self, columns: Mapping[str, tuple[str, str]], rows: CypherRows) -> FactEnds:
        """Return the facts that were found, and keep the vectors that came with them."""
        read = self.dialect.read(columns, rows)
        self._keep_vectors(read["number"], read.get("data", ()))
        return _ends_of(read)

    def _keep_vectors(self, numbers: Rows, texts: Sequence[str]) -> None:
        vectors = vectors_of_texts(texts, self.dimension)
        known = zip(numbers.tolist(), vectors, strict=False)  # none where none came
        self._question.fact_vectors.update(known)

    async def _near_here(
        self,
        vector: Vectors,
        passages: int,
        facts: int,
        allowed: Rows | None,
        matching: Rows | None,
    ) -> tuple[Near, Near]:
        """Return the nearest passages and facts of the vectors that are kept here."""
        if not self.generation.kept:
            vectors = await self._read_vectors()
            await self._run_checked()
            self.generation.kept.append(vectors)
        kept = self.generation.kept[0]
        of_passages = kept.has_vector
        if allowed is not None:
            of_passages = of_passages & np.isin(kept.passages, allowed)
        near = near_rows(kept.passage_vectors, vector, passages, of_passages)
        ends = self._near_facts_here(kept.facts, vector, facts, matching)
        return _near(*(kept.passages[rows] for rows in near)), near_facts(*ends)

    def _near_facts_here(
        self, kept: FactVectors, vector: Vectors, k: int, matching: Rows | None
    ) -> tuple[FactEnds, FactEnds]:
        """Return the nearest facts, and the farthest one, of those that are kept here."""
        allowed = None if matching is None else _has_any(kept.ends.read_from, matching)
        best, _, worst, _ = kept.nearest(vector, k, allowed)
        for row in (*best.tolist(), *worst.tolist()):
            self._question.fact_vectors[int(kept.ends.numbers[row])] = kept.vectors[row]
        return kept.ends.taken(best), kept.ends.taken(worst)

    async def _fact_vectors(self) -> FactVectors:
        """Return the vectors of all facts, of which those are read that are not kept yet.

        Raises:
            IndexChangedError: The index was written meanwhile.
        """
        known, every = self.kept.facts, self.generation.facts
        if known is not None and len(known.ends.numbers) == len(every):  # all are of this version
            return known
        missing = every if known is None else every[~is_among(every, known.ends.numbers)]
        read = await self._read_facts(missing)
        await self._run_checked()
        self.kept.facts = read if known is None else known.with_others(read)
        return self.kept.facts

    async def _read_facts(self, numbers: Rows) -> FactVectors:
        facts = await self._read_blocks("ClewFact", FACT_ENDS, numbers.tolist(), "")
        if len(facts["number"]) != len(numbers):
            raise IndexChangedError("the facts of the index are being cleared away")
        ends, vectors = (
            _ends_of({**facts, "read_from": _stacked(facts["read_from"])}),
            facts["data"],
        )
        order = np.argsort(ends.numbers)
        if np.any(np.diff(order) < 0):
            ends, vectors = ends.taken(freeze(order, np.int32)), vectors[order]
        return FactVectors(ends, freeze(vectors, np.float32))

    async def _read_vectors(self) -> GenerationVectors:
        passages = await self._read_blocks(
            "ClewNode", NUMBER, self.generation.nodes.tolist(), " AND n.kind = 'passage'"
        )
        facts = await self._read_facts(self.generation.facts)
        return GenerationVectors(freeze(passages["number"], np.int32), passages["data"], facts)

    async def _read_blocks(
        self,
        label: str,
        columns: Mapping[str, tuple[str, str]],
        numbers: Sequence[int],
        condition: str,
    ) -> dict[str, Any]:
        """Return columns of nodes with their vectors, some of them at once."""
        wanted = {**columns, "data": ("text", "n.data")}
        blocks = []
        for start in range(0, max(1, len(numbers)), BLOCK):
            some = numbers[start : start + BLOCK]
            keys = keys_of(self.generation.number, some)
            text = (
                f"UNWIND $keys AS key MATCH (n:{label} {{key: key}}) "
                f"WHERE n.index = $index{condition} {self.dialect.returned(wanted)}"
            )
            [rows] = await self._run(self._statement(text, keys=keys))
            read = self.dialect.read(wanted, rows)
            read["data"] = vectors_of_texts(read["data"], self.dimension)
            blocks.append(read)
        return {
            name: [block[name] for block in blocks]
            if columns.get(name, ("", ""))[0] == "numbers"
            else np.concatenate([block[name] for block in blocks])
            for name in wanted
        }

    async def expand(
        self,
        numbers: Rows,
        per_node: int,
        without: Sequence[str] = (),
        where: Wanted | None = None,
    ) -> Expansion:
        """Return the nodes that edges join with these; see `GraphStore`."""
        if not len(numbers):
            return Expansion(freeze([], np.int32), freeze([], np.float64), 0)
        if where is not None:
            numbers = await self._allowed(numbers, where)
        near = await self._neighbours(numbers, per_node, without)
        some = [near[number] for number in numbers.tolist() if number in near]
        entries = read_neighbours([*(one.heads for one in some), *(one.tails for one in some)])
        heads, weights = entries[:, 0], np.ascontiguousarray(entries[:, 1]).view("<f4")
        found, places = np.unique(heads, return_inverse=True)
        weights = np.bincount(places, weights.astype(np.float64), minlength=len(found))
        if where is not None:
            kept = np.isin(found, await self._allowed(freeze(found, np.int32), where))
            found, weights = found[kept], weights[kept]
        cut = sum(one.count >= per_node for one in some)
        return Expansion(freeze(found, np.int32), freeze(weights, np.float64), cut)

    async def _neighbours(
        self, numbers: Rows, per_node: int, without: Sequence[str]
    ) -> dict[int, KeptNeighbours]:
        """Return the strongest neighbours of nodes; those that are not kept are read."""
        rows = self.kept.neighbours(per_node, without)
        known = rows.get(numbers.tolist())
        missing = freeze([one for one in numbers.tolist() if one not in known], np.int32)
        if not len(missing):
            return known
        found = await self._run_checked(
            *(
                self._statement(
                    # Conditions stand behind WITH, or a planner begins at the other end, at all
                    # nodes.
                    f"{self._sought('t')} CALL {{ WITH t MATCH {pattern} WITH n, r "
                    "WHERE n.index = $index AND r.kind IS NOT NULL AND NOT r.kind IN $without "
                    "RETURN n.number AS number, r.bits AS bits "
                    "ORDER BY r.weight DESC, n.number LIMIT $k } "
                    f"{self.dialect.returned(FOLLOWED)}",
                    places=self.generation.places(missing),
                    without=list(without),
                    k=per_node,
                )
                for pattern in EITHER_WAY
            )
        )
        heads, tails = (self.dialect.read(FOLLOWED, one) for one in found)
        read = kept_neighbours_of(missing, heads, tails)
        rows.put(read)
        return known | read

    async def nodes(
        self, numbers: Rows, fact_vectors: Rows | None = None, where: Wanted | None = None
    ) -> PulledNodes:
        """Return nodes with what contains them, and the facts and edges among them.

        Raises:
            IndexChangedError: The index was written since its seeds were found.
            ValueError: Nodes are not where the index says, though it was not written.
        """
        some = numbers[is_among(numbers, self.generation.nodes)]
        chosen = await self._allowed_rows(some, where)
        if not len(chosen):
            return self._no_nodes()
        above = np.setdiff1d(self._unpacked(chosen).lists("above").values, chosen)
        above = above[is_among(above, self.generation.nodes)]
        if len(above):
            more = await self._allowed_rows(freeze(above, np.int32), where)
            chosen = freeze(np.union1d(chosen, more), np.int32)
        table = self._table
        read = ReadRows(
            *(chosen, table.columns, table.places(chosen)),
            *(self.kept.kinds, self.count, self.canonical),
        )
        allowed = None
        if where is not None:
            allowed = _facts_of(read.unpacked, await self._matching_numbers(where))
        await self._read_fact_vectors(read.facts_between(), fact_vectors)
        if not self._question.is_checked:
            await self._run_checked()
        return read.graph(allowed, self._question.fact_vectors)

    @property
    def _table(self) -> KeptTable:
        """Where the rows are: a question goes on with the table that it began with."""
        if self._question.table is None:
            self._question.table = self.kept.rows.table
        return self._question.table

    def _unpacked(self, numbers: Rows) -> UnpackedRows:
        return self._table.columns.unpacked(self._table.places(numbers))

    def _no_nodes(self) -> PulledNodes:
        none = np.zeros(0, np.int64)
        empty = Graph.of(
            [],
            vectors=np.zeros((0, self.dimension)),
            count=self.count,
            canonical=self.canonical,
        )
        return PulledNodes(freeze([], np.int32), empty, none, none, none.astype(np.int8))

    async def _allowed_rows(self, numbers: Rows, where: Wanted | None) -> Rows:
        """Return those of some nodes that may be read; the rows that are not kept are read."""
        if where is not None and len(numbers):
            numbers = await self._allowed(numbers, where)
        missing = numbers[self._table.places(numbers) < 0]
        if len(missing):
            await self._read_rows(freeze(missing, np.int32))
        return freeze(np.sort(numbers), np.int32)

    async def _read_rows(self, numbers: Rows) -> None:
        """Read nodes with the facts and the edges from them, and keep them.

        Facts belong to their subjects and edges to their tails, so that whoever has both ends has
        them.
        """
        places = self.generation.places(numbers)
        node, fact, edge = await self._run_checked(
            self._statement(f"{self._sought('n')} {self.dialect.returned(NODE)}", places=places),
            self._statement(
                f"{self._sought('n')} MATCH (n)<-[:SUBJECT]-(f) WITH f WHERE f.index = $index "
                f"{self.dialect.returned(FACT)}",
                places=places,
            ),
            self._statement(
                f"{self._sought('n')} MATCH (n)-[r]->(m) WITH n, r, m "
                "WHERE m.index = $index AND r.kind IS NOT NULL "
                f"{self.dialect.returned(EDGE)}",
                places=places,
            ),
        )
        if node[0][0] != len(numbers):
            raise ValueError(
                f"of {len(numbers)} nodes of the index {node[0][0]} are where it says: the "
                "database has been restored in another way than by its own backup; save the index "
                "anew"
            )
        nodes, edges = self.dialect.read(NODE, node), self.dialect.read(EDGE, edge)
        self.kept.add_kinds({*nodes["kind"], *edges["kind"]})
        read = block_of(nodes, self.dialect.read(FACT, fact), edges, self.dimension)
        self.kept.rows.put(self._table, freeze(nodes["number"], np.int32), read)

    async def _read_fact_vectors(self, between: Rows, wanted: Rows | None) -> None:
        """Read the vectors of those of some facts that are wanted and not known yet."""
        known = self._question.fact_vectors
        some = between if wanted is None else np.intersect1d(between, wanted)
        missing = [number for number in some.tolist() if number not in known]
        if not missing:
            return
        keys = keys_of(self.generation.number, missing)
        [rows] = await self._run_checked(
            self._statement(
                "UNWIND $keys AS key MATCH (n:ClewFact {key: key}) WHERE n.index = $index "
                f"{self.dialect.returned(VECTOR)}",
                keys=keys,
            )
        )
        read = self.dialect.read(VECTOR, rows)
        self._keep_vectors(read["number"], read["data"])

    async def _allowed(self, numbers: Rows, where: Wanted) -> Rows:
        """Return the nodes, of some, that a filter allows; none of their texts is read."""
        matching = await self._matching_numbers(where)
        [rows] = await self._run(
            self._statement(
                f"{self._sought('n')} {self.dialect.returned(SOURCES)}",
                places=self.generation.places(numbers),
            )
        )
        read = self.dialect.read(SOURCES, rows)
        is_content = np.isin(np.array(read["kind"], dtype=object).astype(str), CONTENT_KINDS)
        is_own = np.isin(read["number"], matching)
        kept = np.where(is_content, is_own, _has_any(read["read_from"], matching))
        return freeze(np.sort(read["number"][kept.astype(np.bool_)]), np.int32)

    async def _matching_numbers(self, where: Wanted) -> Rows:
        """Return the nodes, of any kind, whose own metadata a filter allows."""
        condition, values = _condition(where)
        key = repr(values)
        matching = self._question.matching
        if key not in matching:
            [rows] = await self._run(
                self._statement(
                    f"MATCH (n:ClewNode {{index: $index}}) WHERE TRUE{condition} "
                    f"{self.dialect.returned(NUMBER)}",
                    **values,
                )
            )
            matching[key] = freeze(self.dialect.read(NUMBER, rows)["number"], np.int32)
        return matching[key]

    def _allowed_passages(self, where: Wanted) -> CypherStatement:
        condition, values = _condition(where)
        return self._statement(
            f"MATCH (n:ClewNode {{index: $index}}) WHERE n.kind = 'passage'{condition} "
            f"{self.dialect.returned(NUMBER)}",
            **values,
        )

    def _sought(self, name: str) -> str:
        return f"UNWIND $places AS place {self.dialect.seek.format(name, 'place')}"

    def _version(self) -> CypherStatement:
        return version_statement(self.generation.number, self.dialect)

    async def _settled(self, rows: list[CypherRows]) -> int | None:
        """Return the version that the statement of it returned, once nothing is being changed."""
        return await settled_version(self.session, self._version(), rows[0])

    def _statement(self, text: str, **values: object) -> CypherStatement:
        return CypherStatement(text, {"index": self.generation.number, **values})

    async def _run(self, *statements: CypherStatement) -> list[CypherRows]:
        left = current().remaining()
        if left <= 0:
            raise DeadlineError("the deadline of the question passed before the database answered")
        self._question.is_checked = False
        return await self.session.run(*statements, seconds=None if math.isinf(left) else left)

    async def _run_checked(self, *statements: CypherStatement) -> list[CypherRows]:
        """Return the rows of statements, all of which saw the version of the seeds.

        Raises:
            IndexChangedError: The index was written since its seeds were found.
        """
        *found, rows = await self._run(*statements, self._version())
        now, wanted = await self._settled([rows]), self._question.version
        if now is None or wanted not in (None, now):
            raise IndexChangedError("the index was written while it was read")
        self._question.is_checked = True
        return found


def _condition(where: Wanted | None) -> tuple[str, dict[str, object]]:
    """Return the conditions that node `n` has the wanted metadata, and what is bound in them."""
    wanted = [] if where is None else wanted_values(where)
    names = [f"wanted_{number}" for number in range(len(wanted))]
    text = "".join(f" AND any(one IN n.values WHERE one IN ${name})" for name in names)
    return text, dict(zip(names, wanted, strict=True))


def _facts_of(unpacked: UnpackedRows, nodes: Rows) -> Rows:
    """Return the facts in some rows that were read from one of these nodes."""
    entries = unpacked.section("facts")[1]
    sources = Ragged(offsets_of(entries[:, 3]), unpacked.lists("fact_sources").values)
    return freeze(entries[_has_any(sources, nodes), 0], np.int32)


def _has_any(lists: Any, numbers: Rows) -> np.ndarray[Any, np.dtype[np.bool_]]:  # noqa: ANN401
    """Return which lists have one of some numbers."""
    found = np.bincount(lists.owners, np.isin(lists.values, numbers), minlength=len(lists))
    return np.asarray(found > 0)


def _ends_of(columns: Mapping[str, Any]) -> FactEnds:
    return FactEnds(
        freeze(columns["number"], np.int32),
        freeze(columns["subject"], np.int32),
        freeze(columns["object"], np.int32),
        columns["read_from"],
    )


def _stacked(parts: Sequence[Any]) -> Any:  # noqa: ANN401 - lists of rows
    lengths = np.concatenate([part.lengths for part in parts])
    values = np.concatenate([part.values for part in parts])
    return Ragged(offsets_of(lengths), freeze(values, np.int32))


def _near(best: Rows | list[int], worst: Rows | list[int]) -> Near:
    numbers = list(dict.fromkeys([*np.asarray(best).tolist(), *np.asarray(worst).tolist()]))
    return Near(freeze(numbers, np.int32), freeze([], np.int32))
