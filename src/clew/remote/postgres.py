"""An index in PostgreSQL as a graph store: frontier by frontier, columns as runs of bytes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.deadline import DeadlineError, current
from clew.graph import Rows, Vectors, freeze
from clew.remote.filters import filter_of, filter_of_fact
from clew.remote.protocol import (
    Capabilities,
    Expansion,
    FoundSeeds,
    Near,
    PulledNodes,
    Wanted,
)
from clew.remote.pulled_rows import graph_of_rows
from clew.remote.session import BoundStatement, Session, Table
from clew.remote.values import NumberList, read_numbers

SOURCES = 4  # passages that a near fact leads to, of all that it was read from
NODE_COLUMNS = ("number", "tokens", "document", "parent", "previous", "span_start", "span_end")
BETWEEN = (  # lists that are joined are hashed; those of ANY are searched from end to end
    "JOIN unnest(%s::int[]) one(row) ON one.row = n.{} "
    "JOIN unnest(%s::int[]) other(row) ON other.row = n.{}"
)
NODE_VALUES = ("id", "kind", "text", "generated", "metadata::text")
COUNTS = ("mentions", "contents", "language")


@dataclass(frozen=True, eq=False)
class PostgresStore:
    """One index of one tenant in PostgreSQL.

    Attributes:
        session: What it is asked by.
        index: The number of the index. Every statement has it.
        dimension: The width of vectors.
        count: The tokenizer of the index.
        canonical: As in `clew.graph.Graph`.
    """

    session: Session
    index: int
    dimension: int
    count: Callable[[str], int]
    canonical: Callable[[str], str] | None = None

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        return Capabilities(
            enforces_where=True, searches_vectors=True, snapshot=True, is_async=True
        )

    async def version(self) -> int:
        """Return the version of the index, which every write raises.

        Raises:
            KeyError: There is no such index any more.
        """
        [rows] = await self._run(self._version())
        return self._read_version(rows)

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
        has_vector = vector is not None and bool(vector.any())
        sql, values = filter_of("n", where)
        statements = [
            self._version(),
            BoundStatement(
                "SELECT stem, passages, counts FROM clew_posting "
                "WHERE index = %s AND stem = ANY(%s)",
                (self.index, list(stems)),
            ),
        ]
        if vector is not None and has_vector:
            for table, kind, k, ends in (
                ("clew_node", "AND n.kind = 'passage'", passages, "0, 0, '{}'::int[]"),
                ("clew_fact", "", facts, f"n.subject, n.object, n.read_from[1:{SOURCES}]"),
            ):
                of_fact = table == "clew_fact"
                allowed, bound = filter_of_fact("n", where) if of_fact else (sql, values)
                for sign, limit in ((1, k), (-1, 1)):
                    # A filter and the approximate index do not go together: nothing may be missed.
                    exact = "" if where is None else " + 0"
                    column = f"(n.vector::vector({self.dimension}))"
                    statements.append(
                        BoundStatement(
                            f"SELECT n.number, {ends} FROM {table} n WHERE n.index = %s "
                            f"AND n.vector IS NOT NULL {kind} AND {allowed} "
                            f"ORDER BY ({column} <#> %s::vector({self.dimension})){exact} LIMIT %s",
                            (self.index, *bound, sign * vector, limit),
                        )
                    )
        if where is not None:
            statements.append(
                BoundStatement(
                    "SELECT string_agg(int4send(n.number), ''::bytea ORDER BY n.number) "
                    f"FROM clew_node n WHERE n.index = %s AND n.kind = 'passage' AND {sql}",
                    (self.index, *values),
                )
            )
        version, postings, *found = await self._run(*statements)
        allowed_rows = read_numbers(found.pop()[0][0]) if where is not None else None
        near = [_near(best, worst) for best, worst in zip(found[::2], found[1::2], strict=True)]
        if not near:
            near = [_near([], []), _near([], [])]
        return FoundSeeds(
            self._read_version(version),
            near[0],
            near[1],
            {
                stem: (np.frombuffer(numbers, "<i4"), np.frombuffer(counts, "<f4").astype(float))
                for stem, numbers, counts in postings
            },
            allowed_rows,
        )

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
        near, near_values = filter_of("t", where)
        far, far_values = filter_of("n", where)
        halves = " UNION ALL ".join(
            "SELECT f.number AS start, e.* FROM frontier f CROSS JOIN LATERAL ("
            f"SELECT {other} AS number, weight FROM clew_edge WHERE index = %s "
            f"AND {own} = f.number AND kind <> ALL(%s) ORDER BY weight DESC, {other} LIMIT %s) e"
            for own, other in (("tail", "head"), ("head", "tail"))
        )
        statement = BoundStatement(
            "WITH frontier AS MATERIALIZED (SELECT t.number FROM clew_node t "
            f"WHERE t.index = %s AND t.number = ANY(%s::int[]) AND {near}), "
            f"followed AS MATERIALIZED ({halves}), "
            "found AS (SELECT n.number, f.weight FROM followed f "
            f"JOIN clew_node n ON n.index = %s AND n.number = f.number AND {far}), "
            "whole AS (SELECT number, sum(weight::float8) AS weight FROM found GROUP BY number) "
            "SELECT string_agg(int4send(number), ''::bytea ORDER BY number), "
            "string_agg(float8send(weight), ''::bytea ORDER BY number), "
            "(SELECT count(*) FROM (SELECT start FROM followed GROUP BY start "
            "HAVING count(*) >= %s) c) FROM whole",
            (
                *(self.index, NumberList(numbers), *near_values),
                *(self.index, list(without), per_node) * 2,
                *(self.index, *far_values, per_node),
            ),
        )
        [[[found, weights, cut]]] = await self._run(statement)
        return Expansion(
            read_numbers(found),
            freeze(np.frombuffer(weights or b"", ">f8").astype(np.float64), np.float64),
            cut,
        )

    async def nodes(
        self, numbers: Rows, fact_vectors: Rows | None = None, where: Wanted | None = None
    ) -> PulledNodes:
        """Return nodes with what contains them, and the facts and edges among them."""
        if not len(numbers):
            return self._graph_of_rows([], [], [])
        of_node, values = filter_of("n", where)
        of_fact, fact_values = filter_of_fact("n", where)
        some = NumberList(numbers)
        [[[found]]] = await self._run(
            BoundStatement(
                f"SELECT {_sent('n.number', 'n.number')} FROM (SELECT unnest(%s::int[]) AS number "
                "UNION SELECT unnest(m.above) FROM clew_node m WHERE m.index = %s "
                "AND m.number = ANY(%s::int[])) w JOIN clew_node n "
                f"ON n.index = %s AND n.number = w.number AND {of_node}",
                (some, self.index, some, self.index, *values),
            )
        )
        chosen = NumberList(read_numbers(found))
        of_facts = (
            "vector"
            if fact_vectors is None
            else "CASE WHEN number = ANY(%s::int[]) THEN vector END"
        )
        wanted = () if fact_vectors is None else (NumberList(fact_vectors),) * 2
        statements = (
            BoundStatement(
                f"SELECT {', '.join(map(_sent, (*NODE_COLUMNS, *COUNTS)))}, "
                f"{', '.join(map(_listed, NODE_VALUES))}, "
                f"{_vectors('vector')}, {_lists('read_from')}, "
                f"{_listed('cardinality(links)')}, "
                f"{_listed('array_send(links)')} FILTER (WHERE cardinality(links) > 0) "
                "FROM clew_node n WHERE n.index = %s AND n.number = ANY(%s::int[])",
                (self.index, chosen),
            ),
            BoundStatement(
                f"SELECT {', '.join(map(_sent, ('number', 'subject', 'object')))}, "
                f"{_listed('text')}, {_listed('relation')}, {_vectors(of_facts)}, "
                f"{_lists('read_from')} FROM clew_fact n {BETWEEN.format('subject', 'object')} "
                f"WHERE n.index = %s AND {of_fact}",
                (*wanted, chosen, chosen, self.index, *fact_values),
            ),
            BoundStatement(
                f"SELECT {', '.join(map(_sent, ('tail', 'head', 'fact')))}, "
                "string_agg(float4send(weight), ''::bytea ORDER BY number), "
                f"{_listed('kind')}, {_lists('read_from')} FROM clew_edge n "
                f"{BETWEEN.format('tail', 'head')} WHERE n.index = %s",
                (chosen, chosen, self.index),
            ),
        )
        nodes, facts_found, edges = await self._run(*statements)
        return self._graph_of_rows(nodes[0], facts_found[0], edges[0])

    def _graph_of_rows(
        self, node: Sequence[Any], fact: Sequence[Any], edge: Sequence[Any]
    ) -> PulledNodes:
        return graph_of_rows(node, fact, edge, self.dimension, self.count, self.canonical)

    def _version(self) -> BoundStatement:
        return BoundStatement("SELECT version FROM clew_index WHERE id = %s", (self.index,))

    def _read_version(self, rows: Table) -> int:
        if not rows:
            raise KeyError("the index is not in the database any more")
        version: int = rows[0][0]
        return version

    async def _run(self, *statements: BoundStatement) -> list[Table]:
        left = current().remaining()
        if left <= 0:
            raise DeadlineError("the deadline of the question passed before the database answered")
        if math.isinf(left):
            return await self.session.run(*statements)
        limit = BoundStatement(f"SET LOCAL statement_timeout = {max(1, round(left * 1000))}")
        return (await self.session.run(limit, *statements))[1:]


def _sent(column: str, order: str = "number") -> str:
    """Return how a column of numbers is read: one run of bytes."""
    return f"string_agg(int4send({column}), ''::bytea ORDER BY {order})"


def _listed(column: str) -> str:
    """Return how a column of any values is read."""
    return f"array_agg({column} ORDER BY number)"


def _lists(column: str) -> str:
    """Return how a column of lists is read: their lengths, and the lists."""
    sent = f"string_agg(array_send({column}), ''::bytea ORDER BY number)"
    return f"{_sent(f'cardinality({column})')}, {sent}"


def _vectors(column: str) -> str:
    """Return how a column of vectors is read: which are there, and these."""
    sent = f"string_agg(vector_send({column}), ''::bytea ORDER BY number)"
    return f"{_listed(f'{column} IS NOT NULL')}, {sent}"


def _near(best: Table, worst: Table) -> Near:
    rows = [*best, *worst]
    ends = {n for _, *two, read_from in best for n in (*two, *read_from)} - {0}
    ends |= {n for _, *two, _ in worst for n in two} - {0}
    return Near(
        freeze(list(dict.fromkeys(row[0] for row in rows)), np.int32),
        freeze(sorted(ends), np.int32),
    )
