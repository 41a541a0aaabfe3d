"""Clusters around medoids, from distances alone: partitioning around medoids (Kaufman and Rousseeuw 1990, chapter 2).

The k medoids M minimise sum_i min_{m in M} D[i, m]. BUILD takes them one by one, each the greatest fall of the sum; SWAP exchanges a medoid
for another point as long as that lowers it, all exchanges of a round being priced at once (Schubert and Rousseeuw 2019, eq. 12).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import summable

ROUNDS = 100


def k_medoids(distances: NDArray[Any], k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the medoids, int64 [k], in rising order, and the number of each point's medoid among them, int64 [n].

    Args:
        distances: float [n, n], >= 0, with a zero diagonal; D[i, j] is the distance of i from j. k: from 1 to n.

    Raises:
        ValueError: the distances are not square, or k is out of its range.
    """
    n = len(distances)
    if distances.shape != (n, n) or not 1 <= k <= n:
        raise ValueError(
            f"wanted a square matrix and a number of clusters from 1 to its size; got shape {distances.shape} and k = {k}"
        )
    distances = summable(distances.ravel()).reshape(
        n, n
    )  # so that sums of equal distances are equal
    medoids = _built(distances, k)
    for _ in range(ROUNDS):
        swap = _swap(distances, medoids)
        if swap is None:
            break
        medoids[swap[0]] = swap[1]
    medoids = np.sort(medoids)
    labels = np.argmin(distances[:, medoids], axis=1)
    labels[medoids] = np.arange(k)  # also where two medoids are at the same place
    return medoids, labels


def _built(distances: NDArray[Any], k: int) -> NDArray[np.int64]:
    D = distances
    medoids = [int(np.argmin(D.sum(axis=0)))]
    nearest = D[:, medoids[0]].copy()
    while len(medoids) < k:
        gain = np.maximum(nearest[:, None] - D, 0).sum(axis=0)
        gain[medoids] = -1
        medoids.append(int(np.argmax(gain)))
        nearest = np.minimum(nearest, D[:, medoids[-1]])
    return np.array(medoids, np.int64)


def _swap(distances: NDArray[Any], medoids: NDArray[np.int64]) -> tuple[int, int] | None:
    """The exchange (place among the medoids, new point) that lowers the sum most, or None."""
    D, n, k = distances, len(distances), len(medoids)
    to = D[:, medoids]
    order = np.argsort(to, axis=1, kind="stable")
    label, first = order[:, 0], np.take_along_axis(to, order[:, :1], 1)[:, 0]
    second = np.take_along_axis(to, order[:, 1:2], 1)[:, 0] if k > 1 else np.full(n, np.inf)
    closer = np.minimum(
        D - first[:, None], 0
    )  # what a new medoid brings to points that keep theirs
    lost = (
        np.minimum(D, second[:, None]) - first[:, None] - closer
    )  # and what those of the removed one pay beside that
    change = closer.sum(axis=0)[None, :] + np.stack(
        [lost[label == m].sum(axis=0) for m in range(k)]
    )
    change[:, medoids] = 0
    best = int(np.argmin(change))
    m, point = divmod(best, n)
    return (m, point) if change[m, point] < -1e-12 * max(1.0, float(first.sum())) else None


def classical_scaling(distances: NDArray[Any], dimensions: int = 2) -> NDArray[np.float64]:
    """Return points, float64 [n, dimensions], whose distances are near the given ones: classical multidimensional scaling (Torgerson 1952).

    B = -J D^2 J / 2 with J the centring matrix; the points are the leading eigenvectors of B, each as long as the root of its eigenvalue.
    """
    n = len(distances)
    square = np.asarray(distances, np.float64) ** 2
    B = -(square - square.mean(axis=0)[None, :] - square.mean(axis=1)[:, None] + square.mean()) / 2
    values, vectors = np.linalg.eigh((B + B.T) / 2)
    points = np.zeros((n, dimensions))
    for axis, which in enumerate(np.argsort(-values, kind="stable")[:dimensions]):
        vector = vectors[:, which] * np.sqrt(max(0.0, float(values[which])))
        points[:, axis] = (
            vector if vector[np.argmax(np.abs(vector))] >= 0 else -vector
        )  # one of the two signs, always the same
    return points
