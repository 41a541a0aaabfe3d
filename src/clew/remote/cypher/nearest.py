"""Vectors of an index that are kept in memory, where a database does not search them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Mask, Rows, Vectors, distinct, freeze, products
from clew.graph.vector_column import has_vector
from clew.remote.fact_vectors import SOURCES, FactEnds, FactVectors
from clew.remote.protocol import Near


@dataclass(frozen=True, eq=False)
class GenerationVectors:
    """The vectors of one generation: 4 bytes for each of their numbers.

    Attributes:
        passages: int32 [p], the numbers of the passages.
        passage_vectors: float32 [p, d].
        facts: Those of the facts.
    """

    passages: Rows
    passage_vectors: Vectors
    facts: FactVectors

    @cached_property
    def has_vector(self) -> Mask:
        """Which passages have one: bool [p]."""
        found: Mask = has_vector(self.passage_vectors)
        return found


def near_rows(vectors: Vectors, vector: Vectors, k: int, allowed: Mask) -> tuple[Rows, Rows]:
    """Return the rows of the nearest vectors, the nearest first, and that of the farthest.

    Args:
        vectors: float32 [n, d].
        vector: float32 [d], what they are compared with.
        k: How many.
        allowed: bool [n], which may come.
    """
    rows = np.flatnonzero(allowed)
    scores = products(vectors, vector).astype(np.float64)[rows]
    best = rows[top_k(scores, k)]
    return freeze(best, np.int32), freeze(rows[top_k(-scores, 1)], np.int32)


def near_facts(best: FactEnds, worst: FactEnds) -> Near:
    """Return the nearest facts with the nodes that they lead to, and the farthest."""
    first = best.read_from
    places = np.arange(len(first.values)) - np.repeat(first.starts[:-1], first.lengths)
    sources = first.values[places < SOURCES]
    ends = np.concatenate([best.subjects, best.objects, sources, worst.subjects, worst.objects])
    return Near(
        freeze(list(dict.fromkeys([*best.numbers.tolist(), *worst.numbers.tolist()])), np.int32),
        freeze(distinct(ends[ends > 0]), np.int32),
    )
