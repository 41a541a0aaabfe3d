"""Compiled loops of Q-Peel where a node may take others with it; the arrays are those of `clew.algorithms.community_search.kernels.peeling`."""

from __future__ import annotations

import numpy as np

from clew.algorithms.community_search.kernels.peeling import SLACK
from clew.algorithms.kernels.compiled import compiled


@compiled
def cascading(starts, targets, edge_of, ends, begins, pairs, part, worth, turn, need, least):
    """As `strict`, but what cannot go alone may go with all edges that then lack triangles: of what is left the part of highest mean stays.

    Nodes are tried by rising worth; the first trial that leaves a higher mean counts, and all are tried anew. Returns also (bool [m]) the
    edges that stay: one that lost its triangles has gone even where both its ends are there.
    """
    n, m = len(starts) - 1, len(ends)
    alive, kept = np.ones(n, np.bool_), np.ones(m, np.bool_)
    support = (begins[1:] - begins[:-1]).astype(np.int32)
    by_turn = np.empty(n, np.int32)
    for node in range(n):
        by_turn[turn[node]] = node
    trace_part, trace_mean, steps = np.empty(n, np.int32), np.empty(n, np.float64), 0
    parts = part.max() + 1 if n > 0 else 0
    members = np.empty(n, np.int32)
    going, seen, queue = np.empty(m, np.int32), np.zeros(n, np.int64), np.empty(n, np.int32)
    stamp = 0
    for own in range(parts):
        size = 0
        for node in by_turn:
            if part[node] == own:
                members[size] = node
                size += 1
        again = True
        while again and size > least:
            again = False
            total = 0.0
            for place in range(size):
                total += worth[members[place]]
            mean = total / size
            for place in range(size):
                node = members[place]
                if worth[node] >= mean - SLACK * max(1.0, abs(mean)):
                    break
                gone = drop(
                    starts, targets, edge_of, begins, pairs, kept, support, node, need, going
                )
                best, best_size, best_first = mean + SLACK * max(1.0, abs(mean)), 0, node
                before = stamp
                for other_place in range(size):
                    first = members[other_place]
                    if first == node or seen[first] > before:
                        continue
                    stamp += 1
                    seen[first], queue[0], done, found, worths = stamp, first, 0, 1, 0.0
                    while done < found:
                        here = queue[done]
                        done += 1
                        worths += worth[here]
                        for slot in range(starts[here], starts[here + 1]):
                            other = targets[slot]
                            if kept[edge_of[slot]] and seen[other] <= before:
                                seen[other] = stamp
                                queue[found] = other
                                found += 1
                    if found >= least and (
                        worths / found > best or (worths / found == best and found > best_size)
                    ):
                        best, best_size, best_first = worths / found, found, first
                if best_size == 0:
                    for back in range(gone - 1, -1, -1):
                        restore(begins, pairs, kept, support, going[back])
                    continue
                stays, left = seen[best_first], 0
                for other_place in range(size):
                    other = members[other_place]
                    if seen[other] == stays:
                        members[left] = other
                        left += 1
                    else:
                        alive[other] = False
                        for slot in range(starts[other], starts[other + 1]):
                            kept[edge_of[slot]] = False
                size = left
                trace_part[steps], trace_mean[steps] = own, best
                steps += 1
                again = True
                break
    return alive, kept, trace_part[:steps], trace_mean[:steps]


@compiled
def drop(starts, targets, edge_of, begins, pairs, kept, support, node, need, going):
    """Take a node's edges away, and all that then close too few triangles; return how many went, in order, in `going`."""
    size, done = 0, 0
    for slot in range(starts[node], starts[node + 1]):
        if kept[edge_of[slot]]:
            going[size] = edge_of[slot]
            size += 1
    first = size
    for place in range(first):
        take(begins, pairs, kept, support, going[place])
    while done < size:
        edge = going[done]
        done += 1
        for place in range(begins[edge], begins[edge + 1]):
            for side in pairs[place]:
                if kept[side] and support[side] < need:
                    take(begins, pairs, kept, support, side)
                    going[size] = side
                    size += 1
    return size


@compiled
def take(begins, pairs, kept, support, edge):
    """Take an edge away; the two that close a triangle with it lose one."""
    kept[edge] = False
    for place in range(begins[edge], begins[edge + 1]):
        one, other = pairs[place]
        if kept[one] and kept[other]:
            support[one] -= 1
            support[other] -= 1


@compiled
def restore(begins, pairs, kept, support, edge):
    """Put back the edge that went last."""
    kept[edge] = True
    for place in range(begins[edge], begins[edge + 1]):
        one, other = pairs[place]
        if kept[one] and kept[other]:
            support[one] += 1
            support[other] += 1
