"""Compiled loops that grow a budgeted choice from a virtual root Q, over compressed rows.

Every kernel takes the fields of `clew.algorithms.budgeted.problem.ProblemArrays`, or some of them.
Q is linked to `roots`, is inside every choice and costs nothing. `inside` is a mask of the chosen
rows. Ties are broken by row.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.heap import pop, push

NO_PARENT = -2


@compiled
def cheapest_paths(starts, targets, costs, prizes, roots, inside, limit):
    """Return (cost, gain, parents) of the cheapest path to each row from Q and those inside.

    Entering a row costs its own cost; the rows inside are free. The gain is the sum of the prizes
    of the rows entered. Of two paths of equal cost the search prefers the one of higher gain, as
    far as it sees both. Paths that cost more than `limit` are not followed. A parent is the row
    before, -1 for Q, or `NO_PARENT` where no path leads.
    """
    n = len(starts) - 1
    cost, gain = np.full(n, np.inf), np.zeros(n)
    parents = np.full(n, NO_PARENT, np.int64)
    keys, rows, size = np.empty(256, np.float64), np.empty(256, np.int64), 0
    for row in range(n):
        if inside[row]:
            cost[row], parents[row] = 0.0, -1
            keys, rows, size = push(keys, rows, size, 0.0, np.int64(row))
    for root in roots:
        if not inside[root] and costs[root] <= limit and costs[root] < cost[root]:
            cost[root], gain[root], parents[root] = costs[root], prizes[root], -1
            keys, rows, size = push(keys, rows, size, costs[root], np.int64(root))
    relax(starts, targets, costs, prizes, inside, limit, cost, gain, parents, keys, rows, size)
    return cost, gain, parents


@compiled
def relax(starts, targets, costs, prizes, inside, limit, cost, gain, parents, keys, rows, size):
    """Update cost, gain and parents from the queued rows, whose labels are new.

    The labels of all other rows are right already.
    """
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
            through, through_gain = key + costs[other], gain[row] + prizes[other]
            if through > limit or through > cost[other]:
                continue
            if through == cost[other] and (not waiting[other] or through_gain <= gain[other]):
                continue
            if through < cost[other]:
                keys, rows, size = push(keys, rows, size, through, np.int64(other))
                waiting[other] = True
            cost[other], gain[other], parents[other] = through, through_gain, row


@compiled
def add_paths_by_density(starts, targets, costs, prizes, roots, inside, left):
    """Add the whole path of most gain per cost, again and again, while one fits in the cost `left`.

    Return (mask of the rows, number of paths added).
    """
    inside = inside.copy()
    paths = 0
    cost, gain, parents = cheapest_paths(starts, targets, costs, prizes, roots, inside, left)
    keys, rows = np.empty(256, np.float64), np.empty(256, np.int64)
    while True:
        best = -1
        for row in range(len(starts) - 1):
            if inside[row] or prizes[row] <= 0 or parents[row] == NO_PARENT or cost[row] > left:
                continue
            if best >= 0:
                own, of_best = gain[row] * cost[best], gain[best] * cost[row]
                if own < of_best or (own == of_best and gain[row] <= gain[best]):
                    continue
            best = row
        if best < 0:
            return inside, paths
        left -= cost[best]
        paths += 1
        size, is_stale = 0, False
        while best >= 0 and not inside[best]:
            before = parents[best]
            inside[best] = True
            cost[best], gain[best], parents[best] = 0.0, 0.0, -1
            keys, rows, size = push(keys, rows, size, 0.0, np.int64(best))
            is_stale |= costs[best] == 0 and prizes[best] > 0
            best = before
        if is_stale:  # paths over a free row are as cheap as before, and yet gain less
            cost, gain, parents = cheapest_paths(
                starts, targets, costs, prizes, roots, inside, left
            )
        else:
            relax(
                starts, targets, costs, prizes, inside, left, cost, gain, parents, keys, rows, size
            )


@compiled
def add_neighbours(starts, targets, costs, prizes, roots, budget):
    """Add the linked row of most prize per cost, again and again, while one fits; return a mask."""
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
def breadth_first_tree(starts, targets, roots, inside):
    """Return (order, parents) of a breadth-first tree from Q over the rows inside alone.

    A parent is the row before, -1 for Q, or `NO_PARENT` where the tree does not reach.
    """
    n = len(starts) - 1
    parents = np.full(n, NO_PARENT, np.int64)
    queue = np.empty(n, np.int64)
    end = 0
    for root in roots:
        if inside[root] and parents[root] == NO_PARENT:
            parents[root], queue[end] = -1, root
            end += 1
    at = 0
    while at < end:
        row = queue[at]
        at += 1
        for slot in range(starts[row], starts[row + 1]):
            other = targets[slot]
            if inside[other] and parents[other] == NO_PARENT:
                parents[other], queue[end] = row, other
                end += 1
    return queue[:end], parents
