"""What is searched for once a store has given its best candidates, and which of that may join them.

Names in the candidates are looked for, and edges are followed. Under a threshold a document joins
where it is relevant enough to the question itself, whatever it was found by.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore
from numpy.typing import ArrayLike

from clew.adapters import FEW_NAMES, LEAD_DOCUMENTS, FactsByDocument, LeadSearches
from langchain_clew.candidates import Candidates
from langchain_clew.relevances import Relevances
from langchain_clew.searches import Embed, Read, Request, Search, SearchResults
from langchain_clew.stores import having

NO_RELEVANCE = "none: the store's vectors do not show what reaches the score_threshold"


@dataclass(frozen=True, eq=False)
class Judge:
    """Tells the documents that are relevant enough to the question.

    Attributes:
        relevances: How relevant a store says that a vector is.
        threshold: The least relevance.
    """

    relevances: Relevances
    threshold: float

    @classmethod
    def from_results(
        cls,
        found: SearchResults,
        vector: ArrayLike | None,
        threshold: float,
    ) -> Generator[Request, Any, Self | None]:
        """Yield what is read for it; return a judge, or None where nothing can be decided.

        Args:
            found: Documents, and how relevant the store says that they are to the question.
            vector: The question's vector, where those of the store can be read.
            threshold: The least relevance.
        """
        if vector is None:
            return None
        judged = Candidates.from_documents(found.documents, [one for _, one in found.scored], {})
        known = dict(zip(judged.documents, judged.scores or (), strict=True))
        vectors = yield Read(judged.documents)
        relevances = Relevances.from_known(vector, vectors, known)
        return None if relevances is None else cls(relevances, threshold)

    def reaching(
        self, documents: Mapping[str, Document]
    ) -> Generator[Request, Any, dict[str, Document]]:
        """Yield what is read for it; return those of some documents that are relevant enough."""
        if not documents:
            return {}
        vectors: Mapping[str, ArrayLike] = yield Read(documents)
        relevance = self.relevances.of(vectors)
        return {
            id: one for id, one in documents.items() if relevance.get(id, -1.0) >= self.threshold
        }


@dataclass(frozen=True, eq=False)
class FurtherSearches:
    """The searches after the first.

    Attributes:
        store: What is searched.
        first: The first search.
        facts: Triples by document id.
        hops: How many searches there are for names.
        edges: Pairs of keys of metadata; one more search each.
        leads: The vectors of the searches for names so far, where they have some.
    """

    store: VectorStore
    first: Search
    facts: FactsByDocument
    hops: int
    edges: Sequence[tuple[str, str]]
    leads: list[ArrayLike] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.hops or self.edges)

    def joined_to(
        self, candidates: Candidates, judge: Judge | None
    ) -> Generator[Request, Any, Candidates]:
        """Yield the searches; return the candidates, and behind them what these found.

        Args:
            candidates: What the first search found.
            judge: What tells which may join; None for all.
        """
        searches = LeadSearches(self.first.text)
        for _ in range(self.hops):
            lead = searches.following(candidates.newest_first(), self.facts)
            if lead is None:
                break
            near: ArrayLike | None = None
            if self.first.vector is not None:
                near = yield Embed(lead.text)
                self.leads.append(near)
            search = replace(self.first, text=lead.text, vector=near)
            candidates = yield from _joined(
                candidates, search, judge, "looked for", lead.names, lead.limit
            )
        candidates = replace(candidates, has_names=searches.has_names)
        if searches.has_names is False:
            candidates = candidates.noted("names", FEW_NAMES)
        for source, target in self.edges:
            if values := candidates.values_of(source, target):
                only = having(self.store, target, values, self.first.filter)
                search, how = replace(self.first, filter=only), f"{source} -> {target}"
                candidates = yield from _joined(candidates, search, judge, how, values)
        return candidates


def _joined(
    candidates: Candidates,
    search: Search,
    judge: Judge | None,
    how: str,
    names: Sequence[object],
    limit: int = LEAD_DOCUMENTS,
) -> Generator[Request, Any, Candidates]:
    """Yield a search; return the candidates, and behind them what it found that may join.

    Args:
        candidates: What came before.
        search: What is searched for.
        judge: As in `FurtherSearches.joined_to`.
        how: What was searched for, for the trace.
        names: The same, in particular.
        limit: How many may join.
    """
    room = len(candidates.documents) + limit  # so that there are new ones
    found: SearchResults = yield replace(search, limit=room, is_judged=False, k=None)
    new = candidates.new_among(found.documents)
    if judge is not None:
        new = yield from judge.reaching(new)
    return candidates.joined(new, limit, how, names)
