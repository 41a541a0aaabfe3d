"""No index: a graph of another retriever's candidates alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from clew import recipes
from clew.context import Context
from clew.deadline import within
from clew.document import Document
from clew.embedding.embedder import Embedder, embed_texts, with_recent_vectors
from clew.embedding.general import general_embedder
from clew.embedding.raw_vectors import normalize_vectors
from clew.garbage import collecting_rarely
from clew.graph import Graph, products
from clew.index.answer import answer, embed_in_time, filter_in_time
from clew.index.config import DEFAULT_LINKS, IndexConfig, IndexKeywords
from clew.index.index import Index
from clew.index.leads import have_names
from clew.index.options import check_names, documents_keywords, option_names
from clew.index.question import QueryKeywords, QueryOptions, check_question
from clew.items import Dropped
from clew.link import Synonym
from clew.pipeline import Pipeline
from clew.read import NamesAndSymbols, Symbols, Triple, load_single
from clew.read.sources import is_table
from clew.seed._symbols import find_asked_facts
from clew.types import Method

# Names that are alike are not linked: over 900 questions of three sets that changed no recall
# beyond noise, and it took a tenth of the time. Nothing else here asks for the names' vectors.
LINKS = tuple(link for link in DEFAULT_LINKS if not isinstance(link, Synonym))
CANDIDATES = IndexConfig(extractor=NamesAndSymbols(), splitter=None, links=LINKS)
"""What the small graph of candidates is made with, unless somebody says otherwise: names, symbols
and facts about them are read, which takes milliseconds and joins what the retriever found apart."""


class NarrowKeywords(QueryKeywords, IndexKeywords, total=False):
    """The fields of `QueryOptions` and of `IndexConfig` as keyword arguments."""


@documents_keywords(QueryOptions, CANDIDATES)
def narrow(
    question: str,
    candidates: Iterable[object],
    *,
    facts: Mapping[str, Iterable[Triple]] | None = None,
    vector: ArrayLike | None = None,
    options: QueryOptions | None = None,
    config: IndexConfig | None = None,
    **keywords: Unpack[NarrowKeywords],
) -> Context:
    """Return the context made of another retriever's candidates alone.

    Where the recipe walks along links, and there are no `facts` and no `extractor` is named,
    `clew.NamesAndSymbols` reads names and symbols in the candidates, and facts about them, or
    `clew.Symbols` where the best have few names, as documentation has; `extractor=None` reads none.
    In source code nothing is joined unless the question names a symbol that some candidate defines:
    most definitions that it refers to are in none of them.
    These facts are compared by clew's own embedder, as hundreds of them would keep a model busy for
    seconds: an `embedder` then says how near each candidate is to the question, unless there are
    scores, and nothing else. Names that are alike are not linked here; `links` may hold
    `clew.link.Synonym()`. No candidate is cut unless a `splitter` is named.

    An `embedder` gets no text and no question again that it embedded lately, in this call or in one
    before: their vectors are kept as long as it lives, in up to 64 MiB, and 4 MiB for questions.

    Args:
        question: A text with at least one word.
        candidates: Texts or documents, best first, or pairs of one and its score, higher for
            better. The scores take the place of a search of clew's own. Without scores the rank
            counts, unless an `embedder` says how near each is, as above: a recipe that walks along
            no links, such as "dense" or "mmr", goes by the rank whatever embeds. Candidates without
            text, and repeats, are left out and listed in `dropped`.
        facts: Triples by document id, as in `Index.from_documents`.
        vector: The question's vector by the embedder, if it is known already.
        options: All options of the question in one value. Keywords replace single ones.
        config: All options of the index in one value. Keywords replace single ones.
        **keywords: The fields of `clew.index.QueryOptions` and `clew.index.IndexConfig`.

    Raises:
        TypeError: Candidates that are one text or document, or a keyword that is not taken.
        ValueError: No candidate has text, a score is not a finite number, or some candidates have a
            score and some have none; otherwise as `Index.ask`.

    Example:
        >>> candidates = [("Ben lives on Corfu.", 0.9), ("Anna married Ben.", 0.4)]
        >>> [item.text for item in narrow("Where does Ben live?", candidates, recipe="dense")]
        ['Ben lives on Corfu.', 'Anna married Ben.']
    """
    chosen, made_with = _chosen(keywords, options, config)
    return ask_candidates(question, candidates, made_with, facts=facts, vector=vector)(chosen)


def ask_candidates(
    question: str,
    candidates: Iterable[object],
    config: IndexConfig,
    *,
    facts: Mapping[str, Iterable[Triple]] | None = None,
    vector: ArrayLike | None = None,
    has_names: bool | None = None,
) -> Callable[[QueryOptions], Context]:
    """Return what `narrow` does with these candidates: options -> context.

    The small index is made once. A page that is printed too long is asked for with a smaller
    budget, and nothing is read or embedded again for it.

    Args:
        question: A text with at least one word.
        candidates: As in `narrow`.
        config: What the small index is made with.
        facts: As in `narrow`.
        vector: As in `narrow`.
        has_names: Whether the best have many names, where somebody has looked already.

    Example:
        >>> ask = ask_candidates("Who met Ben?", ["Anna met Ben.", "Ben met Cleo."], CANDIDATES)
        >>> [len(ask(QueryOptions("dense", limit=limit))) for limit in (1, 2)]
        [1, 2]
    """
    if config.embedder is not None:
        config = replace(config, embedder=with_recent_vectors(config.embedder))
    made: dict[bool, _Shortlist] = {}  # by whether the method follows links

    @collecting_rarely()  # once a question, when what it has made is gone
    def ask(options: QueryOptions) -> Context:
        walks = _walks(recipes.get(options.recipe))
        if walks not in made:
            made[walks] = _Shortlist.of(
                question, candidates, facts, options, config, vector, has_names
            )
        with within(options.deadline):
            return made[walks].answer(options)

    return ask


@dataclass(frozen=True, eq=False)
class _Shortlist:
    """Candidates of another retriever as a small index, for one question.

    Attributes:
        question: What is asked.
        index: The index of the candidates.
        scores: The score that each came with, by the id of its document; None for all where the
            rank counts.
        dropped: Candidates that are not in the index.
        vector: The question's vector by the embedder of the index, if it is known already.
    """

    question: str
    index: Index
    scores: Mapping[str, float | None]
    dropped: tuple[Dropped, ...]
    vector: ArrayLike | None = None

    @classmethod
    def of(
        cls,
        question: str,
        candidates: Iterable[object],
        facts: Mapping[str, Iterable[Triple]] | None,
        options: QueryOptions,
        config: IndexConfig,
        vector: ArrayLike | None = None,
        has_names: bool | None = None,
    ) -> Self:
        """Return the shortlist of some candidates; see `ask_candidates`."""
        question = check_question(question, max_length=options.max_question)
        is_one = isinstance(candidates, (str, Document)) or not isinstance(candidates, Iterable)
        if is_one or isinstance(candidates, Mapping) or is_table(candidates):
            raise TypeError(
                "candidates are a list of texts or documents, best first, or of pairs with a score "
                f"each; got a {type(candidates).__name__}"
            )
        pairs, dropped = _with_text(candidates)
        if not pairs:
            raise ValueError(
                f"no candidates with text came ({len(dropped)} without): "
                "there is nothing to make a context of"
            )
        scores = _checked_scores([score for _, score in pairs])
        documents = [document for document, _ in pairs]  # the index relates and checks them
        by_default = config.extractor is CANDIDATES.extractor
        if by_default and (facts or not _walks(recipes.get(options.recipe))):
            config, by_default = replace(config, extractor=None), False
        if by_default and not (have_names(documents) if has_names is None else has_names):
            config = replace(config, extractor=Symbols())
        if by_default and config.embedder is not None:
            if None in scores:
                scores = _likeness(config.embedder, question, documents, vector)
            config, vector = replace(config, embedder=None), None
        if config.embedder is None:
            texts = [one.embedded_as or one.text for one in documents]
            wanted_next = [question] if config.canonical is None else []
            config = replace(config, embedder=general_embedder(texts, wanted_next))
            documents = [  # a vector is of another embedder
                one if one.vector is None else replace(one, vector=None) for one in documents
            ]
        index = Index.from_documents(documents, facts=facts, config=config)
        if by_default and index.is_of_code and not _asks_for_symbols(index.graph, question):
            index = Index.from_documents(documents, config=replace(config, extractor=None))
        by_id = {document.id: score for document, score in zip(documents, scores, strict=True)}
        return cls(question, index, by_id, tuple(dropped), vector)

    def answer(self, options: QueryOptions) -> Context:
        """Return the context for the question.

        Args:
            options: What else the question says.
        """
        inside = filter_in_time(self.index, options.where)
        vector = self.vector
        if vector is None or inside.embedder is not self.index.embedder:
            vector = embed_in_time(inside, self.question)
        scores = self._scores_by_row(inside)
        by_rank = None in self.scores.values()
        context = answer(inside, self.question, vector, options, scores, by_rank=by_rank)
        others = self.dropped
        if not others:
            return context
        return context.made_when_asked(dropped=lambda: (*context.dropped, *others))

    def _scores_by_row(self, inside: Index) -> dict[int, float]:
        """Return the scores of what a filter allows, by row.

        What it forbids counts for nothing: neither its rank nor its score.
        """
        allowed = [document.id for document in inside.documents if document.id in self.scores]
        shares = _shares_of_best([self.scores[id] for id in allowed])
        return _scores_by_row(inside.graph, dict(zip(allowed, shares, strict=True)))


def _chosen(
    keywords: Mapping[str, Any], options: QueryOptions | None, config: IndexConfig | None
) -> tuple[QueryOptions, IndexConfig]:
    """Divide the keywords among the two values that have them as fields."""
    of_question, of_index = option_names(QueryOptions), option_names(IndexConfig)
    check_names(keywords, (*of_question, *of_index), "clew.narrow")
    return (
        QueryOptions.from_keywords(
            options, **{name: keywords[name] for name in of_question if name in keywords}
        ),
        IndexConfig.from_keywords(
            config or CANDIDATES, **{name: keywords[name] for name in of_index if name in keywords}
        ),
    )


def _walks(method: Method) -> bool:
    """Return whether a method follows links, for which facts make some."""
    return bool(method.spreads) if isinstance(method, Pipeline) else True


def _asks_for_symbols(graph: Graph, question: str) -> bool:
    """Return whether a question asks something of a symbol that facts are known of.

    Where nothing is known of any, this is left open: the graph is what it is without facts.
    """
    return not len(graph.facts) or len(find_asked_facts(graph)(question).facts) > 0


def _likeness(
    embedder: Embedder, question: str, documents: Sequence[Document], vector: ArrayLike | None
) -> list[float | None]:
    """Return the cosine of each document with the question, by an embedder of the caller's."""
    if vector is None:
        vector = embedder.embed_question(question)
    asked = normalize_vectors([vector], ["the question"])[0]
    rows = embed_texts(embedder, [one.embedded_as or one.text for one in documents])
    if rows.shape[1] != len(asked):
        raise ValueError(
            f"the question's vector has {len(asked)} dimensions, and those of the candidates have "
            f"{rows.shape[1]}; wanted one embedder for both"
        )
    return [max(0.0, cosine) for cosine in products(rows, asked).astype(float).tolist()]


