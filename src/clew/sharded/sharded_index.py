"""Indexes of documents of their own, in folders and databases, that are asked as one."""

from __future__ import annotations

import os
import time
from collections import ChainMap
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias, Unpack, cast

from numpy.typing import ArrayLike

from clew.context import Context
from clew.deadline import within
from clew.document import Document
from clew.embedding.raw_vectors import normalize_vectors
from clew.index.answer import aembed_in_time, answer, embed_in_time
from clew.index.config import IndexConfig, IndexKeywords
from clew.index.contents import IndexContents
from clew.index.filtering import filtered_index
from clew.index.index import Index
from clew.index.options import check_names, documents_keywords, option_names
from clew.index.question import QueryKeywords, QueryOptions, Where, check_question
from clew.items import Step
from clew.read import Triple
from clew.remote.address import Address, is_address
from clew.remote.corpus import CorpusFigures, key_of_stem
from clew.remote.database import AnySession, Database, IndexChangedError, connect, missing_index
from clew.remote.protocol import GraphStore
from clew.remote.pulled_index import PulledIndex
from clew.remote.reading import ATTEMPTS, AskedPart, as_contents, never_still, read_corpus
from clew.remote.session import finish
from clew.remote.working_subgraph import Bounds, WorkingSubgraph, pull
from clew.sharded.index_store import IndexStore, figures_of
from clew.sharded.known_shards import KnownShards
from clew.sharded.sharded_store import Gather, ShardedStore
from clew.text.kept import Kept

Source: TypeAlias = str | os.PathLike[str] | Index
"""A shard: the folder of a saved index, an address of one in a database, or an index."""

CHANGED_ALONE = (
    "a shard is changed by itself: by clew.Index and save where it is in a folder, by "
    "clew.remote.RemoteIndex where it is in a database, or all by clew.sharded.build_shards"
)

MAX_FILTERS = 8
"""Filters whose shards are remembered."""


@dataclass(frozen=True, eq=False)
class _AskedShards(AskedPart):
    """What was pulled of all shards, which finds a document in the one that has it."""

    indexes: tuple[IndexContents, ...] = ()

    @property
    def document_of(self) -> Mapping[str, Document]:
        """The documents of the shards that are no databases, by their ids."""
        return _joined(self.indexes)


