"""The cosine of a question with many rows, so that its noise stays below the tolerance of equal scores."""

from __future__ import annotations

import numpy as np

from clew.algorithms.ranking import equalized, exceeds
from clew.graph import Floats

LOW = 0.25  # where no cosine is higher, the noise of float32 may be more than the tolerance of scores of their size


def cosines(vectors: np.ndarray, query: np.ndarray) -> Floats:
    """Return the cosine of every unit row with a unit vector; equal rows have equal cosines, wherever they stand.

    What is no more than noise is 0: a passage that has nothing in common with a question is not touched by it.
    """
    same_width(vectors, query)
    # Not `@`: BLAS sums in an order that depends on the row's place and the number of threads.
    found: Floats = np.einsum("ij,j->i", vectors, query.astype(np.float32)).astype(np.float64)
    found[~exceeds(np.abs(found), 0.0)] = 0.0
    return equalized(found, 1.0) if found.max(initial=0) < LOW else found


def same_width(vectors: np.ndarray, query: np.ndarray) -> None:
    """Raise ValueError where a question's vector is not as wide as the rows."""
    if vectors.shape[1] != len(query):
        raise ValueError(
            f"the question's vector has {len(query)} dimensions and the graph's have {vectors.shape[1]}: embed both with one model"
        )
