"""Vectors of an index that are kept in memory, where a database does not search them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Mask, Ragged, Rows, Vectors, freeze, offsets_of, products
from clew.graph.vector_column import has_vector
from clew.remote.numbers import is_among
from clew.remote.protocol import Near

SOURCES = 4  # passages that a near fact leads to, of all that it was read from


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


@dataclass(frozen=True, eq=False)
class FactVectors:
    """The vectors of the facts of an index: 4 bytes for each of their numbers.

    Attributes:
        ends: The facts, by their numbers, ascending.
        vectors: float32 [f, d].
    """

    ends: FactEnds
    vectors: Vectors

    @cached_property
    def has_vector(self) -> Mask:
        """Which facts have one: bool [f]."""
        found: Mask = has_vector(self.vectors)
        return found

    def without(self, numbers: Rows) -> FactVectors:
        """Return the others of the facts."""
        stays = np.flatnonzero(~is_among(self.ends.numbers, numbers))
        return FactVectors(self.ends.taken(freeze(stays, np.int32)), self.vectors[stays])

    def with_others(self, others: FactVectors) -> FactVectors:
        """Return these facts and others."""
        one, other = self.ends, others.ends
        numbers = np.concatenate([one.numbers, other.numbers])
        lengths = np.concatenate([one.read_from.lengths, other.read_from.lengths])
        sources = np.concatenate([one.read_from.values, other.read_from.values])
        both = FactEnds(
            freeze(numbers, np.int32),
            freeze(np.concatenate([one.subjects, other.subjects]), np.int32),
            freeze(np.concatenate([one.objects, other.objects]), np.int32),
            Ragged(offsets_of(lengths), freeze(sources, np.int32)),
        )
        order = np.argsort(numbers)
        vectors = np.concatenate([self.vectors, others.vectors])[order]
        return FactVectors(both.taken(freeze(order, np.int32)), freeze(vectors, np.float32))


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
        freeze(np.unique(ends[ends > 0]), np.int32),
    )
