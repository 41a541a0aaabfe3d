"""The question touches the graph at the facts nearest to it that it recognises, and at the passages most like it.

HippoRAG 2 (arXiv 2502.14802) lets a language model say which of the nearest facts belong to the question, its recognition memory, and ranks
by the passages alone where none does. Without a model, a fact is recognised by name: the question mentions its subject or its object, or
those of a near fact that leads there. The paper weighs passages by similarity times 0.05, so that their part of the walk's starts grows
with the corpus, and spreads it over all of them; here their part is a `share`, and goes to the nearest, since facts that nobody has looked
through must not outweigh these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.algorithms.cosines import cosines
from clew.algorithms.ranking import min_max_scale, sharpened, top_k
from clew.graph import Floats, Graph, Mask, freeze
from clew.seed.bm25 import BM25
from clew.seed.dense import Dense
from clew.seed.fused import Blend, ReciprocalRank
from clew.seed.linked_facts import entities_of
from clew.text.words import contains_phrase
from clew.types import Query, Seeds


@dataclass(frozen=True)
class RecognisedFacts:
    """Weights on the entities of the recognised facts and on the passages, 1 in all; terminals are those entities, best first.

    Attributes:
        top: how many facts the question is mapped to, before it is asked which of them it recognises.
        share: of the weights, what the passages have where a fact is recognised; else they have all.
        passages: how the passages are touched. sharpness: the power that their weights are raised to.
    """

    top: int = 5
    fact_share: float = 0.5
    passage_seed: Dense | BM25 | Blend | ReciprocalRank = Blend()
    sharpness: float = 8.0

    def __post_init__(self) -> None:
        if not 0 <= self.fact_share <= 1:
            raise ValueError(
                f"share is the passages' part of the weights, from 0 to 1; got {self.fact_share}"
            )

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        facts, passages = graph.facts, self.passage_seed.on(graph)
        known = facts.vectors.any(axis=1) if len(facts) else np.zeros(0, np.bool_)

        def touch(query: Query) -> Seeds:
            found = passages(query)
            similar = _shares(sharpened(found.scores, self.sharpness))
            vector = query.vector if query.fact_vector is None else query.fact_vector
            if not known.any() or vector is None or not vector.any():
                why = (
                    "the graph has no facts with vectors"
                    if not known.any()
                    else "the question has no vector"
                )
                return Seeds(
                    found.scores,
                    notes={**found.notes, "fallback": f"{why}: the passages alone are the seeds"},
                )
            near = cosines(facts.vectors, vector)
            ranked = top_k(np.where(known, near, near.min()), self.top)
            scores = np.where(known, min_max_scale(near), 0)
            nearest = freeze(
                ranked[(scores[ranked] > 0) & names_mentioned(graph, ranked, query.text)], np.int32
            )
            if not len(nearest):
                why = "none of the nearest facts is recognised"
                return Seeds(
                    similar,
                    notes={**found.notes, "fallback": f"{why}: the passages alone are the seeds"},
                )
            means, terminals = entities_of(graph, nearest, scores[nearest], self.top)
            weights = (1 - self.fact_share) * _shares(means) + self.fact_share * similar
            return Seeds(
                weights, terminals, nearest, freeze(scores[nearest], np.float64), found.notes
            )

        return touch


def names_mentioned(graph: Graph, facts: Any, question: str) -> Mask:
    """Return whether the question names the subject or the object of each fact, or one that it names leads there by a shared end."""
    ends = [
        set(pair)
        for pair in np.stack(
            [graph.facts.subjects[facts], graph.facts.objects[facts]], axis=1
        ).tolist()
    ]
    known = {end for pair in ends for end in pair if contains_phrase(graph.texts[end], question)}
    while more := {end for pair in ends if pair & known for end in pair} - known:
        known |= more
    return freeze([bool(pair & known) for pair in ends], np.bool_)


def _shares(weights: Floats) -> Floats:
    total = weights.sum()
    return weights / total if total > 0 else weights
