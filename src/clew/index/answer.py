"""Answering: a question, its vector and its options become one call of a bound method."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from clew import recipes
from clew.algorithms.cosines import Compared, compare
from clew.budget import BudgetError
from clew.context import Context
from clew.deadline import (
    Deadline,
    DeadlineError,
    OutOfTime,
    current,
    finish_in_time,
    until,
    within,
)
from clew.embedding.embedder import Embedder, embed_texts
from clew.embedding.raw_vectors import normalize_vectors
from clew.embedding.static import StaticEmbedding
from clew.explain import with_titles
from clew.garbage import collecting_rarely
from clew.graph import Graph, Vectors, canonical_text, products
from clew.index.contents import IndexContents
from clew.index.drift import drift_step
from clew.index.locating import with_locations
from clew.index.options import option_names
from clew.index.question import QueryOptions, Where
from clew.items import Step
from clew.pipeline import PAGE_SECONDS
from clew.relevance import MIN_RELEVANCE, MIN_RELEVANCE_IN_CODE, QuestionRelevance, WholeSamplePart
from clew.second_thread import asking
from clew.seed._likely_languages import likely_language
from clew.seed.dense import Dense
from clew.seed.languages import LanguagesPart
from clew.telemetry import observed
from clew.types import UNLIMITED, BoundMethod, BoundMethodPart, Method, Query, may_ask_model
from clew.usage import metered

Result = TypeVar("Result")
Contents = TypeVar("Contents", bound=IndexContents)

IN_HASTE = "dense"  # the recipe that answers where the chosen one has no time to
IN_HASTE_BY_WORDS = "bm25"  # the same where the question's vector did not come in time

STAGE_OPTIONS = tuple(name for name in option_names(QueryOptions) if name in option_names(Query))
"""The options that reach the stages: `Query` has fields of the same names."""


UNKNOWN_LANGUAGE_WEIGHT = 1 / 3
"""What similarity by vectors counts beside words, as a share of what a method gives it, where the
embedded default was not trained on the question's language. It was chosen on the tune halves of the
everyday sets in four languages."""
GIVEN_VECTORS_WEIGHT = 3.0
"""The same, where the caller gives an embedder and the question is in English, which all know: a
trained one knows more of what is meant than words do. It was chosen on the tune halves of the
everyday sets, by MiniLM. Where names are read in prose it costs as much as it brings, as questions
over several passages show: their facts are compared by vectors, too."""
CODE_CANDIDATES_WEIGHT = 3.0
"""The same, where another retriever found source code: its words recur from function to function,
and among candidates alone none shows to be rare."""

UNTRUSTED_SHARE = 0.5
"""The share of a page that one source may have where strangers write the documents: of what is read
on a question at least as much is from others, as soon as they have something to say on it."""

NOTHING_ALLOWED = "the filter allows none of the passages"

NOTHING_THERE = "there are no passages that may be read"

NOTHING_TOUCHED = "nothing that may be read touches the question"

UNUSED_MODEL = "the recipe asks no language model, so the one that was given has no part in this"


class UnusedModelWarning(UserWarning):
    """A question has a language model, and its recipe asks none."""


class NothingFitsWarning(UserWarning):
    """The budget holds no passage that the question may have, and the question is not strict."""


def answer(
    index: IndexContents,
    question: str,
    vector: ArrayLike | None,
    options: QueryOptions,
    candidate_scores: Mapping[int, float] | None = None,
    *,
    by_rank: bool = False,
) -> Context:
    """Return the context for a question whose vector is known.

    Args:
        index: What is asked. The filter of the options is applied to it already.
        question: A checked question.
        vector: The question's vector, by the embedder of the index. None where the deadline passed
            before there was one.
        options: What else the question says.
        candidate_scores: Scores of another retriever's candidates, by row.
        by_rank: Whether these scores say no more than the order in which the candidates came.

    Raises:
        BudgetError: The budget holds nothing of what was chosen, and the question is strict.
        DeadlineError: The deadline passed before anything was found.
        ValueError: The vector is not finite or of another dimension, or the recipe is unknown.
    """
    with asking():
        found = candidate_scores, by_rank
        return observed(lambda: _whole_answer(index, question, vector, options, *found))


def _whole_answer(
    index: IndexContents,
    question: str,
    vector: ArrayLike | None,
    options: QueryOptions,
    candidate_scores: Mapping[int, float] | None,
    by_rank: bool,
) -> Context:
    method = recipes.get(options.recipe)
    budget = UNLIMITED if options.budget is None else options.budget
    if not index.graph.content.any():
        if options.where is None:
            return _empty(question, budget, method, "index", NOTHING_THERE)
        return _empty(question, budget, method, "filter", NOTHING_ALLOWED)
    stage_options: dict[str, Any] = {name: getattr(options, name) for name in STAGE_OPTIONS}
    if options.max_share is None and index.config.untrusted:
        stage_options["max_share"] = UNTRUSTED_SHARE
    query = Query(
        question,
        None if vector is None else _unit_vector(index, vector),
        embed=lambda texts: _embed(index, texts),
        fact_likeness=_fact_likeness(index, question),
        untrusted=index.config.untrusted,
        candidate_scores=candidate_scores,
        by_rank=by_rank,
        nearest=index.config.nearest if options.where is None else None,  # a filter is exact
        **stage_options,
    )
    with metered(index.graph.count) as meter, within(options.deadline):
        try:
            context = _answer(index, query, budget, method)
        except BudgetError as error:
            if options.strict:
                raise
            warnings.warn(str(error), NothingFitsWarning, stacklevel=5)
            context = _empty(question, budget, method, "budget", str(error))
    answered, graph = context, index.graph
    context = answered.changed(
        items=with_locations(context.items, index.document_of, lambda: index.files_in_pieces),
        usage=meter.usage,
    ).made_when_asked(dropped=lambda: with_titles(answered.dropped, graph))
    if not context.items and not context.nothing_found:
        context = context.changed(nothing_found=NOTHING_TOUCHED)
    if index.changed and (drift := drift_step(index)) is not None:
        context = context.changed(trace=(*context.trace, drift))
    if options.model is None or context.usage or may_ask_model(method):
        return context
    warnings.warn(UNUSED_MODEL, UnusedModelWarning, stacklevel=5)
    step = Step("language model", 0.0, {"fallback": UNUSED_MODEL})
    return context.changed(trace=(*context.trace, step))


def _answer(index: IndexContents, query: Query, budget: int, method: Method) -> Context:
    try:
        return _answer_in_time(index, query, budget, method)
    except OutOfTime:
        return _answer_in_haste(index, query, budget, method)


def _answer_in_time(index: IndexContents, query: Query, budget: int, method: Method) -> Context:
    """Return what the method answers, before the deadline; an empty context where nothing can.

    Raises:
        OutOfTime: It has passed, also where there is no vector of the question.
    """
    if query.vector is None:
        raise OutOfTime
    if current().end != math.inf:  # what answers in haste is ready before it is needed
        in_haste = BoundMethodPart(recipes.get(IN_HASTE))
        finish_in_time(lambda: index.graph.part(in_haste), "preparation")
    found, compared = finish_in_time(lambda: _relevance(index.graph, query, method), "preparation")
    if found is not None and found.best < MIN_RELEVANCE and _is_foreign(index, query.text):
        found = None
    least = _least_relevance(index, query, found)
    if found is not None and found.best < least:
        shown = f"{found.best:.2f}, below {least:g}"
        why = f"nothing in it answers the question: its best passage has a relevance of {shown}"
        context = _empty(query.text, budget, method, "relevance", why)
        return context.changed(relevance=found.best)
    weight = finish_in_time(lambda: _vector_weight(index, query), "preparation")
    of_facts = finish_in_time(lambda: _fact_vector(index, query), "embedder")
    query = replace(
        query, relevance=found, vector_weight=weight, compared=compared, fact_vector=of_facts
    )
    bound = finish_in_time(lambda: _bound(method, index.graph, query), "preparation")
    context = finish_in_time(lambda: bound(query, budget), "answer", grace=PAGE_SECONDS)
    if not isinstance(context, Context):
        raise TypeError(
            f"a method answers with a clew.Context; {type(method).__name__} answered with a "
            f"{type(context).__name__}"
        )
    return context if found is None else context.changed(relevance=found.best)


def _bound(method: Method, graph: Graph, query: Query) -> BoundMethod:
    """Return the method bound to the graph, which keeps it for the next question.

    A graph that holds what holds it goes when Python looks for such circles, with all that it has.
    So one of candidates, or of what a question pulled, which no other question is asked of, holds
    none.
    """
    is_pulled = graph.known_part(WholeSamplePart()) is not None
    if query.candidate_scores is not None or is_pulled:
        return method.on(graph)
    part = BoundMethodPart(method)
    try:
        if graph.known_part(part) is not None:
            return graph.part(part)
        with collecting_rarely():  # the first question makes much that stays
            return graph.part(part)
    except TypeError as error:
        if _is_hashable(method):
            raise
        raise TypeError(
            "a method is hashable, since an index keeps it bound to its graph: its stages are "
            "@dataclass(frozen=True), with tuples for lists and arrays, or compared as objects, "
            f"@dataclass(frozen=True, eq=False); {type(method).__name__} has an {error}"
        ) from error


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _relevance(
    graph: Graph, query: Query, method: Method
) -> tuple[QuestionRelevance | None, Compared | None]:
    """Return how relevant passages are, and what was compared for it that the method needs, too."""
    compared, vector = None, query.vector
    all_wanted = query.nearest is None and query.candidate_scores is None
    if vector is not None and vector.any() and all_wanted and _compares_passages(method):
        compared = compare(graph.vectors_of("passage"), vector)
    scores = None if query.by_rank else query.candidate_scores
    found = QuestionRelevance.of_question(graph, query.text, vector, compared, scores)
    return found, compared


def _compares_passages(method: object) -> bool:
    """Return whether a stage of a method compares all passages with the question's vector."""
    if isinstance(method, Dense):
        return method.kinds == ("passage",) and method.index is None
    if isinstance(method, tuple):
        return any(map(_compares_passages, method))
    if not is_dataclass(method):
        return False
    return any(_compares_passages(getattr(method, field.name)) for field in fields(method))


