"""Rows of a column of vectors that have no vector, and take no room."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.graph.columns import Mask, Vectors, freeze
from clew.graph.vector_column import AnyVectors, VectorColumn, VectorSegment

NOTHING = freeze([0.0], np.float32)
"""The one thing that all rows without a vector have, and none to itself."""


@dataclass(frozen=True)
class BareSegment:
    """Rows without vectors, which read as zeros; see `VectorSegment`.

    Attributes:
        n: the number of rows.
        width: the number of dimensions of the column's other rows.

    Example:
        >>> segment = BareSegment(3, 2)
        >>> segment.has_vector.any(), segment[1:].tolist()
        (np.False_, [[0.0, 0.0], [0.0, 0.0]])
    """

    n: int
    width: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.width

    @property
    def has_vector(self) -> Mask:
        return np.zeros(self.n, np.bool_)

    @property
    def addresses(self) -> NDArray[np.int64]:
        return np.full(self.n, NOTHING.ctypes.data, np.int64)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Vectors:
        n = len(range(*rows.indices(self.n))) if isinstance(rows, slice) else len(rows)
        return np.zeros((n, self.width), np.float32)

    def take(self, rows: NDArray[np.int64]) -> BareSegment:
        return BareSegment(len(rows), self.width)

    def compact(self) -> BareSegment:
        return self

    def products(self, query: Vectors) -> Vectors:
        return np.zeros(self.n, np.float32)

    def release_pages(self) -> None:
        """Do nothing: there are none."""


def bare_rows(vectors: AnyVectors) -> Mask:
    """Return which rows are in segments without vectors: bool [n].

    Example:
        >>> bare_rows(with_bare_rows(np.eye(2, dtype=np.float32), np.array([False, True, False])))
        array([False,  True, False])
    """
    segments = VectorColumn.of(vectors).segments
    return np.concatenate([np.full(one.shape[0], isinstance(one, BareSegment)) for one in segments])


def with_bare_rows(vectors: AnyVectors, is_bare: Mask) -> AnyVectors:
    """Return vectors with rows without any among them.

    Args:
        vectors: float32 [m, d], of the other rows.
        is_bare: bool [n], with m rows that are False.

    Example:
        >>> with_bare_rows(np.eye(2, dtype=np.float32), np.array([False, True, False]))[:].tolist()
        [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    """
    return with_bare_runs(vectors, runs_of(is_bare))


def runs_of(is_bare: Mask) -> NDArray[np.int64]:
    """Return the lengths of runs of rows: with vectors first, then without, and so on by turns.

    Example:
        >>> runs_of(np.array([True, True, False])).tolist(), runs_of(np.array([False])).tolist()
        ([0, 2, 1], [1])
    """
    changes = np.flatnonzero(np.diff(is_bare, prepend=False))
    return np.diff(changes, prepend=0, append=len(is_bare))


def with_bare_runs(vectors: AnyVectors, runs: NDArray[np.int64]) -> AnyVectors:
    """Return what `with_bare_rows` does, given the lengths of the runs.

    Args:
        vectors: float32 [m, d], of the rows that have some.
        runs: as `runs_of` returns them.

    Raises:
        ValueError: the runs do not fit the vectors.
    """
    if (runs < 0).any() or runs[::2].sum() != len(vectors):
        raise ValueError(f"runs of {runs.tolist()} rows do not fit {len(vectors)} vectors")
    if len(runs) == 1:
        return vectors
    column, width = VectorColumn.of(vectors), vectors.shape[1]
    segments, first = list[VectorSegment](), 0
    for place, n in enumerate(runs.tolist()):
        if place % 2:
            segments.append(BareSegment(n, width))
        elif n:
            segments += column.take(np.arange(first, first + n)).segments
            first += n
    return VectorColumn(segments)
