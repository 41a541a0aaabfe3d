"""Clusters around medoids, from distances alone; and points in the plane for them.

Partitioning around medoids (Kaufman and Rousseeuw 1990, chapter 2): the k medoids M minimise sum_i
min_{m in M} D[i, m]. BUILD adds them one by one, each with the greatest decrease of the sum. SWAP
exchanges a medoid for another point as long as that lowers the sum; all exchanges of a round are
evaluated at once (Schubert and Rousseeuw 2019, eq. 12).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.ranking import make_summable
from clew.graph import Floats

MAX_SWAPS = 100


def k_medoids(distances: Floats, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the medoids, int64 [k], ascending, and each point's medoid, int64 [n].

    A point's medoid is a number from 0 to k - 1.

    Args:
        distances: float [n, n], >= 0, with a zero diagonal; D[i, j] is the distance of i from j.
        k: number of clusters, from 1 to n.

    Raises:
        ValueError: the distances are not square, or k is out of its range.

    Example:
        >>> points = np.array([0.0, 1.0, 9.0, 10.0, 11.0])
        >>> medoids, labels = k_medoids(np.abs(points[:, None] - points), 2)
        >>> medoids.tolist(), labels.tolist()
        ([0, 3], [0, 0, 1, 1, 1])
    """
    n = len(distances)
    if distances.shape != (n, n) or not 1 <= k <= n:
        raise ValueError(
            "wanted a square matrix and a number of clusters from 1 to its size;"
            f" got shape {distances.shape} and k = {k}"
        )
    # Rounded, so that sums of equal distances are equal.
    rounded = make_summable(distances.ravel()).reshape(n, n)
    medoids = _build_medoids(rounded, k)
    for _ in range(MAX_SWAPS):
        swap = _best_swap(rounded, medoids)
        if swap is None:
            break
        medoids[swap[0]] = swap[1]
    medoids = np.sort(medoids)
    labels = np.argmin(rounded[:, medoids], axis=1)
    labels[medoids] = np.arange(k)  # also where two medoids are at the same place
    return medoids, labels


def _build_medoids(distances: Floats, k: int) -> NDArray[np.int64]:
    D = distances
    medoids = [int(np.argmin(D.sum(axis=0)))]
    nearest = D[:, medoids[0]].copy()
    while len(medoids) < k:
        decrease = np.maximum(nearest[:, None] - D, 0).sum(axis=0)
        decrease[medoids] = -1
        medoids.append(int(np.argmax(decrease)))
        nearest = np.minimum(nearest, D[:, medoids[-1]])
    return np.array(medoids, np.int64)


def _best_swap(distances: Floats, medoids: NDArray[np.int64]) -> tuple[int, int] | None:
    """Return the exchange (place of the medoid, new point) that lowers the sum most, or None."""
    D, n, k = distances, len(distances), len(medoids)
    to_medoids = D[:, medoids]
    order = np.argsort(to_medoids, axis=1, kind="stable")
    label = order[:, 0]
    first = np.take_along_axis(to_medoids, order[:, :1], 1)[:, 0]
    second = np.full(n, np.inf)
    if k > 1:
        second = np.take_along_axis(to_medoids, order[:, 1:2], 1)[:, 0]
    # The change for points that keep their medoid; what the removed medoid's points pay beside it.
    closer = np.minimum(D - first[:, None], 0)
    loss = np.minimum(D, second[:, None]) - first[:, None] - closer
    losses = np.stack([loss[label == medoid].sum(axis=0) for medoid in range(k)])
    change = closer.sum(axis=0)[None, :] + losses
    change[:, medoids] = 0
    medoid, point = divmod(int(np.argmin(change)), n)
    improves = change[medoid, point] < -1e-12 * max(1.0, float(first.sum()))
    return (medoid, point) if improves else None


def classical_scaling(distances: Floats, dimensions: int = 2) -> Floats:
    """Return points whose distances approximate the given ones, float64 [n, dimensions].

    Classical multidimensional scaling (Torgerson 1952): B = -J D^2 J / 2 with the centring matrix
    J. The points are the leading eigenvectors of B, each scaled by the root of its eigenvalue.

    Args:
        distances: float [n, n], symmetric.
        dimensions: of the points.

    Example:
        >>> classical_scaling(np.array([[0.0, 2.0], [2.0, 0.0]]), 1).round(6).tolist()
        [[1.0], [-1.0]]
    """
    n = len(distances)
    square = np.asarray(distances, np.float64) ** 2
    B = -(square - square.mean(axis=0)[None, :] - square.mean(axis=1)[:, None] + square.mean()) / 2
    values, vectors = np.linalg.eigh((B + B.T) / 2)
    points = np.zeros((n, dimensions))
    for axis, leading in enumerate(np.argsort(-values, kind="stable")[:dimensions]):
        vector = vectors[:, leading] * np.sqrt(max(0.0, float(values[leading])))
        is_flipped = vector[np.argmax(np.abs(vector))] < 0  # always the same one of the two signs
        points[:, axis] = -vector if is_flipped else vector
    return points
