"""Long tuples of which a change takes a few entries, or brings some: the other runs stay whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Entry = TypeVar("Entry")

MIN_RUN = 16  # entries in a row for which they are taken together
MAX_GAPS = 1000  # of two tuples of names; with more, one is looked up in a table of the other
LONGEST = 8192  # entries that are compared at once


def pick(column: Sequence[Entry], rows: NDArray[np.integer[Any]]) -> tuple[Entry, ...]:
    """Return some entries of a tuple.

    Example:
        >>> pick(("a", "b", "c", "d"), np.array([0, 1, 3]))
        ('a', 'b', 'd')
    """
    breaks = np.flatnonzero(rows[1:] - rows[:-1] != 1) + 1
    if len(rows) < MIN_RUN * (len(breaks) + 1):
        return tuple(map(column.__getitem__, rows.tolist()))
    runs = pairwise([0, *breaks.tolist(), len(rows)])
    return tuple(chain.from_iterable(column[int(rows[a]) : int(rows[b - 1]) + 1] for a, b in runs))


def places_among(
    names: tuple[str, ...], others: tuple[str, ...], *, are_sorted: bool = False
) -> NDArray[np.int32]:
    """Return where each of some names is among others: int32 [names]; -1 where it is not.

    Names are distinct. Where both are sorted and have much in common, hardly any is looked up.

    Args:
        names: the names.
        others: the others.
        are_sorted: whether both are known to be sorted.

    Example:
        >>> places_among(("isle", "port", "sea"), ("isle", "quay", "sea"))
        array([ 0, -1,  2], dtype=int32)
    """
    places = np.full(len(names), -1, np.int32)
    i = j = 0
    for _ in range(MAX_GAPS):
        n = common_length(names, others, i, j)
        places[i : i + n] = np.arange(j, j + n)
        i, j = i + n, j + n
        if i == len(names) or j == len(others):
            are_sorted = are_sorted or bool((places >= 0).all())
            if are_sorted or (_are_sorted(names) and _are_sorted(others)):
                return places
            break
        if names[i] < others[j]:
            i += 1
        else:
            j += 1
    place_of = {name: place for place, name in enumerate(others)}
    return np.array([place_of.get(name, -1) for name in names], np.int32)


def _are_sorted(names: tuple[str, ...]) -> bool:
    return all(map(str.__lt__, names, names[1:]))


def common_length(one: Sequence[Entry], other: Sequence[Entry], i: int, j: int) -> int:
    """Return how many entries are the same in two tuples or lists from two places on.

    Example:
        >>> common_length("the sea", "a sea", 3, 1)
        4
    """
    n, found, size, is_near = min(len(one) - i, len(other) - j), 0, 64, False
    while found < n:
        size = min(size, n - found)
        if one[i + found : i + found + size] == other[j + found : j + found + size]:
            found += size
            size = size if is_near else min(2 * size, LONGEST)
        elif size == 1:
            break
        else:
            size, is_near = size // 2, True
    return found
