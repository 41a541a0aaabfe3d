"""What seeds over facts share: the facts nearest to a question, and the entities at their ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.cosines import cosines
from clew.algorithms.nearest.coarse import MAX_WIDTH, CoarseVectors
from clew.algorithms.ranking import min_max_scale, top_k
from clew.graph import (
    AnyVectors,
    Floats,
    Graph,
    Mask,
    Rows,
    VectorColumn,
    Vectors,
    freeze,
    has_vector,
    texts_at,
)
from clew.second_thread import Begun, begin
from clew.text.words import stand_side_by_side, words
from clew.types import Query

MIN_COARSE = 20_000  # facts, of which the nearest are found by bounds; of fewer, by all cosines

READ_FOR_FACTS = 50
"""Passages nearest to a question whose facts are compared with it, where facts have no vectors."""

MIN_BESIDE = 60_000
"""Facts that take longer to compare with a question than to hand to a second thread."""


@dataclass(frozen=True, eq=False)
class FactRanking:
    """The facts of a graph, as they are compared with questions.

    Attributes:
        vectors: float32 [f, d], a row of zeros where a fact has no vector.
        has_vector: which facts have one.
        coarse: bounds of their cosines; None where all cosines are computed.
    """

    vectors: AnyVectors
    has_vector: Mask
    coarse: CoarseVectors | None = None

    @classmethod
    def of(cls, graph: Graph) -> FactRanking:
        """Return the facts of a graph."""
        vectors = graph.facts.vectors
        is_dense = not isinstance(vectors, VectorColumn) or vectors.is_dense
        if is_dense and len(vectors) >= MIN_COARSE and vectors.shape[1] <= MAX_WIDTH:
            coarse = graph.part(CoarseFactsPart())
            return cls(vectors, coarse.has_vector, coarse)
        return cls(vectors, has_vector(vectors))

    def obstacle(self, vector: Vectors | None) -> str:
        """Return why no fact can be compared with a question; an empty text where it can be."""
        if not self.has_vector.any():
            return "the graph has no facts with vectors"
        if vector is None or not vector.any():
            return "the question has no vector"
        return ""

    def begin_nearest(self, vector: Vectors, k: int) -> Begun[tuple[NDArray[np.int64], Floats]]:
        """Have a second thread begin `nearest`, unless the facts are few."""

        def nearest() -> tuple[NDArray[np.int64], Floats]:
            return self.nearest(vector, k)

        return begin(nearest) if len(self.vectors) >= MIN_BESIDE else Begun(nearest)

    def nearest(self, vector: Vectors, k: int) -> tuple[NDArray[np.int64], Floats]:
        """Return the `k` facts nearest to a question, best first, and their scores.

        Scores are cosines scaled to [0, 1] over all facts; 0 for a fact without a vector.
        """
        found = None
        if self.coarse is not None and k > 0:
            found = self.coarse.extremes(self.vectors, vector, k, self.has_vector)
        if found is None:
            near = cosines(self.vectors, vector)
            lowest, highest = near.min(), near.max()
            among = near if self.has_vector.all() else np.where(self.has_vector, near, lowest)
            ranked = top_k(among, k)
            scaled = min_max_scale([*near[ranked], lowest, highest])[: len(ranked)]
            return ranked, np.where(self.has_vector[ranked], scaled, 0)
        scaled = min_max_scale([*found.cosines, found.lowest, found.highest])
        return found.rows, scaled[: len(found.rows)]


@dataclass(frozen=True)
class CoarseFactsPart:
    """The part that computes the bounds of the facts' cosines."""

    of_vectors: ClassVar[bool] = True

    def compute(self, graph: Graph) -> CoarseVectors:
        return CoarseVectors.of(graph.facts.vectors)

    def grow(self, graph: Graph, base: Graph, before: CoarseVectors) -> CoarseVectors:
        new = graph.facts.vectors[len(base.facts) :]  # facts of the base come first
        return before.with_rows(new) if len(new) else before


def facts_of_best(graph: Graph, scores: Floats, k: int = READ_FOR_FACTS) -> NDArray[np.int64]:
    """Return the facts that were read from the passages with the highest scores, ascending.

    Args:
        graph: the graph of the facts.
        scores: float64 [n], of all nodes.
        k: how many passages count; those that score 0 do not.

    Example:
        >>> import clew
        >>> documents = [clew.Document("ben", "Ben lives on Corfu."), clew.Document("cat", "Cats.")]
        >>> facts = {"ben": [("Ben", "lives on", "Corfu")], "cat": [("Cats", "are", "animals")]}
        >>> graph = clew.Index.from_documents(documents, facts=facts).graph
        >>> facts_of_best(graph, np.where(np.array(graph.ids) == "cat", 1.0, 0.0)).tolist()
        [1]
    """
    best = top_k(scores, k)
    is_best = np.zeros(len(graph), np.bool_)
    is_best[best[scores[best] > 0]] = True
    read_from = graph.facts.read_from
    found = np.zeros(len(graph.facts), np.bool_)
    found[read_from.owners_of(is_best)] = True
    return np.flatnonzero(found)


