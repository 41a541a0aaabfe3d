"""Compiled: a minimum spanning forest of chosen edges of compressed rows, without leaves that nobody wanted."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.heap import add, root
from clew.algorithms.steiner.kernels.lengths import length_of


@compiled
def tidied(starts, targets, costs, terminals, chosen, induced):
    """Return (slots from the lesser row of a minimum spanning forest of chosen edges without leaves that are no terminals, its cost,
    a number for the tree of each terminal).

    `induced` also offers the edges between rows of one tree that were not chosen. Trees that the chosen edges leave apart stay apart.
    """
    ends = np.empty(2 * len(chosen) + len(terminals), np.int64)
    for i in range(len(chosen)):
        ends[2 * i], ends[2 * i + 1] = source_of(starts, chosen[i]), targets[chosen[i]]
    ends[2 * len(chosen) :] = terminals
    rows = np.unique(ends)
    n = len(rows)
    of = np.arange(n)
    pairs = np.searchsorted(rows, ends[: 2 * len(chosen)])
    for i in range(0, len(pairs), 2):
        a, b = root(of, pairs[i]), root(of, pairs[i + 1])
        of[max(a, b)] = min(a, b)
    offered, size = np.empty(len(chosen) + 16, np.int64), 0
    for i in range(n if induced else 0):
        first, last = starts[rows[i]], starts[rows[i] + 1]
        if last - first < n - i:
            for slot in range(first, last):
                j = np.searchsorted(rows, targets[slot])
                if i < j < n and rows[j] == targets[slot] and root(of, i) == root(of, j):
                    offered, size = add(offered, size, slot)
        else:
            for j in range(i + 1, n):
                slot = slot_between(starts, targets, rows[i], rows[j])
                if slot >= 0 and root(of, i) == root(of, j):
                    offered, size = add(offered, size, slot)
    for i in range(0 if induced else len(chosen)):
        a, b = ends[2 * i], ends[2 * i + 1]
        offered, size = add(offered, size, slot_between(starts, targets, min(a, b), max(a, b)))
    return spanning(starts, targets, costs, terminals, np.unique(offered[:size]), rows)


@compiled
def spanning(starts, targets, costs, terminals, offered, rows):
    """Return what `tidied` does, of the edges offered (slots, ascending) among `rows` (ascending)."""
    n, size = len(rows), len(offered)
    lengths = np.array(
        [length_of(slot, source_of(starts, slot), targets[slot], costs) for slot in offered]
    )
    one = np.array([np.searchsorted(rows, source_of(starts, slot)) for slot in offered])
    two = np.array([np.searchsorted(rows, targets[slot]) for slot in offered])
    of, degree, edges = np.arange(n), np.zeros(n, np.int64), np.zeros(n, np.int64)
    kept = np.zeros(size, np.bool_)
    for i in np.argsort(lengths, kind="mergesort"):
        a, b = root(of, one[i]), root(of, two[i])
        if a != b and lengths[i] < np.inf:
            of[max(a, b)] = min(a, b)
            kept[i] = True
            degree[one[i]] += 1
            degree[two[i]] += 1
            edges[one[i]] ^= i  # at a leaf, all that is left of this is its one edge
            edges[two[i]] ^= i
    places = np.searchsorted(rows, terminals)
    ends = np.ones(n, np.bool_)
    ends[places] = False
    for row in range(n):
        leaf = row
        while ends[leaf] and degree[leaf] == 1:
            edge = edges[leaf]
            kept[edge] = False
            degree[leaf] = 0
            leaf = one[edge] + two[edge] - leaf
            degree[leaf] -= 1
            edges[leaf] ^= edge
    trees = np.array([root(of, place) for place in places])
    return offered[kept], lengths[kept].sum(), trees


@compiled
def source_of(starts, slot):
    """Return the row that a slot starts from."""
    return np.searchsorted(starts, slot, side="right") - 1


@compiled
def slot_between(starts, targets, row, other):
    """Return the slot from one row to another, or -1."""
    slot = starts[row] + np.searchsorted(targets[starts[row] : starts[row + 1]], other)
    return slot if slot < starts[row + 1] and targets[slot] == other else np.int64(-1)


@compiled
def reverse_of(starts, targets, slots):
    """Return for each slot the one that leads back."""
    return np.array(
        [slot_between(starts, targets, targets[slot], source_of(starts, slot)) for slot in slots]
    )
