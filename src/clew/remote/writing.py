"""Writing an index into PostgreSQL: all of it, or what has changed, in one transaction.

The index is there twice. The files of a saved index (`clew.store`), as rows of bytes, are what a
writer changes, since what depends on all documents is made again of them. The tables are what is
asked, and hold the same graph row by row. Both change together or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from clew.graph import Graph, freeze
from clew.index.contents import IndexContents
from clew.remote.files import FOR_QUESTIONS, NUMBERING, newest_paths, pack_for_questions
from clew.remote.packed_rows import names_of_kinds
from clew.remote.rows import (
    NUMBERED,
    TABLES,
    TYPES,
    RowNumbers,
    TableChange,
    changed_nodes,
    changed_rows,
    every_row,
    next_numbering,
    numbering_after,
    postings_of,
    rows_of,
)
from clew.remote.schema import APPROXIMATE_FROM
from clew.remote.session import BlockingSession, BoundStatement
from clew.remote.values import read_numbers
from clew.store.graph_tables import EDGES, FACTS, NODES
from clew.store.packing import pack, unpack

BLOCK_BYTES = 8 * 2**20
KEPT_CHANGES = 64
"""Writes whose changes are told; who has read nothing since forgets all that was read."""

HNSW = {  # of passages and of facts; {0} is the number of the index, {1} the width
    "clew_near_node_{0}": "clew_node USING hnsw ((vector::vector({1})) vector_ip_ops) "
    "WHERE index = {0} AND kind = 'passage'",
    "clew_near_fact_{0}": "clew_fact USING hnsw ((vector::vector({1})) vector_ip_ops) "
    "WHERE index = {0}",
}


async def write_index(
    session: BlockingSession, number: int, index: IndexContents, before: Graph | None, root: Path
) -> None:
    """Write an index, whose folder is saved already, in the transaction of a session.

    Args:
        session: A session with the index locked.
        number: The number of the index.
        index: What is written.
        before: The graph that is there; None to write everything.
        root: The folder with the files of the saved index.
    """
    change = None
    if before is not None:
        old = await _numbering(session, number)
        change = next_numbering(before, index.graph)
    if before is None or change is None:
        numbers = await _write_whole(session, number, index.graph)
    else:
        new = {table: await _new_numbers(session, count) for table, count in change[1].items()}
        numbers = numbering_after(change[0], old, new)
        changes = changed_rows(before, old, index.graph, numbers, change[0])
        for table, one in changes.items():
            await _write_rows(session, number, table, index.graph, numbers, one)
        await _write_change(session, number, changed_nodes(changes, numbers))
        await _write_postings(
            session, number, postings_of(before, old), postings_of(index.graph, numbers)
        )
    await _write_files(session, number, root)
    await _write_file(session, number, FOR_QUESTIONS, pack_for_questions(index, numbers.nodes))
    arrays = {table: numbers.of(table) for table in NUMBERED}
    await _write_file(session, number, NUMBERING, pack(arrays))
    await session.run(
        BoundStatement(
            "UPDATE clew_index SET version = version + 1, dimension = %s, nodes = %s, kinds = %s "
            "WHERE id = %s",
            (
                *(index.graph.vectors.shape[1], len(index.graph)),
                *(names_of_kinds(index.graph), number),
            ),
        )
    )


async def _write_whole(session: BlockingSession, number: int, graph: Graph) -> RowNumbers:
    await session.run(
        *(BoundStatement(f"DROP INDEX IF EXISTS {name.format(number)}") for name in HNSW),
        *(
            BoundStatement(f"DELETE FROM {table} WHERE index = %s", (number,))
            for table in (*TABLES.values(), "clew_posting", "clew_change")
        ),
    )
    counts_of = {table: len(every_row(table, graph)) for table in NUMBERED}
    new = {table: await _new_numbers(session, count) for table, count in counts_of.items()}
    numbers = RowNumbers(new[NODES], new[FACTS], new[EDGES])
    for table in TABLES:
        _copy(session, number, table, graph, numbers, every_row(table, graph))
    await _write_postings(session, number, {}, postings_of(graph, numbers))
    counts = (int(graph.kinds.mask("passage").sum()), len(graph.facts))
    width = graph.vectors.shape[1]
    for (name, definition), count, least in zip(
        HNSW.items(), counts, APPROXIMATE_FROM, strict=True
    ):
        if count >= least and width:
            sql = f"CREATE INDEX {name} ON {definition}".format(number, width)
            await session.run(
                BoundStatement("SET LOCAL maintenance_work_mem = '1GB'"), BoundStatement(sql)
            )
    await session.run(*(BoundStatement(f"ANALYZE {table}") for table in TABLES.values()))
    return numbers


async def _new_numbers(session: BlockingSession, count: int) -> NDArray[np.int32]:
    [[[data]]] = await session.run(
        BoundStatement(
            "SELECT string_agg(int4send(n::int), ''::bytea ORDER BY n) FROM "
            "(SELECT nextval('clew_number') AS n FROM generate_series(1, %s)) s",
            (count,),
        )
    )
    return read_numbers(data)


async def _write_change(session: BlockingSession, number: int, nodes: NDArray[np.int32]) -> None:
    """Note which nodes a write changes, for those who keep what they have read of them."""
    await session.run(
        BoundStatement(
            "DELETE FROM clew_change WHERE index = %s AND version <= "
            "(SELECT version FROM clew_index WHERE id = %s) - %s",
            (number, number, KEPT_CHANGES),
        ),
        BoundStatement(
            "INSERT INTO clew_change SELECT id, version + 1, %s FROM clew_index WHERE id = %s",
            (nodes.astype("<i4").tobytes(), number),
        ),
    )


async def _write_rows(
    session: BlockingSession,
    number: int,
    table: str,
    graph: Graph,
    numbers: RowNumbers,
    change: TableChange,
) -> None:
    if change.gone:
        sql = f"DELETE FROM {TABLES[table]} WHERE index = %s AND number = ANY(%s)"
        await session.run(BoundStatement(sql, (number, change.gone)))
    if len(change.written):
        _copy(session, number, table, graph, numbers, change.written)


def _copy(
    session: BlockingSession,
    number: int,
    table: str,
    graph: Graph,
    numbers: RowNumbers,
    rows: NDArray[np.int64],
) -> None:
    sql = f"COPY {TABLES[table]} FROM STDIN (FORMAT BINARY)"
    _copy_rows(session, sql, TYPES[table], rows_of(table, number, graph, numbers, rows))


def _copy_rows(
    session: BlockingSession, sql: str, types: Iterable[str], rows: Iterable[tuple[object, ...]]
) -> None:
    with (
        session.connection.cursor() as cursor,
        cursor.copy(cast("Any", sql)) as copy,
    ):
        copy.set_types(list(types))
        for row in rows:
            copy.write_row(row)


async def _write_postings(
    session: BlockingSession,
    number: int,
    before: Mapping[bytes, tuple[bytes, bytes]],
    after: Mapping[bytes, tuple[bytes, bytes]],
) -> None:
    changed = [key for key, value in after.items() if before.get(key) != value]
    gone = [key for key in before if before[key] != after.get(key)]
    if gone:
        sql = "DELETE FROM clew_posting WHERE index = %s AND stem = ANY(%s)"
        await session.run(BoundStatement(sql, (number, gone)))
    if changed:
        sql = "COPY clew_posting FROM STDIN (FORMAT BINARY)"
        rows = ((number, key, *after[key]) for key in changed)
        _copy_rows(session, sql, ("int4", "bytea", "bytea", "bytea"), rows)


async def _numbering(session: BlockingSession, number: int) -> RowNumbers:
    arrays = unpack(np.frombuffer(await read_file(session, number, NUMBERING), np.uint8))
    rows = [freeze(arrays[table], np.int32) for table in (NODES, FACTS, EDGES)]
    return RowNumbers(*rows)


async def _write_files(session: BlockingSession, number: int, root: Path) -> None:
    """Write the files of the newest generation in a folder that are not there, and no others."""
    paths, name = newest_paths(root)
    [rows] = await session.run(
        BoundStatement("SELECT DISTINCT path FROM clew_file WHERE index = %s", (number,))
    )
    there = {path for (path,) in rows} - {FOR_QUESTIONS, NUMBERING}
    await session.run(
        BoundStatement(
            "DELETE FROM clew_file WHERE index = %s AND path = ANY(%s)",
            (number, sorted((there - paths) | {name})),
        )
    )
    for path in (*sorted(paths - there), name):
        await _write_file(session, number, path, np.fromfile(root / path, np.uint8))


async def _write_file(
    session: BlockingSession, number: int, path: str, data: NDArray[np.uint8]
) -> None:
    await session.run(
        BoundStatement("DELETE FROM clew_file WHERE index = %s AND path = %s", (number, path))
    )
    blocks = range(0, max(1, len(data)), BLOCK_BYTES)
    rows = (
        (number, path, block, data[start : start + BLOCK_BYTES].tobytes())
        for block, start in enumerate(blocks)
    )
    sql = "COPY clew_file FROM STDIN (FORMAT BINARY)"
    _copy_rows(session, sql, ("int4", "text", "int4", "bytea"), rows)


async def read_file(session: Any, number: int, path: str) -> bytes:  # noqa: ANN401 - either session
    """Return the bytes of a file of an index."""
    [rows] = await session.run(
        BoundStatement(
            "SELECT data FROM clew_file WHERE index = %s AND path = %s ORDER BY block",
            (number, path),
        )
    )
    return b"".join(data for (data,) in rows)
