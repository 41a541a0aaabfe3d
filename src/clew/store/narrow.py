"""Whole numbers in the narrowest type that they fit, which halves the bytes of a large graph.

They are widened again when they are read, but for those that are worked with as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import offsets_of

STARTS = ".starts"
WIDE = (np.dtype(np.int32), np.dtype(np.int64))
UNSIGNED = (np.uint8, np.uint16, np.int32)
SIGNED = (np.int8, np.int16, np.int32)
TERMS = re.compile(r"(nodes|facts)\.bags\.terms\.columns")
"""Columns that are looked up in place, in the type that pieces have."""

AS_THEY_ARE = re.compile(
    r"strings\.(bytes|blocks)|changes\.[0-9]+|words\.(language_of_node|postings\.counts)"
    r"|bags\.signatures\.columns|(nodes|facts)\.bags\.(pieces|terms)\.(columns|counts)"
    r"|(nodes|facts)\.rounded\.codes"
)
"""Columns that are read in the type that they have on the disk."""


def narrowed(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return arrays with whole numbers in the narrowest type that all of an array fit.

    Example:
        >>> narrowed({"edges.tails": np.array([3, 300], np.int32)})["edges.tails"].dtype
        dtype('uint16')
    """
    result: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        if name.endswith(STARTS) and array.ndim == 1 and len(array) > 1 and array[0] == 0:
            name, array = _lengths(name), np.diff(array)  # written instead
        result[name] = _narrowed(name, array)
    return result


def _lengths(name: str) -> str:
    return name.removesuffix(STARTS) + ".lengths"


def widening(array: Callable[[str], NDArray[Any]]) -> Callable[[str], NDArray[Any]]:
    """Return the function from a name to its array that has what was narrowed as int32.

    Where lists start is on the disk as how long each is.

    Args:
        array: returns arrays as they are on the disk, by name.
    """

    def widened(name: str) -> NDArray[Any]:
        try:
            found = array(name)
        except (KeyError, ValueError):
            if not name.endswith(STARTS):
                raise
            return _starts_of(array, name)
        is_narrow = found.dtype.kind in "iu" and found.dtype.itemsize < WIDE[0].itemsize
        if not is_narrow or AS_THEY_ARE.fullmatch(name):
            return found
        return found.astype(np.int32)

    return widened


def _starts_of(array: Callable[[str], NDArray[Any]], name: str) -> NDArray[np.int64]:
    try:
        lengths = array(_lengths(name))
    except (KeyError, ValueError) as error:
        raise ValueError(f"{name} is missing") from error
    return offsets_of(lengths)


def _narrowed(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if not isinstance(array, np.ndarray) or array.dtype not in WIDE or not array.size:
        return array
    least, most = int(array.min()), int(array.max())
    types: tuple[type[np.integer[Any]], ...] = SIGNED if least < 0 else UNSIGNED
    if TERMS.fullmatch(name):
        types = (np.uint16,)
    fitting = (each for each in types if np.iinfo(each).min <= least <= most <= np.iinfo(each).max)
    narrow = next(fitting, None)
    return array if narrow is None else array.astype(narrow, copy=False)
