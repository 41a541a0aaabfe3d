"""Vectors of an index that are kept in memory, where a database does not search them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Mask, Ragged, Rows, Vectors, freeze
from clew.remote.protocol import Near

SOURCES = 4  # passages that a near fact leads to, of all that it was read from


@dataclass(frozen=True, eq=False)
class GenerationVectors:
    """The vectors of one generation: 4 bytes for each of their numbers.

    Attributes:
        passages: int32 [p], the numbers of the passages.
        passage_vectors: float32 [p, d].
        facts: The facts.
        fact_vectors: float32 [f, d].
    """

    passages: Rows
    passage_vectors: Vectors
    facts: FactEnds
    fact_vectors: Vectors


@dataclass(frozen=True, eq=False)
class FactEnds:
    """What facts are about, and what they were read from.

    Attributes:
        numbers: int32 [f], those of the facts.
        subjects: int32 [f], nodes.
        objects: int32 [f], nodes.
        read_from: The nodes that each was read from.
    """

    numbers: Rows
    subjects: Rows
    objects: Rows
    read_from: Ragged

    def taken(self, rows: Rows) -> FactEnds:
        """Return some of the facts."""
        return FactEnds(
            freeze(self.numbers[rows], np.int32),
            freeze(self.subjects[rows], np.int32),
            freeze(self.objects[rows], np.int32),
            self.read_from.take(rows),
        )


def near_rows(vectors: Vectors, vector: Vectors, k: int, allowed: Mask | None) -> tuple[Rows, Rows]:
    """Return the rows of the nearest vectors, the nearest first, and that of the farthest.

    Args:
        vectors: float32 [n, d]; rows of zeros are none.
        vector: float32 [d], what they are compared with.
        k: How many.
        allowed: bool [n], which may come; None for all.
    """
    there = vectors.any(axis=1)
    rows = np.flatnonzero(there if allowed is None else there & allowed)
    scores = (vectors[rows] @ vector).astype(np.float64)
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
        freeze(np.unique(ends[ends > 0]), np.int32),
    )
