"""What a vector store finds, asked as an index is: its best candidates, and a context made of those alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

import clew
from langchain_clew.candidates import Candidates, Triples, one_direction

WAYS = (
    "similarity_search_with_relevance_scores",
    "similarity_search_with_score",
    "similarity_search",
)
CANNOT = (
    NotImplementedError,
    ValueError,
)  # how stores say that they have no relevance, or no scores at all


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Any vector store, asked for `candidates` documents at a question; `embedder` None stands for the store's own."""

    store: VectorStore
    candidates: int = 50
    search_kwargs: Mapping[str, Any] = field(default_factory=dict)
    embedder: clew.Embedder | None = None
    facts: Triples = field(default_factory=dict)
    count: Any = None

    def __post_init__(self) -> None:
        if not hasattr(self.store, "similarity_search"):
            advice = (
                "give its .vectorstore"
                if hasattr(self.store, "vectorstore")
                else "a ClewCompressor works behind any retriever"
            )
            raise TypeError(
                f"wanted a VectorStore, with similarity_search; got a {type(self.store).__name__}: {advice}"
            )
        if (
            isinstance(self.candidates, bool)
            or not isinstance(self.candidates, int)
            or self.candidates < 1
        ):
            raise ValueError(f"candidates is a whole number of at least 1; got {self.candidates!r}")

    def ask(self, question: str, *, where: Any = None, **how: Any) -> clew.Context:
        """Return the context for a question; `where` is a filter in the store's own language, the rest as in `clew.Index.ask`."""
        return self._narrow(question, *self._search(question, where), None, how)

    async def aask(self, question: str, *, where: Any = None, **how: Any) -> clew.Context:
        """Return what `ask` returns without blocking the event loop."""
        way, found = await self._asearch(question, where)
        embedder, vector = self.embeds, None
        if found and embedder is not None and embedder.aembed_question is not None:
            vector = await embedder.aembed_question(question)
        return await asyncio.to_thread(self._narrow, question, way, found, vector, how)

    @property
    def embeds(self) -> clew.Embedder | None:
        """The embedder of the candidates: the given one, else the store's; None (clew's own) where the store has none."""
        own = self.store.embeddings
        return self.embedder if self.embedder is not None or own is None else clew.Embedder.of(own)

    def _search(self, question: str, where: Any) -> tuple[str, list[Any]]:
        for way in WAYS[:-1]:
            try:
                return way, getattr(self.store, way)(question, **self._how(where))
            except CANNOT:
                continue
        return WAYS[-1], self.store.similarity_search(question, **self._how(where))

    async def _asearch(self, question: str, where: Any) -> tuple[str, list[Any]]:
        for way in WAYS[:-1]:
            try:
                return way, await getattr(self.store, f"a{way}")(question, **self._how(where))
            except CANNOT:
                continue
        return WAYS[-1], await self.store.asimilarity_search(question, **self._how(where))

    def _how(self, where: Any) -> dict[str, Any]:
        return {
            "k": self.candidates,
            **self.search_kwargs,
            **({} if where is None else {"filter": where}),
        }

    def _narrow(
        self, question: str, way: str, found: list[Any], vector: Any, how: Mapping[str, Any]
    ) -> clew.Context:
        if way == WAYS[-1]:
            documents, scores, meaning = found, None, "rank: the store gives no scores"
        else:
            documents = [document for document, _ in found]
            scores, meaning = one_direction([score for _, score in found])
        candidates = Candidates.of(
            documents,
            scores,
            {"store": type(self.store).__name__, "search": way, "scores": meaning},
        )
        embedder = self.embeds
        if embedder is not None and self.embedder is None:
            embedder = _remembering(
                embedder,
                {
                    d.page_content: known
                    for d in documents
                    if (known := self._vector(d)) is not None
                },
            )
        return candidates.narrow(
            question, embedder=embedder, vector=vector, facts=self.facts, count=self.count, **how
        )

    def _vector(self, document: Document) -> Any:
        """The vector that the store holds of a document, where it keeps them in a mapping by id, as LangChain's own in memory does."""
        entries = getattr(self.store, "store", None)
        entry = entries.get(document.id) if isinstance(entries, Mapping) else None
        return entry.get("vector") if isinstance(entry, Mapping) else None


def _remembering(embedder: clew.Embedder, known: Mapping[str, Any]) -> clew.Embedder:
    """The embedder, with the vectors of some texts known already."""
    return replace(embedder, embed_texts=_Remembering(embedder.embed_texts, known))


@dataclass(frozen=True)
class _Remembering:
    """Embeds the texts whose vectors are not known."""

    texts: Callable[[list[str]], Any]
    known: Mapping[str, Any]

    def __call__(self, asked: list[str]) -> list[Any]:
        fresh = [text for text in asked if text not in self.known]
        vectors = iter(self.texts(fresh) if fresh else ())
        return [self.known[text] if text in self.known else next(vectors) for text in asked]
