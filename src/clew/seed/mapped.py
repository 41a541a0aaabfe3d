"""The question is mapped to the facts most like it, and their subjects and objects are what must be joined.

AGRAG (arXiv 2511.05549), fact linking, without the language model that its authors let filter the facts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.algorithms.rank import best
from clew.graph import Floats, Graph, Mask, Query, Seeds, frozen
from clew.seed.dense import Dense, cosines


@dataclass(frozen=True)
class MappedFacts:
    """Terminals are the ends of the `top` nearest facts, the nearest fact's first, then the `passages` nearest passages.

    Where facts were read from only a share of the passages most like the question, it is mapped to that share of `top` facts: those of
    other passages would lead away from the ones without. Weights are the passages' similarities. Where the question is mapped to no fact,
    the terminals are the `top` nearest passages, and the trace says so.

    Attributes:
        top: how many facts the question is mapped to; only facts with a positive cosine count.
        passages: how many passages are terminals too.
        kinds: the kinds of node that count as passages.
    """

    top: int = 5
    passages: int = 0
    kinds: tuple[str, ...] = ("passage",)

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        facts, dense = graph.facts, Dense(self.kinds).on(graph)
        known, told = bool(facts.vectors.any()), np.zeros(len(graph), np.bool_)
        told[facts.read_from.values] = True

        def touch(query: Query) -> Seeds:
            similar = dense(query)
            vector = query.vector if query.fact_vector is None else query.fact_vector
            notes: dict[str, Any] = dict(similar.notes)
            scores = np.maximum(cosines(facts.vectors, vector), 0) if known and vector is not None else np.zeros(len(facts))
            share = told_share(similar.weights, told, 2 * self.top)
            if len(facts) and share < 1:
                notes["told"] = share
            mapped = best(scores, round(self.top * share))
            mapped = mapped[np.round(scores[mapped], 9) > 0]
            ends = np.stack([facts.subjects[mapped], facts.objects[mapped]], axis=1).reshape(-1).tolist() if len(mapped) else []
            if not ends:
                why = "the question is mapped to none of the facts" if len(facts) else "the graph has no facts"
                notes["fallback"] = "; ".join([*([notes["fallback"]] if "fallback" in notes else []), f"{why}: passages are joined"])
            ranked = best(similar.weights, self.passages if ends else self.top)
            nearest = ranked[similar.weights[ranked] > 0].tolist()
            terminals = list(dict.fromkeys([*ends, *nearest]))
            return Seeds(similar.weights, frozen(terminals, np.int32), frozen(mapped, np.int32), frozen(scores[mapped], np.float64), notes)

        return touch


def told_share(weights: Floats, told: Mask, k: int) -> float:
    """Return which share of the `k` passages most like the question facts were read from; 1 where that cannot be said."""
    nearest = best(weights, k)
    nearest = nearest[weights[nearest] > 0]
    return float(told[nearest].mean()) if len(nearest) and told.any() else 1.0
