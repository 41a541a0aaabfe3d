"""A vector store, asked as an index is: its best candidates, what these lead to, and a context.

What a question asks of the store is a row of requests, each made of what came before. `_requests`
yields them, and `ask` and `aask` carry them out, the one in this thread, the other without blocking
the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from langchain_core.vectorstores import VectorStore
from numpy.typing import ArrayLike

import clew
from clew.adapters import (
    HOPS,
    FactsByDocument,
    IndexConfig,
    QueryOptions,
    aembed_question,
    check_hops,
    check_question,
    collecting_rarely,
    cosines_by_id,
)
from langchain_clew.chain_page import ChainPage
from langchain_clew.further_searches import NO_RELEVANCE, FurtherSearches, Judge
from langchain_clew.searches import (
    BY_VECTOR,
    UNSUPPORTED,
    WITH_RELEVANCE,
    WITH_SCORES,
    WITHOUT_SCORES,
    Embed,
    Read,
    Request,
    Requests,
    Search,
    SearchResults,
    reading_once,
)
from langchain_clew.stores import (
    FindNear,
    KnownStore,
    Vectors,
    embeddings_of,
    having,
    known_store,
    store_with_vectors,
)


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Any vector store, of which each question narrows the best candidates.

    Attributes:
        store: The vector store.
        candidates: How many documents it is asked for.
        search_kwargs: What else its search takes.
        config: What the small graph of the candidates is made with. Where it has no embedder, no
            document is embedded: the store says how near each is, and clew's own embedder compares
            what is in them.
        facts: Triples by document id.
        hops: How many more searches there are, each for what the documents so far lead to; None
            for two.
        edges: Pairs of keys of metadata: a document leads to those whose value of the second key is
            its own value of the first. Each pair is one more search. `page_content` as the first
            stands for the links in the text.
        score_threshold: The least relevance that a document found may have, as the store means it.
            None for any.
    """

    store: VectorStore
    candidates: int = 50
    search_kwargs: Mapping[str, object] = field(default_factory=dict)
    config: IndexConfig = field(default_factory=IndexConfig)
    facts: FactsByDocument = field(default_factory=dict)
    hops: int | None = None
    edges: tuple[tuple[str, str], ...] = ()
    score_threshold: float | None = None

    def __post_init__(self) -> None:
        if not hasattr(self.store, "similarity_search"):
            advice = (
                "give its .vectorstore"
                if hasattr(self.store, "vectorstore")
                else "a ClewCompressor works behind any retriever"
            )
            raise TypeError(
                "wanted a VectorStore, with similarity_search; "
                f"got a {type(self.store).__name__}: {advice}"
            )
        is_whole = isinstance(self.candidates, int) and not isinstance(self.candidates, bool)
        if not is_whole or self.candidates < 1:
            raise ValueError(f"candidates is a whole number of at least 1; got {self.candidates!r}")
        object.__setattr__(self, "edges", check_hops(self._n_hops, self.edges))
        if self.edges:
            having(self.store, self.edges[0][1], [""], None)  # before any question needs it

    @collecting_rarely()
    def ask(
        self, question: str, *, options: QueryOptions, page: ChainPage | None = None
    ) -> clew.Context:
        """Return the context for a question; the filter is in the store's own language.

        Args:
            question: A text with at least one word.
            options: What else the question says.
            page: What the budget holds for; None for clew's own page.
        """
        requests, answer = reading_once(self._requests(question, options, page)), None
        while True:
            try:
                request = requests.send(answer)
            except StopIteration as stop:
                context: clew.Context = stop.value
                return context
            answer = self._carry_out(request)

    async def aask(
        self, question: str, *, options: QueryOptions, page: ChainPage | None = None
    ) -> clew.Context:
        """Return what `ask` returns without blocking the event loop."""
        requests, answer = reading_once(self._requests(question, options, page)), None
        while True:
            request = await asyncio.to_thread(_next, requests, answer)
            if isinstance(request, clew.Context):
                return request
            answer = await self._acarry_out(request)

    @property
    def _n_hops(self) -> int:
        return HOPS if self.hops is None else self.hops

    @property
    def embedder(self) -> clew.Embedder | None:
        """What questions are embedded with, of the store or of the configuration, if any."""
        if self.config.embedder is not None:
            return self.config.embedder
        return self._store_embedder

    @property
    def _store_embedder(self) -> clew.Embedder | None:
        own = embeddings_of(self.store)
        return None if own is None else clew.Embedder.of(own)

    @property
    def _known(self) -> KnownStore | None:
        return store_with_vectors(self.store)

    def _requests(self, question: str, options: QueryOptions, page: ChainPage | None) -> Requests:
        """Yield what is asked of the store and its embedder; return the context made of it.

        Raises:
            ValueError: The question has no word or is too long, before anything is asked.
        """
        check_question(question, max_length=options.max_question)
        reads, filter = self._known is not None, options.where
        options = replace(options, where=None)  # the store filters
        vector = (yield Embed(question)) if reads else None
        is_judged = self.score_threshold is not None
        first = Search(question, vector, self.candidates, filter, is_judged)
        found: SearchResults = yield first
        candidates = found.reaching(self.score_threshold).candidates(self.store)
        of_question = candidates.documents
        further = FurtherSearches(self.store, first, self.facts, self._n_hops, self.edges)
        if candidates.documents and further:
            judge = None
            if self.score_threshold is not None:
                judge = yield from Judge.from_results(found, vector, self.score_threshold)
            if is_judged and judge is None:
                candidates = candidates.noted("further", NO_RELEVANCE)
            else:
                candidates = yield from further.joined_to(candidates, judge)
        if vector is not None and candidates.documents:
            vectors = yield Read(candidates.documents)
            near = cosines_by_id(vectors, vector, further.leads, of_question)
            candidates = candidates.scored(near)

        ask = candidates.ask(question, self.config, self.facts)
        return ask(options) if page is None else page.fit(ask, options)

    def _carry_out(self, request: Request) -> object:
        if isinstance(request, Read):
            return self._read(request)
        if isinstance(request, Embed):
            assert self._store_embedder is not None, "its vectors are read, so it has one"
            return self._store_embedder.embed_question(request.text)
        arguments = self._arguments(request)
        if request.is_judged:
            judged = _search_with_relevance(self.store, WITH_RELEVANCE)
            with _relevance_known(self.store):
                near = judged(request.text, **arguments)
            return SearchResults(WITH_RELEVANCE, near)
        if (brought := self._search_with_vectors(request)) is not None:
            return brought
        if request.vector is not None:
            found = self.store.similarity_search_by_vector(_plain(request.vector), **arguments)
            return SearchResults(BY_VECTOR, found)
        if hasattr(self.store, WITH_SCORES):
            with suppress(*UNSUPPORTED):
                scored = self.store.similarity_search_with_score(request.text, **arguments)
                return SearchResults(WITH_SCORES, scored)
        found = self.store.similarity_search(request.text, **arguments)
        return SearchResults(WITHOUT_SCORES, found)

    async def _acarry_out(self, request: Request) -> object:
        if isinstance(request, Read):
            return await self._aread(request)
        if isinstance(request, Embed):
            embedder = self._store_embedder
            assert embedder is not None, "its vectors are read, so it has one"
            vector = await aembed_question(embedder, request.text)
            if vector is not None:
                return vector
            return await asyncio.to_thread(embedder.embed_question, request.text)
        arguments = self._arguments(request)
        if request.is_judged:
            ajudged = _search_with_relevance(self.store, f"a{WITH_RELEVANCE}")
            with _relevance_known(self.store):
                near = await ajudged(request.text, **arguments)
            return SearchResults(WITH_RELEVANCE, near)
        if (brought := await self._asearch_with_vectors(request)) is not None:
            return brought
        if request.vector is not None:
            by_vector = self.store.asimilarity_search_by_vector
            return SearchResults(BY_VECTOR, await by_vector(_plain(request.vector), **arguments))
        if hasattr(self.store, f"a{WITH_SCORES}"):
            with suppress(*UNSUPPORTED):
                scored = await self.store.asimilarity_search_with_score(request.text, **arguments)
                return SearchResults(WITH_SCORES, scored)
        found = await self.store.asimilarity_search(request.text, **arguments)
        return SearchResults(WITHOUT_SCORES, found)

    def _read(self, request: Read) -> Vectors:
        known = self._known
        return (
            {} if known is None or known.read is None else known.read(self.store, request.documents)
        )

    def _search_with_vectors(self, search: Search) -> SearchResults | None:
        """Return what a search gave with its vectors; None where the store has none to give so."""
        if search.vector is None or self._find_near is None:
            return None
        found = self._find_near(self.store, _plain(search.vector), self._arguments(search))
        return None if found is None else SearchResults.with_vectors(found)

    async def _aread(self, request: Read) -> Vectors:
        known = self._known
        if known is None or known.aread is None:
            return await asyncio.to_thread(self._read, request)
        return await known.aread(self.store, request.documents)

    async def _asearch_with_vectors(self, search: Search) -> SearchResults | None:
        """Return what `_search_with_vectors` does without blocking the event loop."""
        known = self._known
        if search.vector is None or known is None or known.find_near is None:
            return None
        if known.afind_near is None:
            return await asyncio.to_thread(self._search_with_vectors, search)
        arguments = self._arguments(search)
        found = await known.afind_near(self.store, _plain(search.vector), arguments)
        return None if found is None else SearchResults.with_vectors(found)

    @property
    def _find_near(self) -> FindNear | None:
        return None if self._known is None else self._known.find_near

    def _arguments(self, search: Search) -> dict[str, Any]:
        known, limit = known_store(self.store), search.limit
        if known is not None and (most := known.most(self.store)) is not None:
            limit = min(limit, most)
        if search.filter is None:
            return {"k": limit, **self.search_kwargs}
        besides = {} if known is None else known.beside_filter(self.store, limit)
        return {"k": limit, **besides, **self.search_kwargs, "filter": search.filter}


