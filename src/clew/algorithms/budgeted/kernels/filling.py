"""Compiled loops that better a budgeted choice: prune it, fill what that frees, exchange one row for others.

Arrays are those of `kernels.budgeted`; `inside` is a choice that is connected with Q. `costs` here are the tokens, all finite.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.budgeted.kernels.growth import by_density, held
from clew.algorithms.kernels.compiled import compiled

NO_ROW = -1


@compiled
def without_leaves(starts, targets, prizes, roots, inside):
    """Return the choice without the leaves of a breadth-first tree from Q that have no prize, again and again."""
    order, came = held(starts, targets, roots, inside)
    kept = np.zeros(len(inside), np.bool_)
    for at in range(len(order) - 1, -1, -1):
        row = order[at]
        if prizes[row] > 0:
            kept[row] = True
        if kept[row] and came[row] >= 0:
            kept[came[row]] = True
    return kept


@compiled
def pruned(starts, targets, costs, prizes, roots, inside):
    """Return the choice without leaves, and without what has no prize, costs tokens and can be spared, dearest first."""
    kept = without_leaves(starts, targets, prizes, roots, inside)
    spare = np.array(
        [row for row in range(len(kept)) if kept[row] and prizes[row] <= 0 and costs[row] > 0],
        np.int64,
    )
    if len(spare) == 0:
        return kept
    held_by = holding(starts, targets, roots, kept)
    for row in spare[np.argsort(-costs[spare], kind="mergesort")]:
        if kept[row] and not held_by[row]:
            kept[row] = False
            kept = without_leaves(starts, targets, prizes, roots, kept)
            held_by = holding(starts, targets, roots, kept)
    return kept


@compiled
def holding(starts, targets, roots, inside):
    """Return the rows of a connected choice without which the others, with Q, fall apart: its articulation points.

    Tarjan, SIAM J. Comput. 1 (1972), from Q: a row holds what hangs below it in the search unless that leads back above the row.
    """
    n = len(starts) - 1
    found, is_root = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    number, least = np.zeros(n, np.int64), np.zeros(n, np.int64)  # Q has number 0, rows from 1 on
    came, at = np.full(n, -1), np.zeros(n, np.int64)
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
                    least[row] = min(least[row], number[other])
                    continue
                last += 1
                came[other], number[other], at[other] = row, last, starts[other]
                least[other] = 0 if is_root[other] else last
                row = other
                continue
            above = came[row]
            if above >= 0:
                found[above] |= least[row] >= number[above]
                least[above] = min(least[above], least[row])
            row = above
    return found


@compiled
def filled(starts, targets, costs, prizes, roots, inside, budget, banned):
    """Prune, and add ways by density within the budget, until neither changes a thing; return (rows, ways added).

    The row `banned`, if it is one, is not entered.
    """
    entered = costs.copy()
    if banned >= 0:
        entered[banned] = np.inf
    inside = pruned(starts, targets, costs, prizes, roots, inside)
    ways = 0
    while True:
        inside, more = by_density(
            starts, targets, entered, prizes, roots, inside, budget - costs[inside].sum()
        )
        if more == 0:
            return inside, ways
        inside = pruned(starts, targets, costs, prizes, roots, inside)
        ways += more


@compiled
def exchanged(starts, targets, costs, prizes, roots, inside, budget, rounds, least):
    """Drop a row that holds no other, those of least prize per token first, forbid it, fill again, and keep what is better.

    Better is worth more by the share `least`. Ends after so many `rounds`, or when no drop betters it; return (rows, rounds).
    """
    tries, value = 0, prizes[inside].sum()
    while True:
        rows = np.flatnonzero(inside)
        bettered, held_by = False, holding(starts, targets, roots, inside)
        for row in rows[np.argsort(prizes[rows] / np.maximum(costs[rows], 1.0), kind="mergesort")]:
            if tries == rounds:
                break
            if costs[row] == 0 or held_by[row]:
                continue
            tries += 1
            inside[row] = False
            other, _ = filled(starts, targets, costs, prizes, roots, inside, budget, row)
            worth = prizes[other].sum()
            if worth > value * (1 + least):
                inside, value, bettered = other, worth, True
                break
            inside[row] = True
        if not bettered:
            return inside, tries
