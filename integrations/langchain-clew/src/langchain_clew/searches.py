"""What a question asks of a vector store, and what the store gives."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore
from numpy.typing import ArrayLike

import clew
from langchain_clew.candidates import Candidates, document_id, scores_by_order
from langchain_clew.search_types import MarginalRelevance
from langchain_clew.stores import FoundDocument

WITH_SCORES = "similarity_search_with_score"
WITH_RELEVANCE = "similarity_search_with_relevance_scores"
BY_VECTOR = "similarity_search_by_vector"
BY_MARGINAL_RELEVANCE = "max_marginal_relevance_search"
WITHOUT_SCORES = "similarity_search"
UNSUPPORTED = (NotImplementedError, ValueError)
"""How stores say that they have no scores at all."""


@dataclass(frozen=True)
class Search:
    """What a store is asked for.

    Attributes:
        text: What is searched for.
        vector: Its vector, where the store is searched by vector.
        limit: How many documents.
        filter: What may be found, in the store's own language.
        is_judged: Whether the store is to say how relevant each document is.
        mmr: By what the store is to choose itself, where its vectors are not known; None for the
            nearest.
        k: How many of the `limit` it then is to choose; None for all, one after the other.
    """

    text: str
    vector: ArrayLike | None
    limit: int
    filter: object
    is_judged: bool = False
    mmr: MarginalRelevance | None = None
    k: int | None = None


@dataclass(frozen=True)
class SearchResults:
    """What a search of a store gave.

    Attributes:
        search: The name of the method that was called.
        results: Documents, or pairs of a document and its score, best first.
        vectors: The vectors that came along, by the ids of the documents.
    """

    search: str
    results: Sequence[Document | tuple[Document, float]]
    vectors: Mapping[str, ArrayLike] = field(default_factory=dict)

    @classmethod
    def with_vectors(cls, found: Sequence[FoundDocument]) -> Self:
        """Return the results of a search by vector that brought vectors along."""
        vectors: dict[str, ArrayLike] = {}
        for document, vector in found:
            if vector is not None:  # of several documents with one id the first counts
                vectors.setdefault(document_id(document), vector)
        return cls(BY_VECTOR, [document for document, _ in found], vectors)

    @property
    def documents(self) -> list[Document]:
        """The documents alone."""
        return [one[0] if isinstance(one, tuple) else one for one in self.results]

    @property
    def scored(self) -> list[tuple[Document, float]]:
        """The documents with their scores, where the search gave scores."""
        return [one for one in self.results if isinstance(one, tuple)]

    def reaching(self, threshold: float | None) -> SearchResults:
        """Return the results of at least this relevance; all where there is no threshold."""
        if threshold is None:
            return self
        return replace(self, results=[one for one in self.scored if one[1] >= threshold])

    def candidates(self, store: VectorStore) -> Candidates:
        """Return the distinct documents, with their scores in one direction."""
        scores, meaning = None, "rank: the store gives no scores"
        if self.search == BY_MARGINAL_RELEVANCE:
            meaning = "rank: the store chose by marginal relevance"
        if self.search in (WITH_SCORES, WITH_RELEVANCE):
            scores, meaning = scores_by_order([score for _, score in self.scored])
        notes = {"store": type(store).__name__, "search": self.search, "scores": meaning}
        return Candidates.from_documents(self.documents, scores, notes)


@dataclass(frozen=True)
class Embed:
    """The question's vector is wanted."""

    text: str


@dataclass(frozen=True)
class Read:
    """The vectors of some documents are wanted, by their ids."""

    documents: Mapping[str, Document]


Request = Search | Embed | Read
Requests = Generator[Request, Any, clew.Context]


def reading_once(requests: Requests) -> Requests:
    """Yield what is asked of a store, but for vectors that it gave already.

    A search may bring vectors along, and what was read once is not read again. So only what is
    missing is read.

    Args:
        requests: What is asked.
    """
    known: dict[str, ArrayLike] = {}
    answer: Any = None
    while True:
        try:
            request = requests.send(answer)
        except StopIteration as stop:
            context: clew.Context = stop.value
            return context
        if isinstance(request, Read):
            missing = {id: one for id, one in request.documents.items() if id not in known}
            if missing:
                known |= yield Read(missing)
            answer = {id: known[id] for id in request.documents if id in known}
        else:
            answer = yield request
            if isinstance(answer, SearchResults):
                known = {**answer.vectors, **known}
