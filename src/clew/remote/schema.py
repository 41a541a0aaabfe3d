"""The tables of indexes in PostgreSQL, and the version that they have.

An index belongs to a tenant and has a name. All other rows have the number of their index, and
every statement binds it, so that nothing of another index is read, not even where an edge names a
node of one. Texts of documents are bytes, since a text of PostgreSQL cannot hold every character.
A row of up to a page is in one place: a vector that stands apart takes three times as long to read.
"""

from __future__ import annotations

from clew.remote.session import BoundStatement, Session

SCHEMA = 2
"""The version of the tables that this version of clew reads and writes."""

APPROXIMATE_FROM = (20_000, 1_000)
"""Passages, and facts, from which the nearest are found by an approximate index (HNSW).

To measure 20,000 passages takes the server 40 ms. Of 61,354 it found .83 of the 200 nearest, among
1,000 candidates .98, which takes it 25 ms; to measure all takes 120.
"""

TABLES = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE clew_schema (version int NOT NULL);
CREATE SEQUENCE clew_number AS int;
CREATE TABLE clew_index (
    id serial PRIMARY KEY, tenant text NOT NULL, name text NOT NULL,
    version bigint NOT NULL, dimension int NOT NULL, nodes int NOT NULL,
    kinds text[] NOT NULL DEFAULT '{}', UNIQUE (tenant, name));
CREATE TABLE clew_file (
    index int NOT NULL REFERENCES clew_index ON DELETE CASCADE,
    path text NOT NULL, block int NOT NULL, data bytea NOT NULL, PRIMARY KEY (index, path, block));
CREATE TABLE clew_node (
    index int NOT NULL REFERENCES clew_index ON DELETE CASCADE, number int NOT NULL,
    kind text NOT NULL, read_from int[] NOT NULL, metadata json NOT NULL, vector vector,
    PRIMARY KEY (index, number));
CREATE TABLE clew_fact (
    index int NOT NULL REFERENCES clew_index ON DELETE CASCADE, number int NOT NULL,
    subject int NOT NULL, object int NOT NULL, read_from int[] NOT NULL, vector vector,
    PRIMARY KEY (index, number));
CREATE TABLE clew_row (
    index int NOT NULL REFERENCES clew_index ON DELETE CASCADE, number int NOT NULL,
    numbers bytea NOT NULL, texts bytea NOT NULL, neighbours bytea NOT NULL,
    other_neighbours bytea NOT NULL, PRIMARY KEY (index, number));
CREATE TABLE clew_change (
    index int NOT NULL REFERENCES clew_index ON DELETE CASCADE, version bigint NOT NULL,
    numbers bytea NOT NULL, PRIMARY KEY (index, version));
CREATE TABLE clew_posting (
    index int NOT NULL REFERENCES clew_index ON DELETE CASCADE, stem bytea NOT NULL,
    passages bytea NOT NULL, counts bytea NOT NULL, PRIMARY KEY (index, stem));
ALTER TABLE clew_file ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE clew_posting ALTER COLUMN passages SET STORAGE EXTERNAL;
ALTER TABLE clew_posting ALTER COLUMN counts SET STORAGE EXTERNAL;
ALTER TABLE clew_row ALTER COLUMN numbers SET STORAGE EXTERNAL;
ALTER TABLE clew_row ALTER COLUMN texts SET STORAGE EXTERNAL;
ALTER TABLE clew_row ALTER COLUMN neighbours SET STORAGE EXTERNAL;
ALTER TABLE clew_row ALTER COLUMN other_neighbours SET STORAGE EXTERNAL;
ALTER TABLE clew_node SET (toast_tuple_target = 8160);
ALTER TABLE clew_fact SET (toast_tuple_target = 8160);
ALTER TABLE clew_row SET (toast_tuple_target = 8160);
"""

REMOVE = (
    "DROP TABLE IF EXISTS clew_schema, clew_index, clew_file, clew_node, clew_fact, clew_edge, "
    "clew_row, clew_change, clew_posting; DROP SEQUENCE clew_number"
)
"""What removes the tables of any version up to this one."""

HAS_SCHEMA = BoundStatement("SELECT to_regclass('clew_schema') IS NOT NULL")
LOCK_SCHEMA = BoundStatement("SELECT pg_advisory_xact_lock(7160361)")


async def check_schema(session: Session) -> bool:
    """Return whether there are tables of this version; False where there are none at all.

    Raises:
        ValueError: They are of another version.
    """
    [[[there]]] = await session.run(HAS_SCHEMA)
    if not there:
        return False
    [rows] = await session.run(BoundStatement("SELECT version FROM clew_schema"))
    found = rows[0][0] if rows else None
    if found != SCHEMA:
        advice = "upgrade clew"
        if not isinstance(found, int) or found < SCHEMA:
            advice = f"have them removed ({REMOVE}), and save its indexes anew"
        raise ValueError(
            f"the tables of clew in the database have version {found}, and this clew reads and "
            f"writes version {SCHEMA}: {advice}"
        )
    return True


async def make_schema(session: Session) -> None:
    """Make the tables where there are none.

    Raises:
        ValueError: There are those of another version.
    """
    await session.run(LOCK_SCHEMA)
    if await check_schema(session):
        return
    for part in TABLES.split(";\n"):
        if part.strip():
            await session.run(BoundStatement(part))
    await session.run(BoundStatement("INSERT INTO clew_schema VALUES (%s)", (SCHEMA,)))
