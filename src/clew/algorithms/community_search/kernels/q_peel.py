"""Compiled frame of Q-Peel that cascades: from links to a truss, and to its best component.

A graph has up to eight trusses to be peeled for one query, most of a few dozen nodes. What is done
once for each of them costs more than the peeling, unless it is compiled too. `starts` is int64
[n + 1], `targets` int32 [m], ascending in each row.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.community_search.arrays import TrussArrays
from clew.algorithms.community_search.kernels.cascading import peel_cascading
from clew.algorithms.community_search.kernels.peeling import (
    best_part,
    component_numbers,
)
from clew.algorithms.community_search.kernels.truss import (
    orient_edges,
    triangles,
    triangles_by_edge,
)
from clew.algorithms.kernels.compiled import compiled

NO_LIMIT = np.iinfo(np.int64).max


@compiled
def build_truss(starts, targets, trussness, k):
    """Return the k-truss of links whose slots have this trussness, as `TrussArrays`."""
    n = len(starts) - 1
    place, rows, size, retained = np.full(n, -1, np.int32), np.empty(n, np.int32), 0, 0
    for row in range(n):
        own = 0
        for slot in range(starts[row], starts[row + 1]):
            own += trussness[slot] >= k
        if own > 0:
            place[row], rows[size] = size, row
            size += 1
            retained += own
    rows = rows[:size].copy()
    first, others, slots = (
        np.zeros(size + 1, np.int64),
        np.empty(retained, np.int32),
        np.empty(retained, np.int64),
    )
    retained = 0
    for i in range(size):
        for slot in range(starts[rows[i]], starts[rows[i] + 1]):
            if trussness[slot] >= k:
                others[retained], slots[retained] = place[targets[slot]], slot
                retained += 1
        first[i + 1] = retained
    lows, highs, edge_of, _ = orient_edges(first, others)
    support, corners, _ = triangles(lows, highs, NO_LIMIT)
    begins, pairs = triangles_by_edge(support, corners)
    ends = np.empty((len(highs), 2), np.int32)
    for i in range(size):
        for slot in range(first[i], first[i + 1]):
            if i < others[slot]:
                ends[edge_of[slot], 0], ends[edge_of[slot], 1] = i, others[slot]
    part = component_numbers(first, others)
    return TrussArrays(rows, first, others, slots, edge_of, ends, begins, pairs, part)


@compiled
def peel_truss(truss, relevance, need, least):
    """Return what peeling with cascades leaves of a truss: (rows, slots of its edges, mean, means).

    The means are those of its component, the whole one first. There are no rows where no component
    has `least` nodes.
    """
    rows, starts, targets, slots, edge_of, _, _, _, part = truss
    n = len(rows)
    own = np.empty(n, np.float64)
    for node in range(n):
        own[node] = relevance[rows[node]]
    turn = np.empty(n, np.int32)
    turn[np.argsort(own, kind="mergesort")] = np.arange(n).astype(np.int32)
    alive, retained, trace_part, trace_mean = peel_cascading(truss, own, turn, need, least)

    parts = part.max() + 1 if n > 0 else 0
    whole, before, total, size = (
        np.zeros(parts),
        np.zeros(parts, np.int64),
        np.zeros(parts),
        np.zeros(parts, np.int64),
    )
    for node in range(n):
        whole[part[node]] += own[node]
        before[part[node]] += 1
        if alive[node]:
            total[part[node]] += own[node]
            size[part[node]] += 1
    best = best_part(total, size, least)
    inside = np.empty(0 if best < 0 else size[best], np.int32)
    edges, nodes, filled = np.empty(len(slots) // 2, np.int64), 0, 0
    if best < 0:
        return inside, edges[:0], 0.0, own[:0]
    for node in range(n):
        if alive[node] and part[node] == best:
            inside[nodes] = rows[node]
            nodes += 1
            for slot in range(starts[node], starts[node + 1]):
                other = targets[slot]
                if node < other and alive[other] and retained[edge_of[slot]]:
                    edges[filled] = slots[slot]
                    filled += 1
    steps = trace_mean[trace_part == best]
    means = np.concatenate((np.array([whole[best] / before[best]]), steps))
    return inside, edges[:filled].copy(), total[best] / size[best], means


@compiled(patience=8.0)  # a dozen loops in one, which are made in more than ten seconds
def search_all_k(starts, targets, value, relevance, first, most):
    """Return the communities that Q-Peel finds for every k from `first`, at least 3, to `most`.

    `value` is the trussness of the slots; there is one of `most`. The result is (k of each, ends of
    its rows, ends of its slots, ends of its means, mean of each; rows, slots and means of all in a
    row).
    """
    ks, size = np.empty(most - first + 1, np.int32), 0
    row_ends, slot_ends, mean_ends = (
        np.zeros(len(ks), np.int64),
        np.zeros(len(ks), np.int64),
        np.zeros(len(ks), np.int64),
    )
    means = np.zeros(len(ks))
    rows, slots, steps = np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.float64)
    for k in range(first, most + 1):
        truss = build_truss(starts, targets, value, k)
        own, edges, mean, trace = peel_truss(truss, relevance, k - 2, k)
        if len(own) > 0:
            rows, slots, steps = (
                np.concatenate((rows, own)),
                np.concatenate((slots, edges)),
                np.concatenate((steps, trace)),
            )
            ks[size], means[size] = k, mean
            row_ends[size], slot_ends[size], mean_ends[size] = len(rows), len(slots), len(steps)
            size += 1
    return (
        ks[:size],
        row_ends[:size],
        slot_ends[:size],
        mean_ends[:size],
        means[:size],
        rows,
        slots,
        steps,
    )
