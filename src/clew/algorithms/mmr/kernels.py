"""Compiled: the greedy choice by marginal relevance, each candidate looked at again only when it may be the next."""

from __future__ import annotations

import numba
import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.heap import pop, push
from clew.algorithms.ranking import TOLERANCE


@numba.njit(fastmath={"reassoc", "contract"})  # compiled into its caller, and cached with it
def product(one, other):
    """Return the product of two vectors."""
    total = np.float32(0)
    for i in range(len(one)):
        total += one[i] * other[i]
    return np.float64(total)


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

    The highest value is a leader, and while a candidate is within the tolerance below it, the lowest place of those is the next; values
    only fall, so that all of these are known when the leader is found. They wait in a heap of their own, by place.
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
    ties, tied, equal = (
        np.empty(max(n, 1)),
        np.empty(max(n, 1), np.int64),
        0,
    )  # those equal to the leader, by place
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(worth[i]))
    first = len(before) == 0
    width = TOLERANCE * (largest if first or share == 1 else max(share * largest, 1 - share))
    for i in range(n):
        for j in range(len(before)):
            like[i] = max(like[i], likeness(vectors[i], before[j], floor))
        keys, rows, size = push(
            keys, rows, size, -worth[i] if first else (1 - share) * like[i] - share * worth[i], i
        )
    bar = -np.inf  # the leader's value without the tolerance; -inf where a leader is to be found
    while count < most and size + equal > 0:
        if equal == 0:
            key, i, size = pop(keys, rows, size)
            bar = -np.inf
        else:
            _, i, equal = pop(ties, tied, equal)
            key = 0.0
        if seen[i] < count:
            for j in range(seen[i], count):
                like[i] = max(like[i], likeness(vectors[i], vectors[chosen[j]], floor))
            seen[i] = count
            key = (1 - share) * like[i] - share * worth[i]
            if bar == -np.inf or -key < bar:
                keys, rows, size = push(keys, rows, size, key, i)
                continue
        if bar == -np.inf:  # it leads
            bar = -key - width
            ties, tied, equal = push(ties, tied, equal, np.float64(i), i)
            while size > 0 and -keys[0] >= bar:
                _, other, size = pop(keys, rows, size)
                ties, tied, equal = push(ties, tied, equal, np.float64(other), other)
            continue
        if costs[i] > left:
            passed[skipped], left_then[skipped] = i, left
            skipped += 1
            continue
        chosen[count] = i
        count += 1
        left -= costs[i]
        if first:  # there was nothing to be like, so that the old values are none of this rule
            first, width = (
                False,
                TOLERANCE * (largest if share == 1 else max(share * largest, 1 - share)),
            )
            waiting = np.concatenate((rows[:size], tied[:equal]))
            size, equal = 0, 0
            for other in np.sort(waiting):
                like[other], seen[other] = likeness(vectors[other], vectors[i], floor), 1
                keys, rows, size = push(
                    keys, rows, size, (1 - share) * like[other] - share * worth[other], other
                )
    return chosen[:count], passed[:skipped], left_then[:skipped]
