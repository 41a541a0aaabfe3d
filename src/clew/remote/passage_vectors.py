"""The vectors of all passages of an index, where they are few enough to be known to who asks it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import top_k
from clew.graph import (
    DenseSegment,
    Floats,
    Mask,
    Rows,
    VectorColumn,
    Vectors,
    freeze,
    products,
    seal,
)
from clew.remote.numbers import is_among

REMEMBERED = 2  # questions: one is compared with its own vector, and with the one opposite to it


class RememberedProducts(DenseSegment):
    """An array of rows that remembers its products with the last questions.

    A question is compared with the same rows to find the nearest, the farthest and what is usual.
    """

    def products(self, query: Vectors) -> Vectors:
        """Return the dot products of the rows with a float32 vector: float32 [n]."""
        remembered: tuple[tuple[Vectors, Vectors], ...] = self.__dict__.get("_remembered", ())
        for vector, found in remembered:
            if np.array_equal(vector, query):
                return found
        found = seal(products(self.array, query))
        last = (query.copy(), found), *remembered[: REMEMBERED - 1]
        self.__dict__["_remembered"] = last  # other threads see all of it or nothing
        return found


@dataclass(frozen=True, eq=False)
class PassageVectors:
    """The vectors of all passages of an index.

    Attributes:
        numbers: int32 [p], the numbers of the passages, ascending.
        vectors: float32 [p, d], unit rows, or zeros for none.

    Example:
        >>> known = PassageVectors(freeze([3, 5, 9], np.int32), np.eye(3, 2, dtype=np.float32))
        >>> [found.tolist() for found in known.nearest(np.float32([0, 1]), 2)]
        [[5, 3], [1.0, 0.0]]
    """

    numbers: Rows
    vectors: Vectors

    @cached_property
    def column(self) -> VectorColumn:
        """The same vectors, which remember what they were compared with."""
        return VectorColumn([RememberedProducts(self.vectors)])

    @cached_property
    def has_vector(self) -> Mask:
        """Which passages have one: bool [p]."""
        found: Mask = np.any(self.vectors, axis=1)
        return found

    def has(self, numbers: Rows) -> Mask:
        """Return which nodes are passages of the index: bool [n]."""
        return is_among(numbers, self.numbers)

    def of(self, numbers: Rows) -> tuple[Vectors, Mask]:
        """Return the vectors of passages that have one, and which have one.

        Args:
            numbers: int32 [n], passages of the index.
        """
        places = np.searchsorted(self.numbers, numbers)
        has = self.has_vector[places]
        return self.vectors[places[has]], has

    def taken(self, numbers: Rows) -> PassagesTaken:
        """Return the vectors of some passages of the index, given by their numbers."""
        return PassagesTaken(self, np.searchsorted(self.numbers, numbers))

    def nearest(self, vector: Vectors, k: int, allowed: Rows | None = None) -> tuple[Rows, Floats]:
        """Return so many of the nearest passages, the nearest first, and their cosines.

        Args:
            vector: float32 [d], what they are compared with.
            k: How many.
            allowed: int32, the passages that may come; None for all.
        """
        may_come = self.has_vector
        if allowed is not None:
            may_come = may_come & np.isin(self.numbers, allowed)
        rows = np.flatnonzero(may_come)
        cosines = self.column.products(vector.astype(np.float32)).astype(np.float64)[rows]
        best = top_k(cosines, k)
        return freeze(self.numbers[rows[best]], np.int32), freeze(cosines[best], np.float64)


class PassagesTaken:
    """The vectors of some passages, a segment of a column: none is copied, or multiplied again.

    Args:
        known: Those of all passages.
        places: int64 [n], those of the passages among all.
    """

    def __init__(self, known: PassageVectors, places: NDArray[np.int64]) -> None:
        self._known, self._places = known, places

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and of dimensions."""
        return len(self._places), self._known.vectors.shape[1]

    @property
    def has_vector(self) -> Mask:
        """Which rows are not all zeros."""
        found: Mask = self._known.has_vector[self._places]
        return found

    @property
    def addresses(self) -> NDArray[np.int64]:
        """Where in memory each row is."""
        return self._known.column.segments[0].addresses[self._places]

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Vectors:
        chosen: Vectors = self._known.vectors[self._places[rows]]
        return chosen

    def take(self, rows: NDArray[np.int64]) -> PassagesTaken:
        """Return the segment of some rows."""
        return PassagesTaken(self._known, self._places[rows])

    def compact(self) -> PassagesTaken:
        """Return the segment: its products are remembered."""
        return self

    def products(self, query: Vectors) -> Vectors:
        """Return the dot products of the rows with a float32 vector: float32 [n]."""
        return self._known.column.products(query)[self._places]

    def release_pages(self) -> None:
        """Do nothing: no file is mapped."""
