"""The question touches the graph at the facts nearest to it, and weakly at every passage like it.

Gutierrez et al., "From RAG to memory" (HippoRAG 2), arXiv 2502.14802, section 3: the best facts' subjects and objects get the fact's score,
divided by the number of passages that mention them; every passage gets `passage_weight` times its similarity. Fact scores and
similarities are scaled to [0, 1] over all facts and all passages first.

The paper lets a language model sort out the facts first, and has facts of every passage. Without the one or the other the walk ends up
where facts happen to be; `RecognisedFacts` makes up for both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.cosines import cosines
from clew.algorithms.ranking import min_max_scale, top_k
from clew.graph import Floats, Graph, Rows, freeze
from clew.seed.dense import Dense
from clew.types import Query, Seeds


@dataclass(frozen=True)
class LinkedFacts:
    """Weights on the entities of the nearest facts and on the passages; terminals are those entities, best first.

    Attributes:
        top: how many facts the question is mapped to, and how many of their entities are kept.
        passage_weight: factor on the passages' scaled similarities.
        kinds: the kinds of node that count as passages.
    """

    top: int = 5
    passage_weight: float = 0.05
    kinds: tuple[str, ...] = ("passage",)

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        facts, dense, rows = graph.facts, Dense(self.kinds).on(graph), graph.rows(*self.kinds)
        vectors = graph.vectors[rows]
        known = facts.vectors.any(axis=1) if len(facts) else np.zeros(0, np.bool_)

        def touch(query: Query) -> Seeds:
            vector = query.vector if query.fact_vector is None else query.fact_vector
            if not known.any() or vector is None or not vector.any():
                why = (
                    "the graph has no facts with vectors"
                    if not known.any()
                    else "the question has no vector"
                )
                found = dense(query)
                return Seeds(
                    found.scores,
                    notes={**found.notes, "fallback": f"{why}: the passages alone are the seeds"},
                )
            near = cosines(facts.vectors, vector)
            ranked = top_k(np.where(known, near, near.min()), self.top)
            scores = np.where(known, min_max_scale(near), 0)
            nearest = freeze(ranked[scores[ranked] > 0], np.int32)
            means, terminals = entities_of(graph, nearest, scores[nearest], self.top)
            weights = means + self.passage_weight * similarities(query)
            return Seeds(weights, terminals, nearest, freeze(scores[nearest], np.float64))

        def similarities(query: Query) -> Floats:
            similar = np.zeros(len(graph))
            if query.candidate_scores is not None:
                given = list(query.candidate_scores)
                similar[given] = min_max_scale(list(query.candidate_scores.values()))
            elif query.vector is not None:
                similar[rows] = min_max_scale(
                    cosines(vectors, query.vector)
                )  # negative cosines count: the least similar passage gets 0
            return similar

        return touch


def entities_of(graph: Graph, facts: Rows, scores: Floats, top: int) -> tuple[Floats, Rows]:
    """Return (float64 [n], the weights of the entities at both ends of facts; the `top` of them at most, best first).

    Each has the mean of its facts' scores, divided by the number of passages that mention it; all but the `top` best weigh nothing.
    """
    ends = np.concatenate([graph.facts.subjects[facts], graph.facts.objects[facts]])
    total = np.bincount(ends, weights=np.tile(scores, 2), minlength=len(graph)) / np.maximum(
        graph.read_from.lengths, 1
    )
    means = total / np.maximum(np.bincount(ends, minlength=len(graph)), 1)
    terminals = top_k(means, min(top, int((means > 0).sum())))
    kept = np.zeros(len(graph))
    kept[terminals] = means[terminals]
    return kept, freeze(terminals, np.int32)
