"""Documents that another retriever found, with their scores in one direction, and the context made of them alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from typing import Any

from langchain_core.documents import Document

import clew

Triples = Mapping[str, Iterable[tuple[str, str, str]]]


@dataclass(frozen=True)
class Candidates:
    """Distinct documents by their ids, best first.

    `scores` are higher for better, or None where only the order is known; `notes` go to the trace.
    """

    documents: Mapping[str, Document]
    scores: Sequence[float] | None
    notes: Mapping[str, Any]

    @classmethod
    def of(
        cls, documents: Sequence[Document], scores: Sequence[float] | None, notes: Mapping[str, Any]
    ) -> Candidates:
        """Return the candidates: of several with one id the first, those without an id known by their text, blank ones left out."""
        first: dict[str, int] = {}
        for i, document in enumerate(documents):
            if document.page_content.strip():
                first.setdefault(
                    document.id
                    or f"text:{sha256(document.page_content.encode()).hexdigest()[:24]}",
                    i,
                )
        blank = sum(not document.page_content.strip() for document in documents)
        counts = {
            "candidates": len(first),
            "repeated": len(documents) - blank - len(first),
            "blank": blank,
        }
        return cls(
            {id: documents[i] for id, i in first.items()},
            None if scores is None else [scores[i] for i in first.values()],
            {**notes, **counts},
        )

    def narrow(
        self, question: str, *, recipe: Any, budget: int | None, facts: Triples, **how: Any
    ) -> clew.Context:
        """Return what `clew.narrow` makes of these documents, with the caller's own objects in it; an empty context if there are none.

        Args:
            facts: triples by document id; those of other documents are left aside. how: the rest of what `clew.narrow` takes.
        """
        if not self.documents:
            return nothing_found(question, budget, recipe)
        named = [document.model_copy(update={"id": id}) for id, document in self.documents.items()]
        said = {id: triples for id, triples in facts.items() if id in self.documents}
        pairs = named if self.scores is None else list(zip(named, self.scores, strict=True))
        context = clew.narrow(question, pairs, recipe=recipe, budget=budget, facts=said, **how)
        items = tuple(replace(item, original=self.documents.get(item.id)) for item in context)
        return replace(context, items=items, trace=_recorded(context, self.notes))


def nothing_found(question: str, budget: int | None, recipe: Any) -> clew.Context:
    """Return the context without items: what an empty shelf, or a filter that allows nothing, leaves to read."""
    return clew.Context((), "", 0, budget, question, repr(clew.recipes.get(recipe)))


def facts_of(facts: Any) -> dict[str, list[tuple[str, str, str]]]:
    """Return the triples by document id as they are needed at every question: lists, read once from whatever came.

    Raises:
        TypeError: no mapping.
    """
    if facts is not None and not isinstance(facts, Mapping):
        raise TypeError(
            f"facts are triples by document id, {{id: [(subject, relation, object), ...]}}, not a {type(facts).__name__}"
        )
    return {id: list(said) for id, said in (facts or {}).items()}


def one_direction(scores: Sequence[Any]) -> tuple[list[float] | None, str]:
    """Return the scores of a store's results, best first, as higher for better, and what they were taken for.

    Stores mean similarities or distances by a score and do not say which; their order does. Scores that are not finite or contradict
    every order tell nothing beyond the rank: None.
    """
    if not all(_is_number(score) for score in scores):
        return None, "rank: not every score is a finite number"
    known = [float(score) for score in scores]
    if all(a >= b for a, b in pairwise(known)):
        return (
            (known, "similarity")
            if _have_a_zero(known)
            else (None, "rank: the scores have no common zero")
        )
    if all(a <= b for a, b in pairwise(known)):
        least = min(0.0, known[0])
        return [1 / (1 + score - least) for score in known], "distance"
    return None, "rank: the scores follow no order"


def scores_in(
    documents: Sequence[Document], names: Sequence[str]
) -> tuple[list[float] | None, str]:
    """Return the scores that all documents carry in their metadata under one of the names, and what was made of them."""
    for name in names:
        scores = [document.metadata.get(name) for document in documents]
        if documents and all(_is_number(score) for score in scores):
            known = [float(score) for score in scores if score is not None]
            if _have_a_zero(known):
                return known, f"metadata {name!r}"
            return [
                1.0 + sum(other < score for other in known) for score in known
            ], f"order by metadata {name!r}: they have no common zero"
    return None, "rank: no score that all candidates carry"


def _have_a_zero(scores: Sequence[float]) -> bool:
    """Whether 0 and less can be read as "not alike": so it is with cosines and relevances, not with a reranker's logits."""
    return not scores or (max(scores) > 0 and min(scores) >= -1)


def _is_number(score: Any) -> bool:
    try:
        return not isinstance(score, (bool, str)) and math.isfinite(score)
    except TypeError:
        return False


def _recorded(context: clew.Context, notes: Mapping[str, Any]) -> tuple[Any, ...]:
    """The trace, with where the candidates came from as its first step."""
    steps = context.trace
    return (type(steps[0])("candidates", 0.0, notes), *steps) if steps else steps
