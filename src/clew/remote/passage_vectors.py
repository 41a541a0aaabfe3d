"""The vectors of all passages of an index, where they are few enough to be known to who asks it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Floats, Mask, Rows, Vectors, freeze, products
from clew.remote.numbers import is_among


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
        cosines = products(self.vectors, vector.astype(np.float32)).astype(np.float64)[rows]
        best = top_k(cosines, k)
        return freeze(self.numbers[rows[best]], np.int32), freeze(cosines[best], np.float64)