def _search_with_relevance(store: VectorStore, name: str) -> Callable[..., Any]:
    """Return a search for documents and relevances that does not print the documents.

    LangChain's own method warns with the text of all of them where a relevance is outside of
    [0, 1], as those of FAISS may be. It does nothing else to what `_NAME` gives. A method of the
    store's own is called as it is.

    Args:
        store: What is searched.
        name: The method.
    """
    search: Any = getattr(store, name)
    if getattr(search, "__func__", None) is getattr(VectorStore, name):
        search = getattr(search.__self__, f"_{name}")
    found: Callable[..., Any] = search
    return found


@contextmanager
def _relevance_known(store: VectorStore) -> Iterator[None]:
    try:
        yield
    except NotImplementedError as error:
        raise NotImplementedError(
            f"a {type(store).__name__} does not say how relevant a document is from 0 to 1, so it "
            "takes no score_threshold; give min_relevance=, which clew measures itself"
        ) from error


def _next(requests: Requests, answer: object) -> Request | clew.Context:
    """Return the next request, or the context at the end; StopIteration crosses no thread."""
    try:
        return requests.send(answer)
    except StopIteration as stop:
        context: clew.Context = stop.value
        return context


def _plain(vector: ArrayLike) -> list[float]:
    """Return a vector as LangChain has it."""
    plain: list[float] = np.asarray(vector, np.float64).tolist()
    return plain
