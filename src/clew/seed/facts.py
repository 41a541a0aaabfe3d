"""The question touches the graph at the facts nearest to it, and weakly at every passage like it.

Gutierrez et al., "From RAG to memory" (HippoRAG 2), arXiv 2502.14802, section 3: the best facts' subjects and objects get the fact's score,
divided by the number of passages that mention them; every passage gets `passage_weight` times its scaled similarity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.rank import best, scaled
from clew.graph import Graph, Query, Seeds, frozen
from clew.seed.dense import Dense, cosines


@dataclass(frozen=True)
class LinkedFacts:
    """Weights on the entities of the nearest facts and on the passages; terminals are those entities, best first.

    Attributes:
        top: how many facts the question is mapped to, and how many of their entities are kept.
        passage_weight: factor on the passages' scaled similarities.
        passages: the seed that scores passages.
    """

    top: int = 5
    passage_weight: float = 0.05
    passages: Dense = Dense()

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        facts, mentioned_in = graph.facts, np.maximum(graph.read_from.lengths, 1)
        dense, rows = self.passages.on(graph), graph.rows(*self.passages.kinds)
        known = facts.vectors.any(axis=1) if len(facts) else np.zeros(0, np.bool_)

        def touch(query: Query) -> Seeds:
            similar = dense(query)
            vector = query.vector if query.fact_vector is None else query.fact_vector
            if not known.any() or vector is None or not vector.any():
                why = "the graph has no facts with vectors" if not known.any() else "the question has no vector"
                return Seeds(similar.weights, notes={**similar.notes, "fallback": f"{why}: the passages alone are the seeds"})
            scores = np.where(known, scaled(cosines(facts.vectors, vector)), 0)
            nearest = best(scores, self.top)
            nearest = nearest[scores[nearest] > 0]
            ends = np.concatenate([facts.subjects[nearest], facts.objects[nearest]])
            total = np.bincount(ends, weights=np.tile(scores[nearest], 2), minlength=len(graph)) / mentioned_in
            mean = total / np.maximum(np.bincount(ends, minlength=len(graph)), 1)
            terminals = best(mean, min(self.top, int((mean > 0).sum())))
            weights = np.zeros(len(graph))
            weights[terminals] = mean[terminals]
            weights[rows] += self.passage_weight * scaled(similar.weights[rows])
            return Seeds(
                weights, frozen(terminals, np.int32), frozen(nearest, np.int32), frozen(scores[nearest], np.float64), similar.notes
            )

        return touch
