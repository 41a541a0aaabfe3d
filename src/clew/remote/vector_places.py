"""Vectors that are at some places of a growing store, and are copied when they are compared."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clew.graph import Mask, Vectors, distinct
from clew.graph.vector_column import products

CHUNK = 2048  # vectors of a chunk


class VectorChunks:
    """Vectors in chunks of one length, so that none is copied where more are added.

    Args:
        dimension: Their width.
    """

    def __init__(self, dimension: int) -> None:
        self.chunks: list[Vectors] = []
        self.dimension, self._length = dimension, 0

    def append(self, vectors: Vectors) -> None:
        """Add vectors, float32 [n, d]."""
        while len(vectors):
            used = self._length % CHUNK
            if not used:
                self.chunks.append(np.empty((CHUNK, self.dimension), np.float32))
            part, vectors = vectors[: CHUNK - used], vectors[CHUNK - used :]
            self.chunks[-1][used : used + len(part)] = part
            self._length += len(part)

    def __len__(self) -> int:
        return self._length


class VectorPlaces:
    """Rows of vectors, of which some have none: a segment of a column.

    Args:
        chunks: float32 [CHUNK, d] each, vectors; those that have a place do not change.
        dimension: d.
        places: int64 [n], where the vector of each row is among all; below 0 for a row of zeros.

    Example:
        >>> vectors = VectorChunks(2)
        >>> vectors.append(np.array([[0.6, 0.8]], np.float32))
        >>> found = VectorPlaces(vectors.chunks, 2, np.array([-1, 0]))
        >>> found[np.array([1, 0])].tolist(), found.has_vector.tolist()
        ([[0.6000000238418579, 0.800000011920929], [0.0, 0.0]], [False, True])
    """

    def __init__(
        self, chunks: Sequence[Vectors], dimension: int, places: NDArray[np.int64]
    ) -> None:
        self._chunks, self._dimension, self._places = chunks, dimension, places

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and of dimensions."""
        return len(self._places), self._dimension

    @cached_property
    def has_vector(self) -> Mask:
        """Which rows are not all zeros."""
        found: Mask = self._places >= 0
        return found

    @property
    def addresses(self) -> NDArray[np.int64]:
        """Where in memory each vector is; a row of zeros has none, and a number below 0."""
        begins = np.array([chunk.ctypes.data for chunk in self._chunks] or [0])
        chunks, rows = np.divmod(np.maximum(self._places, 0), CHUNK)
        own = begins[chunks] + 4 * self._dimension * rows
        return np.where(self.has_vector, own, -1 - np.arange(len(self._places)))

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Vectors:
        places = self._places[rows]
        if len(self._chunks) == 1 and len(places) and places.min() >= 0:
            found: Vectors = self._chunks[0][places]
            return found
        chosen = np.zeros((len(places), self._dimension), np.float32)
        owners = places // CHUNK  # below 0 for a row of zeros
        for owner in distinct(owners[owners >= 0]).tolist():
            own = np.flatnonzero(owners == owner)
            chosen[own] = self._chunks[owner][places[own] - CHUNK * owner]
        return chosen

    def take(self, rows: NDArray[np.int64]) -> VectorPlaces:
        """Return the segment of some rows."""
        return VectorPlaces(self._chunks, self._dimension, self._places[rows])

    def compact(self) -> VectorPlaces:
        """Return the segment: its products keep its vectors side by side."""
        return self

    @cached_property
    def _there(self) -> Vectors:
        """The vectors that are there, side by side, to be compared often."""
        return self[np.flatnonzero(self.has_vector)]

    def products(self, query: Vectors) -> Vectors:
        """Return the dot products of the rows with a float32 vector: float32 [n]."""
        found = np.zeros(len(self._places), np.float32)
        if len(self._there):
            found[self.has_vector] = products(self._there, query)
        return found

    def release_pages(self) -> None:
        """Do nothing: no file is mapped."""
