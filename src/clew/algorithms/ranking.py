"""Which scores are equal, and in what order scores come: rounding noise decides nothing.

Two sums of the same numbers differ by the order in which they were added. That order depends on the
processor and on the number of threads. So two scores are different only if they differ by more than
a tolerance: a millionth of the largest score in absolute value, ten times the noise of float32.

The rule is leader clustering. Sort the scores in falling order. The highest is a leader. Every
score that is not more than the tolerance below a leader is equal to it. The first score below that
is the next leader. Of equal scores the lower row comes first.

Noise changes no group if no two scores differ, noise aside, by about the tolerance. A fixed grid of
decimals has no such property: two equal scores may be on both sides of one of its lines. And a
group is never wider than the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

TOLERANCE = 1e-6  # of the largest score: what float32 sums are good for, with room
SUM_BITS = 32  # of a score that is to be summed: a millionth of the largest takes 20
BLOCKS, MIN_BLOCKED = 64, 1024  # from so many scores on, the best of blocks narrow the search
MIN_PACKED = 1024  # from so many scores on, sorting 32 bits of each with its row is faster
NEGLIGIBLE = 1e-3  # what a power leaves of noise that then decides nothing, of what it was before
MAX_SHORT = 64  # up to so many scores are ordered by Python, whose calls cost less than numpy's

Scores = NDArray[np.float64]


def tolerance(scores: ArrayLike) -> float:
    """Return by how much two of these scores may differ and still be equal.

    Args:
        scores: float [n]; those that are not finite do not count.

    Example:
        >>> tolerance([2.0, -4.0])
        4e-06
    """
    values = np.asarray(scores, np.float64)
    return _tolerance(float(values.max()), float(values.min()), values) if values.size else 0.0


def top_k(
    scores: ArrayLike, k: int | None = None, largest: float | None = None
) -> NDArray[np.int64]:
    """Return the rows of the `k` highest scores, best first.

    Of equal scores the lower row comes first. O(n), and a sort of the k.

    Args:
        scores: float [n].
        k: number of rows; None for all.
        largest: the score that the tolerance is a share of, where these scores are some of many. By
            default the largest of these.

    Example:
        >>> top_k([0.3, 0.5, 0.1, 0.5 + 1e-9], 3).tolist()
        [1, 3, 0]
    """
    values: Scores = np.asarray(scores, np.float64)
    n = len(values)
    if not n or (k is not None and k <= 0):
        return np.zeros(0, np.int64)
    if k is None or k >= n:
        width = _width(values, largest)
        if n <= MAX_SHORT and not np.isnan(values).any():
            return np.array(_short_groups(values.tolist(), width)[0], np.int64)
        return _rank(values, width)[0]
    if n < max(2 * BLOCKS * k, MIN_BLOCKED):
        return _top_rows(values, k, _width(values, largest))
    rows, width = _candidates(values, k, largest)
    return rows[_top_rows(values[rows], k, width)]


def dense_ranks(scores: ArrayLike, largest: float | None = None) -> NDArray[np.int64]:
    """Return each score's dense rank: 0 for the highest and its equals, then 1, 2 and so on.

    Args:
        scores: float [n].
        largest: as in `top_k`.

    Example:
        >>> dense_ranks([0.3, 0.5, 0.5 + 1e-9]).tolist()
        [1, 0, 0]
    """
    values: Scores = np.asarray(scores, np.float64)
    width = _width(values, largest)
    if len(values) >= MIN_PACKED and values.min() >= 0:
        return _ranks_above_noise(values, width)
    if len(values) <= MAX_SHORT and not np.isnan(values).any():
        return np.array(_short_groups(values.tolist(), width)[1], np.int64)
    order, _, leads = _group(values, width)
    ranks = np.empty(len(values), np.int64)
    ranks[order] = np.cumsum(leads) - 1
    return ranks


def _ranks_above_noise(scores: Scores, width: float) -> NDArray[np.int64]:
    """Return the dense ranks of many scores >= 0; those up to the tolerance are not sorted.

    They are equal to the last leader above them, or else to each other. Of a walk's probabilities
    they are most.
    """
    rows = np.flatnonzero(scores > width)
    order, falling, leads = _group(scores[rows], width)
    last = int(leads.sum())
    ranks = np.full(len(scores), last)
    if last:
        leader = falling[np.flatnonzero(leads)[-1]]
        ranks[scores >= leader - width] = last - 1
    ranks[rows[order]] = np.cumsum(leads) - 1
    return ranks


def equalize(scores: ArrayLike, largest: float | None = None) -> Scores:
    """Return the scores, each replaced by its leader: equal scores become the same number.

    Args:
        scores: float [n].
        largest: as in `top_k`.

    Example:
        >>> equalize([0.3, 0.5 - 1e-9, 0.5]).tolist()
        [0.3, 0.5, 0.5]
    """
    values: Scores = np.asarray(scores, np.float64)
    order, falling, leads = _group(values, _width(values, largest))
    leaders = np.empty(len(values))
    leaders[order] = falling[leads][np.cumsum(leads) - 1]
    return leaders


def make_summable(scores: ArrayLike, largest: float | None = None) -> Scores:
    """Return the scores equalized and rounded, so that sums of up to a million of them are exact.

    Sums in any order are then the same number, and may be compared as they are.

    Args:
        scores: float [n].
        largest: as in `top_k`.

    Example:
        >>> make_summable([0.5 - 1e-9, 0.5]).tolist()
        [0.5, 0.5]
    """
    values = equalize(scores, largest)
    return round_for_sums(values, _width(values, largest) / TOLERANCE)


def round_for_sums(scores: ArrayLike, largest: float) -> Scores:
    """Return the scores rounded to so few bits that sums of them are exact.

    It is for what is computed from scores from `make_summable`.

    Args:
        scores: float [n], of at most `largest`.
        largest: the largest absolute value that the scores may have.

    Example:
        >>> round_for_sums([0.1], 1.0).tolist()
        [0.10000000009313226]
    """
    bits = SUM_BITS - int(np.frexp(largest)[1])
    rounded: Scores = np.ldexp(np.rint(np.ldexp(np.asarray(scores, np.float64), bits)), -bits)
    return rounded


def best_row(scores: Mapping[int, float], largest: float | None = None) -> int:
    """Return the lowest row whose score is equal to the highest.

    Args:
        scores: row -> score; not empty.
        largest: as in `top_k`; by default the highest score.

    Example:
        >>> best_row({7: 0.5, 3: 0.5 - 1e-9, 1: 0.2})
        3
    """
    highest = max(scores.values())
    width = highest if largest is None else largest
    return min(row for row, score in scores.items() if reaches(score, highest, width))


@overload
def reaches(scores: float, least: float, largest: float = 1.0) -> bool: ...
@overload
def reaches(
    scores: NDArray[np.floating], least: float | NDArray[np.floating], largest: float = 1.0
) -> NDArray[np.bool_]: ...
def reaches(
    scores: float | NDArray[np.floating],
    least: float | NDArray[np.floating],
    largest: float = 1.0,
) -> bool | NDArray[np.bool_]:
    """Return whether scores are at least `least`. A score that is too low by noise alone counts.

    Args:
        scores: a score, or float [n].
        least: the bar.
        largest: the largest absolute value that the scores may have: 1 for cosines.

    Example:
        >>> reaches(0.8 - 1e-9, 0.8)
        True
    """
    reached: bool | NDArray[np.bool_] = scores >= least - TOLERANCE * abs(largest)
    return reached


@overload
def exceeds(scores: float, bar: float, largest: float = 1.0) -> bool: ...
@overload
def exceeds(
    scores: NDArray[np.floating], bar: float | NDArray[np.floating], largest: float = 1.0
) -> NDArray[np.bool_]: ...
def exceeds(
    scores: float | NDArray[np.floating],
    bar: float | NDArray[np.floating],
    largest: float = 1.0,
) -> bool | NDArray[np.bool_]:
    """Return whether scores are above a bar. One that is above by noise alone does not count.

    Args:
        scores: a score, or float [n].
        bar: the bar.
        largest: the largest absolute value that the scores may have: 1 for cosines.

    Example:
        >>> exceeds(0.8 + 1e-9, 0.8)
        False
    """
    exceeded: bool | NDArray[np.bool_] = scores > bar + TOLERANCE * abs(largest)
    return exceeded


def min_max_scale(scores: ArrayLike) -> Scores:
    """Return the scores shifted and scaled to [0, 1]; all 1 where all are equal.

    Scaling amplifies noise too: rank before it, or pass scores that are from `equalize`.

    Args:
        scores: float [n].

    Example:
        >>> min_max_scale([1.0, 3.0, 2.0]).tolist()
        [0.0, 1.0, 0.5]
    """
    values: Scores = np.asarray(scores, np.float64)
    if not len(values):
        return values
    low, high = float(values.min()), float(values.max())
    if not exceeds(high, low, max(high, -low)):
        return np.ones_like(values)
    return (values - low) / (high - low)


def sharpen(scores: ArrayLike, sharpness: float) -> Scores:
    """Return (score / largest score) ^ sharpness.

    Equal scores become the same number first, because a power amplifies noise. It does so where it
    is steep: low scores, whose noise it shrinks to a thousandth or less, stay as they are, and
    need not be sorted.

    Args:
        scores: float [n], >= 0. Where none is positive they are returned as they are.
        sharpness: the exponent, > 0.

    Example:
        >>> sharpen([0.5, 1.0, 0.0], 2.0).tolist()
        [0.25, 1.0, 0.0]
    """
    values: Scores = np.asarray(scores, np.float64)
    highest = float(values.max(initial=0))
    if not highest > 0:
        return values
    shares = values / highest
    steep = np.flatnonzero(shares > _flat_until(sharpness))
    shares[steep] = equalize(values[steep], highest) / highest
    rows = np.flatnonzero(shares > 0)  # a power is slow, and most scores are often 0
    powers = np.zeros(len(values))
    powers[rows] = shares[rows] ** sharpness
    return powers


def _flat_until(exponent: float) -> float:
    """Return the share, in [0, 1], up to which a power's slope is at most `NEGLIGIBLE`."""
    if exponent <= 1:
        return 0.0
    return float((NEGLIGIBLE / exponent) ** (1 / (exponent - 1)))


