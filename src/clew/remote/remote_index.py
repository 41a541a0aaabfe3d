"""An index in a database: asked there, within bounds, and changed there by many writers."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, Unpack

from numpy.typing import ArrayLike

from clew.context import Context
from clew.deadline import within
from clew.document import Document
from clew.embedding.raw_vectors import normalize_vectors
from clew.graph import Rows, Vectors
from clew.graph.validate import validate_vectors
from clew.index.answer import aembed_in_time, answer, embed_in_time
from clew.index.config import IndexConfig, IndexKeywords
from clew.index.contents import IndexContents
from clew.index.index import Index
from clew.index.options import check_names, documents_keywords, option_names
from clew.index.question import QueryKeywords, QueryOptions, Where, check_question
from clew.index.saving import save_contents
from clew.index.weights import with_weights_as_built
from clew.items import Step
from clew.read import Triple
from clew.remote.address import Address
from clew.remote.corpus import CorpusFigures
from clew.remote.database import (
    Database,
    DatabaseSession,
    FoundIndex,
    IndexChangedError,
    connect,
    missing_index,
)
from clew.remote.files import read_folder
from clew.remote.late_vectors import ReadVectors
from clew.remote.pulled_index import PulledIndex
from clew.remote.reading import ATTEMPTS, as_contents, never_still, read_corpus
from clew.remote.session import DatabaseUnavailableError, finish
from clew.remote.working_subgraph import Bounds, WorkingSubgraph, pull
from clew.types import Method

KEPT_WHOLE = 5_000
"""Nodes up to which an index is read whole, once for each version, and answered as one on disk."""

ASKED_AGAIN = (DatabaseUnavailableError, IndexChangedError)
"""After these a question is asked once more: perhaps the database was restarted since a connection
was made, or the index was written before a stage looked at vectors of what had been read."""

MAX_RECIPES = 100  # of which it is known that they look at the vectors of all nodes


@dataclass(frozen=True, eq=False)
class _Pulled:
    """What was read for a question.

    Attributes:
        corpus: What is known of the whole index.
        part: The working subgraph.
        vector: That of the question; None for none.
        step: How it was read, for the trace.
    """

    corpus: CorpusFigures
    part: WorkingSubgraph
    vector: ArrayLike | None
    step: Step

    def answer(self, question: str, options: QueryOptions) -> Context:
        asked = as_contents(self.corpus, self.part.graph)
        context = answer(asked, question, self.vector, replace(options, where=None))
        return context.changed(trace=self.corpus.trace_of(self.step, context))


class RemoteIndex(PulledIndex):
    """An index in a database, at an address such as `postgresql://user@host/db?index=handbook`.

    A question reads the part of the graph that it may need, within `bounds`. A small index is read
    whole, once for each version, and answers as `clew.Index` does. What is changed is changed in
    the database, at once for all who ask it: unlike `clew.Index`, this object is no value.

    Make one with `open`.
    """

    def __init__(
        self,
        address: Address,
        database: Database,
        bounds: Bounds,
        keywords: Mapping[str, Any],
        kept_whole: int,
    ) -> None:
        self.address, self.bounds = address, bounds
        self._database, self._keywords, self._kept_whole = database, keywords, kept_whole
        self._corpus: CorpusFigures | None = None
        self._whole: tuple[int, int, Index] | None = None  # behind its number and version
        self._read_later = set[str | Method]()  # recipes that looked at what is left out
        self._folder = tempfile.TemporaryDirectory(prefix="clew-", ignore_cleanup_errors=True)
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
            address: `postgresql://user@host/database?index=name&tenant=name`, or one of another
                database: `falkordb://`, `bolt://`, `neo4j://`.
            bounds: How much of the graph a question pulls. None is the default.
            kept_whole: An index of no more nodes is read whole.
            **keywords: The fields of `clew.index.IndexConfig` that are not clew's own, as in
                `clew.Index.load`.

        Raises:
            DatabaseUnavailableError: The database does not answer.
            KeyError: There is no index of this name, or not of this tenant.
            ModuleNotFoundError: The database's client is not installed.
            ValueError: What clew has in the database is of another version.
        """
        check_names(keywords, option_names(IndexConfig), "an index")
        parsed = Address.parse(address)
        chosen = {name: value for name, value in keywords.items() if value is not ...}
        index = cls(parsed, connect(parsed), bounds or Bounds(), chosen, kept_whole)
        try:
            with index._database.reading() as session:
                if not finish(index._database.check_schema(session)):
                    raise KeyError(missing_index(parsed))
                index._corpus = finish(read_corpus(index._database, session, parsed, chosen))
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
        whole index, and items have no `location`. After changes, words weigh in the vectors of the
        embedded default what they weighed when the index was last built whole, as the trace says;
        `index.change(lambda index: index.compact())` builds it whole.

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

        async def embed(asked: IndexContents, text: str) -> ArrayLike | None:
            return embed_in_time(asked, text) if vector is None else vector

        def ask() -> Context:
            with self._database.reading() as session:
                found = finish(self._known_or_found(session))
                if found.nodes <= self._kept_whole:
                    whole = self._load(session, found)
                else:
                    pulled = finish(self._pull(session, question, embed, chosen))
                    return pulled.answer(question, chosen)
            return whole.ask(question, vector=vector, options=chosen)

        with within(chosen.deadline):
            try:
                return ask()
            except ASKED_AGAIN:
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
        """Return what `ask` returns without blocking the event loop.

        The database and the embedder are awaited, where the embedder has an async call. The rest
        runs in a thread.

        Args:
            question: A text with at least one word.
            vector: The question's vector by the index's embedder, if it is known already.
            options: All options in one value. Keywords replace single ones.
            **keywords: The fields of `clew.index.QueryOptions`.
        """
        import asyncio

        chosen = QueryOptions.from_keywords(options, **keywords)
        question = check_question(question, max_length=chosen.max_question)

        async def embed(asked: IndexContents, text: str) -> ArrayLike | None:
            return await aembed_in_time(asked, text) if vector is None else vector

        async def ask() -> Context:
            async with self._database.areading() as session:
                found = await self._known_or_found(session)
                if found.nodes > self._kept_whole:
                    pulled = await self._pull(session, question, embed, chosen)
                    return await asyncio.to_thread(pulled.answer, question, chosen)
            return await asyncio.to_thread(self.ask, question, vector=vector, options=chosen)

        with within(chosen.deadline):
            try:
                return await ask()
            except ASKED_AGAIN:
                return await ask()

    async def _pull(
        self,
        session: DatabaseSession,
        question: str,
        embed: Callable[[IndexContents, str], Awaitable[ArrayLike | None]],
        options: QueryOptions,
    ) -> _Pulled:
        """Return the working subgraph of a question with all that its answer needs."""
        began = time.perf_counter()
        for _ in range(ATTEMPTS):
            corpus = self._corpus
            if corpus is None:
                corpus = self._corpus = await self._read_corpus(session)
            pulled = await self._pull_once(session, corpus, question, embed, options)
            if pulled is None:
                self._corpus = None
                continue
            part, vector = pulled
            notes = {**part.notes, "round trips": session.round_trips, "version": part.version}
            await self._database.end(session)
            step = Step(f"{self.bounds!r}", time.perf_counter() - began, notes)
            return _Pulled(corpus, part, vector, step)
        raise never_still()

    async def _pull_once(
        self,
        session: DatabaseSession,
        corpus: CorpusFigures,
        question: str,
        embed: Callable[[IndexContents, str], Awaitable[ArrayLike | None]],
        options: QueryOptions,
    ) -> tuple[WorkingSubgraph, ArrayLike | None] | None:
        """Return the working subgraph of a question, and the question's vector.

        None where the index was written meanwhile.
        """
        where: Any = options.where
        stems = corpus.stems_of(question)
        try:
            read_later = self._reader_of_vectors(corpus, options.recipe)
            store = await self._database.store(session, corpus, stems, where, read_later)
            vector, row = await embed(as_contents(corpus, corpus.no_nodes), question), None
            if vector is not None:
                zeros = corpus.embedder.allows_zero_vectors
                names = ["the question"]
                row = normalize_vectors([vector], names, corpus.dimension, zeros=zeros)[0]
            part = await pull(store, corpus, question, row, self.bounds, where, stems)
        except IndexChangedError:
            return None
        return None if part is None else (part, vector)

    def _reader_of_vectors(self, corpus: CorpusFigures, recipe: str | Method) -> ReadVectors | None:
        """Return what reads vectors of nodes later, where the recipe never looked at them.

        Few recipes look at the vectors of nodes that are no passages. Of one that did once, they
        are read with all else.
        """
        if recipe in self._read_later:
            return None

        def read(numbers: Rows) -> Vectors:
            if len(self._read_later) >= MAX_RECIPES:
                self._read_later.clear()
            self._read_later.add(recipe)
            with self._database.reading() as session:
                found = finish(self._database.find(session, self.address))
                if (found.number, found.version) != (corpus.number, corpus.version):
                    raise IndexChangedError
                vectors = finish(self._database.read_vectors(session, found, numbers))
            validate_vectors("vectors", vectors, numbers.tolist())
            return vectors

        return read

    async def _read_corpus(self, session: DatabaseSession) -> CorpusFigures:
        return await read_corpus(self._database, session, self.address, self._keywords)

    async def _known_or_found(self, session: DatabaseSession) -> FoundIndex:
        """Return where the index is; a large one that is known says itself where it has changed."""
        corpus = self._corpus
        if corpus is not None and corpus.nodes > self._kept_whole:
            return FoundIndex(corpus.number, corpus.version, corpus.nodes, corpus.dimension)
        return await self._database.find(session, self.address)

    def _known(self) -> CorpusFigures:
        corpus = self._corpus
        if corpus is None:
            with self._database.reading() as session:
                corpus = finish(self._read_corpus(session))
            self._corpus = corpus
        return corpus

    def load(self) -> Index:
        """Return the whole index as it is now, as `clew.Index.load` does of a folder."""
        with self._database.reading() as session:
            return self._load(session, finish(self._database.find(session, self.address)))

    def _load(self, session: DatabaseSession, found: FoundIndex) -> Index:
        with self._lock:
            for _ in range(ATTEMPTS):
                if self._whole is not None and self._whole[:2] == (found.number, found.version):
                    return self._whole[2]
                root = Path(self._folder.name)
                try:
                    finish(read_folder(self._database, session, found, root))
                except IndexChangedError:
                    found = finish(self._database.find(session, self.address))
                else:
                    whole = Index.load(root, **self._keywords)
                    self._whole = found.number, found.version, whole
            raise never_still()

    @property
    def documents(self) -> tuple[Document, ...]:
        """The documents; the whole index is read for them."""
        return self.load().documents

    @property
    def document_of(self) -> Mapping[str, Document]:
        """The documents by their ids; the whole index is read for them."""
        return self.load().document_of

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
        self.change(lambda index: index.add(documents, facts=facts))

    def upsert(
        self, documents: object, *, facts: Mapping[str, Iterable[Triple]] | None = None
    ) -> None:
        """Add documents, and put those of a known id in its place; see `clew.Index.upsert`.

        Args:
            documents: As in `clew.Index.from_documents`.
            facts: As in `clew.Index.from_documents`.
        """
        self.change(lambda index: index.upsert(documents, facts=facts))

    def delete(self, ids: str | Iterable[str] | None = None, *, where: Where | None = None) -> None:
        """Delete documents; see `clew.Index.delete`.

        Args:
            ids: The ids of documents.
            where: In the place of ids, which documents go, by their metadata.
        """
        self.change(lambda index: index.delete(ids, where=where))

    def change(self, change: Callable[[Index], Index]) -> None:
        """Change the index by a function, in one transaction; other writers wait.

        Args:
            change: Returns the next index of the one that is there, such as
                `lambda index: index.sync("handbook")`. Where it is the same, nothing is written.
        """
        with self._lock:
            try:
                with self._database.writing() as session:
                    found = finish(self._database.find(session, self.address, to_write=True))
                    before = self._load(session, found)
                    after = change(before)
                    if after is not before:
                        self._write(session, found, after, before)
            except BaseException:  # the folder may hold what the database does not
                self._whole = None
                raise
            if after is not before:
                self._whole = found.number, found.version + 1, after
                self._corpus = None

    def _write(
        self, session: DatabaseSession, found: FoundIndex, after: Index, before: Index
    ) -> None:
        root = Path(self._folder.name)
        save_contents(after, root, beside=False)  # the very files are written to the database
        # With the weights of words as they are now, one change would write all vectors anew.
        after, before = with_weights_as_built(after), with_weights_as_built(before)
        finish(self._database.write(session, found, after, before.graph, root))

    def close(self) -> None:
        """Close the connections and forget what was read."""
        self._database.close()
        self._folder.cleanup()

    async def aclose(self) -> None:
        """Close the connections, also those of the event loop, and forget what was read."""
        await self._database.aclose()
        self._folder.cleanup()
