"""No index: a graph of another retriever's candidates alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from clew.context import Context, Dropped
from clew.document import Document
from clew.index.index import DEFAULT_BUDGET, Index
from clew.index.question import check_question
from clew.read import Triple, load_documents, text_id
from clew.recipes import DEFAULT
from clew.types import Method


def narrow(
    question: str,
    candidates: Iterable[Any],
    *,
    recipe: str | Method = DEFAULT,
    budget: int | None = DEFAULT_BUDGET,
    embedder: Any = None,
    count: Callable[[str], Any] | str | None = None,
    facts: Mapping[str, Iterable[Triple]] | None = None,
    limit: int | None = None,
    deadline: float | None = None,
    model: Any = None,
    vector: Any = None,
) -> Context:
    """Return the context made of another retriever's candidates alone: a small graph of them, and no index.

    Args:
        candidates: texts or documents, best first, or pairs of one and its score, higher is better. Without scores their rank counts.
            The scores take the place of a search of our own. Candidates without text, and repeats of one, are left out, and said in
            `dropped`.
        recipe, budget, embedder, count, facts, limit, deadline, model, vector: as in `Index`.

    Raises:
        ValueError: no candidates with text, a score that is not a number, some with a score and some without; else as `Index.ask`.
    """
    question = check_question(question, budget, limit, deadline)
    if isinstance(candidates, (str, Document)) or not isinstance(candidates, Iterable):
        raise TypeError(
            f"candidates are a list of texts or documents, best first; got a {type(candidates).__name__}"
        )
    pairs, blank = _with_text(candidates)
    if not pairs:
        raise ValueError(
            f"no candidates with text came ({len(blank)} without): there is nothing to make a context of"
        )
    documents = load_documents([document for document, _ in pairs]).documents
    index = Index.from_documents(documents, embedder=embedder, count=count, facts=facts)
    given = dict(
        zip(
            [index.graph.row(document.id) for document in documents],
            _scores([score for _, score in pairs]),
            strict=True,
        )
    )
    raw = index.embedder.embed_question(question) if vector is None else vector
    context = index.answer(question, raw, recipe, budget, limit, deadline, model, given)
    return replace(context, dropped=(*context.dropped, *blank)) if blank else context


def _with_text(candidates: Iterable[Any]) -> tuple[list[tuple[Any, Any]], list[Dropped]]:
    """The candidates that have text, with their scores, and those that have none or come again, as other retrievers' do."""
    pairs, blank = list[tuple[Any, Any]](), list[Dropped]()
    places = dict[tuple[str, str], int]()
    for number, candidate in enumerate(candidates, 1):
        document, score = candidate if isinstance(candidate, tuple) else (candidate, None)
        if isinstance(document, str):  # a candidate is never a path
            document = Document(text_id(document), document)
        found = (
            [document] if isinstance(document, Document) else load_documents([document]).documents
        )
        if not found or not found[0].text.strip():
            blank.append(Dropped(f"candidate {number}", "it has no text"))
            continue
        place = places.setdefault((found[0].id, found[0].text), len(pairs))
        if place == len(pairs):
            pairs.append((document, score))
            continue
        blank.append(Dropped(f"candidate {number}", f"{found[0].id!r} came already"))
        if score is not None and (pairs[place][1] is None or score > pairs[place][1]):
            pairs[place] = pairs[place][0], score
    return pairs, blank


def _scores(scores: list[Any]) -> list[float]:
    """The scores as shares of the best, in [0, 1]; their order alone where one is negative, ranks where there are none."""
    by_rank = [float(rank) for rank in range(len(scores), 0, -1)]
    if all(score is None for score in scores):
        scores = by_rank
    if any(score is None for score in scores):
        raise ValueError(
            f"{sum(score is None for score in scores)} of {len(scores)} candidates came without a score: give all or none"
        )
    numbers = [float(score) for score in scores]
    if any(number != number or number in (float("inf"), float("-inf")) for number in numbers):
        raise ValueError("a candidate's score must be a finite number, higher for better")
    if min(numbers) < 0 or max(numbers) == 0:  # logits and the like have no zero to be a share of
        numbers = [by_rank[sorted(numbers, reverse=True).index(number)] for number in numbers]
    top = max(numbers)
    return [number / top for number in numbers]