def fact_cosines(graph: Graph, query: Query, scores: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the facts of the passages nearest to a question, and their cosines with it.

    Where the graph has no vectors of facts, these are made as the question comes: few questions
    lead to a fact of which no near passage speaks.

    Args:
        graph: the graph of the facts.
        query: the question; without `fact_likeness` there are none.
        scores: float64 [n], those of the passages.
    """
    if query.fact_likeness is None or not len(rows := facts_of_best(graph, scores)):
        return np.zeros(0, np.int64), np.zeros(0)
    likeness = query.fact_likeness(list(texts_at(graph.facts.texts, rows.tolist())))
    return rows, likeness.astype(np.float64)


def nearest_of_best(
    graph: Graph, query: Query, scores: Floats, k: int, left_out: Mask | None = None
) -> tuple[NDArray[np.int64], Floats]:
    """Return what `FactRanking.nearest` does, of facts without vectors; see `fact_cosines`.

    Args:
        graph: the graph of the facts.
        query: the question.
        scores: float64 [n], those of the passages.
        k: how many facts.
        left_out: bool [facts], those that are not compared; None for none.
    """
    rows, near = fact_cosines(graph, query, scores)
    if left_out is not None:
        rows, near = rows[~left_out[rows]], near[~left_out[rows]]
    if not len(rows):
        return rows, near
    ranked = top_k(near, k)
    scaled = min_max_scale([*near[ranked], near.min(), near.max()])
    return rows[ranked], scaled[: len(ranked)]


@dataclass(frozen=True)
class MentionCountsPart:
    """The part that counts the passages that each node was read from, int64 [n].

    A graph that is a part of a corpus is given the counts of the whole.
    """

    def compute(self, graph: Graph) -> NDArray[np.int64]:
        return graph.read_from.lengths


def entity_scores(graph: Graph, facts: Rows, scores: Floats, k: int) -> tuple[Floats, Rows]:
    """Score the entities at both ends of facts.

    An entity scores the mean of its facts' scores, divided by the number of passages that mention
    it. All but the `k` best score 0.

    Args:
        graph: the graph of the facts.
        facts: the facts that count.
        scores: their scores, one each.
        k: how many entities keep a score.

    Returns:
        The scores of all nodes, float64 [n], and the rows of those above 0, best first.
    """
    ends = np.concatenate([graph.facts.subjects[facts], graph.facts.objects[facts]])
    rows = np.array(sorted(set(ends.tolist())), np.int64)  # few of the graph's
    places = np.searchsorted(rows, ends)
    total = np.bincount(places, weights=np.tile(scores, 2), minlength=len(rows)) / np.maximum(
        graph.part(MentionCountsPart())[rows], 1
    )
    means = total / np.maximum(np.bincount(places, minlength=len(rows)), 1)
    best = top_k(means, min(k, int((means > 0).sum())))
    retained = np.zeros(len(graph))
    retained[rows[best]] = means[best]
    return retained, freeze(rows[best], np.int32)


def names_mentioned(graph: Graph, facts: NDArray[np.integer], question: str) -> Mask:
    """Return which facts the names in a question lead to.

    A name leads to every fact that it is the subject or the object of, and over a shared end to
    further facts of these.
    """
    pairs = zip(
        graph.facts.subjects[facts].tolist(), graph.facts.objects[facts].tolist(), strict=True
    )
    ends = [set(pair) for pair in pairs]
    present = words(question)
    known = {
        end
        for end in dict.fromkeys(end for pair in ends for end in pair)
        if stand_side_by_side(words(graph.texts[end]), present)
    }
    while more := {end for pair in ends if pair & known for end in pair} - known:
        known |= more
    return freeze([bool(pair & known) for pair in ends], np.bool_)


def add_notes(notes: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add notes for the trace; a second fallback stands behind the first."""
    earlier = notes.get("fallback")
    notes |= more
    if earlier and "fallback" in more:
        notes["fallback"] = f"{earlier}; {more['fallback']}"
