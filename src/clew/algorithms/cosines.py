"""The cosine of a query vector with many rows, computed so that equal rows have equal cosines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clew.algorithms.kernels.mixing import above_noise
from clew.algorithms.ranking import TOLERANCE, equalize
from clew.graph import (
    AnyVectors,
    Floats,
    VectorColumn,
    Vectors,
    freeze,
    has_vector,
    products,
)

LOW = 0.25  # where no cosine is higher, float32 noise may exceed the tolerance of such low scores


def cosines(vectors: AnyVectors, query: Vectors) -> Floats:
    """Return the cosine of every unit row with a unit query vector, float64 [n].

    Equal rows have equal cosines, wherever they are. Cosines that are no more than noise are 0.

    Args:
        vectors: float32 [n, d], unit rows or zeros.
        query: [d], a unit vector.

    Raises:
        ValueError: the query vector is not as wide as the rows.

    Example:
        >>> cosines(np.array([[1, 0], [0, 1]], np.float32), np.array([0.6, 0.8])).round(6).tolist()
        [0.6, 0.8]
    """
    return as_cosines(compare(vectors, query).products)


class Compared(NamedTuple):
    """What rows and a vector have in common, computed once for all who compare them.

    Attributes:
        vectors: float32 [n, d], unit rows or zeros.
        query: [d], a unit vector.
        products: float32 [n], their dot products.
    """

    vectors: AnyVectors
    query: Vectors
    products: Vectors


def compare(vectors: AnyVectors, query: Vectors) -> Compared:
    """Return the dot products of rows with a vector.

    Args:
        vectors: as in `cosines`.
        query: as in `cosines`.

    Raises:
        ValueError: the query vector is not as wide as the rows.
    """
    check_width(vectors, query)
    return Compared(vectors, query, products(vectors, query.astype(np.float32)))


def as_cosines(products: Vectors) -> Floats:
    """Return what `cosines` returns, of dot products with all rows or with some.

    Args:
        products: float32 [n].

    Example:
        >>> as_cosines(np.float32([0.5, 1e-9])).tolist()
        [0.5, 0.0]
    """
    scores: Floats = above_noise(products, TOLERANCE)
    return equalize(scores, 1.0) if scores.max(initial=0) < LOW else scores


def check_width(vectors: AnyVectors, query: Vectors) -> None:
    """Raise ValueError where a query vector is not as wide as the rows.

    Args:
        vectors: [n, d].
        query: [d].
    """
    if vectors.shape[1] != len(query):
        raise ValueError(
            f"the query vector has {len(query)} dimensions and the graph's have {vectors.shape[1]}:"
            " embed both with one model"
        )


def as_compared(vectors: AnyVectors, query: Vectors) -> tuple[Vectors, Vectors]:
    """Return an array of rows and a vector that have the dot products of vectors and a query.

    A compiled search, which multiplies a row when it comes there, takes an array alone. Of a column
    in segments, or of one that has no array, it gets the products, and beside each whether the row
    has a vector.

    Args:
        vectors: float32 [n, d], unit rows or zeros.
        query: float32 [d], a unit vector.

    Example:
        >>> from clew.graph import DenseSegment
        >>> rows = np.array([[[1, 0]], [[0, 0]]], np.float32)
        >>> column = VectorColumn([DenseSegment(row) for row in rows])
        >>> [each.tolist() for each in as_compared(column, np.array([0.5, 0], np.float32))]
        [[[0.5, 1.0], [0.0, 0.0]], [1.0, 0.0]]
    """
    if not isinstance(vectors, VectorColumn):
        return vectors, query
    if len(vectors.segments) == 1:
        array: Vectors | None = getattr(vectors.segments[0], "array", None)
        if array is not None:
            return array, query
    check_width(vectors, query)
    columns = products(vectors, query), has_vector(vectors)
    return freeze(np.column_stack(columns), np.float32), freeze([1, 0], np.float32)
