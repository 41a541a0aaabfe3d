"""Compiled loops of budgeted selection, over compressed rows with a virtual root Q that is linked to `roots`.

Every kernel takes `starts` (int64 [n + 1]), `targets` (int32 [m]), `roots` (int64), and float64 [n] `costs` (>= 0; inf where a row must
not be entered) and `prizes`. Q is inside every choice and costs nothing. Ties are broken by row.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.steiner import pop, push


@compiled
def cheapest(starts, targets, costs, prizes, roots, inside, limit):
    """Return (cost, gain, the row before or -1 for Q or -2 for none) of the cheapest way to each row from Q and the rows `inside`.

    Entering a row costs its own cost, the rows inside are free; gain is the sum of prizes of the rows entered, and of two ways of one
    cost the one of more gain is kept as far as the search sees both. Ways that cost more than `limit` are not followed.
    """
    n = len(starts) - 1
    cost, gain = np.full(n, np.inf), np.zeros(n)
    came = np.full(n, -2, np.int64)
    settled = np.zeros(n, np.bool_)
    keys, rows, size = np.empty(256, np.float64), np.empty(256, np.int64), 0
    for row in range(n):
        if inside[row]:
            cost[row], came[row] = 0.0, -1
            keys, rows, size = push(keys, rows, size, 0.0, np.int64(row))
    for root in roots:
        if not inside[root] and costs[root] <= limit and costs[root] < cost[root]:
            cost[root], gain[root], came[root] = costs[root], prizes[root], -1
            keys, rows, size = push(keys, rows, size, costs[root], np.int64(root))
    while size > 0:
        key, row, size = pop(keys, rows, size)
        if settled[row]:
            continue
        settled[row] = True
        for slot in range(starts[row], starts[row + 1]):
            other = targets[slot]
            if settled[other] or inside[other]:
                continue
            through, worth = key + costs[other], gain[row] + prizes[other]
            if through > limit or through > cost[other] or (through == cost[other] and worth <= gain[other]):
                continue
            if through < cost[other]:
                keys, rows, size = push(keys, rows, size, through, np.int64(other))
            cost[other], gain[other], came[other] = through, worth, row
    return cost, gain, came


@compiled
def by_density(starts, targets, costs, prizes, roots, inside, left):
    """Add the whole way of most gain per cost, again and again, while one fits in the cost that is `left`; return (rows, ways added)."""
    inside = inside.copy()
    ways = 0
    while True:
        cost, gain, came = cheapest(starts, targets, costs, prizes, roots, inside, left)
        best = -1
        for row in range(len(starts) - 1):
            if inside[row] or prizes[row] <= 0 or came[row] == -2:
                continue
            if best >= 0:
                one, other = gain[row] * cost[best], gain[best] * cost[row]
                if one < other or (one == other and gain[row] <= gain[best]):
                    continue
            best = row
        if best < 0:
            return inside, ways
        left -= cost[best]
        ways += 1
        while best >= 0 and not inside[best]:
            inside[best] = True
            best = came[best]


@compiled
def by_neighbours(starts, targets, costs, prizes, roots, budget):
    """Add the one linked row of most prize per cost, again and again, while one fits; return the rows."""
    n = len(starts) - 1
    inside, open_ = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    for root in roots:
        open_[root] = True
    left = budget
    while True:
        best = -1
        for row in range(n):
            if not open_[row] or costs[row] > left:
                continue
            if best >= 0:
                if costs[row] == 0 or costs[best] == 0:
                    better = costs[row] == 0 and (costs[best] > 0 or prizes[row] > prizes[best])
                else:
                    better = prizes[row] * costs[best] > prizes[best] * costs[row]
                if not better:
                    continue
            best = row
        if best < 0:
            return inside
        inside[best], open_[best] = True, False
        left -= costs[best]
        for slot in range(starts[best], starts[best + 1]):
            open_[targets[slot]] = not inside[targets[slot]]


@compiled
def held(starts, targets, roots, inside):
    """Return for the rows inside a breadth-first tree from Q over them alone: (order, the row before or -1 for Q or -2 for none)."""
    n = len(starts) - 1
    came = np.full(n, -2, np.int64)
    queue = np.empty(n, np.int64)
    end = 0
    for root in roots:
        if inside[root] and came[root] == -2:
            came[root], queue[end] = -1, root
            end += 1
    at = 0
    while at < end:
        row = queue[at]
        at += 1
        for slot in range(starts[row], starts[row + 1]):
            other = targets[slot]
            if inside[other] and came[other] == -2:
                came[other], queue[end] = row, other
                end += 1
    return queue[:end], came


@compiled
def tree_knapsack(order, sizes, costs, prizes, budget):
    """Return the rows of the best choice from a tree that takes no row without the one before it, within an integer budget.

    `order` (int64 [k]) lists the tree's rows, each before those below it and these right behind it; `sizes[i]` counts entry i and all
    below it; `costs` are int64. From behind: best[i] = max(best[i + sizes[i]], prize + best[i + 1] with the cost less). O(k budget).
    """
    k = len(order)
    best = np.zeros((k + 1, budget + 1))
    for i in range(k - 1, -1, -1):
        row, skip = order[i], i + sizes[i]
        cost, prize = costs[row], prizes[row]
        for b in range(min(cost, budget + 1)):
            best[i, b] = best[skip, b]
        for b in range(cost, budget + 1):
            best[i, b] = max(best[skip, b], best[i + 1, b - cost] + prize)
    inside = np.zeros(len(prizes), np.bool_)
    i, b = 0, budget
    while i < k:
        row, skip = order[i], i + sizes[i]
        if costs[row] <= b and best[i + 1, b - costs[row]] + prizes[row] >= best[skip, b]:
            inside[row] = True
            b -= costs[row]
            i += 1
        else:
            i = skip
    return inside
