"""How relevant a passage is to a question, between 0 and 1, meaning the same for every question.

Scores of retrieval rank the passages for one question; they say nothing of whether the best of them
answers it. A relevance does. It is a logistic regression on what depends neither on the method nor
on the scale of the embedder: how much of the question's words the passage has (by their idf), how
far its cosine stands out from those of all passages (among the candidates of another retriever, the
score that it came with), how much of the question no passage knows, how many terms the question
has, and how many passages there were to choose from, since among many one has some of the words by
chance. English function words do not count, since tables and programs have none. Those of another
language count where they are common (`clew.seed.bm25.MIN_COMMON`): no manual page says "ich", and
its idf would take it for what is asked. A relevance is the chance that a question has an answer
here whose best passage is like this one, where as many questions have an answer as have none.

The coefficients are fitted on the tune halves of 23 sets of everyday questions, whole and in small
parts; `python -m tests.benchmarks.relevance` fits them anew and shows what they tell apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.cosines import Compared, as_cosines, cosines
from clew.algorithms.ranking import top_k
from clew.graph import (
    AnyVectors,
    Floats,
    Graph,
    Mask,
    Rows,
    VectorColumn,
    Vectors,
    canonical_text,
    freeze,
    take_vectors,
)
from clew.seed._likely_languages import function_words_in
from clew.seed.bm25 import InvertedIndex, InvertedIndexPart
from clew.seed.phrases import has_rare_code
from clew.text.stems import FUNCTION_WORDS

MIN_RELEVANCE = 0.15
"""Where the best passage is below this, nothing answers. A silence where there is an answer costs
more than a passage beside the point, so that it is rare: with the line for source code, it is
the answer to 1.5 in 100 of the questions with an answer that the coefficients were fitted on, and
to 59 in 100 of those without."""

MIN_RELEVANCE_IN_CODE = 0.05
"""The same where most documents are source code, which has few of the words people ask with."""

MIN_WORDS = 1000
"""Fewer terms in all passages together are too few to tell: most words of a question are in none of
a handful of sentences, whether one of them answers or not."""

RELEVANCE_OF_CODE = 0.5
"""What a passage has at least that has a rare code of the question: other words of it may be those
that people ask with."""

MAX_SAMPLE = 4096  # passages, evenly spaced, whose cosines say what is usual
MAX_COVERING = 20  # passages with most of the question's words, of which one is the most relevant
MIN_COVERAGE = 0.02  # coverage is counted from here to 1 less as much, so that its odds are finite
MIN_DEVIATION = 1e-6  # cosines that differ by less do not differ


class Coefficients(NamedTuple):
    """The weights of a logistic regression, for natural logarithms.

    Attributes:
        coverage: of the log-odds of the share of the question's words that the passage has.
        deviation: of the cosine, in standard deviations above the mean.
        unknown: of the share of the question's words that no passage has.
        terms: of the logarithm of the number of the question's terms.
        passages: of the logarithm of the number of passages.
        constant: what is added.
    """

    coverage: float
    deviation: float
    unknown: float
    terms: float
    passages: float
    constant: float


FITTED = Coefficients(2.268, 0.368, -2.799, 1.151, -0.892, 3.869)


def features(
    coverage: Floats, deviation: Floats, unknown: float, n_terms: int, n_passages: int
) -> Floats:
    """Return what the regression is over, float64 [n, 6], in the order of `Coefficients`.

    Args:
        coverage: float64 [n], the share of the question's words that each passage has, in [0, 1].
        deviation: float64 [n], how many standard deviations each passage's cosine with the
            question is above the mean.
        unknown: the share of the question's words that no passage has, in [0, 1].
        n_terms: the number of distinct terms of the question.
        n_passages: the number of passages.

    Example:
        >>> features(np.array([0.5]), np.array([4.0]), 0.0, 1, 1).tolist()
        [[0.0, 4.0, 0.0, 0.0, 0.0, 1.0]]
    """
    share = np.clip(coverage, MIN_COVERAGE, 1 - MIN_COVERAGE)
    columns = np.empty((len(share), len(Coefficients._fields)))
    columns[:, 0] = np.log(share / (1 - share))
    columns[:, 1] = deviation
    columns[:, 2:] = unknown, np.log(max(n_terms, 1)), np.log(max(n_passages, 1)), 1.0
    return columns


def relevance(
    coverage: Floats,
    deviation: Floats,
    unknown: float,
    n_terms: int,
    n_passages: int,
    coefficients: Coefficients = FITTED,
) -> Floats:
    """Return the relevance of passages to a question, float64 [n], each in [0, 1].

    Args:
        coverage: as in `features`.
        deviation: as in `features`.
        unknown: as in `features`.
        n_terms: as in `features`.
        n_passages: as in `features`.
        coefficients: the weights.

    Example:
        >>> coverage, deviation = np.array([0.9, 0.2]), np.array([6.0, 3.0])
        >>> relevance(coverage, deviation, 0.0, 6, 1000).round(2).tolist()
        [1.0, 0.09]
    """
    columns = features(coverage, deviation, unknown, n_terms, n_passages)
    logits = np.clip(np.einsum("ij,j->i", columns, np.array(coefficients)), -700, 700)
    values: Floats = 1 / (1 + np.exp(-logits))
    return values


@dataclass(frozen=True, eq=False)
class QuestionRelevance:
    """How relevant each passage of a graph is to a question.

    Attributes:
        graph: what is asked.
        rows: the passages.
        n_passages: how many there are to choose from; more than `rows` where the graph is a part
            of a corpus.
        coverage: float64 [passages], the share of the question's words that each has, by their idf.
        cosines_of: places in `rows` -> their cosines with the question, or zeros where it has no
            vector.
        mean: the mean cosine of a sample of the passages.
        deviation: the standard deviation of these; 0 where they do not differ.
        unknown: the share of the question's words that no passage has.
        n_terms: the number of distinct terms of the question.
        has_code: bool [passages], which have a rare code that the question writes; None for none.

    Example:
        >>> from clew import Graph
        >>> graph = Graph.of(["red fox", "blue sky"], vectors=[[1, 0], [0, 1]])
        >>> found = QuestionRelevance.of_question(graph, "the sky at night", np.float32([0, 1]))
        >>> int(found.of(np.array([0, 1])).argmax()), found.unknown > 0
        (1, True)
    """

    graph: Graph
    rows: Rows
    n_passages: int
    coverage: Floats
    cosines_of: Callable[[NDArray[np.integer]], Floats]
    mean: float
    deviation: float
    unknown: float
    n_terms: int
    has_code: Mask | None = None

    @classmethod
    def of_question(
        cls,
        graph: Graph,
        question: str,
        vector: Vectors | None,
        compared: Compared | None = None,
        scores: Mapping[int, float] | None = None,
    ) -> QuestionRelevance | None:
        """Return the relevance to a question; None where the graph has no passages.

        Args:
            graph: what is asked.
            question: the text of the question.
            vector: its vector, float32 [d]; None for none.
            compared: its products with all passages, where somebody else needs them, too.
            scores: row -> score, by which another retriever found the passages, in the place of
                cosines, of which no more matters than how far each is from their mean.
        """
        index: InvertedIndex = graph.part(InvertedIndexPart())
        if not len(index.rows):
            return None
        text = canonical_text(graph, question)
        own = function_words_in(text, index.languages)
        stems = dict(index.stems_of(text, FUNCTION_WORDS, own))
        numbers = [index.stems[stem] for stem, is_known in stems.items() if is_known]
        covered, known = index.postings.covered(numbers)
        unknown = (len(stems) - len(numbers)) * index.postings.idf(0)
        total = known + unknown

        has_code = has_rare_code(graph, text)

        scored: Floats | None = None
        if scores is not None:
            scored = np.array([scores.get(row, 0.0) for row in index.rows.tolist()])

        def cosines_of(places: NDArray[np.integer]) -> Floats:
            if scored is not None:
                own: Floats = scored[places]
                return own
            if vector is None or not vector.any():
                return np.zeros(len(places))
            if compared is not None:
                return as_cosines(compared.products[places])
            return cosines(take_vectors(graph.vectors, index.rows[places]), vector)

        sample = np.zeros(1)
        given = graph.part(WholeSamplePart())
        if scored is not None:
            sample = scored
        elif compared is not None and given is None:
            sample = as_cosines(compared.products[_sample_places(len(index.rows))])
        elif vector is not None and vector.any():
            sample = cosines(graph.part(PassageSamplePart()) if given is None else given, vector)
        spread = float(sample.std())
        return cls(
            graph,
            index.rows,
            len(index.postings),
            covered / total if total else covered,
            cosines_of,
            float(sample.mean()),
            spread if spread > MIN_DEVIATION else 0.0,
            unknown / total if total else 1.0,
            len(stems),
            None if has_code is None else has_code[index.rows],
        )

    @property
    def can_tell(self) -> bool:
        """Whether there are enough words to tell by them that nothing answers."""
        index: InvertedIndex = self.graph.part(InvertedIndexPart())
        return bool(index.postings.lengths.sum() >= MIN_WORDS)

    def of(self, rows: Rows) -> Floats:
        """Return the relevance of nodes, float64 [m], each in [0, 1]; NaN for what is no passage.

        Args:
            rows: int32 [m], nodes.
        """
        places = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        is_passage = self.rows[places] == rows
        values = np.full(len(rows), np.nan)
        values[is_passage] = self._by_places(places[is_passage])
        return values

    @cached_property
    def best(self) -> float:
        """The highest relevance of a passage, looked for among those with most of the words."""
        best = float(relevance(*self.best_candidates()).max())
        has_code = self.has_code is not None and self.has_code.any()
        return max(best, RELEVANCE_OF_CODE) if has_code else best

    def best_candidates(self) -> tuple[Floats, Floats, float, int, int]:
        """Return the arguments of `features` for the passages with most of the words."""
        return self._of_places(freeze(top_k(self.coverage, MAX_COVERING), np.int32))

    def _by_places(self, places: Rows) -> Floats:
        """Return the relevance of passages by their places in `rows`."""
        values = relevance(*self._of_places(places))
        if self.has_code is None:
            return values
        least: Floats = np.where(self.has_code[places], RELEVANCE_OF_CODE, 0.0)
        return np.maximum(values, least)

    def _of_places(self, places: Rows) -> tuple[Floats, Floats, float, int, int]:
        """Return the arguments of `features` for passages by their places in `rows`."""
        deviations = np.zeros(len(places))
        if self.deviation:
            deviations = (self.cosines_of(places) - self.mean) / self.deviation
        return self.coverage[places], deviations, self.unknown, self.n_terms, self.n_passages


@dataclass(frozen=True)
class WholeSamplePart:
    """The part that a graph is given where it is a part of another; None where it is whole.

    It is what `PassageSamplePart` is of the whole.
    """

    def compute(self, graph: Graph) -> AnyVectors | None:
        return None


@dataclass(frozen=True)
class PassageSamplePart:
    """The part that copies the vectors of some passages, whose cosines say what is usual."""

    def compute(self, graph: Graph) -> AnyVectors:
        rows = graph.part(InvertedIndexPart()).rows
        sample = take_vectors(graph.vectors, rows[_sample_places(len(rows))])
        return sample.compact() if isinstance(sample, VectorColumn) else sample


@lru_cache(maxsize=16)
def _sample_places(n: int) -> NDArray[np.int64]:
    """Return some of n places, evenly spaced."""
    return freeze(np.linspace(0, n - 1, min(n, MAX_SAMPLE)).round(), np.int64)
