"""A vector store, asked as an index is: its best candidates, and a context made of those alone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore
from numpy.typing import ArrayLike

import clew
from clew.adapters import (
    FactsByDocument,
    IndexConfig,
    QueryOptions,
    aembed_question,
    remember_vectors,
)
from langchain_clew.candidates import Candidates, scores_by_order

WITH_SCORES = ("similarity_search_with_relevance_scores", "similarity_search_with_score")
WITHOUT_SCORES = "similarity_search"
UNSUPPORTED = (NotImplementedError, ValueError)
"""How stores say that they have no relevance, or no scores at all."""


@dataclass(frozen=True)
class SearchResults:
    """What a search of a store gave.

    Attributes:
        search: The name of the method that was called.
        results: Documents, or pairs of a document and its score, best first.
    """

    search: str
    results: list[Any]

    def candidates(self, store: VectorStore) -> Candidates:
        """Return the distinct documents, with their scores in one direction."""
        if self.search == WITHOUT_SCORES:
            documents, scores, meaning = self.results, None, "rank: the store gives no scores"
        else:
            documents = [document for document, _ in self.results]
            scores, meaning = scores_by_order([score for _, score in self.results])
        notes = {"store": type(store).__name__, "search": self.search, "scores": meaning}
        return Candidates.from_documents(documents, scores, notes)


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Any vector store, of which each question narrows the best candidates.

    Attributes:
        store: The vector store.
        candidates: How many documents it is asked for.
        search_kwargs: What else its search takes.
        config: What the small graph of the candidates is made with. Without an embedder the store's
            own is used.
        facts: Triples by document id.
    """

    store: VectorStore
    candidates: int = 50
    search_kwargs: Mapping[str, object] = field(default_factory=dict)
    config: IndexConfig = field(default_factory=IndexConfig)
    facts: FactsByDocument = field(default_factory=dict)

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

    def ask(self, question: str, *, options: QueryOptions) -> clew.Context:
        """Return the context for a question; the filter is in the store's own language."""
        return self._narrow(question, self._search(question, options.where), options)

    async def aask(self, question: str, *, options: QueryOptions) -> clew.Context:
        """Return what `ask` returns without blocking the event loop."""
        found = await self._asearch(question, options.where)
        vector = await aembed_question(self.embedder, question) if found.results else None
        return await asyncio.to_thread(self._narrow, question, found, options, vector)

    @property
    def embedder(self) -> clew.Embedder | None:
        """What candidates and questions are embedded with; None stands for clew's own.

        It is the embedder of the configuration, or else the store's.
        """
        if self.config.embedder is not None:
            return self.config.embedder
        own = self.store.embeddings
        return None if own is None else clew.Embedder.of(own)

    def _search(self, question: str, filter: object) -> SearchResults:
        arguments = self._search_arguments(filter)
        for name in WITH_SCORES:
            try:
                return SearchResults(name, getattr(self.store, name)(question, **arguments))
            except UNSUPPORTED:
                continue
        results = self.store.similarity_search(question, **arguments)
        return SearchResults(WITHOUT_SCORES, results)

    async def _asearch(self, question: str, filter: object) -> SearchResults:
        arguments = self._search_arguments(filter)
        for name in WITH_SCORES:
            try:
                results = await getattr(self.store, f"a{name}")(question, **arguments)
                return SearchResults(name, results)
            except UNSUPPORTED:
                continue
        results = await self.store.asimilarity_search(question, **arguments)
        return SearchResults(WITHOUT_SCORES, results)

    def _search_arguments(self, filter: object) -> dict[str, Any]:
        chosen = {} if filter is None else {"filter": filter}
        return {"k": self.candidates, **self.search_kwargs, **chosen}

    def _narrow(
        self,
        question: str,
        found: SearchResults,
        options: QueryOptions,
        vector: ArrayLike | None = None,
    ) -> clew.Context:
        candidates, embedder = found.candidates(self.store), self.embedder
        if embedder is not None and self.config.embedder is None:
            documents = candidates.documents.values()
            vectors = ((document.page_content, self._vector(document)) for document in documents)
            known = {text: vector for text, vector in vectors if vector is not None}
            embedder = remember_vectors(embedder, known)
        return candidates.narrow(
            question,
            replace(options, where=None),  # the store has filtered
            replace(self.config, embedder=embedder),
            self.facts,
            vector,
        )

    def _vector(self, document: Document) -> ArrayLike | None:
        """Return the vector of a document in a store that has a mapping by id.

        LangChain's own store in memory has one.
        """
        entries = getattr(self.store, "store", None)
        entry = entries.get(document.id) if isinstance(entries, Mapping) else None
        return entry.get("vector") if isinstance(entry, Mapping) else None
