"""Compiled loops of Q-Peel, on a truss whose triangles are listed; see `clew.algorithms.community_search.q_peel` for what is sought.

A truss is given by `starts`, `targets` and `edge_of` (the edge of every slot), `ends` of every edge (int32 [m, 2]), and `begins` and
`pairs`: edge `e` closes triangles with the pairs of edges `pairs[begins[e]:begins[e + 1]]`. `worth` is float64 [n], and `turn` the place
of every node when they are sorted by it. An edge that closes no more triangles than it needs is critical.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.heap import pop, push, root
from clew.algorithms.ranking import TOLERANCE

SLACK = TOLERANCE  # by how much a node must be below the mean, so that noise takes none away


@compiled
def parts_of(starts, targets):
    """Return the number of every node's connected part, by its first node."""
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
def third(ends, edge, side):
    """Return the end of `side` that is no end of `edge`: the corner of their triangle across from `edge`."""
    node = ends[side, 0]
    return ends[side, 1] if node == ends[edge, 0] or node == ends[edge, 1] else node


@compiled
def strict(starts, targets, edge_of, ends, begins, pairs, part, worth, turn, need, least):
    """Return (bool [n], what is left of every part; the part, and its mean, after every removal).

    From each part the node of least worth is taken away, as long as it is worth less than the mean, every edge keeps `need` triangles, the
    rest hangs together and has `least` nodes. Every triangle is taken apart once and an edge becomes critical once; whether the rest hangs
    together is asked only of nodes whose neighbours do not hang together by themselves, and again only when a witness is gone.
    """
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
                blocked[third(ends, edge, pairs[place, 0])] += 1
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
    seen, group = np.zeros(n, np.int64), np.zeros(n, np.int32)
    of, pending, queue = np.zeros(n, np.int32), np.zeros(n, np.int32), np.empty(n, np.int32)
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
        whole, one, other = hangs_together(
            starts,
            targets,
            edge_of,
            ends,
            begins,
            pairs,
            alive,
            turn,
            node,
            tests,
            seen,
            group,
            of,
            pending,
            queue,
        )
        if not whole:
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
                far = third(ends, edge, pairs[place, 0])
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
                        corner = third(ends, across, pairs[where, 0])
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
def hangs_together(
    starts,
    targets,
    edge_of,
    ends,
    begins,
    pairs,
    alive,
    turn,
    node,
    test,
    seen,
    group,
    of,
    pending,
    queue,
):
    """Return (whether the living neighbours of `node` hang together without it, and two of worth that do not).

    One search from all neighbours at once, joined where they close a triangle with the node and where the searches meet, ends when all are
    one or when one of them has seen all it can. A node whose removal joins nothing parts the same two for as long as both live.
    """
    groups, size = 0, 0
    for slot in range(starts[node], starts[node + 1]):
        near = targets[slot]
        if alive[near]:
            seen[near], group[near], of[groups] = test, groups, groups
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
            far = third(ends, edge, pairs[place, 0])
            if alive[far]:
                a, b = root(of, group[near]), root(of, group[far])
                if a != b:
                    of[max(a, b)] = min(a, b)
                    left -= 1
        if left <= 1:
            return True, node, node
    if left <= 1:
        return True, node, node
    pending[:groups] = 0
    for place in range(size):
        pending[root(of, group[queue[place]])] += 1
    neighbours, done = size, 0
    while True:
        here = queue[done]
        done += 1
        mine = root(of, group[here])
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
            its = root(of, group[other])
            if its != mine:
                low, high = min(mine, its), max(mine, its)
                of[high] = low
                pending[low] += pending[high]
                mine = low
                left -= 1
                if left == 1:
                    return True, node, node
        if pending[mine] == 0:
            one, other = np.int32(-1), np.int32(-1)
            for place in range(size):
                found = queue[place]
                if root(of, group[found]) == mine:
                    if one < 0 or turn[found] > turn[one]:
                        one = found
                elif place < neighbours and (other < 0 or turn[found] > turn[other]):
                    other = found
            return False, one, other
