"""Compiled loops of the Steiner trees: shortest-path searches over compressed rows with one question's edge lengths.

Every kernel takes `starts` (int64 [n + 1]), `targets` (int32 [m]) and `lengths` (float64 [m], > 0; inf where an edge must not be used).
Ties are broken by row, so that a tree depends on nothing but the graph.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled


@compiled
def push(keys, rows, size, key, row):
    """Add (key, row) to a binary heap ordered by key, then row; the arrays grow as needed."""
    if size == len(keys):
        keys = np.concatenate((keys, np.empty(size, keys.dtype)))
        rows = np.concatenate((rows, np.empty(size, rows.dtype)))
    child = size
    while child > 0:
        parent = (child - 1) >> 1
        if keys[parent] < key or (keys[parent] == key and rows[parent] <= row):
            break
        keys[child], rows[child] = keys[parent], rows[parent]
        child = parent
    keys[child], rows[child] = key, row
    return keys, rows, size + 1


@compiled
def pop(keys, rows, size):
    """Remove the least (key, row) of a heap; return it and the new size."""
    key, row = keys[0], rows[0]
    size -= 1
    last_key, last_row = keys[size], rows[size]
    parent = 0
    while True:
        child = 2 * parent + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (keys[right] < keys[child] or (keys[right] == keys[child] and rows[right] < rows[child])):
            child = right
        if last_key < keys[child] or (last_key == keys[child] and last_row <= rows[child]):
            break
        keys[parent], rows[parent] = keys[child], rows[child]
        parent = child
    if size > 0:
        keys[parent], rows[parent] = last_key, last_row
    return key, row, size


@compiled
def root(of, x):
    """Return the representative of x in a union-find forest, halving the way."""
    while of[x] != x:
        of[x] = of[of[x]]
        x = of[x]
    return x


@compiled
def mehlhorn(starts, targets, lengths, terminals, most_path, whole):
    """Return (slots of the bridges in the order they were accepted, the slot each row was reached by, the rows settled).

    One Dijkstra from all terminals at once gives every row its nearest terminal; an edge between two cells is a bridge of cost
    d(u) + l(u, v) + d(v). Both ends of a bridge of cost C are within C / 2 of their terminals, so once everything within R is settled no
    bridge of cost up to 2 R is missing, and Kruskal's rule may take them in order: the search ends when the terminals are joined
    (unless `whole`), usually long before it has seen the graph.
    """
    n, k = len(starts) - 1, len(terminals)
    distance = np.full(n, np.inf)
    cell = np.full(n, -1, np.int32)
    came = np.full(n, -1, np.int64)
    settled = np.zeros(n, np.bool_)
    keys, rows, size = np.empty(1024, np.float64), np.empty(1024, np.int64), 0
    bridge_keys, bridge_slots, bridges = np.empty(256, np.float64), np.empty(256, np.int64), 0
    of = np.arange(k)
    for i in range(k):
        distance[terminals[i]] = 0.0
        cell[terminals[i]] = i
        keys, rows, size = push(keys, rows, size, 0.0, np.int64(terminals[i]))
    taken = np.empty(max(k - 1, 1), np.int64)
    joined = 0
    seen = 0
    while True:
        radius = keys[0] if size > 0 else np.inf
        while bridges > 0 and bridge_keys[0] <= 2 * radius and joined < k - 1:
            cost, slot, bridges = pop(bridge_keys, bridge_slots, bridges)
            if cost > most_path:
                continue
            u = np.searchsorted(starts, slot, side="right") - 1
            a, b = root(of, cell[u]), root(of, cell[targets[slot]])
            if a != b:
                of[max(a, b)] = min(a, b)
                taken[joined] = slot
                joined += 1
        if size == 0 or (joined == k - 1 and not whole) or 2 * radius > most_path:
            break
        key, row, size = pop(keys, rows, size)
        if settled[row]:
            continue
        settled[row] = True
        seen += 1
        for slot in range(starts[row], starts[row + 1]):
            other, length = targets[slot], lengths[slot]
            if length == np.inf:
                continue
            if settled[other]:
                if cell[other] != cell[row]:
                    cost = distance[row] + length + distance[other]
                    bridge_keys, bridge_slots, bridges = push(bridge_keys, bridge_slots, bridges, cost, np.int64(slot))
                continue
            through = key + length
            if through < distance[other] or (through == distance[other] and cell[row] < cell[other]):
                distance[other] = through
                cell[other] = cell[row]
                came[other] = slot
                keys, rows, size = push(keys, rows, size, through, np.int64(other))
    return taken[:joined], came, seen


@compiled
def nearest_goal(starts, targets, lengths, in_tree, goal):
    """Return (the goal row nearest to the tree, the slot each row was reached by), or -1 when none can be reached."""
    n = len(starts) - 1
    distance = np.full(n, np.inf)
    came = np.full(n, -1, np.int64)
    settled = np.zeros(n, np.bool_)
    keys, rows, size = np.empty(1024, np.float64), np.empty(1024, np.int64), 0
    for row in range(n):
        if in_tree[row]:
            distance[row] = 0.0
            keys, rows, size = push(keys, rows, size, 0.0, np.int64(row))
    while size > 0:
        key, row, size = pop(keys, rows, size)
        if settled[row]:
            continue
        settled[row] = True
        if goal[row] and not in_tree[row]:
            return row, came
        for slot in range(starts[row], starts[row + 1]):
            other = targets[slot]
            through = key + lengths[slot]
            if through < distance[other]:
                distance[other] = through
                came[other] = slot
                keys, rows, size = push(keys, rows, size, through, np.int64(other))
    return np.int64(-1), came


@compiled
def from_one(starts, targets, lengths, source, goal, goals):
    """Return (distance, the slot each row was reached by) from one row; ends once all `goals` rows marked in `goal` are settled."""
    n = len(starts) - 1
    distance = np.full(n, np.inf)
    came = np.full(n, -1, np.int64)
    settled = np.zeros(n, np.bool_)
    keys, rows, size = np.empty(1024, np.float64), np.empty(1024, np.int64), 0
    distance[source] = 0.0
    keys, rows, size = push(keys, rows, size, 0.0, np.int64(source))
    while size > 0 and goals > 0:
        key, row, size = pop(keys, rows, size)
        if settled[row]:
            continue
        settled[row] = True
        if goal[row]:
            goals -= 1
        for slot in range(starts[row], starts[row + 1]):
            other = targets[slot]
            through = key + lengths[slot]
            if through < distance[other]:
                distance[other] = through
                came[other] = slot
                keys, rows, size = push(keys, rows, size, through, np.int64(other))
    return distance, came


@compiled
def dreyfus_wagner(starts, targets, lengths, terminals):
    """Return (cost of an optimal tree over all terminals for every set of the first k - 1 and every row, how each was made).

    cost[set, row] is the least cost of a tree that joins the set's terminals and the row. `made` is a slot (>= 0) where the tree comes
    over that edge, or -2 - part where it is the union of the trees of `part` and of the rest at the row, or -1 at a terminal.
    O(3^k n + 2^k m log n).
    """
    n, k = len(starts) - 1, len(terminals) - 1
    sets = 1 << k
    cost = np.full((sets, n), np.inf)
    made = np.full((sets, n), -1, np.int64)
    settled = np.empty(n, np.bool_)
    keys, rows = np.empty(1024, np.float64), np.empty(1024, np.int64)
    for chosen in range(1, sets):
        for i in range(k):
            if chosen == 1 << i:
                cost[chosen, terminals[i]] = 0.0
        part = (chosen - 1) & chosen
        while part > 0:
            rest = chosen ^ part
            if part < rest:
                break
            for row in range(n):
                both = cost[part, row] + cost[rest, row]
                if both < cost[chosen, row]:
                    cost[chosen, row] = both
                    made[chosen, row] = -2 - part
            part = (part - 1) & chosen
        settled[:] = False
        size = 0
        for row in range(n):
            if cost[chosen, row] < np.inf:
                keys, rows, size = push(keys, rows, size, cost[chosen, row], np.int64(row))
        while size > 0:
            key, row, size = pop(keys, rows, size)
            if settled[row]:
                continue
            settled[row] = True
            for slot in range(starts[row], starts[row + 1]):
                other = targets[slot]
                through = key + lengths[slot]
                if through < cost[chosen, other]:
                    cost[chosen, other] = through
                    made[chosen, other] = slot
                    keys, rows, size = push(keys, rows, size, through, np.int64(other))
    return cost, made
