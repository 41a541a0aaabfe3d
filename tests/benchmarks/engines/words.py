"""Engines for words: tantivy, FTS5 of SQLite, bm25s, DuckDB, LanceDB, and clew's postings."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import clew
from clew.algorithms.kernels.compiled import finish_compiling
from clew.seed import BM25
from clew.store import check as check_index
from clew.types import Query
from tests.benchmarks.engines.engine import Engine, Hits, Question, Row
from tests.benchmarks.rivals import MissingError, require

DUCKDB = ("duckdb", "duckdb-ext-fts", "pyarrow")
"""The extension is no part of DuckDB, which downloads it; the package index has it for some versions."""
WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """Return the words of a question, which engines join in their own languages."""
    return list(dict.fromkeys(WORD.findall(text.lower())))


class Tantivy(Engine):
    """tantivy: segments, commits, stems of English; one thread writes, which keeps the order."""

    name, part = "tantivy", "words"
    modules = packages = ("tantivy",)
    threads = 1

    def _schema(self) -> Any:
        builder = require("tantivy").SchemaBuilder()
        builder.add_text_field("id", stored=True, tokenizer_name="raw")
        builder.add_unsigned_field("group", indexed=True)
        builder.add_text_field("text", stored=True, tokenizer_name="en_stem")
        return builder.build()

    def build(self, folder: Path, rows: Sequence[Row]) -> None:
        self.index = require("tantivy").Index(self._schema(), path=str(folder))
        self.add(rows)

    def open(self, folder: Path) -> None:
        self.index = require("tantivy").Index.open(str(folder))

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        library = require("tantivy")
        query = self.index.parse_query(" ".join(words_of(question.text)), ["text"])
        if group is not None:
            term = library.Query.term_query(self.index.schema, "group", group)
            allowed = library.Query.const_score_query(term, 0.0)
            must = library.Occur.Must
            query = library.Query.boolean_query([(must, query), (must, allowed)])
        searcher = self.index.searcher()
        hits = searcher.search(query, k, count=False).hits
        return [(int(searcher.doc(place)["id"][0]), score) for score, place in hits]

    def add(self, rows: Sequence[Row]) -> None:
        library, writer = require("tantivy"), self._writer()
        for row in rows:
            document = library.Document()
            document.add_text("id", str(row.id))
            document.add_unsigned("group", row.group)
            document.add_text("text", row.text)
            writer.add_document(document)
        self._commit(writer)

    def delete(self, ids: Sequence[int]) -> None:
        writer = self._writer()
        for id in ids:
            writer.delete_documents("id", str(id))
        self._commit(writer)

    def _writer(self) -> Any:
        return self.index.writer(num_threads=self.threads)

    def _commit(self, writer: Any) -> None:
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()


class TantivyThreads(Tantivy):
    """tantivy as it comes: as many threads write as the machine has cores."""

    name, threads = "tantivy, all threads", 0


class FTS5(Engine):
    """FTS5 of SQLite: Porter's stems, a write-ahead log that is synced at every commit."""

    name, part = "SQLite FTS5", "words"

    def build(self, folder: Path, rows: Sequence[Row]) -> None:
        self.open(folder)
        self.base.execute(
            "CREATE VIRTUAL TABLE passages USING fts5"
            "(text, kind UNINDEXED, tokenize = 'porter unicode61')"
        )
        self.add(rows)
        self.base.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def open(self, folder: Path) -> None:
        self.base = sqlite3.connect(folder / "words.db")
        self.base.execute("PRAGMA journal_mode = WAL")
        self.base.execute("PRAGMA synchronous = FULL")

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        query = " OR ".join(f'"{word}"' for word in words_of(question.text))
        allowed = "" if group is None else f"AND kind = {int(group)}"
        found = self.base.execute(
            f"SELECT rowid, -rank FROM passages WHERE passages MATCH ? {allowed} "
            "ORDER BY rank, rowid LIMIT ?",
            (query, k),
        )
        return list(found.fetchall())

    def add(self, rows: Sequence[Row]) -> None:
        with self.base:
            self.base.executemany(
                "INSERT INTO passages (rowid, text, kind) VALUES (?, ?, ?)",
                [(row.id, row.text, row.group) for row in rows],
            )

    def delete(self, ids: Sequence[int]) -> None:
        with self.base:
            self.base.executemany("DELETE FROM passages WHERE rowid = ?", [(id,) for id in ids])

    def check(self) -> None:
        (found,) = self.base.execute("PRAGMA integrity_check").fetchone()
        if found != "ok":
            raise ValueError(found)
        self.base.execute("INSERT INTO passages (passages) VALUES ('integrity-check')")


