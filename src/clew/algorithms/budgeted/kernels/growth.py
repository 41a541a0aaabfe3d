"""Compiled loops of budgeted selection, over compressed rows with a virtual root Q that is linked to `roots`.

Every kernel takes `starts` (int64 [n + 1]), `targets` (int32 [m]), `roots` (int64), and float64 [n] `costs` (>= 0; inf where a row must
not be entered) and `prizes`. Q is inside every choice and costs nothing. Ties are broken by row.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.heap import pop, push


@compiled
def cheapest(starts, targets, costs, prizes, roots, inside, limit):
    """Return (cost, gain, the row before or -1 for Q or -2 for none) of the cheapest way to each row from Q and the rows `inside`.

    Entering a row costs its own cost, the rows inside are free; gain is the sum of prizes of the rows entered, and of two ways of one
    cost the one of more gain is kept as far as the search sees both. Ways that cost more than `limit` are not followed.
    """
    n = len(starts) - 1
    cost, gain = np.full(n, np.inf), np.zeros(n)
    came = np.full(n, -2, np.int64)
    keys, rows, size = np.empty(256, np.float64), np.empty(256, np.int64), 0
    for row in range(n):
        if inside[row]:
            cost[row], came[row] = 0.0, -1
            keys, rows, size = push(keys, rows, size, 0.0, np.int64(row))
    for root in roots:
        if not inside[root] and costs[root] <= limit and costs[root] < cost[root]:
            cost[root], gain[root], came[root] = costs[root], prizes[root], -1
            keys, rows, size = push(keys, rows, size, costs[root], np.int64(root))
    follow(starts, targets, costs, prizes, inside, limit, cost, gain, came, keys, rows, size)
    return cost, gain, came


@compiled
def follow(starts, targets, costs, prizes, inside, limit, cost, gain, came, keys, rows, size):
    """Bring cost, gain and came up to date with the rows queued, whose labels are new; those of other rows are right already."""
    waiting = np.zeros(len(cost), np.bool_)
    for at in range(size):
        waiting[rows[at]] = True
    while size > 0:
        key, row, size = pop(keys, rows, size)
        if not waiting[row]:
            continue
        waiting[row] = False
        for slot in range(starts[row], starts[row + 1]):
            other = targets[slot]
            if inside[other]:
                continue
            through, worth = key + costs[other], gain[row] + prizes[other]
            if through > limit or through > cost[other]:
                continue
            if through == cost[other] and (not waiting[other] or worth <= gain[other]):
                continue
            if through < cost[other]:
                keys, rows, size = push(keys, rows, size, through, np.int64(other))
                waiting[other] = True
            cost[other], gain[other], came[other] = through, worth, row


@compiled
def by_density(starts, targets, costs, prizes, roots, inside, left):
    """Add the whole way of most gain per cost, again and again, while one fits in the cost that is `left`; return (rows, ways added)."""
    inside = inside.copy()
    ways = 0
    cost, gain, came = cheapest(starts, targets, costs, prizes, roots, inside, left)
    keys, rows = np.empty(256, np.float64), np.empty(256, np.int64)
    while True:
        best = -1
        for row in range(len(starts) - 1):
            if inside[row] or prizes[row] <= 0 or came[row] == -2 or cost[row] > left:
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
        size, again = 0, False
        while best >= 0 and not inside[best]:
            before = came[best]
            inside[best] = True
            cost[best], gain[best], came[best] = 0.0, 0.0, -1
            keys, rows, size = push(keys, rows, size, 0.0, np.int64(best))
            again |= costs[best] == 0 and prizes[best] > 0
            best = before
        if again:  # ways over a row that cost nothing are as cheap as before, and yet gain less
            cost, gain, came = cheapest(starts, targets, costs, prizes, roots, inside, left)
        else:
            follow(starts, targets, costs, prizes, inside, left, cost, gain, came, keys, rows, size)


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
