"""Which scores are equal, and the order of scores: float noise decides nothing, and of equal scores the lower row comes first.

Two sums of the same numbers differ by the order in which they were added, which depends on the processor and the number of threads. So
scores are told apart by more than that: sorted from the highest down, the highest is a leader, and every score that is not more than the
tolerance below a leader is equal to it; the first score below that is the next leader. The tolerance is a millionth of the largest score
in absolute value, ten times the noise of float32.

Noise changes no group where no two scores differ, noise aside, by about the tolerance. A fixed grid of decimals has no such property: two
scores that ought to be equal may lie on both sides of one of its lines. And a group is never wider than the tolerance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1e-6  # of the largest score: what float32 sums are good for, with room
BITS = 32  # of a score that is to be summed: a millionth of the largest takes 20
GROUP, MANY = 64, 4096  # above so many scores, the best of groups tell which may be among the best

Scores = NDArray[np.float64]


def tolerance(scores: Any) -> float:
    """Return by how much two of these scores may differ and be equal."""
    values = np.asarray(scores, np.float64)
    return _tolerance(float(values.max()), float(values.min()), values) if values.size else 0.0


def top_k(
    scores: NDArray[Any], k: int | None = None, largest: float | None = None
) -> NDArray[np.int64]:
    """Return the rows of the `k` highest scores (all when None), best first; equal scores go by the lower row.

    `largest` is the score that the tolerance goes with, where these are some of many; by default the largest of these.

    O(n), and a sort of the k.
    """
    scores = np.asarray(scores, np.float64)
    n = len(scores)
    if not n or (k is not None and k <= 0):
        return np.zeros(0, np.int64)
    if k is None or k >= n:
        return _ranked(scores, _width(scores, largest))[0]
    groups = n // GROUP if n >= max(2 * GROUP * k, MANY) else 0
    tops = scores[: groups * GROUP].reshape(GROUP, groups).max(axis=0) if groups else scores
    rest = float(scores[groups * GROUP :].max(initial=-np.inf)) if groups else -np.inf
    width = (
        _tolerance(max(float(tops.max()), rest), float(scores.min()), scores)
        if largest is None
        else TOLERANCE * largest
    )
    rows: NDArray[np.int64] | None = None
    if groups:  # the k-th best of all is not below the k-th best of the groups
        rows = np.flatnonzero(scores >= np.partition(tops, groups - k)[groups - k] - width)
        scores = scores[rows]
    last = float(np.partition(scores, len(scores) - k)[len(scores) - k])
    above = np.flatnonzero(scores > last)
    order, falling, leads = _ranked(np.append(scores[above], last), width)
    sure = len(leads) - 1 - int(leads[::-1].argmax())  # all before the group that the k-th is in
    leader = falling[sure]
    equal = np.flatnonzero((scores <= leader) & (scores >= leader - width))
    found = np.concatenate([above[order[:sure]], equal[: k - sure]])
    return found if rows is None else rows[found]


def levels(scores: Any, largest: float | None = None) -> NDArray[np.int64]:
    """Return the number of each score's group: 0 for the scores that are equal to the highest, 1 for the next, and so on.

    `largest` as in `best`.
    """
    values = np.asarray(scores, np.float64)
    order, _, leads = _ranked(values, _width(values, largest))
    found = np.empty(len(values), np.int64)
    found[order] = np.cumsum(leads) - 1
    return found


def equalized(scores: Any, largest: float | None = None) -> Scores:
    """Return the scores with every one replaced by the highest that it is equal to: equal scores become the same number.

    `largest` as in `best`.
    """
    values: Scores = np.asarray(scores, np.float64)
    order, falling, leads = _ranked(values, _width(values, largest))
    found = np.empty(len(values))
    found[order] = falling[leads][np.cumsum(leads) - 1]
    return found


def summable(scores: Any, largest: float | None = None) -> Scores:
    """Return the scores equalized, and so few bits of each that a sum of up to a million of them is exact, in whatever order.

    Sums of equal scores are then equal too, and may be compared as they are. `largest` as in `best`.
    """
    values = equalized(scores, largest)
    return coarse(values, _width(values, largest) / TOLERANCE)


def coarse(scores: Any, largest: float) -> Scores:
    """Return the scores, of at most `largest`, with so few bits that sums are exact; for what is made of scores that are `summable`."""
    bits = BITS - int(np.frexp(largest)[1])
    found: Scores = np.ldexp(np.rint(np.ldexp(np.asarray(scores, np.float64), bits)), -bits)
    return found


def foremost(scores: Mapping[int, float], largest: float | None = None) -> int:
    """Return the lowest of the rows whose score is equal to the highest; `largest` as in `best`, by default the highest."""
    top = max(scores.values())
    return min(
        row
        for row, score in scores.items()
        if reaches(score, top, top if largest is None else largest)
    )


def reaches(scores: Any, least: Any, largest: float = 1.0) -> Any:
    """Return whether scores are at least `least`, where noise decides nothing: what is below it by the tolerance or less reaches it.

    `largest` is the largest, in absolute value, that the scores may be: 1 of cosines.
    """
    return scores >= least - TOLERANCE * abs(largest)


def exceeds(scores: Any, bar: Any, largest: float = 1.0) -> Any:
    """Return whether scores are above a bar, where noise decides nothing: what is above it by the tolerance or less does not exceed it."""
    return scores > bar + TOLERANCE * abs(largest)


def min_max_scale(scores: Any) -> Scores:
    """Return the scores moved and stretched to [0, 1]; where all are equal they become 1.

    Noise is stretched with them: rank before, or hand over scores that are `equalized`.
    """
    values: Scores = np.asarray(scores, np.float64)
    if not len(values):
        return values
    low, high = float(values.min()), float(values.max())
    return (
        (values - low) / (high - low)
        if exceeds(high, low, max(high, -low))
        else np.ones_like(values)
    )


def sharpened(scores: Any, sharpness: float) -> Scores:
    """Return the scores (>= 0) over the largest of them, to a power; equal ones become the same number, since a power stretches noise."""
    values: Scores = np.asarray(scores, np.float64)
    top = float(values.max(initial=0))
    if not top > 0:
        return values
    rows, found = (
        np.flatnonzero(values > 0),
        np.zeros(len(values)),
    )  # a power takes its time, and most have no score
    found[rows] = (equalized(values[rows], top) / top) ** sharpness
    return found


def _width(scores: Scores, largest: float | None) -> float:
    return tolerance(scores) if largest is None else TOLERANCE * largest


def _tolerance(highest: float, lowest: float, scores: Scores) -> float:
    largest = max(highest, -lowest)
    if not np.isfinite(largest):
        largest = float(np.abs(scores[np.isfinite(scores)]).max(initial=0))
    return TOLERANCE * largest


def _ranked(scores: Scores, width: float) -> tuple[NDArray[np.int64], Scores, NDArray[np.bool_]]:
    """The rows by the rule, the falling scores, and which of these lead a group."""
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    leads = _leaders(falling, width)
    if (
        ~leads[1:] & (falling[1:] < falling[:-1])
    ).any():  # else equal scores are the same number, and come by row
        turns = np.cumsum(leads) * len(order)
        order = np.sort(turns + order) - turns  # by group, then by row
    return order, falling, leads


def _leaders(falling: Scores, width: float) -> NDArray[np.bool_]:
    """Which of falling scores lead a group."""
    leads = np.ones(len(falling), np.bool_)
    leads[1:] = falling[1:] < falling[:-1] - width
    if leads.all():
        return leads
    starts = np.flatnonzero(leads)
    ends = np.append(starts[1:], len(falling))
    wide = (
        falling[ends - 1] < falling[starts] - width
    )  # chains of neighbours that are equal one by one and not all together
    for start, end in zip(starts[wide].tolist(), ends[wide].tolist(), strict=True):
        chain, further = falling[start:end].tolist(), list[int]()
        bar = chain[0] - width
        for place, score in enumerate(chain, start):
            if score < bar:
                further.append(place)
                bar = score - width
        leads[further] = True
    return leads
