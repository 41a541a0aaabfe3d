"""Vectors that are kept as bytes, and become an array when one of them is compared."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clew.graph import Mask, Vectors
from clew.graph.vector_column import VectorColumn, products


class VectorBytes:
    """Rows of vectors, of which some have none: a segment of a column.

    Args:
        rows: float32, little-endian; empty for a row of zeros.
        dimension: the width of the vectors.

    Example:
        >>> found = VectorBytes([b"", np.float32([0.6, 0.8]).tobytes()], 2)
        >>> found[np.array([1, 0])].tolist(), found.has_vector.tolist()
        ([[0.6000000238418579, 0.800000011920929], [0.0, 0.0]], [False, True])
    """

    def __init__(self, rows: Sequence[bytes], dimension: int) -> None:
        self._rows, self._dimension = rows, dimension

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and of dimensions."""
        return len(self._rows), self._dimension

    @cached_property
    def has_vector(self) -> Mask:
        """Which rows are not all zeros."""
        return np.fromiter(map(bool, self._rows), np.bool_, len(self._rows))

    @cached_property
    def _array(self) -> Vectors:
        """The vectors that are there, one behind the other."""
        there = b"".join(self._rows)
        array: Vectors = np.frombuffer(there, "<f4").reshape(-1, max(self._dimension, 1))
        return array if array.dtype.isnative else array.astype(np.float32)

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """The place of each row's vector among those that are there; -1 for none."""
        return np.where(self.has_vector, np.cumsum(self.has_vector) - 1, -1)

    @property
    def addresses(self) -> NDArray[np.int64]:
        """Where in memory each vector is; a row of zeros has none, and a number below 0."""
        array, places = self._array, self._places
        own = array.ctypes.data + array.strides[0] * places
        return np.where(places >= 0, own, -1 - np.arange(len(places)))

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Vectors:
        places = self._places[rows]
        if len(places) and places.min() >= 0:
            found: Vectors = self._array[places]
            return found
        chosen = np.zeros((len(places), self._dimension), np.float32)
        chosen[places >= 0] = self._array[places[places >= 0]]
        return chosen

    def take(self, rows: NDArray[np.int64]) -> VectorBytes:
        """Return the segment of some rows."""
        return VectorBytes([self._rows[row] for row in rows.tolist()], self._dimension)

    def compact(self) -> VectorBytes:
        """Return the segment: its vectors are side by side."""
        return self

    def products(self, query: Vectors) -> Vectors:
        """Return the dot products of the rows with a float32 vector: float32 [n]."""
        found = np.zeros(len(self._rows), np.float32)
        if len(self._array):
            found[self.has_vector] = products(self._array, query)
        return found

    def release_pages(self) -> None:
        """Do nothing: no file is mapped."""


def column_of(rows: Sequence[bytes], dimension: int) -> VectorColumn:
    """Return vectors that are kept as a column.

    Args:
        rows: As in `VectorBytes`.
        dimension: As in `VectorBytes`.
    """
    return VectorColumn([VectorBytes(rows, dimension)])