def _width(scores: Scores, largest: float | None) -> float:
    """Return the absolute tolerance."""
    return tolerance(scores) if largest is None else TOLERANCE * largest


def _tolerance(highest: float, lowest: float, scores: Scores) -> float:
    largest = max(highest, -lowest)
    if not math.isfinite(largest):
        largest = float(np.abs(scores[np.isfinite(scores)]).max(initial=0))
    return TOLERANCE * largest


def _candidates(scores: Scores, k: int, largest: float | None) -> tuple[NDArray[np.int64], float]:
    """Return the rows that may be among the k best of many scores, ascending, and the tolerance.

    The k-th best score is not below the k-th best of the blocks' maxima.
    """
    size = len(scores) // BLOCKS
    maxima = scores[: size * BLOCKS].reshape(BLOCKS, size).max(axis=0)
    highest = max(float(maxima.max()), float(scores[size * BLOCKS :].max(initial=-np.inf)))
    if largest is None:
        width = _tolerance(highest, float(scores.min()), scores)
    else:
        width = TOLERANCE * largest
    bar = _kth_highest(maxima, k) - width
    return np.flatnonzero(scores >= bar), width


def _kth_highest(scores: Scores, k: int) -> float:
    """Return the k-th highest score.

    The scores are negated, because numpy is slow at the upper end of many equal scores.
    """
    return -float(np.partition(-scores, k - 1)[k - 1])


