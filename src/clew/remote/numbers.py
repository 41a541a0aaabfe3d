"""Numbers among many others that ascend: looked up one by one, so that the many cost little."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Mask


def is_among(numbers: NDArray[Any], ascending: NDArray[Any]) -> Mask:
    """Return which numbers are among others: bool [n], as `np.isin` does.

    Args:
        numbers: [n], in any order.
        ascending: [m]; a hundred thousand are not gone through.

    Example:
        >>> is_among(np.array([7, 3, 9]), np.array([1, 3, 7])).tolist()
        [True, True, False]
    """
    if not len(ascending):
        return np.zeros(len(numbers), np.bool_)
    places = np.searchsorted(ascending, numbers)
    found: Mask = ascending.take(places, mode="clip") == numbers
    return found
