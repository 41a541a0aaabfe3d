"""The question is mapped to the facts most like it, and their subjects and objects are what must be joined.

AGRAG (arXiv 2511.05549), fact linking. Its authors let a language model filter the facts; `recognised` keeps, without one, those that
what the question names leads to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.algorithms.cosines import cosines
from clew.algorithms.ranking import sharpened, top_k
from clew.graph import Floats, Graph, Mask, freeze
from clew.seed.bm25 import BM25
from clew.seed.dense import Dense
from clew.seed.fused import Blend, ReciprocalRank
from clew.seed.recognised_facts import names_mentioned
from clew.types import Query, Seeds


@dataclass(frozen=True)
class MappedFacts:
    """Terminals are the ends of the `top` nearest facts, the nearest fact's first, then the `passages` nearest passages.

    Where facts were read from only a share of the passages most like the question, it is mapped to that share of `top` facts: those of
    other passages would lead away from the ones without. Weights are the passages' similarities. Where the question is mapped to no fact,
    the terminals are the `top` nearest passages, and the trace says so.

    Attributes:
        top: how many facts the question is mapped to; only facts with a positive cosine count.
        passages: how many passages are terminals too.
        recognised: map the question only to facts that what it names leads to: see `clew.seed.recognised_facts.named`.
        touched: how the passages are touched. sharpness: the power that their weights are raised to.
    """

    top: int = 5
    passages: int = 0
    recognised: bool = False
    passage_seed: Dense | BM25 | Blend | ReciprocalRank = Dense()
    sharpness: float = 1.0

    def on(self, graph: Graph) -> Callable[[Query], Seeds]:
        facts, touched = graph.facts, self.passage_seed.on(graph)
        known, told = bool(facts.vectors.any()), np.zeros(len(graph), np.bool_)
        told[facts.read_from.values] = True

        def touch(query: Query) -> Seeds:
            similar = touched(query)
            weights = (
                sharpened(similar.scores, self.sharpness) if self.sharpness != 1 else similar.scores
            )
            vector = query.vector if query.fact_vector is None else query.fact_vector
            notes: dict[str, Any] = dict(similar.notes)
            scores = (
                np.maximum(cosines(facts.vectors, vector), 0)
                if known and vector is not None
                else np.zeros(len(facts))
            )
            share = covered_share(weights, told, 2 * self.top)
            if len(facts) and share < 1:
                notes["told"] = share
            mapped = top_k(scores, round(self.top * share))
            mapped = mapped[scores[mapped] > 0]
            mapped = (
                mapped[names_mentioned(graph, mapped, query.text)] if self.recognised else mapped
            )
            ends = (
                np.stack([facts.subjects[mapped], facts.objects[mapped]], axis=1)
                .reshape(-1)
                .tolist()
                if len(mapped)
                else []
            )
            if not ends:
                why = (
                    "the question is mapped to none of the facts"
                    if len(facts)
                    else "the graph has no facts"
                )
                notes["fallback"] = "; ".join(
                    [
                        *([notes["fallback"]] if "fallback" in notes else []),
                        f"{why}: passages are joined",
                    ]
                )
            ranked = top_k(weights, self.passages if ends else self.top)
            nearest = ranked[weights[ranked] > 0].tolist()
            terminals = list(dict.fromkeys([*ends, *nearest]))
            return Seeds(
                weights,
                freeze(terminals, np.int32),
                freeze(mapped, np.int32),
                freeze(scores[mapped], np.float64),
                notes,
            )

        return touch


def covered_share(weights: Floats, told: Mask, k: int) -> float:
    """Return which share of the `k` passages most like the question facts were read from; 1 where that cannot be said."""
    nearest = top_k(weights, k)
    nearest = nearest[weights[nearest] > 0]
    return float(told[nearest].mean()) if len(nearest) and told.any() else 1.0
