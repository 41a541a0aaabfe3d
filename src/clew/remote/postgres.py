"""An index in PostgreSQL as a graph store: frontier by frontier, columns as runs of bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.deadline import DeadlineError, current
from clew.graph import Edges, Facts, Graph, Labels, Ragged, Rows, Vectors, freeze
from clew.remote.protocol import (
    Capabilities,
    Expansion,
    FoundSeeds,
    Near,
    PulledNodes,
    Wanted,
)
from clew.remote.session import BoundStatement, Session, Table
from clew.remote.values import read_lists, read_numbers, read_vectors, read_weights
from clew.store.column_kinds import parse_metadata

CONTENT_KINDS = ("passage", "sentence", "section", "document")
"""Kinds of node that have metadata of their own; others stay with what they were read from."""

SOURCES = 4  # passages that a near fact leads to, of all that it was read from
NODE_COLUMNS = ("number", "tokens", "document", "parent", "previous", "span_start", "span_end")
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
            f"WHERE t.index = %s AND t.number = ANY(%s) AND {near}), "
            f"followed AS MATERIALIZED ({halves}), "
            "found AS (SELECT n.number, f.weight FROM followed f "
            f"JOIN clew_node n ON n.index = %s AND n.number = f.number AND {far}), "
            "whole AS (SELECT number, sum(weight::float8) AS weight FROM found GROUP BY number) "
            "SELECT string_agg(int4send(number), ''::bytea ORDER BY number), "
            "string_agg(float8send(weight), ''::bytea ORDER BY number), "
            "(SELECT count(*) FROM (SELECT start FROM followed GROUP BY start "
            "HAVING count(*) >= %s) c) FROM whole",
            (
                *(self.index, numbers.tolist(), *near_values),
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

    async def nodes(self, numbers: Rows, where: Wanted | None = None) -> PulledNodes:
        """Return nodes with what contains them, and the facts and edges among them."""
        if not len(numbers):
            return _pulled([], [(None,) * 9], [(None,) * 8], self)
        of_node, values = filter_of("n", where)
        of_fact, fact_values = filter_of_fact("n", where)
        chosen = (
            "WITH chosen AS MATERIALIZED (SELECT n.number FROM (SELECT unnest(%s::int[]) AS number "
            "UNION SELECT unnest(m.above) FROM clew_node m WHERE m.index = %s "
            "AND m.number = ANY(%s)) w JOIN clew_node n "
            f"ON n.index = %s AND n.number = w.number AND {of_node}) "
        )
        some = numbers.tolist()
        bound = (some, self.index, some, self.index, *values)
        columns = ", ".join(
            f"string_agg(int4send({name}), ''::bytea ORDER BY number)"
            for name in (*NODE_COLUMNS, *COUNTS)
        )
        statements = (
            BoundStatement(
                f"{chosen} SELECT {columns}, array_agg(id ORDER BY number), "
                "array_agg(kind ORDER BY number), array_agg(text ORDER BY number), "
                "array_agg(generated ORDER BY number), array_agg(metadata::text ORDER BY number), "
                "array_agg(vector IS NOT NULL ORDER BY number), "
                "string_agg(vector_send(vector), ''::bytea ORDER BY number), "
                f"{_lists('read_from')}, array_agg(cardinality(links) ORDER BY number), "
                "(SELECT array_agg(l.link ORDER BY m.number, l.place) FROM chosen JOIN clew_node m "
                "ON m.index = %s AND m.number = chosen.number CROSS JOIN LATERAL "
                "unnest(m.links) WITH ORDINALITY l(link, place)) "
                "FROM clew_node n WHERE n.index = %s AND n.number IN (SELECT number FROM chosen)",
                (*bound, self.index, self.index),
            ),
            BoundStatement(
                f"{chosen} SELECT string_agg(int4send(number), ''::bytea ORDER BY number), "
                "string_agg(int4send(subject), ''::bytea ORDER BY number), "
                "string_agg(int4send(object), ''::bytea ORDER BY number), "
                "array_agg(text ORDER BY number), array_agg(relation ORDER BY number), "
                "array_agg(vector IS NOT NULL ORDER BY number), "
                "string_agg(vector_send(vector), ''::bytea ORDER BY number), "
                f"{_lists('read_from')} FROM clew_fact n WHERE n.index = %s "
                "AND n.subject IN (SELECT number FROM chosen) "
                f"AND n.object IN (SELECT number FROM chosen) AND {of_fact}",
                (*bound, self.index, *fact_values),
            ),
            BoundStatement(
                f"{chosen} SELECT string_agg(int4send(tail), ''::bytea ORDER BY number), "
                "string_agg(int4send(head), ''::bytea ORDER BY number), "
                "string_agg(int4send(fact), ''::bytea ORDER BY number), "
                "string_agg(float4send(weight), ''::bytea ORDER BY number), "
                f"array_agg(kind ORDER BY number), {_lists('read_from')} FROM clew_edge n "
                "WHERE n.index = %s AND n.tail IN (SELECT number FROM chosen) "
                "AND n.head IN (SELECT number FROM chosen)",
                (*bound, self.index),
            ),
        )
        nodes, facts_found, edges = await self._run(*statements)
        return _pulled(nodes[0], facts_found, edges, self)

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


def _lists(column: str) -> str:
    """Return how a column of lists is read: their lengths, and the lists."""
    return (
        f"string_agg(int4send(cardinality({column})), ''::bytea ORDER BY number), "
        f"string_agg(array_send({column}), ''::bytea ORDER BY number)"
    )


def filter_of(alias: str, where: Wanted | None) -> tuple[str, tuple[object, ...]]:
    """Return the condition that a node is allowed, and the values that are bound in it.

    Args:
        alias: What the statement calls the node; a name of clew's own.
        where: The wanted values.

    Raises:
        TypeError: It is no mapping, such as a function, which a database cannot call.
    """
    if where is None:
        return "TRUE", ()
    if not isinstance(where, Mapping):
        raise TypeError(
            "a database keeps to a mapping of wanted metadata values, and to no function; "
            f"got a {type(where).__name__}"
        )
    own, values = _matches(alias, where)
    source, source_values = _matches("p", where)
    kinds = ", ".join(f"'{kind}'" for kind in CONTENT_KINDS)
    return (
        f"CASE WHEN {alias}.kind IN ({kinds}) THEN {own} ELSE EXISTS (SELECT 1 FROM clew_node p "
        f"WHERE p.index = {alias}.index AND p.number = ANY({alias}.read_from) AND {source}) END",
        (*values, *source_values),
    )


def filter_of_fact(alias: str, where: Wanted | None) -> tuple[str, tuple[object, ...]]:
    """Return the condition that a fact was read from an allowed passage, and its values."""
    if where is None:
        return "TRUE", ()
    filter_of(alias, where)  # refuses what is no mapping
    source, values = _matches("p", where)
    return (
        f"EXISTS (SELECT 1 FROM clew_node p WHERE p.index = {alias}.index "
        f"AND p.number = ANY({alias}.read_from) AND {source})",
        values,
    )


def _matches(alias: str, where: Wanted) -> tuple[str, tuple[object, ...]]:
    parts, values = list[str](), list[object]()
    for key, value in where.items():
        if str(key).startswith("$"):  # the store has these in a form of its own
            raise ValueError(f"a database cannot keep to metadata keys that begin with $: {key!r}")
        some = list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]
        parts.append(
            f"COALESCE((SELECT bool_or(%s::jsonb @> e.v) FROM (SELECT ({alias}.metadata -> "
            "%s)::jsonb AS v UNION ALL SELECT jsonb_array_elements(CASE WHEN "
            f"json_typeof({alias}.metadata -> %s) = 'array' "
            f"THEN ({alias}.metadata -> %s)::jsonb ELSE '[]' END)) e), FALSE)"
        )
        values += [json.dumps(some), str(key), str(key), str(key)]
    return " AND ".join(parts) or "TRUE", tuple(values)


def _near(best: Table, worst: Table) -> Near:
    rows = [*best, *worst]
    ends = {n for _, *two, read_from in best for n in (*two, *read_from)} - {0}
    ends |= {n for _, *two, _ in worst for n in two} - {0}
    return Near(
        freeze(list(dict.fromkeys(row[0] for row in rows)), np.int32),
        freeze(sorted(ends), np.int32),
    )


def _pulled(
    node: Sequence[Any], fact_rows: Table, edge_rows: Table, store: PostgresStore
) -> PulledNodes:
    """Return the graph of what was read, in which numbers have become rows."""
    if not node or node[0] is None:
        empty = Graph.of([], vectors=np.zeros((0, store.dimension)), count=store.count)
        none = np.zeros(0, np.int64)
        return PulledNodes(freeze([], np.int32), empty, none, none, none.astype(np.int8))
    numbers, tokens, documents, parents, previous, starts, ends, mentions, contents, language = map(
        read_numbers, node[:10]
    )
    ids, kinds, texts, generated, metadata, has, vectors, lengths, sources, n_links, links = node[
        10:
    ]
    row_of = _Rows(numbers)
    parsed = {text: parse_metadata(text) for text in set(metadata)}
    facts, fact_numbers = _facts(fact_rows[0], row_of, store.dimension)
    graph = Graph(
        ids=tuple(map(_text, ids)),
        kinds=Labels.of(kinds),
        texts=tuple(map(_text, texts)),
        vectors=read_vectors(vectors, np.array(has, np.bool_), store.dimension),
        tokens=tokens,
        documents=row_of(documents),
        parents=row_of(parents),
        previous=row_of(previous),
        spans=freeze(np.stack([starts, ends], axis=1), np.int32),
        references=_links(n_links, links or []),
        read_from=_read_from(lengths, sources, row_of),
        generated=freeze(generated, np.bool_),
        metadata=tuple(parsed[text] for text in metadata),
        originals=(None,) * len(ids),
        facts=facts,
        edges=_edges(edge_rows[0], row_of, _Rows(fact_numbers)),
        count=store.count,
        canonical=store.canonical,
    )
    return PulledNodes(
        numbers,
        graph,
        mentions.astype(np.int64),
        contents.astype(np.int64),
        language.astype(np.int8),
    )


class _Rows:
    """The row of each number; -1 for a number that is not there."""

    def __init__(self, numbers: Rows) -> None:
        self._numbers = numbers

    def __call__(self, numbers: Rows) -> Rows:
        if not len(self._numbers):
            return freeze(np.full(len(numbers), -1), np.int32)
        places = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        return freeze(np.where(self._numbers[places] == numbers, places, -1), np.int32)


def _read_from(lengths: bytes | None, sources: bytes | None, row_of: _Rows) -> Ragged:
    n_each = read_numbers(lengths)
    starts = np.concatenate([[0], np.cumsum(n_each)])
    whole = Ragged(freeze(starts, np.int64), read_lists(sources, n_each))
    rows = row_of(whole.values)
    kept = rows >= 0
    left = np.bincount(whole.owners[kept], minlength=len(n_each))
    return Ragged(
        freeze(np.concatenate([[0], np.cumsum(left)]), np.int64), freeze(rows[kept], np.int32)
    )


def _facts(row: Sequence[Any], row_of: _Rows, dimension: int) -> tuple[Facts, Rows]:
    numbers, subjects, objects, texts, relations, has, vectors, lengths, sources = row
    numbers = read_numbers(numbers)
    return Facts(
        tuple(map(_text, texts or ())),
        read_vectors(vectors, np.array(has or [], np.bool_), dimension),
        row_of(read_numbers(subjects)),
        row_of(read_numbers(objects)),
        Labels.of(list(map(_text, relations or ()))),
        _read_from(lengths, sources, row_of),
    ), numbers


def _edges(row: Sequence[Any], row_of: _Rows, fact_row_of: _Rows) -> Edges:
    tails, heads, facts, weights, kinds, lengths, sources = row
    read = read_numbers(facts)
    edges = Edges(
        row_of(read_numbers(tails)),
        row_of(read_numbers(heads)),
        Labels.of(kinds or []),
        read_weights(weights),
        fact_row_of(read),
        _read_from(lengths, sources, row_of),
    )
    # An edge that states a fact goes with the fact.
    return edges.take(np.flatnonzero((read < 0) | (edges.facts >= 0)))


def _links(counts: Sequence[int], links: Sequence[bytes]) -> tuple[tuple[str, ...], ...]:
    texts = iter(map(_text, links))
    return tuple(tuple(next(texts) for _ in range(count)) for count in counts)


def _text(data: bytes) -> str:
    return bytes(data).decode("utf-8", "surrogatepass")
