"""Documents that another retriever found, and the context made of them alone."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import islice, pairwise

import numpy as np
from langchain_core.documents import Document
from numpy.typing import ArrayLike

import clew
from clew.adapters import (
    MAX_LINKS,
    Ask,
    FactsByDocument,
    IndexConfig,
    QueryOptions,
    ask_candidates,
    distinctive_metadata,
    empty_context,
    facts_among,
    links_in,
    select_mmr,
    with_first_step,
)
from langchain_clew.store_filters import Value


class FactsWarning(UserWarning):
    """Facts came by ids, and the documents have none."""


TEXT = "page_content"  # in the place of a key of metadata
LEADING = 10  # documents whose links are looked at


@dataclass(frozen=True)
class Candidates:
    """Distinct documents by their ids, best first.

    Attributes:
        documents: Documents with text, by id.
        scores: Higher for better; None where only the order is known.
        notes: What the trace says of where they come from.
        newest: The ids of those that the last search added to others.
        has_names: Whether the best have many names, where somebody has looked.
        is_chosen: Whether they are in the order of their marginal relevance.
    """

    documents: Mapping[str, Document]
    scores: Sequence[float] | None
    notes: Mapping[str, object]
    newest: frozenset[str] = frozenset()
    has_names: bool | None = None
    is_chosen: bool = False

    @classmethod
    def from_documents(
        cls,
        documents: Sequence[Document],
        scores: Sequence[float] | None,
        notes: Mapping[str, object],
    ) -> Candidates:
        """Return the candidates among the results of a retriever.

        Of several documents with one id the first counts. A document without an id is known by its
        text, and by what its metadata say of that. Blank documents are left out.
        """
        place_of: dict[str, int] = {}
        blank = 0
        for i, document in enumerate(documents):
            text = document.page_content
            if not text or text.isspace():
                blank += 1
            else:
                place_of.setdefault(document_id(document), i)
        counts = {
            "candidates": len(place_of),
            "repeated": len(documents) - blank - len(place_of),
            "blank": blank,
        }
        return cls(
            {id: documents[i] for id, i in place_of.items()},
            None if scores is None else [scores[i] for i in place_of.values()],
            {**notes, **counts},
        )

    def ask(
        self,
        question: str,
        config: IndexConfig,
        facts: FactsByDocument,
        vector: ArrayLike | None = None,
    ) -> Ask:
        """Return what asks these documents a question, as `clew.narrow` does: options -> context.

        The caller's own objects are in the context. However often it is asked, the documents are
        read and embedded once.

        Args:
            question: What is asked.
            config: What the small graph is made with.
            facts: Triples by document id. Those of other documents are left aside.
            vector: The question's vector, if it is known already.
        """
        if not self.documents:
            return partial(empty_context, question)
        named, notes = self._named(), self.notes
        known = facts_among(facts, self.documents)
        if facts and not known:
            notes = {**notes, "facts": self._without_facts(facts)}
        narrow = ask_candidates(
            question,
            named if self.scores is None else list(zip(named, self.scores, strict=True)),
            config,
            facts=known,
            vector=vector,
            has_names=self.has_names,
        )

        def ask(options: QueryOptions) -> clew.Context:
            context = narrow(options)
            items = tuple(item.with_original(self.documents.get(item.id)) for item in context)
            return with_first_step(context.changed(items=items), "candidates", notes)

        return ask

    def newest_first(self) -> list[Document]:
        """Return the documents, those first that the last search added to others."""
        return sorted(self._named(), key=lambda document: document.id not in self.newest)

    def values_of(self, key: str, target: str = "") -> list[Value]:
        """Return the values that the documents have under a key of metadata, each once.

        The values of a list are values each. The key `page_content` stands for the links in the
        text of the best documents.

        Args:
            key: The key.
            target: The key under which documents are called what a link calls them.
        """
        if key == TEXT:
            best = islice(self.documents.values(), LEADING)
            links = (links_in(one.page_content, _name(one, target)) for one in best)
            distinct_links = dict.fromkeys(link for some in links for link in some)
            return list(islice(distinct_links, MAX_LINKS))
        distinct: dict[Value, None] = {}
        for document in self.documents.values():
            value = document.metadata.get(key)
            for single in value if isinstance(value, (list, tuple, set)) else [value]:
                if isinstance(single, (str, int, float, bool)):
                    distinct.setdefault(single)
        return list(distinct)

    def new_among(self, documents: Sequence[Document]) -> dict[str, Document]:
        """Return the documents that are not here already, by id, in their order."""
        others = Candidates.from_documents(documents, None, {}).documents
        return {id: one for id, one in others.items() if id not in self.documents}

    def joined(
        self, others: Mapping[str, Document], limit: int, how: str, names: Sequence[object]
    ) -> Candidates:
        """Return these candidates, and behind them others that a further search found.

        Args:
            others: Documents that are not here, by id, best first.
            limit: How many of them join.
            how: What was searched for, for the trace.
            names: The same, in particular.
        """
        new = list(others)[:limit]
        scores = None
        if self.scores is not None:  # no nearer than the last of those that came first
            scores = [*self.scores, *[min(self.scores, default=0.0)] * len(new)]
        earlier = self.notes.get("further", ())
        assert isinstance(earlier, tuple), "this is where it is written"
        step = {how: tuple(names), "found": len(new)}
        notes = {
            **self.notes,
            "candidates": len(self.documents) + len(new),
            "further": (*earlier, step),
        }
        documents = {**self.documents, **{id: others[id] for id in new}}
        return replace(self, documents=documents, scores=scores, notes=notes, newest=frozenset(new))

    def noted(self, name: str, note: object) -> Candidates:
        """Return the candidates with one more note for the trace."""
        return replace(self, notes={**self.notes, name: note})

    def scored(self, cosines: Mapping[str, float], *, is_one_search: bool = False) -> Candidates:
        """Return the candidates by their cosines, best first, if the store gave one for each.

        Args:
            cosines: How near they are, by id.
            is_one_search: As in `Shortlist`.
        """
        missing = len(self.documents) - len(cosines)
        if missing:
            meaning = f"{self.notes['scores']}; the store gave no vectors of {missing}"
            return replace(self, notes={**self.notes, "scores": meaning})
        ranked = sorted(self.documents, key=cosines.__getitem__, reverse=True)
        return replace(
            self,
            documents={id: self.documents[id] for id in ranked},
            # further than at right angles is not alike
            scores=[cosines[id] if is_one_search else max(0.0, cosines[id]) for id in ranked],
            notes={**self.notes, "scores": "cosine of the store's vectors"},
        )

    def chosen(
        self, vectors: Mapping[str, ArrayLike], question: ArrayLike, lambda_mult: float
    ) -> Candidates:
        """Return the candidates in the order of their marginal relevance, which alone counts then.

        Args:
            vectors: Their vectors, by id. Where one is missing, nothing is chosen.
            question: The question's vector.
            lambda_mult: As in `MarginalRelevance`.
        """
        if len(vectors) < len(self.documents):
            return self
        ids = list(self.documents)
        rows = np.array([np.asarray(one, np.float64) for one in [*map(vectors.get, ids), question]])
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        *units, asked = rows / np.where(lengths > 0, lengths, 1.0)
        places = select_mmr(
            np.array(units, np.float32), np.array(units) @ asked, lambda_mult
        ).chosen
        return replace(
            self,
            documents={ids[place]: self.documents[ids[place]] for place in places.tolist()},
            scores=None,
            notes={**self.notes, "scores": "rank: marginal relevance by the store's vectors"},
            is_chosen=True,
        )

    def _without_facts(self, facts: FactsByDocument) -> str:
        """Return what is wrong with facts that are of none of these documents.

        It is a warning where no document has an id, so that none will ever have facts.
        """
        if not any(map(_given_id, self.documents.values())):
            message = (
                f"facts came by the ids of {len(facts)} documents, and what was found has no ids, "
                "so that no facts are known of it; give the documents ids (Document.id)"
            )
            warnings.warn(message, FactsWarning, stacklevel=2)
        return f"none: those that came are of {len(facts)} other documents"

    def _named(self) -> list[Document]:
        return [
            document if document.id == id else document.model_copy(update={"id": id})
            for id, document in self.documents.items()
        ]


def scores_by_order(scores: Sequence[object]) -> tuple[list[float] | None, str]:
    """Return the scores of a store's results as higher for better, and what they were taken for.

    Stores mean similarities or distances by a score and do not say which; the order of the results,
    which are best first, does. Scores that are not finite, or that follow no order, say no more
    than the rank: None.
    """
    numbers = [number for score in scores if (number := _number(score)) is not None]
    if len(numbers) < len(scores):
        return None, "rank: not every score is a finite number"
    if all(a >= b for a, b in pairwise(numbers)):
        if _have_a_zero(numbers):
            return numbers, "similarity"
        return None, "rank: the scores have no common zero"
    if all(a <= b for a, b in pairwise(numbers)):
        minimum = min(0.0, numbers[0])
        return [1 / (1 + number - minimum) for number in numbers], "distance"
    return None, "rank: the scores follow no order"


def scores_in_metadata(
    documents: Sequence[Document], keys: Sequence[str]
) -> tuple[list[float] | None, str]:
    """Return scores that all documents have under one of the keys, and what they were taken for."""
    for key in keys:
        scores = [_number(document.metadata.get(key)) for document in documents]
        numbers = [number for number in scores if number is not None]
        if not numbers or len(numbers) < len(documents):
            continue
        if _have_a_zero(numbers):
            return numbers, f"metadata {key!r}"
        order = [1.0 + sum(other < number for other in numbers) for number in numbers]
        return order, f"order by metadata {key!r}: they have no common zero"
    return None, "rank: no score that all candidates carry"


def document_id(document: Document) -> str:
    """Return the id of a document; one without is known by its text and what is said of that.

    That of Qdrant is in the metadata, beside the name of the collection. What metadata say of where
    a text comes from, or of how it was found, may differ from search to search.
    """
    if own := _given_id(document):
        return own
    known_by = "\0".join((document.page_content, *distinctive_metadata(document.metadata)))
    return f"text:{sha256(known_by.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def _given_id(document: Document) -> str | None:
    """Return the id that a document came with, if any."""
    if document.id:
        return document.id
    metadata = document.metadata
    return str(metadata["_id"]) if {"_id", "_collection_name"} <= metadata.keys() else None


def _name(document: Document, key: str) -> str:
    """Return what a document is called under a key; nothing where that is no text."""
    name = document.metadata.get(key)
    return name if isinstance(name, str) else ""


def _have_a_zero(scores: Sequence[float]) -> bool:
    """Return whether 0 and less can be read as "not alike".

    So it is with cosines and relevances, not with a reranker's logits.
    """
    return not scores or (max(scores) > 0 and min(scores) >= -1)


def _number(score: object) -> float | None:
    """Return a finite number, or None."""
    if isinstance(score, (bool, str)):
        return None
    try:
        is_finite = math.isfinite(score)  # type: ignore[arg-type]  # numpy's numbers too
    except TypeError:
        return None
    return float(score) if is_finite else None  # type: ignore[arg-type]  # as above