class BM25S(Engine):
    """bm25s with the stems of PyStemmer; for every change it is built and written again."""

    name, part = "bm25s", "words"
    modules, packages = ("bm25s", "Stemmer"), ("bm25s", "PyStemmer")

    def _split(self, texts: Sequence[str]) -> Any:
        stemmer = require("Stemmer").Stemmer("english")
        return require("bm25s").tokenize(
            list(texts), stopwords="english", stemmer=stemmer, return_ids=False, show_progress=False
        )

    def build(self, folder: Path, rows: Sequence[Row]) -> None:
        self.folder = folder
        self._write([{"id": row.id, "text": row.text, "group": row.group} for row in rows])

    def _write(self, corpus: list[dict[str, Any]]) -> None:
        self.corpus = corpus
        self.model = require("bm25s").BM25()
        self.model.index(self._split([row["text"] for row in corpus]), show_progress=False)
        self.model.save(str(self.folder), corpus=corpus, show_progress=False)

    def open(self, folder: Path) -> None:
        self.folder = folder
        self.model = require("bm25s").BM25.load(str(folder), load_corpus=True)
        self.corpus = list(self.model.corpus)

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        mask = None
        if group is not None:
            mask = np.array([float(row["group"] == group) for row in self.corpus], np.float32)
        places, scores = self.model.retrieve(
            self._split([question.text]),
            corpus=np.arange(len(self.corpus)),
            k=min(k, len(self.corpus)),
            weight_mask=mask,
            show_progress=False,
        )
        hits = zip(places[0].tolist(), scores[0].tolist(), strict=True)
        return [(self.corpus[place]["id"], score) for place, score in hits if score > 0]

    def add(self, rows: Sequence[Row]) -> None:
        new = [{"id": row.id, "text": row.text, "group": row.group} for row in rows]
        self._write([*self.corpus, *new])

    def delete(self, ids: Sequence[int]) -> None:
        gone = set(ids)
        self._write([row for row in self.corpus if row["id"] not in gone])


class DuckDBWords(Engine):
    """DuckDB's extension for full text, whose index is made again for every change."""

    name, part = "DuckDB FTS", "words"
    modules, packages = ("duckdb", "duckdb_ext", "pyarrow"), DUCKDB

    def build(self, folder: Path, rows: Sequence[Row]) -> None:
        self.open(folder)
        self.base.execute("CREATE TABLE passages (id INTEGER PRIMARY KEY, text VARCHAR, kind INT)")
        self.add(rows)
        self.base.execute("CHECKPOINT")

    def open(self, folder: Path) -> None:
        duckdb = require("duckdb")
        self.base = duckdb.connect(str(folder / "words.duckdb"))
        load_extension(self.base)

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        allowed = "" if group is None else f"AND kind = {int(group)}"
        return list(
            self.base.execute(
                "SELECT id, score FROM (SELECT id, kind, fts_main_passages.match_bm25(id, ?) AS "
                f"score FROM passages) WHERE score IS NOT NULL {allowed} "
                "ORDER BY score DESC, id LIMIT ?",
                [" ".join(words_of(question.text)), k],
            ).fetchall()
        )

    def add(self, rows: Sequence[Row]) -> None:
        values = [(row.id, row.text, row.group) for row in rows]
        self._change(lambda: insert_rows(self.base, "passages", ("id", "text", "kind"), values))

    def delete(self, ids: Sequence[int]) -> None:
        self._change(
            lambda: self.base.execute("DELETE FROM passages WHERE id IN (SELECT unnest(?))", [ids])
        )

    def _change(self, change: Any) -> None:
        self.base.execute("BEGIN")
        change()
        self.base.execute("PRAGMA create_fts_index('passages', 'id', 'text', overwrite = 1)")
        self.base.execute("COMMIT")


