"""Maximal marginal relevance: worth reading, and not like what is read already.

    next = argmax  share * worth(v) - (1 - share) * max over read u of cos(u, v)

Carbonell and Goldstein, SIGIR 1998. While nothing is read the worth alone decides. Greedy choice by values that can only fall is lazy
(Minoux 1978): what was worth less when it was last looked at need not be looked at again. Up to one product per candidate and choice, in
practice a few per choice after the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Floats, Vectors, frozen


@dataclass(frozen=True, eq=False)
class Diverse:
    """The places `chosen`, in turn; those that did not fit (`passed`), and the room that was `left` when each of them did not."""

    chosen: NDArray[np.int64]
    passed: NDArray[np.int64]
    left: NDArray[np.int64]


def diverse(
    vectors: Vectors, worth: Floats, share: float = 0.5, most: int | None = None, *, costs: Any = None, budget: int = 0, before: Any = None
) -> Diverse:
    """Return the greedy choice. Values are compared to nine decimals, and the lower place of equals is taken.

    Args:
        vectors: float32 [n, d], unit rows or zeros; their products are taken to six decimals. worth: float64 [n].
        share: of the worth, in [0, 1]; the rest is that of the difference. most: choose at most so many; None for all.
        costs: int [n], and the `budget` that they are paid from: one that does not fit is passed over; None: all fit.
        before: float32 [m, d], what is read already.
    """
    from clew.algorithms.kernels.diverse import greedy

    if not 0 <= share <= 1:
        raise ValueError(f"share is from 0, difference alone, to 1, worth alone; got {share}")
    n = len(worth)
    most = n if most is None else max(0, min(n, most))
    read = np.zeros((0, vectors.shape[1]), np.float32) if before is None else before
    paid = frozen(np.zeros(n) if costs is None else costs, np.int64)
    found = greedy(
        frozen(vectors, np.float32), frozen(worth, np.float64), paid, float(share), int(most), int(budget), frozen(read, np.float32)
    )
    return Diverse(*found)
