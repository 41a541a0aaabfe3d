"""Answering: a question, its vector and its options become one call of a bound method."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from clew import recipes
from clew.context import Context
from clew.deadline import Deadline, OutOfTime, finish_in_time, until, within
from clew.embedding.embedder import embed_texts
from clew.embedding.raw_vectors import normalize_vectors
from clew.graph import Vectors, canonical_text
from clew.index.contents import IndexContents
from clew.index.options import option_names
from clew.index.question import QueryOptions
from clew.items import Step
from clew.types import UNLIMITED, BoundMethodPart, Method, Query, may_ask_model
from clew.usage import metered

IN_HASTE = "dense"  # the recipe that answers where the chosen one has no time to

STAGE_OPTIONS = tuple(name for name in option_names(QueryOptions) if name in option_names(Query))
"""The options that reach the stages: `Query` has fields of the same names."""


UNTRUSTED_SHARE = 0.5
"""The share of a page that one source may have where strangers write the documents: of what is read
on a question at least as much is from others, as soon as they have something to say on it."""

UNUSED_MODEL = "the recipe asks no language model, so the one that was given has no part in this"


class UnusedModelWarning(UserWarning):
    """A question has a language model, and its recipe asks none."""


def answer(
    index: IndexContents,
    question: str,
    vector: ArrayLike,
    options: QueryOptions,
    candidate_scores: Mapping[int, float] | None = None,
) -> Context:
    """Return the context for a question whose vector is known.

    Args:
        index: What is asked. The filter of the options is applied to it already.
        question: A checked question.
        vector: The question's vector, by the embedder of the index.
        options: What else the question says.
        candidate_scores: Scores of another retriever's candidates, by row.

    Raises:
        ValueError: The vector is not finite or of another dimension, or the recipe is unknown.
    """
    method = recipes.get(options.recipe)
    if not index.graph.content.any():
        step = Step("filter", 0.0, {"fallback": "the filter allows none of the passages"})
        return Context((), "", 0, options.budget, question, repr(method), trace=(step,))
    stage_options: dict[str, Any] = {name: getattr(options, name) for name in STAGE_OPTIONS}
    if options.max_share is None and index.config.untrusted:
        stage_options["max_share"] = UNTRUSTED_SHARE
    query = Query(
        question,
        _unit_vector(index, vector),
        embed=lambda texts: _embed(index, texts),
        candidate_scores=candidate_scores,
        nearest=index.config.nearest if options.where is None else None,  # a filter is exact
        **stage_options,
    )
    budget = UNLIMITED if options.budget is None else options.budget
    with metered(index.graph.count) as meter, within(options.deadline):
        try:
            part = BoundMethodPart(method)
            bound = finish_in_time(lambda: index.graph.part(part), "preparation")
            context = bound(query, budget)
        except OutOfTime:
            context = _answer_in_haste(index, query, budget, method)
    context = replace(context, usage=meter.usage)
    if options.model is None or context.usage or may_ask_model(method):
        return context
    warnings.warn(UNUSED_MODEL, UnusedModelWarning, stacklevel=3)
    step = Step("language model", 0.0, {"fallback": UNUSED_MODEL})
    return replace(context, trace=(*context.trace, step))


def _answer_in_haste(index: IndexContents, query: Query, budget: int, method: Method) -> Context:
    """Return what is most similar to the question, where its method has no answer in time."""
    with until(Deadline()):
        context = index.graph.part(BoundMethodPart(recipes.get(IN_HASTE)))(query, budget)
    note = f"the deadline passed before the method had an answer: what {IN_HASTE!r} finds instead"
    step = Step(repr(method), 0.0, {"fallback": note})
    return replace(context, trace=(step, *context.trace))


def _unit_vector(index: IndexContents, vector: ArrayLike) -> Vectors:
    dimension, zeros = index.graph.vectors.shape[1], index.embedder.allows_zero_vectors
    row: Vectors = normalize_vectors([vector], ["the question"], dimension, zeros=zeros)[0]
    return row


def _embed(index: IndexContents, texts: list[str]) -> Vectors:
    """Embed texts that a stage made of the question."""
    canonical = [canonical_text(index.graph, text) for text in texts]
    return embed_texts(index.embedder, canonical, width=index.graph.vectors.shape[1])
