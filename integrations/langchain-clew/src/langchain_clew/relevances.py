"""How relevant a document is, as its store means it, read from its vector.

A store maps its own scores to a relevance from 0 to 1 and has no call for that of one document.
The documents of a search have both, a relevance and a vector, and show what the store maps: the
cosine, the product or a distance, by a straight line. Where they lie on none, nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Rows = NDArray[np.float64]
Measure = Callable[[Rows, Rows], Rows]

MIN_KNOWN = 3  # documents: any two lie on a line
TOLERANCE = 1e-4  # of a relevance, for stores that compute in float32
MIN_SPREAD = 0.01  # of the measure: nearer ones say too little of what is further away


def _cosines(rows: Rows, asked: Rows) -> Rows:
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(asked)
    cosines: Rows = np.divide(
        _products(rows, asked), lengths, out=np.zeros(len(rows)), where=lengths > 0
    )
    return cosines


def _products(rows: Rows, asked: Rows) -> Rows:
    products: Rows = rows @ asked
    return products


def _distances(rows: Rows, asked: Rows) -> Rows:
    distances: Rows = np.linalg.norm(rows - asked, axis=1)
    return distances


def _squared_distances(rows: Rows, asked: Rows) -> Rows:
    return _distances(rows, asked) ** 2


MEASURES: tuple[Measure, ...] = (_cosines, _products, _squared_distances, _distances)


@dataclass(frozen=True, eq=False)
class Relevances:
    """A store's relevance to a question, as a straight line over a measure of two vectors.

    Attributes:
        question: The question's vector.
        measure: What the store maps.
        slope: By how much a relevance grows with it.
        start: The relevance where it is zero.
    """

    question: Rows
    measure: Measure
    slope: float
    start: float

    @classmethod
    def from_known(
        cls, question: ArrayLike, vectors: Mapping[str, ArrayLike], known: Mapping[str, float]
    ) -> Relevances | None:
        """Return what some documents show, or None where they show nothing.

        Args:
            question: The question's vector.
            vectors: Vectors of documents by id.
            known: The store's relevances of documents by id.

        Example:
            >>> vectors = {"a": [1, 0], "b": [0.6, 0.8], "c": [0, 1]}
            >>> halves = {"a": 1.0, "b": 0.8, "c": 0.5}
            >>> relevances = Relevances.from_known([1, 0], vectors, halves)
            >>> {id: round(one, 6) for id, one in relevances.of({"d": [-1, 0]}).items()}
            {'d': 0.0}
        """
        ids = [id for id in known if id in vectors]
        if len(ids) < MIN_KNOWN:
            return None
        asked, rows = np.asarray(question, np.float64), _rows([vectors[id] for id in ids])
        relevances = np.array([known[id] for id in ids])
        for measure in MEASURES:
            measured = measure(rows, asked)
            line = np.column_stack([measured, np.ones(len(ids))])
            (slope, start), *_ = np.linalg.lstsq(line, relevances, rcond=None)
            is_straight = np.abs(line @ [slope, start] - relevances).max() <= TOLERANCE
            if is_straight and np.ptp(measured) >= MIN_SPREAD:
                return cls(asked, measure, float(slope), float(start))
        return None

    def of(self, vectors: Mapping[str, ArrayLike]) -> dict[str, float]:
        """Return the relevance of each vector, by the same ids."""
        if not vectors:
            return {}
        measured = self.measure(_rows(vectors.values()), self.question)
        return dict(zip(vectors, (self.slope * measured + self.start).tolist(), strict=True))


def _rows(vectors: Iterable[ArrayLike]) -> Rows:
    return np.array([np.asarray(vector, np.float64) for vector in vectors])
