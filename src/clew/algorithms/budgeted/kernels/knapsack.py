"""Compiled loops of the knapsack on a tree.

The tree is given by each row's parent: -1 at the top, -2 for a row outside.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled


@compiled
def preorder(parents, prizes):
    """Return (order of the rows that lead to a prize, number of these at and below each).

    Each row comes before the rows below it, and these follow it directly.
    """
    n = len(parents)
    # Children of a row, ascending: the first child, then the next sibling of each. Rows at the
    # top are the children of row n.
    first, after = np.full(n + 1, -1), np.full(n, -1)
    for row in range(n - 1, -1, -1):
        if parents[row] >= -1:
            above = parents[row] if parents[row] >= 0 else n
            after[row], first[above] = first[above], row
    order, size = np.empty(n, np.int64), 0
    stack, open_ = np.empty(n + 1, np.int64), 0
    if first[n] >= 0:
        stack[0], open_ = first[n], 1
    while open_ > 0:
        open_ -= 1
        row = stack[open_]
        order[size] = row
        size += 1
        if after[row] >= 0:
            stack[open_] = after[row]
            open_ += 1
        if first[row] >= 0:
            stack[open_] = first[row]
            open_ += 1
    count = np.zeros(n, np.int64)
    leading = 0
    for at in range(size - 1, -1, -1):
        row = order[at]
        if count[row] > 0 or prizes[row] > 0:
            count[row] += 1
            leading += 1
            if parents[row] >= 0:
                count[parents[row]] += count[row]
    retained, sizes, at = np.empty(leading, np.int64), np.empty(leading, np.int64), 0
    for row in order[:size]:
        if count[row] > 0:
            retained[at], sizes[at] = row, count[row]
            at += 1
    return retained, sizes


def _tree_knapsack_at_once(order, sizes, costs, prizes, budget):
    k = len(order)
    best = np.zeros((k + 1, budget + 1))
    for i in range(k - 1, -1, -1):
        row, skip = order[i], best[i + sizes[i]]
        cost = min(costs[row], budget + 1)
        best[i, :cost] = skip[:cost]
        np.maximum(skip[cost:], best[i + 1, : budget + 1 - cost] + prizes[row], out=best[i, cost:])
    return _taken(order, sizes, costs, prizes, budget, best)


@compiled(at_once=_tree_knapsack_at_once)
def tree_knapsack(order, sizes, costs, prizes, budget):
    """Return a mask of the best choice from a tree that takes no row without its parent.

    `order` and `sizes` are those of `preorder`; `costs` are int64 and the budget is whole. From
    behind: best[i, b] = max(best[i + sizes[i], b], prize_i + best[i + 1, b - cost_i]). O(k budget).
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
    return taken(order, sizes, costs, prizes, budget, best)


def _taken(order, sizes, costs, prizes, budget, best):
    """Return the mask of a best choice, read from the table of `tree_knapsack`."""
    inside = np.zeros(len(prizes), np.bool_)
    i, b = 0, budget
    while i < len(order):
        row, skip = order[i], i + sizes[i]
        if costs[row] <= b and best[i + 1, b - costs[row]] + prizes[row] >= best[skip, b]:
            inside[row] = True
            b -= costs[row]
            i += 1
        else:
            i = skip
    return inside


taken = compiled(_taken)
