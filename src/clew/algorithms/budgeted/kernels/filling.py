"""Compiled loops that improve a budgeted choice: prune it, fill what that frees, exchange a row.

The arrays are those of `growth`. `inside` is a choice that is connected with Q; `costs` are the
tokens, all finite.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.budgeted.kernels.growth import add_paths_by_density, breadth_first_tree
from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.sums import total_of

NO_ROW = -1


@compiled
def drop_leaves(starts, targets, prizes, roots, inside):
    """Return the choice without leaves of a breadth-first tree from Q that have no prize."""
    order, parents = breadth_first_tree(starts, targets, roots, inside)
    needed = np.zeros(len(inside), np.bool_)
    for at in range(len(order) - 1, -1, -1):
        row = order[at]
        if prizes[row] > 0:
            needed[row] = True
        if needed[row] and parents[row] >= 0:
            needed[parents[row]] = True
    return needed


@compiled
def prune(starts, targets, costs, prizes, roots, inside):
    """Return the choice without leaves, and without rows that have no prize and hold no other.

    Of these only the rows that cost tokens are removed, the most expensive first.
    """
    needed = drop_leaves(starts, targets, prizes, roots, inside)
    spare = np.array(
        [row for row in range(len(needed)) if needed[row] and prizes[row] <= 0 and costs[row] > 0],
        np.int64,
    )
    if len(spare) == 0:
        return needed
    articulation = articulation_rows(starts, targets, roots, needed)
    for row in spare[np.argsort(-costs[spare], kind="mergesort")]:
        if needed[row] and not articulation[row]:
            needed[row] = False
            needed = drop_leaves(starts, targets, prizes, roots, needed)
            articulation = articulation_rows(starts, targets, roots, needed)
    return needed


@compiled
def articulation_rows(starts, targets, roots, inside):
    """Return the articulation points of a connected choice: without them the others fall apart.

    Tarjan, SIAM J. Comput. 1 (1972), from Q: a row holds the rows below it in the search unless an
    edge leads from these back above the row.
    """
    n = len(starts) - 1
    articulation, is_root = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    number, lowest = np.zeros(n, np.int64), np.zeros(n, np.int64)  # Q has number 0, rows from 1 on
    parents, at = np.full(n, -1), np.zeros(n, np.int64)
    for root in roots:
        is_root[root] = True
    last = 0
    for root in roots:
        if not inside[root] or number[root] > 0:
            continue
        last += 1
        row, number[root], at[root] = root, last, starts[root]
        while row >= 0:
            if at[row] < starts[row + 1]:
                other = targets[at[row]]
                at[row] += 1
                if not inside[other]:
                    continue
                if number[other] > 0:
                    lowest[row] = min(lowest[row], number[other])
                    continue
                last += 1
                parents[other], number[other], at[other] = row, last, starts[other]
                lowest[other] = 0 if is_root[other] else last
                row = other
                continue
            above = parents[row]
            if above >= 0:
                articulation[above] |= lowest[row] >= number[above]
                lowest[above] = min(lowest[above], lowest[row])
            row = above
    return articulation


@compiled
def prune_and_fill(starts, targets, costs, prizes, roots, inside, budget, banned):
    """Prune, and add paths by density within the budget, until neither changes anything.

    Return (mask of the rows, number of paths added). The row `banned` is not entered; `NO_ROW` for
    none.
    """
    entered = costs.copy()
    if banned >= 0:
        entered[banned] = np.inf
    inside = prune(starts, targets, costs, prizes, roots, inside)
    paths = 0
    while True:
        inside, more = add_paths_by_density(
            starts, targets, entered, prizes, roots, inside, budget - total_of(costs[inside])
        )
        if more == 0:
            return inside, paths
        inside = prune(starts, targets, costs, prizes, roots, inside)
        paths += more


@compiled
def exchange_rows(starts, targets, costs, prizes, roots, inside, budget, rounds, min_gain):
    """Drop a row that holds no other, forbid it, fill again, and accept what is better.

    Rows of the lowest prize per token are dropped first. Better is a value higher by the share
    `min_gain`. It ends after `rounds`, or when no drop is better. Return (mask of the rows,
    rounds).
    """
    tries, value = 0, total_of(prizes[inside])
    while True:
        rows = np.flatnonzero(inside)
        is_better, articulation = False, articulation_rows(starts, targets, roots, inside)
        for row in rows[np.argsort(prizes[rows] / np.maximum(costs[rows], 1.0), kind="mergesort")]:
            if tries == rounds:
                break
            if costs[row] == 0 or articulation[row]:
                continue
            tries += 1
            inside[row] = False
            other, _ = prune_and_fill(starts, targets, costs, prizes, roots, inside, budget, row)
            other_value = total_of(prizes[other])
            if other_value > value * (1 + min_gain):
                inside, value, is_better = other, other_value, True
                break
            inside[row] = True
        if not is_better:
            return inside, tries