def _with_text(
    candidates: Iterable[object],
) -> tuple[list[tuple[Document, float | None]], list[Dropped]]:
    """Return the distinct candidates that have text, with their scores, and what was left out."""
    pairs, dropped = list[tuple[Document, float | None]](), list[Dropped]()
    places = dict[tuple[str, str], int]()
    for number, candidate in enumerate(candidates, 1):
        source: Any
        source, score = candidate if isinstance(candidate, tuple) else (candidate, None)
        document = load_single(source)
        if document is None:
            id = getattr(source, "node_id", None) or getattr(source, "id", None)
            dropped.append(Dropped(str(id or f"candidate {number}"), "it has no text"))
            continue
        place = places.setdefault((document.id, document.text), len(pairs))
        if place == len(pairs):
            pairs.append((document, score))
            continue
        dropped.append(Dropped(f"candidate {number}", f"{document.id!r} came already"))
        if score is not None and (pairs[place][1] is None or score > pairs[place][1]):
            pairs[place] = pairs[place][0], score
    return pairs, dropped


def _checked_scores(scores: Sequence[float | None]) -> list[float | None]:
    """Return the scores as they came: a finite number each, or None for all."""
    missing = sum(score is None for score in scores)
    if 0 < missing < len(scores):
        raise ValueError(
            f"{missing} of {len(scores)} candidates came without a score: give all or none"
        )
    numbers = [None if score is None else float(score) for score in scores]
    if not all(number is None or math.isfinite(number) for number in numbers):
        raise ValueError("a candidate's score must be a finite number, higher for better")
    return numbers


