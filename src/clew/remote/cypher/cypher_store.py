"""An index in a graph database as a graph store: frontier by frontier, a column in one value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clew.deadline import DeadlineError, current
from clew.graph import Ragged, Rows, Vectors, freeze, offsets_of
from clew.remote.cypher.dialect import Dialect
from clew.remote.cypher.generation import Generation, key_of_node, label_of
from clew.remote.cypher.nearest import FactEnds, GenerationVectors, near_facts, near_rows
from clew.remote.cypher.pulled import (
    EDGE,
    FACT,
    NEAR_FACT,
    NODE,
    empty_nodes,
    graph_of_columns,
    weights_of_bits,
)
from clew.remote.cypher.statement import CypherRows, CypherSession, CypherStatement, PlainNumbers
from clew.remote.cypher.texts import bytes_of_text, text_of_bytes, vectors_of_texts
from clew.remote.cypher.wanted_values import wanted_values
from clew.remote.database import IndexChangedError
from clew.remote.filters import CONTENT_KINDS
from clew.remote.protocol import Capabilities, Expansion, FoundSeeds, Near, PulledNodes, Wanted

BLOCK = 2000  # vectors that are read at once, where they are kept here
FACT_ENDS = {
    **{name: ("number", f"n.{name}") for name in ("number", "subject", "object")},
    "read_from": ("numbers", "n.read_from"),
}
NUMBER = {"number": ("number", "n.number")}
SOURCES = {**NUMBER, "kind": ("text", "n.kind"), "read_from": ("numbers", "n.read_from")}
FOLLOWED = {
    "start": ("number", "t.number"),
    "number": ("number", "number"),
    "bits": ("number", "bits"),
}
EITHER_WAY = ("(t)-[r]->(n)", "(t)<-[r]-(n)")


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
    """

    session: CypherSession
    dialect: Dialect
    generation: Generation
    dimension: int
    count: Callable[[str], int]
    canonical: Callable[[str], str] | None = None
    _matching: dict[str, Rows] = field(default_factory=dict, init=False)
    _versions: list[int] = field(default_factory=list, init=False)

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
        [rows] = await self._run(self._version())
        if not rows:
            raise KeyError("the index is not in the database any more, or was written anew")
        version: int = rows[0][0]
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
        keys = [f"{self.generation.number}:{text_of_bytes(stem)}" for stem in stems]
        statements = [
            self._version(),
            self._statement(
                "UNWIND $keys AS key MATCH (p:ClewPosting {key: key}) WHERE p.index = $index "
                "RETURN p.stem, p.passages, p.counts",
                keys=keys,
            ),
        ]
        is_searched = vector is not None and self.dialect.searches_vectors
        if vector is not None and is_searched:
            statements += self._near_passages(vector, passages, where)
            if where is None:
                statements += self._near_facts(vector, facts)
        if where is not None:
            statements.append(self._allowed_passages(where))
        version, postings, *found = await self._run(*statements)
        allowed = None
        if where is not None:
            allowed = np.sort(self.dialect.read(NUMBER, found.pop())["number"])
        near = (_near([], []), _near([], []))
        if vector is not None and is_searched:
            near_passages = [self.dialect.read(NUMBER, rows)["number"] for rows in found[:2]]
            if matching is None:
                ends = [self._fact_ends(rows) for rows in found[2:]]
            else:
                ends = [
                    await self._allowed_facts(vector, facts, matching),
                    await self._allowed_facts(-vector, 1, matching),
                ]
            near = (_near(*near_passages), near_facts(*ends))
        elif vector is not None:
            near = await self._near_here(vector, passages, facts, allowed, matching)
        self._versions[:] = [rows[0] for rows in version] or [-1]
        return FoundSeeds(
            self._versions[0],
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

    def _near_passages(
        self, vector: Vectors, k: int, where: Wanted | None
    ) -> list[CypherStatement]:
        condition, values = _condition(where)
        exactly = None if where is None else condition
        return [
            self._nearest("Passage", sign * vector, limit, exactly, values, NUMBER)
            for sign, limit in ((1, k), (-1, 1))
        ]

    def _near_facts(self, vector: Vectors, k: int) -> list[CypherStatement]:
        return [
            self._nearest("Fact", sign * vector, limit, None, {}, FACT_ENDS)
            for sign, limit in ((1, k), (-1, 1))
        ]

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
            ends = self._fact_ends(rows)
            best = np.flatnonzero(_has_any(ends.read_from, matching))[:k]
            if len(best) == k or len(ends.numbers) < limit:
                return ends.taken(freeze(best, np.int32))
            limit *= 4

    def _fact_ends(self, rows: CypherRows) -> FactEnds:
        return _ends_of(self.dialect.read(FACT_ENDS, rows))

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
            self.generation.kept.append(await self._read_vectors())
        kept = self.generation.kept[0]
        of_passages = None if allowed is None else np.isin(kept.passages, allowed)
        of_facts = None if matching is None else _has_any(kept.facts.read_from, matching)
        near = near_rows(kept.passage_vectors, vector, passages, of_passages)
        ends = near_rows(kept.fact_vectors, vector, facts, of_facts)
        return (
            _near(*(kept.passages[rows] for rows in near)),
            near_facts(*(kept.facts.taken(rows) for rows in ends)),
        )

    async def _read_vectors(self) -> GenerationVectors:
        passages = await self._read_blocks(
            "ClewNode", NUMBER, self.generation.nodes.tolist(), " AND n.kind = 'passage'"
        )
        facts = await self._read_blocks(
            "ClewFact", FACT_ENDS, range(1, self.generation.n_facts + 1), ""
        )
        if len(facts["number"]) != self.generation.n_facts:
            raise IndexChangedError("the facts of the index are being cleared away")
        ends = _ends_of({**facts, "read_from": _stacked(facts["read_from"])})
        return GenerationVectors(
            freeze(passages["number"], np.int32), passages["data"], ends, facts["data"]
        )

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
            keys = [key_of_node(self.generation.number, n) for n in numbers[start : start + BLOCK]]
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
        statements = [
            self._statement(
                # Conditions stand behind WITH, or a planner begins at the other end, at all nodes.
                f"{self._sought('t')} CALL {{ WITH t MATCH {pattern} WITH n, r "
                "WHERE n.index = $index AND r.kind IS NOT NULL AND NOT r.kind IN $without "
                "RETURN n.number AS number, r.bits AS bits "
                f"ORDER BY r.weight DESC, n.number LIMIT $k }} {self.dialect.returned(FOLLOWED)}",
                places=self.generation.places(numbers),
                without=list(without),
                k=per_node,
            )
            for pattern in EITHER_WAY
        ]
        halves = [self.dialect.read(FOLLOWED, rows) for rows in await self._run(*statements)]
        starts, heads, bits = (np.concatenate([half[name] for half in halves]) for name in FOLLOWED)
        found, places = np.unique(heads, return_inverse=True)
        weights = np.bincount(
            places, weights_of_bits(bits).astype(np.float64), minlength=len(found)
        )
        if where is not None:
            kept = np.isin(found, await self._allowed(freeze(found, np.int32), where))
            found, weights = found[kept], weights[kept]
        cut = int((np.unique(starts, return_counts=True)[1] >= per_node).sum())
        return Expansion(freeze(found, np.int32), freeze(weights, np.float64), cut)

    async def nodes(
        self, numbers: Rows, fact_vectors: Rows | None = None, where: Wanted | None = None
    ) -> PulledNodes:
        """Return nodes with what contains them, and the facts and edges among them.

        Raises:
            IndexChangedError: The index was written since its seeds were found.
            ValueError: Nodes are not where the index says, though it was not written.
        """
        if not len(numbers):
            return empty_nodes(self.dimension, self.count, self.canonical)
        above = {"above": ("numbers", "n.above")}
        [rows] = await self._run(
            self._statement(
                f"{self._sought('n')} {self.dialect.returned(above)}",
                places=self.generation.places(numbers),
            )
        )
        chosen = np.union1d(numbers, self.dialect.read(above, rows)["above"].values)
        chosen = chosen[np.isin(chosen, self.generation.nodes)]
        if where is not None:
            chosen = await self._allowed(freeze(chosen, np.int32), where)
        if not len(chosen):
            return empty_nodes(self.dimension, self.count, self.canonical)
        facts, values = await self._facts_among(chosen, where)
        of_fact = FACT
        if fact_vectors is not None:
            of_fact, values = NEAR_FACT, {**values, **_hashed("vectors", fact_vectors)}
        among = {"places": self.generation.places(chosen), **_hashed("chosen", chosen)}
        node, fact, edge, version = await self._run(
            self._statement(
                f"{self._sought('n')} {self.dialect.returned(NODE)}", places=among["places"]
            ),
            self._statement(f"{facts} {self.dialect.returned(of_fact)}", **among, **values),
            self._statement(
                # Relationships are read where they stay alone: FalkorDB finds ends sooner.
                f"{self._sought('n')} MATCH (n)-->(m) WITH DISTINCT n, m "
                "WHERE m.number IN $chosen[m.number % $n_chosen] AND m.index = $index "
                "MATCH (n)-[r]->(m) WITH n, r, m WHERE r.kind IS NOT NULL "
                f"{self.dialect.returned(EDGE)}",
                **among,
            ),
            self._version(),
        )
        self._check(version, node, chosen)
        return graph_of_columns(
            self.dialect.read(NODE, node),
            self.dialect.read(of_fact, fact),
            self.dialect.read(EDGE, edge),
            self.dimension,
            self.count,
            self.canonical,
        )

    async def _facts_among(
        self, chosen: Rows, where: Wanted | None
    ) -> tuple[str, dict[str, object]]:
        """Return the part of a statement that finds the facts among nodes, and its values."""
        text = (
            f"{self._sought('n')} MATCH (n)<-[:SUBJECT]-(f) WITH f WHERE f.index = $index "
            "AND f.object IN $chosen[f.object % $n_chosen]"
        )
        if where is None:
            return text, {}
        columns = {"number": ("number", "f.number"), "read_from": ("numbers", "f.read_from")}
        [rows] = await self._run(
            self._statement(
                f"{text} {self.dialect.returned(columns)}",
                places=self.generation.places(chosen),
                **_hashed("chosen", chosen),
            )
        )
        read = self.dialect.read(columns, rows)
        is_allowed = _has_any(read["read_from"], await self._matching_numbers(where))
        return (
            f"{text} AND f.number IN $allowed[f.number % $n_allowed]",
            _hashed("allowed", read["number"][is_allowed]),
        )

    def _check(self, version: CypherRows, node: CypherRows, chosen: Rows) -> None:
        found = version[0][0] if version else -1
        if found == -1 or (self._versions and found != self._versions[0]):
            raise IndexChangedError("the index was written while it was read")
        if node[0][0] != len(chosen):
            raise ValueError(
                f"of {len(chosen)} nodes of the index {node[0][0]} are where it says: the database "
                "has been restored in another way than by its own backup; save the index anew"
            )

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
        if key not in self._matching:
            [rows] = await self._run(
                self._statement(
                    f"MATCH (n:ClewNode {{index: $index}}) WHERE TRUE{condition} "
                    f"{self.dialect.returned(NUMBER)}",
                    **values,
                )
            )
            self._matching[key] = freeze(self.dialect.read(NUMBER, rows)["number"], np.int32)
        return self._matching[key]

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
        return self._statement("MATCH (i:ClewIndex {number: $index}) RETURN i.version")

    def _statement(self, text: str, **values: object) -> CypherStatement:
        return CypherStatement(text, {"index": self.generation.number, **values})

    async def _run(self, *statements: CypherStatement) -> list[CypherRows]:
        left = current().remaining()
        if left <= 0:
            raise DeadlineError("the deadline of the question passed before the database answered")
        return await self.session.run(*statements, seconds=None if math.isinf(left) else left)


def _condition(where: Wanted | None) -> tuple[str, dict[str, object]]:
    """Return the conditions that node `n` has the wanted metadata, and what is bound in them."""
    wanted = [] if where is None else wanted_values(where)
    names = [f"wanted_{number}" for number in range(len(wanted))]
    text = "".join(f" AND any(one IN n.values WHERE one IN ${name})" for name in names)
    return text, dict(zip(names, wanted, strict=True))


def _hashed(name: str, numbers: Rows | None) -> dict[str, object]:
    """Return numbers by their remainders: a database looks at a list from end to end."""
    some = [] if numbers is None else np.asarray(numbers).tolist()
    lists = [list[int]() for _ in range(max(1, len(some)))]
    for one in some:
        lists[one % len(lists)].append(one)
    return {name: PlainNumbers(lists), f"n_{name}": len(lists)}


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
