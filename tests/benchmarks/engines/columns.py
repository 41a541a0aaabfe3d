"""Engines for columns and transactions: SQLite, DuckDB, LanceDB, and clew's store."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.engines.engine import Engine, Hits, Question, Row
from tests.benchmarks.engines.vectors import WIDTH, ClewVectors, LanceVectors
from tests.benchmarks.engines.words import insert_rows
from tests.benchmarks.rivals import require


def scored(found: Sequence[Sequence[Any]]) -> Hits:
    """Return rows that were read as hits, each with a sum of what was read of it.

    The sum changes with any letter of the text and any number of the vector.
    """
    return [
        (int(id), float(sum(text.encode()) + np.asarray(vector, np.float64).sum()))
        for id, text, vector in found
    ]


class SQLite(Engine):
    """A table of SQLite: a write-ahead log that is synced at every commit."""

    name, part = "SQLite", "columns"

    def build(self, folder: Path, rows: Sequence[Row]) -> None:
        self.open(folder)
        self.base.execute(
            "CREATE TABLE passages (id INTEGER PRIMARY KEY, text TEXT, kind INTEGER, vector BLOB)"
        )
        self.add(rows)
        self.base.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def open(self, folder: Path) -> None:
        self.base = sqlite3.connect(folder / "columns.db")
        self.base.execute("PRAGMA journal_mode = WAL")
        self.base.execute("PRAGMA synchronous = FULL")

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        allowed = "" if group is None else f"AND kind = {int(group)}"
        found = self.base.execute(
            f"SELECT id, text, vector FROM passages WHERE id >= ? {allowed} ORDER BY id LIMIT ?",
            (question.id, k),
        )
        return scored([(id, text, np.frombuffer(vector, np.float32)) for id, text, vector in found])

    def add(self, rows: Sequence[Row]) -> None:
        with self.base:
            self.base.executemany(
                "INSERT INTO passages VALUES (?, ?, ?, ?)",
                [(row.id, row.text, row.group, row.vector.tobytes()) for row in rows],
            )

    def delete(self, ids: Sequence[int]) -> None:
        with self.base:
            self.base.executemany("DELETE FROM passages WHERE id = ?", [(id,) for id in ids])

    def check(self) -> None:
        (found,) = self.base.execute("PRAGMA integrity_check").fetchone()
        if found != "ok":
            raise ValueError(found)


class DuckDB(Engine):
    """A table of DuckDB."""

    name, part = "DuckDB", "columns"
    modules, packages = ("duckdb", "pyarrow"), ("duckdb", "pyarrow")

    def build(self, folder: Path, rows: Sequence[Row]) -> None:
        self.open(folder)
        self.base.execute(
            "CREATE TABLE passages "
            f"(id INTEGER PRIMARY KEY, text VARCHAR, kind INTEGER, vector FLOAT[{WIDTH}])"
        )
        self.add(rows)
        self.base.execute("CHECKPOINT")

    def open(self, folder: Path) -> None:
        self.base = require("duckdb").connect(str(folder / "columns.duckdb"))

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        allowed = "" if group is None else f"AND kind = {int(group)}"
        found = self.base.execute(
            f"SELECT id, text, vector FROM passages WHERE id >= ? {allowed} ORDER BY id LIMIT ?",
            [question.id, k],
        )
        return scored(found.fetchall())

    def add(self, rows: Sequence[Row]) -> None:
        values = [(row.id, row.text, row.group, row.vector) for row in rows]
        insert_rows(self.base, "passages", ("id", "text", "kind", "vector"), values)

    def delete(self, ids: Sequence[int]) -> None:
        self.base.execute("DELETE FROM passages WHERE id IN (SELECT unnest(?))", [list(ids)])


class LanceColumns(LanceVectors):
    """A table of LanceDB."""

    name, part = "LanceDB", "columns"

    def build(self, folder: Path, rows: Sequence[Row]) -> None:
        arrow = require("pyarrow")
        vector = arrow.list_(arrow.float32(), WIDTH)
        fields = {"id": arrow.int64(), "group": arrow.int64(), "text": arrow.string()}
        self.schema = arrow.schema([*fields.items(), ("vector", vector)])
        base = require("lancedb").connect(str(folder))
        self.table = base.create_table("passages", self._records(rows), schema=self.schema)

    def _records(self, rows: Sequence[Row]) -> Any:
        arrow = require("pyarrow")
        values = arrow.FixedSizeListArray.from_arrays(
            np.concatenate([row.vector for row in rows]), WIDTH
        )
        columns = [[getattr(row, name) for row in rows] for name in ("id", "group", "text")]
        return arrow.table([*columns, values], schema=self.schema)

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        allowed = "" if group is None else f' AND "group" = {int(group)}'
        search = self.table.search().where(
            f"id >= {question.id} AND id < {question.id + 4 * k}{allowed}"
        )
        found = search.select(["id", "text", "vector"]).to_arrow().sort_by("id").to_pylist()
        return scored([(row["id"], row["text"], row["vector"]) for row in found[:k]])


class ClewStore(ClewVectors):
    """clew's saved index without words that are counted, facts and links."""

    name, part = "clew's store", "columns"

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        graph = self.index.graph
        ids = range(question.id, question.id + 4 * k)
        rows = [graph.row(str(id)) for id in ids if graph.has(str(id))]
        if group is not None:
            rows = [row for row in rows if graph.metadata[row]["group"] == group]
        return scored([(graph.ids[row], graph.texts[row], graph.vectors[row]) for row in rows[:k]])


COLUMNS: tuple[type[Engine], ...] = (SQLite, DuckDB, LanceColumns, ClewStore)
