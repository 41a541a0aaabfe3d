"""Compiled loops of Q-Peel, where the removal of a node may remove others; see `peeling`."""

from __future__ import annotations

import numpy as np

from clew.algorithms.community_search.kernels.peeling import SLACK
from clew.algorithms.kernels.compiled import compiled


@compiled
def peel_cascading(truss, relevance, turn, need, least):
    """As `peeling.peel_next`, but a node may be removed with all edges that then lack triangles.

    Of what is left the component of the highest mean remains. Nodes are tried by rising relevance;
    the first trial that raises the mean counts, and all are tried anew. Returns (mask of the nodes,
    mask of the edges, component and mean after every removal). An edge that lost its triangles is
    removed even where both its ends remain.
    """
    _, starts, targets, _, edge_of, ends, begins, pairs, part = truss
    n, m = len(starts) - 1, len(ends)
    alive, retained = np.ones(n, np.bool_), np.ones(m, np.bool_)
    support = (begins[1:] - begins[:-1]).astype(np.int32)
    by_turn = np.empty(n, np.int32)
    for node in range(n):
        by_turn[turn[node]] = node
    trace_part, trace_mean, steps = np.empty(n, np.int32), np.empty(n, np.float64), 0
    parts = part.max() + 1 if n > 0 else 0
    members = np.empty(n, np.int32)
    removals, seen, queue = np.empty(m, np.int32), np.zeros(n, np.int64), np.empty(n, np.int32)
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
                total += relevance[members[place]]
            mean = total / size
            for place in range(size):
                node = members[place]
                if relevance[node] >= mean - SLACK * max(1.0, abs(mean)):
                    break
                removed = remove_node(truss, retained, support, node, need, removals)
                best, best_size, best_first = mean + SLACK * max(1.0, abs(mean)), 0, node
                before = stamp
                for other_place in range(size):
                    first = members[other_place]
                    if first == node or seen[first] > before:
                        continue
                    stamp += 1
                    seen[first], queue[0], done, reached, reached_relevance = (
                        stamp,
                        first,
                        0,
                        1,
                        0.0,
                    )
                    while done < reached:
                        here = queue[done]
                        done += 1
                        reached_relevance += relevance[here]
                        for slot in range(starts[here], starts[here + 1]):
                            other = targets[slot]
                            if retained[edge_of[slot]] and seen[other] <= before:
                                seen[other] = stamp
                                queue[reached] = other
                                reached += 1
                    if reached >= least and (
                        reached_relevance / reached > best
                        or (reached_relevance / reached == best and reached > best_size)
                    ):
                        best, best_size, best_first = reached_relevance / reached, reached, first
                if best_size == 0:
                    for back in range(removed - 1, -1, -1):
                        restore_edge(begins, pairs, retained, support, removals[back])
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
                            retained[edge_of[slot]] = False
                size = left
                trace_part[steps], trace_mean[steps] = own, best
                steps += 1
                again = True
                break
    return alive, retained, trace_part[:steps], trace_mean[:steps]


@compiled
def remove_node(truss, retained, support, node, need, removals):
    """Remove a node's edges, and all that are then in too few triangles.

    Return how many; `removals` lists them in order.
    """
    starts, edge_of, begins, pairs = truss.starts, truss.edge_of, truss.begins, truss.pairs
    size, done = 0, 0
    for slot in range(starts[node], starts[node + 1]):
        if retained[edge_of[slot]]:
            removals[size] = edge_of[slot]
            size += 1
    first = size
    for place in range(first):
        remove_edge(begins, pairs, retained, support, removals[place])
    while done < size:
        edge = removals[done]
        done += 1
        for place in range(begins[edge], begins[edge + 1]):
            for side in pairs[place]:
                if retained[side] and support[side] < need:
                    remove_edge(begins, pairs, retained, support, side)
                    removals[size] = side
                    size += 1
    return size


@compiled
def remove_edge(begins, pairs, retained, support, edge):
    """Remove an edge; the two edges of each of its triangles lose one."""
    retained[edge] = False
    for place in range(begins[edge], begins[edge + 1]):
        one, other = pairs[place]
        if retained[one] and retained[other]:
            support[one] -= 1
            support[other] -= 1


@compiled
def restore_edge(begins, pairs, retained, support, edge):
    """Restore the edge that was removed last."""
    retained[edge] = True
    for place in range(begins[edge], begins[edge + 1]):
        one, other = pairs[place]
        if retained[one] and retained[other]:
            support[one] += 1
            support[other] += 1
