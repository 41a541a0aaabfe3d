"""Compiled loops of Q-Peel, where only single nodes are removed; see `..q_peel` for the problem.

`truss` is a `TrussArrays` of `clew.algorithms.community_search.arrays`. `worth` is float64 [n], and
`turn` the place of every node in the order of rising worth. An edge that is in no more triangles
than it needs is critical; a node across from a critical edge is blocked.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.heap import find_root, pop, push
from clew.algorithms.ranking import TOLERANCE

SLACK = TOLERANCE  # by how much a node must be below the mean, so that noise removes none


@compiled
def component_numbers(starts, targets):
    """Return the number of every node's connected component, in the order of first nodes."""
    n = len(starts) - 1
    part, queue, parts = np.full(n, -1, np.int32), np.empty(n, np.int32), 0
    for first in range(n):
        if part[first] >= 0:
            continue
        part[first], queue[0], done, size = parts, first, 0, 1
        while done < size:
            node = queue[done]
            done += 1
            for slot in range(starts[node], starts[node + 1]):
                if part[targets[slot]] < 0:
                    part[targets[slot]] = parts
                    queue[size] = targets[slot]
                    size += 1
        parts += 1
    return part


@compiled
def opposite_corner(ends, edge, side):
    """Return the corner across from `edge` in its triangle with `side`."""
    node = ends[side, 0]
    return ends[side, 1] if node == ends[edge, 0] or node == ends[edge, 1] else node


@compiled
def peel_strictly(truss, worth, turn, need, least):
    """Return (mask of the nodes that remain; component and its mean after every removal).

    From each component the node of the lowest worth is removed, as long as its worth is below the
    mean, every edge keeps `need` triangles, and the rest is connected and has `least` nodes. Every
    triangle is taken apart once, and an edge becomes critical once. Connectivity is tested only for
    nodes whose neighbours are not connected by themselves, and tested again only when a witness is
    removed.
    """
    _, starts, targets, _, edge_of, ends, begins, pairs, part = truss
    n, m = len(starts) - 1, len(ends)
    alive, queued, blocked, support = (
        np.ones(n, np.bool_),
        np.zeros(n, np.bool_),
        np.zeros(n, np.int32),
        np.empty(m, np.int32),
    )
    for edge in range(m):
        support[edge] = begins[edge + 1] - begins[edge]
        if support[edge] == need:
            for place in range(begins[edge], begins[edge + 1]):
                blocked[opposite_corner(ends, edge, pairs[place, 0])] += 1
    parts = part.max() + 1 if n > 0 else 0
    total, size = np.zeros(parts), np.zeros(parts, np.int64)
    keys, rows, waiting = np.empty(max(n, 16), np.float64), np.empty(max(n, 16), np.int64), 0
    by_turn = np.empty(n, np.int32)
    for node in range(n):
        by_turn[turn[node]] = node
    for node in by_turn:
        total[part[node]] += worth[node]
        size[part[node]] += 1
        if blocked[node] == 0:
            keys, rows, waiting = push(keys, rows, waiting, float(turn[node]), np.int64(node))
            queued[node] = True
    watch, following, watcher, watches = (
        np.full(n, -1, np.int64),
        np.empty(64, np.int64),
        np.empty(64, np.int32),
        0,
    )
    search = (
        np.zeros(n, np.int64),
        np.zeros(n, np.int32),
        np.zeros(n, np.int32),
        np.zeros(n, np.int32),
        np.empty(n, np.int32),
    )
    trace_part, trace_mean, steps, tests = np.empty(n, np.int32), np.empty(n, np.float64), 0, 0
    while waiting > 0:
        _, row, waiting = pop(keys, rows, waiting)
        node = np.int32(row)
        queued[node] = False
        own = part[node]
        if not alive[node] or blocked[node] > 0 or size[own] <= least:
            continue
        mean = total[own] / size[own]
        if worth[node] >= mean - SLACK * max(1.0, abs(mean)):
            continue
        tests += 1
        is_connected, one, other = is_connected_without(truss, alive, turn, node, tests, search)
        if not is_connected:
            if watches + 2 > len(following):
                following = np.concatenate((following, np.empty(len(following), np.int64)))
                watcher = np.concatenate((watcher, np.empty(len(watcher), np.int32)))
            for witness in (one, other):
                following[watches], watcher[watches] = watch[witness], node
                watch[witness] = watches
                watches += 1
            continue

        alive[node] = False
        total[own] -= worth[node]
        size[own] -= 1
        trace_part[steps], trace_mean[steps] = own, total[own] / size[own]
        steps += 1
        for slot in range(starts[node], starts[node + 1]):
            near = targets[slot]
            if not alive[near]:
                continue
            edge = edge_of[slot]
            for place in range(begins[edge], begins[edge + 1]):
                far = opposite_corner(ends, edge, pairs[place, 0])
                if far <= near or not alive[far]:
                    continue
                side, across = pairs[place, 0], pairs[place, 1]
                if ends[side, 0] != node and ends[side, 1] != node:
                    side, across = across, side
                if support[side] == need:
                    blocked[near] -= 1
                    if blocked[near] == 0 and not queued[near]:
                        keys, rows, waiting = push(
                            keys, rows, waiting, float(turn[near]), np.int64(near)
                        )
                        queued[near] = True
                if support[edge] == need:
                    blocked[far] -= 1
                    if blocked[far] == 0 and not queued[far]:
                        keys, rows, waiting = push(
                            keys, rows, waiting, float(turn[far]), np.int64(far)
                        )
                        queued[far] = True
                support[across] -= 1
                if support[across] == need:
                    for where in range(begins[across], begins[across + 1]):
                        corner = opposite_corner(ends, across, pairs[where, 0])
                        if alive[corner]:
                            blocked[corner] += 1
        entry = watch[node]
        while entry >= 0:
            again = watcher[entry]
            if alive[again] and blocked[again] == 0 and not queued[again]:
                keys, rows, waiting = push(keys, rows, waiting, float(turn[again]), np.int64(again))
                queued[again] = True
            entry = following[entry]
    return alive, trace_part[:steps], trace_mean[:steps]