def _least_relevance(index: IndexContents, query: Query, found: QuestionRelevance | None) -> float:
    """Return the relevance below which the best passage is no answer.

    Reports and summaries answer questions on the whole, whose words no passage has. What another
    retriever found is for that one to judge, and a limit is a number that somebody counts on.
    """
    if query.min_relevance is not None:
        return query.min_relevance
    is_judged = query.candidate_scores is None and query.limit is None
    can_tell = found is not None and found.can_tell and not index.graph.generated.any()
    if not (is_judged and can_tell):
        return 0.0
    return MIN_RELEVANCE_IN_CODE if index.is_of_code else MIN_RELEVANCE


def _is_foreign(index: IndexContents, question: str) -> bool:
    """Return whether a question is in a language of its own, which the embedder may know, too.

    Then its words say nothing. The embedded default knows no more than they do.
    """
    if index.embedder.fitted is not None:
        return False
    return likely_language(question) not in index.graph.part(LanguagesPart()).names


def _vector_weight(index: IndexContents, query: Query) -> float:
    """Return how much vectors count beside words: by whose they are, and by the language.

    Of an embedder that a caller gives, or that another retriever has, nobody knows which languages
    it knows.
    """
    if query.candidate_scores is not None:
        return CODE_CANDIDATES_WEIGHT if index.is_of_code else 1.0
    static = index.embedder.fitted
    language = likely_language(query.text, index.graph.part(LanguagesPart()).names)
    if not isinstance(static, StaticEmbedding):
        has_names = index.has_many_entities and not (index.is_of_code or index.has_bare_names)
        return GIVEN_VECTORS_WEIGHT if language == "en" and not has_names else 1.0
    is_known = language in static.languages if language else _is_in_latin(query.text)
    return 1.0 if is_known else UNKNOWN_LANGUAGE_WEIGHT


