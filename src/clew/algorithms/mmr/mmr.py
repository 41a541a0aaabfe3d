"""Maximal marginal relevance: worth reading, and not like what is read already.

    next = argmax  share * worth(v) - (1 - share) * max over read u of cos(u, v)

Carbonell and Goldstein, SIGIR 1998. While nothing is read the worth alone decides. Greedy choice by values that can only fall is lazy
(Minoux 1978): what was worth less when it was last looked at need not be looked at again. Up to one product per candidate and choice, in
practice a few per choice after the first.

What belongs to one topic is alike, and no less needed for it: of the cosine only the part above a floor may be counted,
max(0, cos - floor) / (1 - floor). Floors differ from one embedding to another; `common` is what two candidates have in common on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Floats, Vectors, freeze


@dataclass(frozen=True, eq=False)
class MMRSelection:
    """The places `chosen`, in turn; those that did not fit (`passed`), and the room that was `left` when each of them did not."""

    chosen: NDArray[np.int64]
    passed: NDArray[np.int64]
    left: NDArray[np.int64]


def select_mmr(
    vectors: Vectors,
    worth: Floats,
    share: float = 0.5,
    most: int | None = None,
    *,
    costs: Any = None,
    budget: int = 0,
    before: Any = None,
    floor: float | None = None,
) -> MMRSelection:
    """Return the greedy choice. Of values that are equal (see `clew.algorithms.ranking`) the lower place is taken.

    Args:
        vectors: float32 [n, d], unit rows or zeros. worth: float64 [n].
        share: of the worth, in [0, 1]; the rest is that of the difference. most: choose at most so many; None for all.
        costs: int [n], and the `budget` that they are paid from: one that does not fit is passed over; None: all fit.
        before: float32 [m, d], what is read already. floor: of the cosine, below 1; None counts all of it, also below 0.
    """
    from clew.algorithms.mmr.kernels import greedy

    if not 0 <= share <= 1:
        raise ValueError(f"share is from 0, difference alone, to 1, worth alone; got {share}")
    if floor is not None and not floor < 1:
        raise ValueError(f"floor is a cosine below 1, or None; got {floor}")
    n = len(worth)
    most = n if most is None else max(0, min(n, most))
    read = np.zeros((0, vectors.shape[1]), np.float32) if before is None else before
    paid = freeze(np.zeros(n) if costs is None else costs, np.int64)
    found = greedy(
        freeze(vectors, np.float32),
        freeze(worth, np.float64),
        paid,
        float(share),
        int(most),
        int(budget),
        freeze(read, np.float32),
        float("nan") if floor is None else float(floor),
    )
    return MMRSelection(*found)


def mean_cosine(vectors: Vectors) -> float:
    """Return the mean product of two different rows: what any two of them have in common; 0 for fewer than two."""
    n = len(vectors)
    if n < 2:
        return 0.0
    rows = vectors.astype(np.float64)
    return float((np.square(rows.sum(axis=0)).sum() - np.square(rows).sum()) / (n * (n - 1)))
