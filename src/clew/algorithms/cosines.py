"""The cosine of a query vector with many rows, computed so that equal rows have equal cosines."""

from __future__ import annotations

import numpy as np

from clew.algorithms.ranking import equalize, exceeds
from clew.graph import Floats, Vectors

LOW = 0.25  # where no cosine is higher, float32 noise may exceed the tolerance of such low scores


def cosines(vectors: Vectors, query: Vectors) -> Floats:
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
    check_width(vectors, query)
    # Not `@`: BLAS sums in an order that depends on the row's place and the number of threads.
    products = np.einsum("ij,j->i", vectors, query.astype(np.float32))
    scores: Floats = products.astype(np.float64)
    scores[~exceeds(np.abs(scores), 0.0)] = 0.0
    return equalize(scores, 1.0) if scores.max(initial=0) < LOW else scores


def check_width(vectors: Vectors, query: Vectors) -> None:
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