def _is_in_latin(question: str) -> bool:
    """Return whether most letters are of the first 128 signs; so if there are no letters."""
    letters = [sign.isascii() for sign in question if sign.isalpha()]
    return 2 * sum(letters) >= len(letters)


def _empty(question: str, budget: int, method: Method, stage: str, why: str) -> Context:
    """Return the context of a question that nothing answers."""
    step = Step(stage, 0.0, {"fallback": why})
    ceiling = None if budget == UNLIMITED else budget
    return Context((), "", 0, ceiling, question, repr(method), trace=(step,), nothing_found=why)


def _answer_in_haste(index: IndexContents, query: Query, budget: int, method: Method) -> Context:
    """Return what is most similar to the question, where its method has no answer in time."""
    name, before = IN_HASTE, "the method had an answer"
    if query.vector is None:
        name, before = IN_HASTE_BY_WORDS, "the question had a vector"
    part = BoundMethodPart(recipes.get(name))
    if query.vector is None:  # this index may take long to make
        with until(current().later(PAGE_SECONDS)):
            finish_before_error(lambda: index.graph.part(part), f"{before}, or {name!r} was ready")
    with until(Deadline()):
        context = index.graph.part(part)(query, budget)
    note = f"the deadline passed before {before}: what {name!r} finds instead"
    step = Step(repr(method), 0.0, {"fallback": note})
    return context.changed(trace=(step, *context.trace))


