"""Compiled: the greedy choice by marginal relevance, each candidate looked at again only when it may be the next."""

from __future__ import annotations

import numba
import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.heap import pop, push


@numba.njit(fastmath={"reassoc", "contract"})  # compiled into its caller, and cached with it
def product(one, other):
    """Return the product of two vectors to six decimals, which is what float32 is good for."""
    total = np.float32(0)
    for i in range(len(one)):
        total += one[i] * other[i]
    return np.floor(np.float64(total) * 1e6 + 0.5) / 1e6


@numba.njit
def likeness(one, other, floor):
    """Return what two vectors have in common: their product, or the part of it above the floor, 0 to 1, where there is one."""
    common = product(one, other)
    if np.isnan(floor):
        return common
    return max(0.0, common - floor) / max(1 - floor, 1e-6)


@compiled
def greedy(vectors, worth, costs, share, most, budget, before, floor):
    """Return (the places chosen, in turn; the places that did not fit, in turn; what was left when each of them did not).

    `before` are vectors that are read already. A candidate's likeness only grows with every choice, so that an old value of its marginal
    relevance is never too low: the best old value is brought up to date, and chosen once it is the best that way. `floor` is NaN for none.
    """
    n = len(worth)
    chosen, passed, left_then = (
        np.empty(most, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
    )
    count, skipped, left = 0, 0, budget
    like, seen = np.full(n, -np.inf), np.zeros(n, np.int64)
    keys, rows, size = np.empty(max(n, 1)), np.empty(max(n, 1), np.int64), 0
    for i in range(n):
        for j in range(len(before)):
            like[i] = max(like[i], likeness(vectors[i], before[j], floor))
        key = worth[i] if len(before) == 0 else share * worth[i] - (1 - share) * like[i]
        keys, rows, size = push(keys, rows, size, -np.round(key, 9), i)
    first = len(before) == 0
    while count < most and size > 0:
        key, i, size = pop(keys, rows, size)
        if seen[i] < count:
            for j in range(seen[i], count):
                like[i] = max(like[i], likeness(vectors[i], vectors[chosen[j]], floor))
            seen[i] = count
            keys, rows, size = push(
                keys, rows, size, -np.round(share * worth[i] - (1 - share) * like[i], 9), i
            )
            continue
        if costs[i] > left:
            passed[skipped], left_then[skipped] = i, left
            skipped += 1
            continue
        chosen[count] = i
        count += 1
        left -= costs[i]
        if first:  # there was nothing to be like, so that the old values are none of this rule
            first = False
            waiting, size = rows[:size].copy(), 0
            for other in np.sort(waiting):
                like[other], seen[other] = likeness(vectors[other], vectors[i], floor), 1
                marginal = share * worth[other] - (1 - share) * like[other]
                keys, rows, size = push(keys, rows, size, -np.round(marginal, 9), other)
    return chosen[:count], passed[:skipped], left_then[:skipped]
