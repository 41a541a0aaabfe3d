"""Where things stand in a layered drawing: columns with few crossings, and lines nearly straight.

The nodes of a column are ordered by the means of their neighbours, to and fro, and the order with
the fewest crossings stays (Sugiyama, Tagawa and Toda 1981). Heights are the optimum of a linear
program that SciPy solves: the least total length of all lines with nothing overlapping (Gansner,
Koutsofios, North and Vo 1993).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import NamedTuple

import numpy as np

SWEEPS = 12
GAP = 14.0  # pixels between two things of a column

Column = list[int]


class Segment(NamedTuple):
    """A line between things of neighbouring columns: both ends, and how straight it should be."""

    left: int
    right: int
    weight: float


def ordered_columns(
    columns: Sequence[Column], segments: Sequence[Segment], fixed: AbstractSet[int] = frozenset()
) -> list[Column]:
    """Return the columns, each in the order with the fewest crossings that was found.

    Args:
        columns: The things of each column, in the order that is kept where nothing crosses.
        segments: The lines between things of neighbouring columns.
        fixed: Things that keep their order among each other.

    Example:
        >>> lines = [Segment(0, 3, 1.0), Segment(1, 2, 1.0)]
        >>> ordered_columns([[0, 1], [2, 3]], lines)
        [[0, 1], [3, 2]]
    """
    left_of: dict[int, list[int]] = {}
    right_of: dict[int, list[int]] = {}
    for left, right, _ in segments:
        right_of.setdefault(left, []).append(right)
        left_of.setdefault(right, []).append(left)
    best = [list(column) for column in columns]
    fewest = crossings(best, segments)
    current = [list(column) for column in columns]
    for sweep in range(SWEEPS):
        if not fewest:
            break
        forward = sweep % 2 == 0
        for at in range(1, len(current)) if forward else range(len(current) - 2, -1, -1):
            before = current[at - 1 if forward else at + 1]
            _sort_by_means(current[at], before, left_of if forward else right_of, fixed)
        number = crossings(current, segments)
        if number < fewest:
            best, fewest = [list(column) for column in current], number
    return best


def crossings(columns: Sequence[Column], segments: Sequence[Segment]) -> int:
    """Return how many pairs of lines cross.

    Example:
        >>> crossings([[0, 1], [2, 3]], [Segment(0, 3, 1.0), Segment(1, 2, 1.0)])
        1
    """
    place = {thing: (x, y) for x, column in enumerate(columns) for y, thing in enumerate(column)}
    ends: dict[int, list[tuple[int, int]]] = {}
    for left, right, _ in segments:
        x, y = place[left]
        ends.setdefault(x, []).append((y, place[right][1]))
    total = 0
    for pairs in ends.values():
        lefts, rights = np.array(pairs, np.int64).T
        above = lefts[:, None] < lefts[None, :]
        total += int((above & (rights[:, None] > rights[None, :])).sum())
    return total


def heights_of_columns(
    columns: Sequence[Column], segments: Sequence[Segment], sizes: Sequence[float]
) -> list[float]:
    """Return the height of the middle of each thing, so that lines are short and nothing overlaps.

    Args:
        columns: The things of each column, from above. Things are numbered from 0.
        segments: The lines between things of neighbouring columns.
        sizes: How high each thing is, in pixels.

    Returns:
        Pixels below the upper edge, by number.

    Example:
        >>> heights_of_columns([[0], [1, 2]], [Segment(0, 2, 1.0)], [10.0, 20.0, 20.0])
        [44.0, 10.0, 44.0]
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    number = len(sizes)
    rows: list[tuple[int, int, float]] = []  # of the matrix: row, column and value
    limits: list[float] = []
    for column in columns:  # what stands below stands far enough below
        for above, below in pairwise(column):
            rows += [(len(limits), above, 1.0), (len(limits), below, -1.0)]
            limits.append(-(sizes[above] + sizes[below]) / 2 - GAP)
    costs = [0.0] * number
    for at, (left, right, weight) in enumerate(segments):  # its length, up or down
        for sign in (1.0, -1.0):
            place = len(limits)
            rows += [(place, left, sign), (place, right, -sign), (place, number + at, -1.0)]
            limits.append(0.0)
        costs.append(weight)
    if not limits:
        return [size / 2 for size in sizes]
    across, down, values = zip(*rows, strict=True)
    matrix = csr_array((values, (across, down)), shape=(len(limits), len(costs)))
    lowest = np.array([size / 2 for size in sizes] + [0.0] * len(segments))
    # The least sum of heights, times little, decides between optima: the drawing is not loose.
    costs[:number] = [1e-4] * number
    solved = milp(
        costs,  # no variable is a whole number: it is solved as a linear program
        constraints=LinearConstraint(matrix, -np.inf, np.array(limits)),
        bounds=Bounds(lowest, np.inf),
    )
    if not solved.success:
        raise RuntimeError(f"no heights were found for the drawing: {solved.message}")
    return [round(float(height), 1) for height in solved.x[:number]]


def _sort_by_means(
    column: Column, before: Column, neighbours: Mapping[int, list[int]], fixed: AbstractSet[int]
) -> None:
    """Sort a column by the mean place of each thing's neighbours; what has none stays in place."""
    place = {thing: y for y, thing in enumerate(before)}
    scale = len(column) / max(1, len(before))
    keys = {}
    for y, thing in enumerate(column):
        near = [place[other] for other in neighbours.get(thing, ()) if other in place]
        is_free = near and thing not in fixed
        keys[thing] = (sum(near) / len(near) + 0.5) * scale if is_free else y + 0.5
    column.sort(key=lambda thing: keys[thing])