def filter_in_time(index: Contents, where: Where | None) -> Contents:
    """Return the index of what a filter allows, before the deadline.

    Raises:
        DeadlineError: It has passed. Nothing may be read before it is known to be allowed.
    """
    if where is None:
        return index
    from clew.index.filtering import filtered_index  # it loads what builds an index

    return finish_before_error(lambda: filtered_index(index, where), "the filter was applied")


def embed_in_time(index: IndexContents, question: str) -> ArrayLike | None:
    """Return the question's vector, as the embedder gives it; None if the deadline passes before.

    Its canonical text is embedded.
    """
    text, embedder = canonical_text(index.graph, question), index.embedder
    try:
        vector = finish_in_time(lambda: embedder.embed_question(text), "embedder")
    except OutOfTime:
        return None
    return _vector_of(embedder, vector)


async def aembed_in_time(index: IndexContents, question: str) -> ArrayLike | None:
    """Return what `embed_in_time` returns; the event loop runs on.

    The embedder's own async call is awaited, where it has one.
    """
    import asyncio  # it loads slowly, and is there already where a coroutine runs

    embed = index.embedder.aembed_question
    if embed is None:
        return await asyncio.to_thread(embed_in_time, index, question)
    left = current().remaining()
    embedding = asyncio.ensure_future(embed(canonical_text(index.graph, question)))
    try:
        await asyncio.wait([embedding], timeout=None if math.isinf(left) else left)
        return _vector_of(index.embedder, embedding.result()) if embedding.done() else None
    finally:
        embedding.cancel()  # which does nothing where it is done


def _vector_of(embedder: Embedder, vector: ArrayLike | None) -> ArrayLike:
    """Return what an embedder gave; raise where it is None, which here stands for no time."""
    if vector is None:
        raise TypeError(
            f"the embedder {embedder.name} returned None for the question; wanted a vector"
        )
    return vector


def finish_before_error(work: Callable[[], Result], before: str) -> Result:
    """Return what a function returns before the deadline.

    Raises:
        DeadlineError: It has passed before what is named.
    """
    try:
        return finish_in_time(work, "preparation")
    except OutOfTime:
        raise DeadlineError(
            f"the deadline of the question passed before {before}, so there is nothing that may be "
            "answered; what was begun goes on: ask again, or give a longer deadline"
        ) from None


def _unit_vector(index: IndexContents, vector: ArrayLike) -> Vectors:
    dimension, zeros = index.graph.vectors.shape[1], index.embedder.allows_zero_vectors
    row: Vectors = normalize_vectors([vector], ["the question"], dimension, zeros=zeros)[0]
    return row


def _fact_vector(index: IndexContents, query: Query) -> Vectors | None:
    """Return the vector that facts are compared with, by an embedder that has one of their own."""
    embed, graph = index.embedder.embed_fact_question, index.graph
    if embed is None or query.fact_likeness is not None or not len(graph.facts):
        return None
    return _unit_vector(index, embed(canonical_text(graph, query.text)))


def _fact_likeness(index: IndexContents, question: str) -> Callable[[list[str]], Vectors] | None:
    """Return what compares facts with a question where they have no vectors; None where some do."""
    if not index.has_bare_names:
        return None

    def likeness(texts: list[str]) -> Vectors:
        from clew.embedding.general import general_embedder  # which few questions need

        embedder = general_embedder(texts, [question])
        vectors = embed_texts(embedder, texts)
        return products(vectors, embed_texts(embedder, [question])[0])

    return likeness


def _embed(index: IndexContents, texts: list[str]) -> Vectors:
    """Embed texts that a stage made of the question."""
    canonical = [canonical_text(index.graph, text) for text in texts]
    return embed_texts(index.embedder, canonical, width=index.graph.vectors.shape[1])