@compiled
def is_connected_without(truss, alive, turn, node, test, search):
    """Return whether the neighbours of `node` stay connected without it, and two witnesses if not.

    One search starts from all neighbours at once. They are joined where they close a triangle with
    the node and where the searches meet. It ends when all are joined, or when one group has seen
    all it can. The witnesses are two nodes that the removal separates, for as long as both remain.
    `search` are the arrays seen, group, roots of the groups, pending nodes of each group, and
    queue.
    """
    _, starts, targets, _, edge_of, ends, begins, pairs, _ = truss
    seen, group, roots, pending, queue = search
    groups, size = 0, 0
    for slot in range(starts[node], starts[node + 1]):
        near = targets[slot]
        if alive[near]:
            seen[near], group[near], roots[groups] = test, groups, groups
            queue[size] = near
            groups += 1
            size += 1
    left = groups
    for slot in range(starts[node], starts[node + 1]):
        near = targets[slot]
        if not alive[near]:
            continue
        edge = edge_of[slot]
        for place in range(begins[edge], begins[edge + 1]):
            far = opposite_corner(ends, edge, pairs[place, 0])
            if alive[far]:
                a, b = find_root(roots, group[near]), find_root(roots, group[far])
                if a != b:
                    roots[max(a, b)] = min(a, b)
                    left -= 1
        if left <= 1:
            return True, node, node
    if left <= 1:
        return True, node, node
    pending[:groups] = 0
    for place in range(size):
        pending[find_root(roots, group[queue[place]])] += 1
    neighbours, done = size, 0
    while True:
        here = queue[done]
        done += 1
        mine = find_root(roots, group[here])
        pending[mine] -= 1
        for slot in range(starts[here], starts[here + 1]):
            other = targets[slot]
            if not alive[other] or other == node:
                continue
            if seen[other] != test:
                seen[other], group[other] = test, mine
                queue[size] = other
                size += 1
                pending[mine] += 1
                continue
            its = find_root(roots, group[other])
            if its != mine:
                low, high = min(mine, its), max(mine, its)
                roots[high] = low
                pending[low] += pending[high]
                mine = low
                left -= 1
                if left == 1:
                    return True, node, node
        if pending[mine] == 0:
            one, other = np.int32(-1), np.int32(-1)
            for place in range(size):
                member = queue[place]
                if find_root(roots, group[member]) == mine:
                    if one < 0 or turn[member] > turn[one]:
                        one = member
                elif place < neighbours and (other < 0 or turn[member] > turn[other]):
                    other = member
            return False, one, other
