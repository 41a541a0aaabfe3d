"""Maximal marginal relevance (MMR): relevant, and not similar to what is chosen already.

    next = argmax  lambda_mult * relevance(v) - (1 - lambda_mult) * max over chosen u of cos(u, v)

Carbonell and Goldstein, SIGIR 1998. While nothing is chosen, the relevance alone decides. Values
can only fall, so the greedy choice is lazy (Minoux 1978): a candidate whose old value is not the
highest need not be looked at again. That is up to one product per candidate and choice, in practice
a few per choice after the first.

Candidates of one topic are similar, and not redundant for that. So only the part of the cosine
above a floor may count: max(0, cos - floor) / (1 - floor). Floors differ from one embedding to
another; `mean_cosine` is what two candidates have in common on average.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.graph import Floats, Vectors, freeze


@dataclass(frozen=True, eq=False)
class MMRSelection:
    """A greedy choice.

    Attributes:
        chosen: the places chosen, in order.
        passed: the places that did not fit into the budget, in order.
        left: for each of `passed`, what was left of the budget then.
    """

    chosen: NDArray[np.int64]
    passed: NDArray[np.int64]
    left: NDArray[np.int64]


def select_mmr(  # noqa: PLR0913 - one for each parameter of the published method, and a budget
    vectors: Vectors,
    relevance: Floats,
    lambda_mult: float = 0.5,
    k: int | None = None,
    *,
    costs: ArrayLike | None = None,
    budget: int = 0,
    selected: Vectors | None = None,
    floor: float | None = None,
) -> MMRSelection:
    """Return the greedy choice.

    Of equal values (see `clew.algorithms.ranking`) the lower place wins.

    Args:
        vectors: float32 [n, d], unit rows or zeros.
        relevance: float64 [n], of each candidate.
        lambda_mult: the weight of the relevance, in [0, 1]; the rest is that of the difference.
        k: greatest number of choices; None for all.
        costs: int [n], paid from the budget. A candidate that does not fit is passed over. None:
            all fit.
        budget: see `costs`.
        selected: float32 [m, d], the vectors of what is chosen already.
        floor: cosine below which nothing counts as similar, < 1. None counts all, also below 0.

    Raises:
        ValueError: a share or a floor out of range.

    Example:
        >>> vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
        >>> select_mmr(vectors, np.array([0.9, 0.8, 0.5]), 0.5, 2).chosen.tolist()
        [0, 2]
    """
    from clew.algorithms.mmr.kernels import select_greedily

    if not 0 <= lambda_mult <= 1:
        raise ValueError(
            f"lambda_mult is from 0, difference alone, to 1, relevance alone; got {lambda_mult}"
        )
    if floor is not None and not floor < 1:
        raise ValueError(f"floor is a cosine below 1, or None; got {floor}")
    n = len(relevance)
    nothing = np.zeros((0, vectors.shape[1]), np.float32)
    chosen, passed, left = select_greedily(
        freeze(vectors, np.float32),
        freeze(relevance, np.float64),
        freeze(np.zeros(n) if costs is None else costs, np.int64),
        freeze(nothing if selected is None else selected, np.float32),
        float(lambda_mult),
        float("nan") if floor is None else float(floor),
        (n if k is None else max(0, min(n, int(k))), int(budget)),
    )
    return MMRSelection(chosen, passed, left)


def mean_cosine(vectors: Vectors) -> float:
    """Return the mean product of two different rows; 0 for fewer than two rows.

    Args:
        vectors: float32 [n, d], unit rows or zeros.

    Example:
        >>> mean_cosine(np.array([[1, 0], [1, 0], [0, 1]], np.float32))
        0.3333333333333333
    """
    n = len(vectors)
    if n < 2:
        return 0.0
    rows = vectors.astype(np.float64)
    return float((np.square(rows.sum(axis=0)).sum() - np.square(rows).sum()) / (n * (n - 1)))