def insert_rows(
    base: Any, table: str, columns: Sequence[str], values: Sequence[Sequence[Any]]
) -> None:
    """Insert rows into a table of DuckDB by way of an Arrow table, as its users do with many."""
    arrow = require("pyarrow")
    several = zip(*values, strict=True)
    given = arrow.table(
        dict(zip(columns, (arrow.array(list(one)) for one in several), strict=True))
    )
    base.register("given", given)
    base.execute(f"INSERT INTO {table} SELECT * FROM given")
    base.unregister("given")


def load_extension(base: Any) -> None:
    """Load the extension for full text: of the package index, or as it was downloaded before."""
    try:
        folders = require("duckdb_ext").__path__
        base.execute("SET extension_directory = ?", [f"{folders[0]}/extensions"])
    except MissingError:
        pass
    try:
        base.execute("LOAD fts")
    except Exception as error:
        raise MissingError(f"pip install {' '.join(DUCKDB)}") from error


class LanceWords(Engine):
    """LanceDB's index of words: with stems, updated after every change."""

    name, part = "LanceDB FTS", "words"
    modules = packages = ("lancedb",)

    def build(self, folder: Path, rows: Sequence[Row]) -> None:
        base = require("lancedb").connect(str(folder))
        self.table = base.create_table("passages", _records(rows))
        self.table.create_fts_index("text", use_tantivy=False, stem=True, language="English")

    def open(self, folder: Path) -> None:
        self.table = require("lancedb").connect(str(folder)).open_table("passages")

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        search = self.table.search(" ".join(words_of(question.text)), query_type="fts")
        if group is not None:
            search = search.where(f'"group" = {int(group)}', prefilter=True)
        found = search.select(["id", "_score"]).limit(k).to_list()
        return [(row["id"], row["_score"]) for row in found]

    def add(self, rows: Sequence[Row]) -> None:
        self.table.add(_records(rows))
        self.table.optimize()

    def delete(self, ids: Sequence[int]) -> None:
        self.table.delete(f"id IN ({', '.join(map(str, ids))})")
        self.table.optimize()


def _records(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [{"id": row.id, "text": row.text, "group": row.group} for row in rows]


def no_vectors(texts: list[str]) -> Any:
    """Return the same short vector for every text: words alone are compared."""
    return np.ones((len(texts), 1), np.float32)


class ClewWords(Engine):
    """clew's recipe `bm25`, with all that an answer has; without facts, links and vectors."""

    name, part = "clew `bm25`", "words"

    def build(self, folder: Path, rows: Sequence[Row]) -> None:
        self.folder = folder
        documents = documents_of(rows)
        self.index = clew.Index.from_documents(
            documents, embedder=no_vectors, extractor=None, links=()
        )
        self.index.ask("words", recipe="bm25")  # counts them, so that they are saved
        self.index.save(folder)

    def open(self, folder: Path) -> None:
        self.folder, self.index = folder, clew.Index.load(folder, embedder=no_vectors)

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        where = None if group is None else {"group": group}
        answer = self.index.ask(question.text, recipe="bm25", limit=k, budget=None, where=where)
        return [(int(item.id), item.score) for item in answer if item.score > 0]

    def add(self, rows: Sequence[Row]) -> None:
        self.index = self.index.add(documents_of(rows))
        self.index.save(self.folder)

    def delete(self, ids: Sequence[int]) -> None:
        self.index = self.index.delete([str(id) for id in ids])
        self.index.save(self.folder)

    def settle(self) -> None:
        finish_compiling()

    def check(self) -> None:
        check_clew(self.folder)


class ClewPostings(ClewWords):
    """clew's postings by themselves: the same index, whose scores are ranked and nothing more."""

    name = "clew's postings"

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        graph = self.index.filtered(None if group is None else {"group": group}).graph
        scores = BM25().on(graph)(Query(question.text)).scores
        best = np.argsort(-scores, kind="stable")[:k]
        return [(int(graph.ids[row]), float(scores[row])) for row in best if scores[row] > 0]


def documents_of(rows: Sequence[Row]) -> list[clew.Document]:
    return [clew.Document(str(row.id), row.text, {"group": row.group}) for row in rows]


def check_clew(folder: Path) -> None:
    """Raise an error if `clew check` finds damage."""
    for found in check_index(folder):
        if found.damage:
            raise ValueError(found.damage)


WORDS: tuple[type[Engine], ...] = (
    Tantivy,
    TantivyThreads,
    FTS5,
    BM25S,
    DuckDBWords,
    LanceWords,
    ClewPostings,
    ClewWords,
)
