"""Vectors of nodes that are read when a stage looks at them, which most recipes never do.

They take most of the time in which a row is read: 3 kB of 768 numbers stand beside .6 kB of all
else. The vectors of passages are known to whoever asks, or come with their rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from clew.graph import Mask, Rows, Vectors, freeze
from clew.remote.passage_vectors import PassagesTaken, PassageVectors
from clew.remote.vector_places import VectorPlaces

NO_VECTOR = -1  # in the place of a vector: the node has none
UNREAD = -2  # nobody has read yet whether it has one

ReadVectors = Callable[[Rows], Vectors]
"""Reads the vectors of nodes by their numbers, int32 ascending: float32 [n, d], zeros for none."""


@dataclass(frozen=True, eq=False)
class VectorsLater:
    """Which vectors do not come with their rows, and what reads them then.

    Attributes:
        passages: int32, ascending, the nodes whose vectors come with their rows.
        read: Reads those of the others.
        known: Those of all passages, where they are known here; None where they are not.
    """

    passages: Rows
    read: ReadVectors
    known: PassageVectors | None = None


class VectorStore(Protocol):
    """Where the vectors of rows are kept."""

    dimension: int

    def vectors_at(self, own: NDArray[np.int64]) -> VectorPlaces:
        """Return vectors by their places among all vectors."""
        ...

    def vector_places(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where the vectors of rows are; `NO_VECTOR` or `UNREAD` for one that is not."""
        ...

    def put_vectors(self, places: NDArray[np.int64], vectors: Vectors) -> None:
        """Add the vectors of rows of which they were not read."""
        ...


class LateVectors:
    """Rows of vectors, a segment of a column, of which some are read when they are looked at.

    Args:
        store: Where vectors are kept, and those are put that were read.
        places: int64 [n], the places of the rows there.
        numbers: int32 [n], those of the nodes.
        later: What reads vectors.
    """

    def __init__(
        self, store: VectorStore, places: NDArray[np.int64], numbers: Rows, later: VectorsLater
    ) -> None:
        self._store, self._places, self._numbers, self._later = store, places, numbers, later

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and of dimensions."""
        return len(self._places), self._store.dimension

    @cached_property
    def _every(self) -> VectorPlaces:
        return self._at(slice(None))

    def _at(self, rows: slice | NDArray[np.int64]) -> VectorPlaces:
        """Return the vectors of some rows, all of which are read then."""
        places = self._places[rows]
        own = self._store.vector_places(places)
        is_unread = own == UNREAD
        if is_unread.any():
            numbers, first = np.unique(self._numbers[rows][is_unread], return_index=True)
            vectors = self._later.read(freeze(numbers, np.int32))
            self._store.put_vectors(places[is_unread][first], vectors)
            own = self._store.vector_places(places)
        return self._store.vectors_at(own)

    @property
    def has_vector(self) -> Mask:
        """Which rows are not all zeros."""
        return self._every.has_vector

    @property
    def addresses(self) -> NDArray[np.int64]:
        """Where in memory each vector is; a row of zeros has none, and a number below 0."""
        return self._every.addresses

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Vectors:
        return self._at(rows)[:]

    def take(self, rows: NDArray[np.int64]) -> VectorPlaces | PassagesTaken | LateVectors:
        """Return the segment of some rows, of which nothing is read yet."""
        places, numbers, known = self._places[rows], self._numbers[rows], self._later.known
        if known is not None and known.has(numbers).all():
            return known.taken(numbers)
        own = self._store.vector_places(places)
        if (own == UNREAD).any():
            return LateVectors(self._store, places, numbers, self._later)
        return self._store.vectors_at(own)

    def compact(self) -> LateVectors:
        """Return the segment: its products keep its vectors side by side."""
        return self

    def products(self, query: Vectors) -> Vectors:
        """Return the dot products of the rows with a float32 vector: float32 [n]."""
        return self._every.products(query)

    def release_pages(self) -> None:
        """Do nothing: no file is mapped."""