def _shares_of_best(scores: Sequence[float | None]) -> list[float]:
    """Return scores in [0, 1], as shares of the best.

    Without scores, the rank decides. Where a score is negative, or none is positive, as with
    logits, there is no zero to be a share of: the scores go from 1 / n, the lowest, to 1.
    """
    if not scores:
        return []
    n = len(scores)
    numbers = [score for score in scores if score is not None] or list(map(float, range(n, 0, -1)))
    lowest, best = min(numbers), max(numbers)
    if lowest >= 0 and best > 0:
        return [number / best for number in numbers]
    if lowest == best:
        return [1.0] * n
    step = (1 - 1 / n) / (best - lowest)
    return [1 / n + (number - lowest) * step for number in numbers]


def _scores_by_row(graph: Graph, by_id: Mapping[str, float]) -> dict[int, float]:
    """Return the candidates' scores by row; pieces of a candidate that was cut share its score."""
    row_of = {id: row for row, id in enumerate(graph.ids) if id in by_id}
    scores = {row_of[id]: score for id, score in by_id.items() if id in row_of}
    for row in np.flatnonzero(graph.content).tolist():
        if row in scores:  # as most are
            continue
        owner = int(graph.documents[row])
        if owner >= 0 and graph.ids[owner] in by_id:
            scores[row] = by_id[graph.ids[owner]]
    return scores
