"""A vector store, asked as an index is: its best candidates, what these lead to, and a context.

What a question asks of the store is a row of requests, each made of what came before. `_requests`
yields them, and `ask` and `aask` carry them out, the one in this thread, the other without blocking
the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from langchain_core.vectorstores import VectorStore
from numpy.typing import ArrayLike

import clew
from clew.adapters import (
    HOPS,
    FactsByDocument,
    IndexConfig,
    Method,
    QueryOptions,
    aembed_question,
    check_hops,
    check_question,
    collecting_rarely,
    cosines_by_id,
)
from langchain_clew.chain_page import ChainPage
from langchain_clew.further_searches import NO_RELEVANCE, FurtherSearches, Judge
from langchain_clew.overrides import overrides_blocking_alone
from langchain_clew.search_types import MarginalRelevance
from langchain_clew.searches import (
    BY_MARGINAL_RELEVANCE,
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
    gives_scores,
    having,
    known_store,
    store_with_vectors,
)

CANDIDATES = 50
"""Documents that a store is asked for, where no number is given."""

Way = tuple[str, tuple[type[Exception], ...], dict[str, Any]]
"""The name of a method, the errors by which a store says that it has none, and its arguments."""


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Any vector store, of which each question narrows the best candidates.

    Attributes:
        store: The vector store.
        candidates: How many documents it is asked for. None for what `mmr` says, or for 50, and for
            as many as the question wants where that is more.
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
        mmr: By what the documents are chosen, in the place of the question's recipe: by the store's
            vectors where they can be had, else by a method of the store's own. None for the recipe.
        is_one_search: Whether this is what a store's own retriever finds by one search. Then what
            is further from the question than at right angles is a candidate like others.
    """

    store: VectorStore
    candidates: int | None = None
    search_kwargs: Mapping[str, object] = field(default_factory=dict)
    config: IndexConfig = field(default_factory=IndexConfig)
    facts: FactsByDocument = field(default_factory=dict)
    hops: int | None = None
    edges: tuple[tuple[str, str], ...] = ()
    score_threshold: float | None = None
    mmr: MarginalRelevance | None = None
    is_one_search: bool = False

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
        if self.candidates is not None and (not is_whole or self.candidates < 1):
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

    def _n_candidates(self, k: int | None) -> int:
        """Return how many documents the store is asked for where a question wants `k`."""
        if self.candidates is not None:
            return self.candidates
        return max(CANDIDATES, k or 0) if self.mmr is None else self.mmr.among(k)

    @property
    def _own_mmr(self) -> Method:
        """The recipe for `mmr` where the store gives no vectors and has no such method.

        What is relevant the store says, unless the caller gave what the documents are embedded by.
        """
        assert self.mmr is not None, "it is asked for by that alone"
        how = "prize" if self.config.embedder is None else "similarity"
        return self.mmr.method(None, how)

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
        limit = self._n_candidates(options.limit)
        first = Search(question, vector, limit, filter, is_judged, self.mmr, options.limit)
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
            candidates = candidates.scored(near, is_one_search=self.is_one_search)
            if self.mmr is not None and self.config.embedder is None:
                candidates = candidates.chosen(vectors, vector, self.mmr.lambda_mult)
        if self.mmr is not None:
            is_chosen = candidates.is_chosen or found.search == BY_MARGINAL_RELEVANCE
            options = replace(options, recipe="dense" if is_chosen else self._own_mmr)

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
        for name, errors, how in self._ways_by_text(request, arguments):
            with suppress(*errors):
                return SearchResults(name, getattr(self.store, name)(request.text, **how))
        return SearchResults(
            WITHOUT_SCORES, self.store.similarity_search(request.text, **arguments)
        )

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
            with _relevance_known(self.store):
                near = await _awaited_relevance(self.store)(request.text, **arguments)
            return SearchResults(WITH_RELEVANCE, near)
        if (brought := await self._asearch_with_vectors(request)) is not None:
            return brought
        if request.vector is not None:
            by_vector = self.store.asimilarity_search_by_vector
            return SearchResults(BY_VECTOR, await by_vector(_plain(request.vector), **arguments))
        for name, errors, how in self._ways_by_text(request, arguments):
            with suppress(*errors):
                return SearchResults(name, await _awaited(self.store, name)(request.text, **how))
        found = await _awaited(self.store, WITHOUT_SCORES)(request.text, **arguments)
        return SearchResults(WITHOUT_SCORES, found)

    def _ways_by_text(self, search: Search, arguments: dict[str, Any]) -> list[Way]:
        """Return the methods that are tried before `similarity_search`, with their arguments."""
        ways: list[Way] = []
        if search.mmr is not None and hasattr(self.store, BY_MARGINAL_RELEVANCE):
            among = {"k": search.k or search.limit, "fetch_k": search.limit}
            how = {**arguments, **among, "lambda_mult": search.mmr.lambda_mult}
            ways.append((BY_MARGINAL_RELEVANCE, (NotImplementedError,), how))
        if hasattr(self.store, WITH_SCORES) and gives_scores(self.store):
            ways.append((WITH_SCORES, UNSUPPORTED, arguments))
        return ways

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


def _awaited_relevance(store: VectorStore) -> Callable[..., Awaitable[Any]]:
    """Return what `_search_with_relevance` does, to be awaited."""
    if overrides_blocking_alone(store, WITH_RELEVANCE, f"_{WITH_RELEVANCE}"):
        return partial(asyncio.to_thread, _search_with_relevance(store, WITH_RELEVANCE))
    return _search_with_relevance(store, f"a{WITH_RELEVANCE}")


def _awaited(store: VectorStore, name: str) -> Callable[..., Awaitable[Any]]:
    """Return the async variant of a search, or the search in a thread if it alone is overridden."""
    if overrides_blocking_alone(store):
        return partial(asyncio.to_thread, getattr(store, name))
    method: Callable[..., Awaitable[Any]] = getattr(store, f"a{name}")
    return method


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