def _top_rows(scores: Scores, k: int, width: float) -> NDArray[np.int64]:
    """Return the rows of the k highest of at least k scores, by the rule."""
    if k >= len(scores):
        return _rank(scores, width)[0]
    kth = _kth_highest(scores, k)
    above = np.flatnonzero(scores > kth)
    if k <= MAX_SHORT:
        before, leader = _rank_short(above.tolist(), scores[above].tolist(), kth, width)
    else:
        order, falling, leads = _rank(np.append(scores[above], kth), width)
        last = len(leads) - 1 - int(leads[::-1].argmax())  # where the k-th score's group begins
        before, leader = above[order[:last]].tolist(), float(falling[last])
    in_group = scores >= leader - width
    if leader > kth or len(before) < len(above):
        in_group &= scores <= leader
    else:
        in_group[above] = False  # the same, and less work
    rows = np.array(before, np.int64)
    return np.concatenate([rows, np.flatnonzero(in_group)[: k - len(before)]])


def _short_groups(scores: list[float], width: float) -> tuple[list[int], list[int]]:
    """Return the rows of a few scores, none of them NaN, by the rule, and each row's dense rank."""
    ranked: list[int] = []
    ranks, rank = [0] * len(scores), -1
    group: list[int] = []
    bar = math.inf
    for negative, row in sorted(zip([-score for score in scores], range(len(scores)), strict=True)):
        if -negative < bar or rank < 0:
            ranked += sorted(group)
            group, rank, bar = [row], rank + 1, -negative - width
        else:
            group.append(row)
        ranks[row] = rank
    ranked += sorted(group)
    return ranked, ranks


