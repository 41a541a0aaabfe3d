"""The vectors of all facts of an index, where they are few enough to be known to who asks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clew.algorithms.nearest.coarse import MAX_WIDTH, CoarseVectors
from clew.algorithms.ranking import top_k
from clew.graph import Floats, Mask, Ragged, Rows, Vectors, freeze, offsets_of, products, seal
from clew.graph.vector_column import has_vector
from clew.remote.numbers import is_among

SOURCES = 4  # passages that a near fact leads to, of all that it was read from
FACT_BYTES = 64 * 2**20  # up to which the vectors of all facts are known to who asks
ASKED_BEFORE = 1  # questions that are answered before these are read: one alone does not wait
READ_SECONDS = 5.0  # that a question has left at least which reads them
MIN_COARSE = 1_000  # facts, of which the nearest are found by bounds; of fewer, by all cosines


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

    @classmethod
    def of_columns(cls, columns: Rows, read_from: Ragged) -> FactEnds:
        """Return facts whose numbers, subjects and objects are the first columns of an array.

        Args:
            columns: int32 [f, 3 or more].
            read_from: See `read_from`.
        """
        numbers, subjects, objects = (freeze(columns[:, i], np.int32) for i in range(3))
        return cls(numbers, subjects, objects, read_from)

    def __len__(self) -> int:
        return len(self.numbers)

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
    """The vectors of the facts of an index: 4 bytes for each of their numbers, and bounds 1 more.

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

    @cached_property
    def _coarse(self) -> CoarseVectors | None:
        """Bounds of the cosines; None where all cosines are computed."""
        n, width = self.vectors.shape
        if n < MIN_COARSE or width > MAX_WIDTH:
            return None
        coarse = CoarseVectors.of(self.vectors)
        return coarse if coarse.has_vector.all() else None

    def prepare(self) -> None:
        """Make what questions need of all facts."""
        _ = self._coarse

    def nearest(
        self, vector: Vectors, k: int, allowed: Mask | None = None
    ) -> tuple[Rows, Floats, Rows, Floats]:
        """Return the rows of the nearest facts, the nearest first, and that of the farthest.

        The cosines of both come behind each.

        Args:
            vector: float32 [d], a unit vector, what they are compared with.
            k: How many.
            allowed: bool [f], which may come; None for all. None without a vector comes.
        """
        if allowed is None and (coarse := self._coarse) is not None:
            found = coarse.extremes(self.vectors, vector, k, coarse.has_vector)
            if found is not None:
                rows = freeze(found.rows, np.int32), freeze([found.farthest], np.int32)
                return rows[0], found.cosines, rows[1], freeze([found.lowest], np.float64)
        may_come = self.has_vector if allowed is None else self.has_vector & allowed
        rows_left = np.flatnonzero(may_come)
        cosines = products(self.vectors, vector.astype(np.float32)).astype(np.float64)[rows_left]
        best, worst = top_k(cosines, k), top_k(-cosines, 1)
        return (
            *(freeze(rows_left[best], np.int32), freeze(cosines[best], np.float64)),
            *(freeze(rows_left[worst], np.int32), freeze(cosines[worst], np.float64)),
        )

    def taken(self, rows: Rows) -> FactVectors:
        """Return some of the facts."""
        return FactVectors(self.ends.taken(rows), seal(self.vectors[rows]))

    def without(self, numbers: Rows) -> FactVectors:
        """Return the others of the facts."""
        stays = np.flatnonzero(~is_among(self.ends.numbers, numbers))
        return self.taken(freeze(stays, np.int32))

    def with_others(self, others: FactVectors) -> FactVectors:
        """Return these facts and others."""
        return FactVectors.joined([self, others], self.vectors.shape[1])

    @classmethod
    def joined(cls, parts: Sequence[FactVectors], dimension: int) -> FactVectors:
        """Return the facts of several parts as one.

        Args:
            parts: They have no fact in common.
            dimension: The width of vectors.
        """
        if len(parts) == 1:
            return parts[0]
        ends = [part.ends for part in parts]
        none = [np.zeros(0, np.int32)]
        numbers = np.concatenate(none + [one.numbers for one in ends])
        lengths = np.concatenate(none + [one.read_from.lengths for one in ends])
        every = FactEnds(
            freeze(numbers, np.int32),
            freeze(np.concatenate(none + [one.subjects for one in ends]), np.int32),
            freeze(np.concatenate(none + [one.objects for one in ends]), np.int32),
            Ragged(
                offsets_of(lengths),
                freeze(np.concatenate(none + [one.read_from.values for one in ends]), np.int32),
            ),
        )
        vectors = np.concatenate(
            [np.zeros((0, dimension), np.float32), *(part.vectors for part in parts)]
        )
        if np.all(np.diff(numbers) > 0):
            return cls(every, seal(vectors))
        order = np.argsort(numbers)
        return cls(every.taken(freeze(order, np.int32)), seal(vectors[order]))