class ShardedIndex(PulledIndex):
    """Several indexes that are asked as one.

    Each document is in one shard. A question goes to all shards at once. Frequencies and lengths of
    words are those of all documents. An entity that several shards name is one entity, whose facts
    and passages are those of all. So a path may lead from a document of one shard to a document of
    another.

    The answer is nearly the one of a single index over all documents where an embedder and facts
    come from the caller, no bound cuts, and no edges depend on the whole corpus. Two things differ
    there, too, by which scores may part a little: each shard tells the language of its short
    documents, and how much the words around a passage count is a mean of the shards. What else
    differs: edges between similar passages and between similar names are within a shard; what
    counts as a name is decided by each shard; the embedded default weighs the passages of each
    shard by that shard's words, and the question by those of all.

    A shard is changed by itself: an index in a folder by `clew.Index`, one in a database by
    `clew.remote.RemoteIndex`. What is changed in a database is asked at once.

    Make one with `open`.
    """

    def __init__(
        self,
        names: Sequence[str],
        indexes: Sequence[Index | None],
        databases: Mapping[int, tuple[Address, Database]],
        bounds: Bounds,
        keywords: Mapping[str, Any],
    ) -> None:
        self.names, self.bounds = tuple(names), bounds
        self._indexes, self._databases, self._keywords = tuple(indexes), databases, keywords
        self._known_shards: KnownShards | None = None
        self._filtered = Kept[object, KnownShards](MAX_FILTERS)
        self._threads: ThreadPoolExecutor | None = None
        if databases:
            self._threads = ThreadPoolExecutor(len(databases), thread_name_prefix="clew-shard")
        self._is_closed = False

    @classmethod
    @documents_keywords(IndexConfig)
    def open(
        cls,
        shards: Iterable[Source],
        *,
        bounds: Bounds | None = None,
        **keywords: Unpack[IndexKeywords],
    ) -> Self:
        """Return several indexes as one.

        Args:
            shards: The folders of saved indexes, addresses of indexes in databases, or indexes.
            bounds: How much of the graph a question pulls from all shards together. None is the
                default.
            **keywords: The fields of `clew.index.IndexConfig` that are not clew's own, as in
                `clew.Index.load`.

        Raises:
            DatabaseUnavailableError: A database does not answer.
            FileNotFoundError: A folder holds no index.
            KeyError: A database has no such index.
            ValueError: There is no shard, or they differ in what questions are asked with.

        Example:
            >>> import clew
            >>> shards = [
            ...     clew.Index.from_documents([clew.Document("ferries", "Ferries sail at ten.")]),
            ...     clew.Index.from_documents([clew.Document("trains", "Trains run at noon.")]),
            ... ]
            >>> with ShardedIndex.open(shards) as index:
            ...     index.ask("When do trains run?").ids
            ['trains']
        """
        check_names(keywords, option_names(IndexConfig), "an index")
        chosen = {name: value for name, value in keywords.items() if value is not ...}
        sources = [shards] if isinstance(shards, (str, os.PathLike, Index)) else list(shards)
        if not sources:
            raise ValueError("a sharded index has at least one shard; none came")
        indexes: list[Index | None] = []
        databases: dict[int, tuple[Address, Database]] = {}
        for place, source in enumerate(sources):
            if is_address(source):
                address = Address.parse(cast("str", source))
                databases[place] = address, connect(address)
                indexes.append(None)
            else:
                is_index = isinstance(source, Index)
                load: Any = Index.load
                indexes.append(cast("Index", source) if is_index else load(source, **chosen))
        names = [repr(one) if isinstance(one, Index) else _name_of(one) for one in sources]
        sharded = cls(names, indexes, databases, bounds or Bounds(), chosen)
        try:
            with ExitStack() as stack:
                finish(sharded._shards(sharded._blocking(stack), _gather_in(sharded._threads)))
        except BaseException:
            sharded.close()
            raise
        return sharded

    def __repr__(self) -> str:
        return f"ShardedIndex({', '.join(self.names)})"

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

        The trace says how much was pulled of all shards, and what the bounds cut off. With a
        filter, shards in folders have the statistics of what it allows, and those in databases
        their own; there it is a mapping.

        Args:
            question: A text with at least one word.
            vector: The question's vector by the embedder of the shards, if it is known already.
            options: All options in one value. Keywords replace single ones.
            **keywords: The fields of `clew.index.QueryOptions`.

        Raises:
            DatabaseUnavailableError: A database does not answer; nothing is answered by the others.
            TypeError: `where` is a function, and a shard is in a database.
            RuntimeError: It was closed.
            ValueError: As in `clew.Index.ask`, or two shards have a document of one id.
        """
        self._check_open()
        chosen = QueryOptions.from_keywords(options, **keywords)
        question = check_question(question, max_length=chosen.max_question)

        async def embed(asked: IndexContents, text: str) -> ArrayLike | None:
            return embed_in_time(asked, text) if vector is None else vector

        with within(chosen.deadline), ExitStack() as stack:
            sessions, gather = self._blocking(stack), _gather_in(self._threads)
            pulled = finish(self._pull(sessions, gather, question, embed, chosen))
            return self._answer(pulled, question, chosen)

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

        Databases and the embedder are awaited. The rest runs in a thread.

        Args:
            question: A text with at least one word.
            vector: The question's vector by the embedder of the shards, if it is known already.
            options: All options in one value. Keywords replace single ones.
            **keywords: The fields of `clew.index.QueryOptions`.
        """
        import asyncio

        self._check_open()
        if not self._databases:
            return await asyncio.to_thread(
                self.ask, question, vector=vector, options=options, **keywords
            )
        chosen = QueryOptions.from_keywords(options, **keywords)
        question = check_question(question, max_length=chosen.max_question)

        async def embed(asked: IndexContents, text: str) -> ArrayLike | None:
            return await aembed_in_time(asked, text) if vector is None else vector

        async def gather(calls: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
            return list(await asyncio.gather(*calls))

        with within(chosen.deadline):
            async with AsyncExitStack() as stack:
                sessions = {
                    place: await stack.enter_async_context(database.areading())
                    for place, (_, database) in self._databases.items()
                }
                pulled = await self._pull(sessions, gather, question, embed, chosen)
            return await asyncio.to_thread(self._answer, pulled, question, chosen)

    def _blocking(self, stack: ExitStack) -> dict[int, AnySession]:
        return {
            place: stack.enter_context(database.reading())
            for place, (_, database) in self._databases.items()
        }

    async def _shards(self, sessions: Mapping[int, AnySession], gather: Gather) -> KnownShards:
        """Return what is known of the shards; what is not is read."""
        known = self._known_shards  # another thread forgets it where a shard was written
        if known is None:
            places = list(self._databases)
            read = dict(
                zip(
                    places,
                    await gather([self._read(place, sessions[place]) for place in places]),
                    strict=True,
                )
            )
            corpora = [
                read[place] if index is None else figures_of(index, place)
                for place, index in enumerate(self._indexes)
            ]
            known = self._known_shards = KnownShards.of(corpora, self._indexes)
            self._filtered.clear()
        return known

    async def _read(self, place: int, session: AnySession) -> CorpusFigures:
        address, database = self._databases[place]
        if not await database.check_schema(session):
            raise KeyError(missing_index(address))
        return await read_corpus(database, session, address, self._keywords)

    def _allowed(self, shards: KnownShards, where: Where | None) -> KnownShards:
        """Return the shards of what a filter allows, of those that are no databases."""
        if where is None or all(index is None for index in self._indexes):
            return shards
        indexes = [
            None if index is None else filtered_index(index, where) for index in self._indexes
        ]
        key = tuple(None if index is None else id(index.graph) for index in indexes)
        filtered = self._filtered.get(key)
        if filtered is None:
            corpora = [
                known if index is None else figures_of(index, place)
                for place, (known, index) in enumerate(zip(shards.corpora, indexes, strict=True))
            ]
            filtered = self._filtered.put(key, KnownShards.of(corpora, indexes))
        return filtered

    async def _pull(
        self,
        sessions: Mapping[int, AnySession],
        gather: Gather,
        question: str,
        embed: Callable[[IndexContents, str], Any],
        options: QueryOptions,
    ) -> tuple[KnownShards, WorkingSubgraph, ArrayLike | None, Step]:
        """Return the working subgraph of a question with all that its answer needs."""
        began = time.perf_counter()
        if self._databases and options.where is not None and not isinstance(options.where, Mapping):
            raise TypeError(
                "where is a mapping of wanted values for shards in databases, and a function came"
            )
        for _ in range(ATTEMPTS):
            shards = self._allowed(await self._shards(sessions, gather), options.where)
            whole = shards.whole
            vector, row = await embed(as_contents(whole, whole.no_nodes), question), None
            if vector is not None:
                zeros = whole.embedder.allows_zero_vectors
                row = normalize_vectors([vector], ["the question"], whole.dimension, zeros=zeros)[0]
            part = await self._pull_once(sessions, gather, shards, (question, row, options.where))
            if part is None:
                self._known_shards = None
                continue
            trips = max((session.round_trips for session in sessions.values()), default=0)
            notes = {**part.notes, "shards": len(shards.corpora), "round trips": trips}
            step = Step(f"{self.bounds!r}", time.perf_counter() - began, notes)
            return shards, part, vector, step
        raise never_still()

    async def _pull_once(
        self,
        sessions: Mapping[int, AnySession],
        gather: Gather,
        shards: KnownShards,
        asked: tuple[str, Any, Where | None],
    ) -> WorkingSubgraph | None:
        """Return the working subgraph of a question; None where a shard was written meanwhile."""
        question, row, where = asked
        wanted: Any = where
        stems = shards.whole.stems_of(question)
        stem_of = {key_of_stem(stem): stem for stem in stems}
        stores = list[GraphStore]()
        for place, (index, corpus) in enumerate(zip(shards.indexes, shards.corpora, strict=True)):
            if index is not None:
                stores.append(IndexStore(index, wanted, shards.relations[place], stem_of))
            else:
                _, database = self._databases[place]
                stores.append(await database.store(sessions[place], corpus))
        store = ShardedStore(
            tuple(stores),
            shards.corpora,
            shards.numbers,
            shards.whole.languages,
            gather,
            shards.repeated,
        )
        try:
            return await pull(store, shards.whole, question, row, self.bounds, wanted, stems)
        except IndexChangedError:
            return None

    def _answer(
        self,
        pulled: tuple[KnownShards, WorkingSubgraph, ArrayLike | None, Step],
        question: str,
        options: QueryOptions,
    ) -> Context:
        shards, part, vector, step = pulled
        plain = as_contents(shards.whole, part.graph)
        asked = _AskedShards(
            plain.graph,
            plain.config,
            fitted_embedder=plain.fitted_embedder,
            of_code=plain.of_code,
            many_entities=plain.many_entities,
            bare_names=plain.bare_names,
            indexes=tuple(index for index in shards.indexes if index is not None),
        )
        context = answer(asked, question, vector, replace(options, where=None))
        return context.changed(trace=shards.whole.trace_of(step, context))

    def upsert(
        self, documents: object, *, facts: Mapping[str, Iterable[Triple]] | None = None
    ) -> None:
        """Refuse: each shard is changed by itself.

        Raises:
            TypeError: Always.
        """
        raise TypeError(CHANGED_ALONE)

    def delete(self, ids: str | Iterable[str] | None = None, *, where: Where | None = None) -> None:
        """Refuse: each shard is changed by itself.

        Raises:
            TypeError: Always.
        """
        raise TypeError(CHANGED_ALONE)

    @property
    def document_of(self) -> Mapping[str, Document]:
        """The documents of all shards by their ids.

        Raises:
            TypeError: A shard is in a database.
        """
        if self._databases:
            raise TypeError("the documents of a shard in a database are read by RemoteIndex.load")
        return _joined([one for one in self._indexes if one is not None])

    def _known(self) -> CorpusFigures:
        self._check_open()
        with ExitStack() as stack:
            sessions = {} if self._known_shards is not None else self._blocking(stack)
            return finish(self._shards(sessions, _gather_in(self._threads))).whole

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError(
                "this ShardedIndex was closed, and a question came: open it again with "
                "ShardedIndex.open, and close it after the last one"
            )

    def close(self) -> None:
        """Close the connections to databases; it is asked no more."""
        self._is_closed = True
        for _, database in self._databases.values():
            database.close()
        if self._threads is not None:
            self._threads.shutdown(wait=False)

    async def aclose(self) -> None:
        """Close the connections to databases, also those of the event loop; it is asked no more."""
        self._is_closed = True
        for _, database in self._databases.values():
            await database.aclose()
        if self._threads is not None:
            self._threads.shutdown(wait=False)


def _gather_in(threads: ThreadPoolExecutor | None) -> Gather:
    """Return what runs calls that block in threads, at once; without any, in turn."""

    async def gather(calls: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
        if threads is None or len(calls) < 2:
            return [finish(call) for call in calls]
        futures = [threads.submit(copy_context().run, finish, call) for call in calls]
        done = [future.exception() for future in futures]  # none is left running
        for error in done:
            if error is not None:
                raise error
        return [future.result() for future in futures]

    return gather


def _joined(indexes: Sequence[IndexContents]) -> Mapping[str, Document]:
    """Return the documents of several indexes by their ids; nothing is copied."""
    return ChainMap(*(cast("dict[str, Document]", one.document_of) for one in indexes))


def _name_of(source: str | os.PathLike[str]) -> str:
    """Return what a shard is called; an address without its password."""
    return repr(Address.parse(str(source))) if is_address(source) else repr(os.fspath(source))