def _rank_short(
    rows: list[int], scores: list[float], kth: float, width: float
) -> tuple[list[int], float]:
    """Return the rows whose groups come before that of the k-th score, and that group's leader.

    Args:
        rows: those whose scores are above the k-th score, ascending.
        scores: theirs.
        kth: the k-th score.
        width: the absolute tolerance.
    """
    ranked: list[int] = []
    group: list[int] = []
    leader = math.inf
    bar = math.inf
    for negative, row in sorted(zip([-score for score in scores], rows, strict=True)):
        if -negative < bar:
            ranked += sorted(group)
            group, leader = [row], -negative
            bar = leader - width
        else:
            group.append(row)
    if kth < bar:
        ranked += sorted(group)
        leader = kth
    return ranked, leader


def _falling_order(scores: Scores) -> NDArray[np.int64]:
    """Return the rows by falling score, of the same numbers the lower row first.

    numpy sorts integers several to an instruction. So many scores are sorted as 32 bits, with the
    row behind them: it takes a fifth of the time. What these bits do not tell apart is nearly
    sorted then, which takes linear time.
    """
    highest, lowest = (float(scores.max()), float(scores.min())) if len(scores) else (0.0, 0.0)
    if len(scores) < MIN_PACKED or not (highest > lowest and math.isfinite(highest - lowest)):
        return np.argsort(-scores, kind="stable")
    keys = ((highest - scores) * ((2.0**32 - 1) / (highest - lowest))).astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= np.arange(len(scores), dtype=np.uint64)
    keys.sort()
    order = (keys & np.uint64(2**32 - 1)).view(np.int64)
    falling = scores[order]
    rises = np.flatnonzero(falling[1:] > falling[:-1])
    if len(rises) > MAX_SHORT:
        return order[np.argsort(-falling, kind="stable")]
    if not len(rises):
        return order
    bits = (keys >> np.uint64(32)).view(np.int64)
    for same in bits[rises].tolist():
        start, end = np.searchsorted(bits, [same, same + 1]).tolist()
        order[start:end] = order[start:end][np.argsort(-falling[start:end], kind="stable")]
        falling[start:end] = scores[order[start:end]]
    return order


def _rank(scores: Scores, width: float) -> tuple[NDArray[np.int64], Scores, NDArray[np.bool_]]:
    """Return the rows by the rule, the scores in falling order, and which of these lead a group."""
    order, falling, leads = _group(scores, width)
    unequal = np.flatnonzero(~leads[1:] & (falling[1:] < falling[:-1]))
    if len(unequal):  # else equal scores are the same number, and come by row already
        starts = np.flatnonzero(leads)
        ends = np.append(starts[1:], len(falling))
        groups = np.searchsorted(starts, unequal, side="right") - 1
        groups = groups[np.diff(groups, prepend=-1) > 0]  # `np.unique` imports masked arrays
        if len(groups) <= MAX_SHORT // 4:
            for start, end in zip(starts[groups].tolist(), ends[groups].tolist(), strict=True):
                order[start:end].sort()
        else:
            shifts = np.cumsum(leads) * len(order)
            order = np.sort(shifts + order) - shifts  # by group, then by row
    return order, falling, leads


def _group(scores: Scores, width: float) -> tuple[NDArray[np.int64], Scores, NDArray[np.bool_]]:
    """Return the rows by falling score, these scores, and which of them lead a group of equals."""
    order = _falling_order(scores)
    falling = scores[order]
    leads = np.ones(len(falling), np.bool_)
    leads[1:] = falling[1:] < falling[:-1] - width
    if not leads.all():
        starts = np.flatnonzero(leads)
        ends = np.append(starts[1:], len(falling))
        _split_chains(falling, leads, starts, ends, width)
    return order, falling, leads


def _split_chains(
    falling: Scores,
    leads: NDArray[np.bool_],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    width: float,
) -> None:
    """Mark further leaders in chains, whose neighbours are equal but not their ends."""
    wide = falling[ends - 1] < falling[starts] - width
    if not wide.any():
        return
    starts, ends = starts[wide], ends[wide]
    is_short = ends - starts <= MAX_SHORT
    if is_short.sum() > 1:  # all at once, the next leader of each
        rising, at, until = -falling, starts[is_short], ends[is_short]
        while len(at):
            at = np.searchsorted(rising, rising[at] + width, side="right")
            at, until = at[at < until], until[at < until]
            leads[at] = True
        starts, ends = starts[~is_short], ends[~is_short]
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        chain = -falling[start:end]
        following = np.searchsorted(chain, chain + width, side="right").tolist()
        place = following[0]
        while place < end - start:
            leads[start + place] = True
            place = following[place]
