"""The question touches the graph at the facts nearest to it, and weakly at every passage like it.

Gutierrez et al., "From RAG to memory" (HippoRAG 2), arXiv 2502.14802, section 3: the best facts' subjects and objects get the fact's score,
divided by the number of passages that mention them; every passage gets `passage_weight` times its similarity. Fact scores and
similarities are scaled to [0, 1] over all facts and all passages first.

The paper's corpora have facts for every passage. Where only a share of the passages most like the question has any, the walk would end up
at those and drown the others: `coverage` lets the entities count by a
power of that share, and the passages for the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.rank import best, scaled
from clew.graph import Floats, Graph, Mask, Query, Seeds, frozen
from clew.seed.dense import Dense, cosines


@dataclass(frozen=True)
class LinkedFacts:
    """Weights on the entities of the nearest facts and on the passages; terminals are those entities, best first.

    Attributes:
        top: how many facts the question is mapped to, and how many of their entities are kept.
        passage_weight: factor on the passages' scaled similarities.
        coverage: how sharply facts lose weight where passages without any are near: the power of the share; 0 is the paper's own,
            2 helps where half of the passages or fewer were read for facts.
        kinds: the kinds of node that count as passages.
    """

    top: int = 5
    passage_weight: float = 0.05
    coverage: float = 0.0
    kinds: tuple[str, ...] = ("passage",)

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        facts, mentioned_in = graph.facts, np.maximum(graph.read_from.lengths, 1)
        dense, rows = Dense(self.kinds).on(graph), graph.rows(*self.kinds)
        vectors = graph.vectors[rows]
        known = facts.vectors.any(axis=1) if len(facts) else np.zeros(0, np.bool_)
        told = np.zeros(len(graph), np.bool_)
        told[facts.read_from.values] = True

        def touch(query: Query) -> Seeds:
            vector = query.vector if query.fact_vector is None else query.fact_vector
            if not known.any() or vector is None or not vector.any():
                why = "the graph has no facts with vectors" if not known.any() else "the question has no vector"
                found = dense(query)
                return Seeds(found.weights, notes={**found.notes, "fallback": f"{why}: the passages alone are the seeds"})
            scores = np.where(known, scaled(cosines(facts.vectors, vector)), 0)
            nearest = best(scores, self.top)
            nearest = nearest[scores[nearest] > 0]
            ends = np.concatenate([facts.subjects[nearest], facts.objects[nearest]])
            total = np.bincount(ends, weights=np.tile(scores[nearest], 2), minlength=len(graph)) / mentioned_in
            mean = total / np.maximum(np.bincount(ends, minlength=len(graph)), 1)
            terminals = best(mean, min(self.top, int((mean > 0).sum())))
            similar = similarities(query)
            share = told_share(similar, told, 2 * self.top) ** self.coverage
            weights = np.zeros(len(graph))
            weights[terminals] = share * mean[terminals]
            weights += (share * self.passage_weight + 1 - share) * similar
            notes = {"share of the facts": share} if share < 1 else {}
            return Seeds(weights, frozen(terminals, np.int32), frozen(nearest, np.int32), frozen(scores[nearest], np.float64), notes)

        def similarities(query: Query) -> Floats:
            similar = np.zeros(len(graph))
            if query.given is not None:
                given = list(query.given)
                similar[given] = scaled(list(query.given.values()))
            elif query.vector is not None:
                similar[rows] = scaled(cosines(vectors, query.vector))  # negative cosines count: the least similar passage gets 0
            return similar

        return touch


def told_share(weights: Floats, told: Mask, k: int) -> float:
    """Return which share of the `k` passages most like the question facts were read from; 1 where that cannot be said."""
    nearest = best(weights, k)
    nearest = nearest[weights[nearest] > 0]
    return float(told[nearest].mean()) if len(nearest) and told.any() else 1.0
