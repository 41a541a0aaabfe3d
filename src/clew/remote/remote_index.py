"""An index in a database: asked there, within bounds, and changed there by many writers."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from clew.context import Context
from clew.deadline import within
from clew.document import Document
from clew.embedding.raw_vectors import normalize_vectors
from clew.graph import Graph, freeze
from clew.index.answer import answer, embed_in_time
from clew.index.config import IndexConfig, IndexKeywords
from clew.index.contents import IndexContents
from clew.index.index import Index
from clew.index.options import check_names, documents_keywords, option_names
from clew.index.question import QueryKeywords, QueryOptions, Where, check_question
from clew.items import Step
from clew.read import Triple
from clew.relevance import MAX_SAMPLE
from clew.remote.address import Address
from clew.remote.corpus import Corpus
from clew.remote.postgres import PostgresStore
from clew.remote.schema import check_schema, make_schema
from clew.remote.session import (
    BlockingSession,
    BoundStatement,
    Connections,
    DatabaseUnavailableError,
    Session,
    finish,
)
from clew.remote.values import read_vectors
from clew.remote.working_subgraph import Bounds, StaleCorpusError, WorkingSubgraph, pull
from clew.remote.writing import FOR_QUESTIONS, SETTINGS, read_file, read_folder, write_index
from clew.store.config_record import restore_config, restore_embedder
from clew.store.fitted_embedder import read_fitted
from clew.store.packing import unpack
from clew.store.tables import ColumnReader

Result = TypeVar("Result")

KEPT_WHOLE = 5_000
"""Nodes up to which an index is read whole, once for each version, and answered as one on disk."""

FIND = "SELECT id, version, nodes, dimension FROM clew_index WHERE tenant = %s AND name = %s"


@dataclass(frozen=True, eq=False)
class _Asked(IndexContents):
    """A working subgraph as what is asked; the documents stay in the database."""

    of_code: bool = False

    @property
    def is_of_code(self) -> bool:  # the whole index knows it
        return self.of_code


@dataclass(frozen=True)
class _Found:
    """Where an index is in its database."""

    number: int
    version: int
    nodes: int
    dimension: int


class RemoteIndex:
    """An index in a database, at an address such as `postgresql://user@host/db?index=handbook`.

    A question reads the part of the graph that it may need, within `bounds`. A small index is read
    whole, once for each version, and answers as `clew.Index` does. What is changed is changed in
    the database, at once for all who ask it: unlike `clew.Index`, this object is no value.

    Make one with `open`.
    """

    def __init__(
        self,
        address: Address,
        connections: Connections,
        bounds: Bounds,
        keywords: Mapping[str, Any],
        kept_whole: int,
    ) -> None:
        self.address, self.bounds = address, bounds
        self._connections, self._keywords, self._kept_whole = connections, keywords, kept_whole
        self._corpus: Corpus | None = None
        self._whole: tuple[int, Index] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="clew-")
        self._lock = threading.RLock()  # of the folder and of what is kept

    @classmethod
    @documents_keywords(IndexConfig)
    def open(
        cls,
        address: str,
        *,
        bounds: Bounds | None = None,
        kept_whole: int = KEPT_WHOLE,
        **keywords: Unpack[IndexKeywords],
    ) -> Self:
        """Return the index at an address.

        Args:
            address: `postgresql://user@host/database?index=name&tenant=name`.
            bounds: How much of the graph a question pulls. None is the default.
            kept_whole: An index of no more nodes is read whole.
            **keywords: The fields of `clew.index.IndexConfig` that are not clew's own, as in
                `clew.Index.load`.

        Raises:
            DatabaseUnavailableError: The database does not answer.
            KeyError: There is no index of this name, or not of this tenant.
            ModuleNotFoundError: The database's client is not installed.
            ValueError: The tables in the database are of another version.
        """
        check_names(keywords, option_names(IndexConfig), "an index")
        parsed = Address.parse(address)
        chosen = {name: value for name, value in keywords.items() if value is not ...}
        index = cls(parsed, Connections(parsed.database), bounds or Bounds(), chosen, kept_whole)
        try:
            with index._connections.reading() as session:
                if not finish(check_schema(session)):
                    raise KeyError(_missing(parsed))
                finish(index._find(session))
        except BaseException:
            index.close()
            raise
        return index

    def __repr__(self) -> str:
        return f"RemoteIndex({self.address!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @documents_keywords(QueryOptions)
    def ask(
        self,
        question: str,
        *,
        vector: ArrayLike | None = None,
        options: QueryOptions | None = None,
        **keywords: Unpack[QueryKeywords],
    ) -> Context:
        """Return the context for a question; see `clew.Index.ask`.

        The trace says how much was pulled, in how many round trips, and what the bounds cut off.
        Where the index is not read whole, `where` is a mapping, whose statistics stay those of the
        whole index, and items have no `location`.

        Args:
            question: A text with at least one word.
            vector: The question's vector by the index's embedder, if it is known already.
            options: All options in one value. Keywords replace single ones.
            **keywords: The fields of `clew.index.QueryOptions`.

        Raises:
            DatabaseUnavailableError: The database does not answer.
            TypeError: `where` is a function, and the index is not read whole.
            ValueError: As in `clew.Index.ask`.
        """
        chosen = QueryOptions.from_keywords(options, **keywords)
        question = check_question(question, max_length=chosen.max_question)

        def ask() -> Context:
            with self._connections.reading() as session:
                found = finish(self._known_or_found(session))
                if found.nodes <= self._kept_whole:
                    whole = self._load(session, found)
                else:
                    return self._answer(finish(self._pull(session, question, vector, chosen)))
            return whole.ask(question, vector=vector, options=chosen)

        with within(chosen.deadline):
            try:
                return ask()
            except DatabaseUnavailableError:  # perhaps a connection of before it was restarted
                return ask()

    @documents_keywords(QueryOptions)
    async def aask(
        self,
        question: str,
        *,
        vector: ArrayLike | None = None,
        options: QueryOptions | None = None,
        **keywords: Unpack[QueryKeywords],
    ) -> Context:
        """Return what `ask` returns; the event loop is not blocked by the database.

        Args:
            question: A text with at least one word.
            vector: The question's vector by the index's embedder, if it is known already.
            options: All options in one value. Keywords replace single ones.
            **keywords: The fields of `clew.index.QueryOptions`.
        """
        import asyncio

        chosen = QueryOptions.from_keywords(options, **keywords)
        question = check_question(question, max_length=chosen.max_question)

        async def ask() -> Context:
            async with self._connections.areading() as session:
                found = await self._known_or_found(session)
                if found.nodes > self._kept_whole:
                    pulled = await self._pull(session, question, vector, chosen)
                    return await asyncio.to_thread(self._answer, pulled)
            return await asyncio.to_thread(self.ask, question, vector=vector, options=chosen)

        with within(chosen.deadline):
            try:
                return await ask()
            except DatabaseUnavailableError:  # perhaps a connection of before it was restarted
                return await ask()

    async def _pull(
        self,
        session: Session,
        question: str,
        vector: ArrayLike | None,
        options: QueryOptions,
    ) -> tuple[Corpus, WorkingSubgraph, str, ArrayLike | None, QueryOptions, Step]:
        """Return a working subgraph with all that its answer needs."""
        began = time.perf_counter()
        while True:
            corpus = self._corpus
            if corpus is None:
                corpus = await self._read_corpus(session)
            asked = vector
            if asked is None:
                asked = embed_in_time(_asked(corpus, Graph.of([])), question)
            row = None
            if asked is not None:
                zeros = corpus.embedder.allows_zero_vectors
                names = ["the question"]
                row = normalize_vectors([asked], names, corpus.dimension, zeros=zeros)[0]
            store = PostgresStore(
                session, corpus.number, corpus.dimension, corpus.count, corpus.canonical
            )
            where: Any = options.where
            try:
                pulled = await pull(store, corpus, question, row, self.bounds, where)
            except StaleCorpusError:
                self._corpus = None
                continue
            notes = {**pulled.notes, "round trips": session.round_trips, "version": pulled.version}
            step = Step(f"{self.bounds!r}", time.perf_counter() - began, notes)
            return corpus, pulled, question, asked, replace(options, where=None), step

    def _answer(
        self,
        pulled: tuple[Corpus, WorkingSubgraph, str, ArrayLike | None, QueryOptions, Step],
    ) -> Context:
        corpus, part, question, vector, options, step = pulled
        untrusted = bool(self._keywords.get("untrusted", False))
        context = answer(_asked(corpus, part.graph, untrusted), question, vector, options)
        return replace(context, trace=(step, *context.trace))

    async def _known_or_found(self, session: Session) -> _Found:
        """Return where the index is; a large one that is known says itself where it has changed."""
        corpus = self._corpus
        if corpus is not None and corpus.nodes > self._kept_whole:
            return _Found(corpus.number, corpus.version, corpus.nodes, corpus.dimension)
        return await self._find(session)

    async def _find(self, session: Session) -> _Found:
        values = (self.address.tenant, self.address.name)
        [rows] = await session.run(BoundStatement(FIND, values))
        if not rows:
            raise KeyError(_missing(self.address))
        return _Found(*rows[0])

    async def _read_corpus(self, session: Session) -> Corpus:
        """Read what those who ask know of the whole index, once for each version."""
        found = await self._find(session)
        arrays = unpack(
            np.frombuffer(await read_file(session, found.number, FOR_QUESTIONS), np.uint8)
        )
        reader = ColumnReader(arrays.__getitem__)
        settings = json.loads(reader.texts(SETTINGS)[0])
        config = restore_config(settings["config"], self._keywords)
        record = settings["embedder"]
        fitted = read_fitted(reader, record["name"]) if record["own"] else None
        passages = freeze(reader.numbers("passages"), np.int32)
        places = np.linspace(0, len(passages) - 1, min(len(passages), MAX_SAMPLE)).round()
        sample = passages[places.astype(np.int64)]
        [[[has, vectors]]] = await session.run(
            BoundStatement(
                "SELECT array_agg(vector IS NOT NULL ORDER BY number), "
                "string_agg(vector_send(vector), ''::bytea ORDER BY number) "
                "FROM clew_node WHERE index = %s AND number = ANY(%s)",
                (found.number, sample.tolist()),
            )
        )
        dimension = found.dimension
        self._corpus = corpus = Corpus(
            number=found.number,
            version=found.version,
            nodes=found.nodes,
            embedder=restore_embedder(record, self._keywords.get("embedder"), fitted),
            languages=reader.texts("languages"),
            passages=passages,
            lengths=freeze(reader.numbers("lengths"), np.float64),
            documents=reader.numbers("documents").astype(np.int64),
            n_documents=int(reader.numbers("n_documents")[0]),
            sample=read_vectors(vectors, np.array(has or [], np.bool_), dimension),
            dimension=dimension,
            is_of_code=settings["is_of_code"],
            has_reports=settings["has_reports"],
            count=config["count"],
            canonical=config["canonical"],
        )
        return corpus

    def load(self) -> Index:
        """Return the whole index as it is now, as `clew.Index.load` does of a folder."""
        with self._connections.reading() as session:
            return self._load(session, finish(self._find(session)))

    def _load(self, session: BlockingSession, found: _Found) -> Index:
        with self._lock:
            if self._whole is None or self._whole[0] != found.version:
                root = Path(self._folder.name)
                finish(read_folder(session, found.number, root))
                self._whole = found.version, Index.load(root, **self._keywords)
            return self._whole[1]

    @property
    def documents(self) -> tuple[Document, ...]:
        """The documents; the whole index is read for them."""
        return self.load().documents

    def add(
        self, documents: object, *, facts: Mapping[str, Iterable[Triple]] | None = None
    ) -> None:
        """Add documents; see `clew.Index.add`.

        Writers take turns. Each reads what others have written, changes the index in memory, and
        writes what is different, in one transaction. So a change takes a time that grows with the
        index, and the result is the one that `clew.Index.add` has.

        Args:
            documents: As in `clew.Index.from_documents`.
            facts: As in `clew.Index.from_documents`.
        """
        self._change(lambda index: index.add(documents, facts=facts))

    def upsert(
        self, documents: object, *, facts: Mapping[str, Iterable[Triple]] | None = None
    ) -> None:
        """Add documents, and put those of a known id in its place; see `clew.Index.upsert`.

        Args:
            documents: As in `clew.Index.from_documents`.
            facts: As in `clew.Index.from_documents`.
        """
        self._change(lambda index: index.upsert(documents, facts=facts))

    def delete(self, ids: str | Iterable[str] | None = None, *, where: Where | None = None) -> None:
        """Delete documents; see `clew.Index.delete`.

        Args:
            ids: The ids of documents.
            where: In the place of ids, which documents go, by their metadata.
        """
        self._change(lambda index: index.delete(ids, where=where))

    def _change(self, change: Callable[[Index], Index]) -> None:
        with self._lock:
            try:
                with self._connections.writing() as session:
                    finish(session.run(BoundStatement(FIND + " FOR UPDATE", _values(self.address))))
                    found = finish(self._find(session))
                    before = self._load(session, found)
                    after = change(before)
                    if after is not before:
                        _write(session, found.number, after, before, Path(self._folder.name))
            except BaseException:  # the folder may hold what the database does not
                self._whole = None
                raise
            if after is not before:
                self._whole = found.version + 1, after
                self._corpus = None

    def close(self) -> None:
        """Close the connections and forget what was read."""
        self._connections.close()
        self._folder.cleanup()

    async def aclose(self) -> None:
        """Close the connections, also those of the event loop, and forget what was read."""
        await self._connections.aclose()
        self._folder.cleanup()


def _asked(corpus: Corpus, graph: Graph, untrusted: bool = False) -> _Asked:
    config = IndexConfig(
        embedder=None if corpus.embedder.fitted is not None else corpus.embedder,
        untrusted=untrusted,
        links=(),
        extractor=None,
        splitter=None,
        canonical=corpus.canonical,
    )
    fitted = corpus.embedder if corpus.embedder.fitted is not None else None
    return _Asked(graph, config, fitted_embedder=fitted, of_code=corpus.is_of_code)


def save_remote(index: IndexContents, address: str | os.PathLike[str]) -> None:
    """Write an index to an address, whole, in the place of one that is there.

    Args:
        index: What is written.
        address: `postgresql://user@host/database?index=name&tenant=name`.

    Raises:
        DatabaseUnavailableError: The database does not answer.
        ValueError: The tables in the database are of another version.
    """
    from clew.index.saving import save_contents

    parsed = Address.parse(str(address))
    connections = Connections(parsed.database)
    try:
        with connections.writing() as session:
            finish(make_schema(session))
        connections.close()  # a connection that was made before the extension has no vectors
        with (
            tempfile.TemporaryDirectory(prefix="clew-") as folder,
            connections.writing() as session,
        ):
            save_contents(replace(index, saved_as=None), folder)
            finish(
                session.run(
                    BoundStatement(
                        "INSERT INTO clew_index (tenant, name, version, dimension, nodes) "
                        "VALUES (%s, %s, 0, 0, 0) ON CONFLICT (tenant, name) DO NOTHING",
                        _values(parsed),
                    )
                )
            )
            [rows] = finish(session.run(BoundStatement(FIND + " FOR UPDATE", _values(parsed))))
            finish(write_index(session, rows[0][0], index, None, Path(folder)))
    finally:
        connections.close()


def _write(session: BlockingSession, number: int, after: Index, before: Index, root: Path) -> None:
    after.save(root)
    finish(write_index(session, number, after, before.graph, root))


def _values(address: Address) -> tuple[object, ...]:
    return address.tenant, address.name


def _missing(address: Address) -> str:
    whose = f" of the tenant {address.tenant!r}" if address.tenant else ""
    return f"the database has no index {address.name!r}{whose}: save one there first"
