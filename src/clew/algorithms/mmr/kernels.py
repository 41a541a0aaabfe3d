"""Compiled: the greedy choice by marginal relevance, which updates a value only if it may win."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.heap import pop, push
from clew.algorithms.kernels.sums import product
from clew.algorithms.ranking import TOLERANCE


@compiled
def similarity(vector, other, floor):
    """Return the product of two vectors; with a floor, the part of it above the floor, 0 to 1."""
    cosine = product(vector, other)
    if np.isnan(floor):
        return cosine
    return max(0.0, cosine - floor) / max(1 - floor, 1e-6)


@compiled
def select_greedily(vectors, relevance, costs, before, share, floor, limits):
    """Return (places chosen, places that did not fit, what was left of the budget then).

    `limits` are the greatest number of choices and the budget; `floor` is NaN for none.

    A candidate's similarity to the chosen only grows. So an old value of its marginal relevance is
    never too low: the highest old value is updated, and chosen if it is still the highest.

    The highest value is a leader. While candidates are within the tolerance below it, the lowest
    place of these is the next. Values only fall, so all of them are known when the leader is. They
    wait in a second heap, by place.
    """
    max_chosen, budget = limits
    n = len(relevance)
    chosen, passed = np.empty(max_chosen, np.int64), np.empty(n, np.int64)
    left_then = np.empty(n, np.int64)
    count, skipped, left = 0, 0, budget
    nearest, seen = np.full(n, -np.inf), np.zeros(n, np.int64)
    keys, rows, size = np.empty(max(n, 1)), np.empty(max(n, 1), np.int64), 0
    tie_keys, ties, tied = np.empty(max(n, 1)), np.empty(max(n, 1), np.int64), 0  # by place
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(relevance[i]))
    is_first = len(before) == 0
    width = TOLERANCE * (largest if is_first or share == 1 else max(share * largest, 1 - share))
    for i in range(n):
        for j in range(len(before)):
            nearest[i] = max(nearest[i], similarity(vectors[i], before[j], floor))
        key = -relevance[i] if is_first else (1 - share) * nearest[i] - share * relevance[i]
        keys, rows, size = push(keys, rows, size, key, i)
    bar = -np.inf  # the leader's value less the tolerance; -inf where a leader is to be found
    while count < max_chosen and size + tied > 0:
        if tied == 0:
            key, i, size = pop(keys, rows, size)
            bar = -np.inf
        else:
            _, i, tied = pop(tie_keys, ties, tied)
            key = 0.0
        if seen[i] < count:
            for j in range(seen[i], count):
                nearest[i] = max(nearest[i], similarity(vectors[i], vectors[chosen[j]], floor))
            seen[i] = count
            key = (1 - share) * nearest[i] - share * relevance[i]
            if bar == -np.inf or -key < bar:
                keys, rows, size = push(keys, rows, size, key, i)
                continue
        if bar == -np.inf:  # it is the leader
            bar = -key - width
            tie_keys, ties, tied = push(tie_keys, ties, tied, np.float64(i), i)
            while size > 0 and -keys[0] >= bar:
                _, other, size = pop(keys, rows, size)
                tie_keys, ties, tied = push(tie_keys, ties, tied, np.float64(other), other)
            continue
        if costs[i] > left:
            passed[skipped], left_then[skipped] = i, left
            skipped += 1
            continue
        chosen[count] = i
        count += 1
        left -= costs[i]
        if (
            is_first
        ):  # nothing was chosen before, so the old values are relevances alone: compute them anew
            is_first = False
            width = TOLERANCE * (largest if share == 1 else max(share * largest, 1 - share))
            waiting = np.concatenate((rows[:size], ties[:tied]))
            size, tied = 0, 0
            for other in np.sort(waiting):
                nearest[other] = similarity(vectors[other], vectors[i], floor)
                seen[other] = 1
                key = (1 - share) * nearest[other] - share * relevance[other]
                keys, rows, size = push(keys, rows, size, key, other)
    return chosen[:count], passed[:skipped], left_then[:skipped]
