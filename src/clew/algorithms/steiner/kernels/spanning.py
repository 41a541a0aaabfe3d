"""Compiled: a minimum spanning forest of chosen edges, pruned of leaves that are no terminals."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.heap import append, find_root
from clew.algorithms.kernels.sums import total_of
from clew.algorithms.steiner.kernels.lengths import length_of


@compiled
def spanning_forest(starts, targets, lengths, terminals, chosen, induced):
    """Return a minimum spanning forest of chosen edges, without leaves that are no terminals.

    Returns (slots of its edges, each from the edge's lower row; its cost; a number for the tree of
    each terminal). With `induced`, edges between two rows of one tree are offered too where they
    were not chosen. Trees that the chosen edges do not connect stay separate.
    """
    ends = np.empty(2 * len(chosen) + len(terminals), np.int64)
    for i in range(len(chosen)):
        ends[2 * i], ends[2 * i + 1] = source_of(starts, chosen[i]), targets[chosen[i]]
    ends[2 * len(chosen) :] = terminals
    rows = np.unique(ends)
    n = len(rows)
    trees = np.arange(n)
    pairs = np.searchsorted(rows, ends[: 2 * len(chosen)])
    for i in range(0, len(pairs), 2):
        a, b = find_root(trees, pairs[i]), find_root(trees, pairs[i + 1])
        trees[max(a, b)] = min(a, b)
    offered, size = np.empty(len(chosen) + 16, np.int64), 0
    for i in range(n if induced else 0):
        first, last = starts[rows[i]], starts[rows[i] + 1]
        if last - first < n - i:
            for slot in range(first, last):
                j = np.searchsorted(rows, targets[slot])
                adjacent = i < j < n and rows[j] == targets[slot]
                if adjacent and find_root(trees, i) == find_root(trees, j):
                    offered, size = append(offered, size, slot)
        else:
            for j in range(i + 1, n):
                slot = slot_between(starts, targets, rows[i], rows[j])
                if slot >= 0 and find_root(trees, i) == find_root(trees, j):
                    offered, size = append(offered, size, slot)
    for i in range(0 if induced else len(chosen)):
        a, b = ends[2 * i], ends[2 * i + 1]
        slot = slot_between(starts, targets, min(a, b), max(a, b))
        offered, size = append(offered, size, slot)
    return span_and_prune(starts, targets, lengths, terminals, np.unique(offered[:size]), rows)


@compiled
def span_and_prune(starts, targets, lengths, terminals, offered, rows):
    """Return what `spanning_forest` does, of the `offered` slots (ascending) among `rows`."""
    n, size = len(rows), len(offered)
    slot_lengths = np.array(
        [length_of(slot, source_of(starts, slot), targets[slot], lengths) for slot in offered],
        np.float64,
    )
    tails = np.array([np.searchsorted(rows, source_of(starts, slot)) for slot in offered], np.int64)
    heads = np.array([np.searchsorted(rows, targets[slot]) for slot in offered], np.int64)
    trees, degree = np.arange(n), np.zeros(n, np.int64)
    edges = np.zeros(n, np.int64)  # exclusive or of a row's edges: at a leaf, its one edge
    retained = np.zeros(size, np.bool_)
    for i in np.argsort(slot_lengths, kind="mergesort"):  # Kruskal
        a, b = find_root(trees, tails[i]), find_root(trees, heads[i])
        if a != b and slot_lengths[i] < np.inf:
            trees[max(a, b)] = min(a, b)
            retained[i] = True
            degree[tails[i]] += 1
            degree[heads[i]] += 1
            edges[tails[i]] ^= i
            edges[heads[i]] ^= i
    places = np.searchsorted(rows, terminals)
    removable = np.ones(n, np.bool_)
    removable[places] = False
    for row in range(n):
        leaf = row
        while removable[leaf] and degree[leaf] == 1:
            edge = edges[leaf]
            retained[edge] = False
            degree[leaf] = 0
            leaf = tails[edge] + heads[edge] - leaf
            degree[leaf] -= 1
            edges[leaf] ^= edge
    tree_of_terminal = np.array([find_root(trees, place) for place in places], np.int64)
    return offered[retained], total_of(slot_lengths[retained]), tree_of_terminal


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
def reverse_slots(starts, targets, slots):
    """Return for each slot the slot of the same edge in the other direction."""
    return np.array(
        [slot_between(starts, targets, targets[slot], source_of(starts, slot)) for slot in slots],
        np.int64,
    )
