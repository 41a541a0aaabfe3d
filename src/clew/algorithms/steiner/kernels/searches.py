"""Compiled searches of the Steiner trees, over compressed rows with one query's edge lengths.

Every kernel takes `starts` (int64 [n + 1]), `targets` (int32 [m], ascending in each row) and
`lengths` (an `EdgeLengths` of `clew.algorithms.steiner.lengths`). Ties are broken by row, then by
slot, so that a tree depends on nothing but the graph.

In the searches, `distances` are those of the rows from where the search began, and `arrivals` the
slots by which the rows were reached: -1 where the search began.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.heap import append, find_root, pop, push, sift_up
from clew.algorithms.steiner.kernels.lengths import length_of
from clew.algorithms.steiner.kernels.spanning import source_of

MAX_TERMINALS_BOUNDED = 256  # terminals for which a table of all pairs is used as a bound


@compiled
def mehlhorn(starts, targets, lengths, terminals, max_path, exhaustive, labels):
    """Return (slots of the bridges between terminals' cells in the order of cost, rows settled).

    One Dijkstra from all terminals at once gives every row its nearest terminal, whose cell it
    joins. An edge between two cells is a bridge of cost d(u) + l(u, v) + d(v). Both ends of a
    bridge of cost C are within C / 2 of their terminals. So once everything nearer than R is
    settled, no bridge cheaper than 2 R is missing, and Kruskal's rule may take them in order. The
    search ends when the terminals are joined (unless `exhaustive`), usually long before it has seen
    the graph.

    Where two cells first touch, they show a path between two terminals. The longest edge of the
    minimum spanning tree of these paths is never less than the last bridge's cost, so a row farther
    than half of it is not even queued.

    `labels` are the `SearchLabels` of `clew.algorithms.steiner.forest`; they come as zeros.
    """
    distances, arrivals, cells = labels.distances, labels.arrivals, labels.cells
    k = len(terminals)
    fixed, max_edge = lengths.fixed, lengths.max_edge
    is_fixed = len(fixed) > 0
    bound = min(max_path, np.finfo(np.float64).max)
    pairs = k if k <= MAX_TERMINALS_BOUNDED and not exhaustive else 0
    best, path_costs, path_ends = (
        np.full((pairs, pairs), np.inf),
        np.empty(k + 1),
        np.empty(k + 1, np.int64),
    )
    paths = 0
    keys, rows, size = np.empty(1024, np.float64), np.empty(1024, np.int64), 0
    bridge_keys, bridge_slots, bridges = np.empty(256, np.float64), np.empty(256, np.int64), 0
    trees, scratch = np.arange(k), np.arange(k)
    for i in range(k):
        cells[terminals[i]] = i + 1
        arrivals[terminals[i]] = -1
        keys, rows, size = push(keys, rows, size, 0.0, np.int64(terminals[i]))
    accepted = np.empty(max(k - 1, 1), np.int64)
    joined = 0
    settled = 0
    while True:
        radius = keys[0] if size > 0 else np.inf
        while bridges > 0 and bridge_keys[0] < 2 * radius and joined < k - 1:
            _, slot, bridges = pop(bridge_keys, bridge_slots, bridges)
            a = find_root(trees, -cells[source_of(starts, slot)] - 1)
            b = find_root(trees, -cells[targets[slot]] - 1)
            if a != b:
                trees[max(a, b)] = min(a, b)
                accepted[joined] = slot
                joined += 1
        if size == 0 or (joined == k - 1 and not exhaustive):
            break
        key, row, size = pop(keys, rows, size)
        cell = cells[row]
        if cell < 0:
            continue
        cells[row] = -cell
        settled += 1
        room = size + starts[row + 1] - starts[row] - len(keys)
        if (
            room > 0
        ):  # at once for all neighbours: passing arrays back and forth costs more than the heap
            keys = np.concatenate((keys, np.empty(room + size, keys.dtype)))
            rows = np.concatenate((rows, np.empty(room + size, rows.dtype)))
        for slot in range(starts[row], starts[row + 1]):
            length = fixed[slot] if is_fixed else 0.0
            if key + length > bound:
                continue
            other = targets[slot]
            other_cell = cells[other]
            if other_cell == -cell:
                continue
            if not 0 < length <= max_edge:
                length = length_of(slot, row, other, lengths)
            through = key + length
            if through > bound:
                continue
            if other_cell != 0 and other_cell != cell:
                # The sum begins at the end settled first. So twice the distance of either end is
                # never more than the cost, rounding included.
                if other_cell < 0:
                    cost = distances[other] + length + key
                else:
                    cost = through + distances[other]
                if cost <= bound:
                    if other_cell < 0:
                        bridge_keys, bridge_slots, bridges = push(
                            bridge_keys, bridge_slots, bridges, cost, np.int64(slot)
                        )
                    if pairs > 0:
                        ends = cell - 1, abs(other_cell) - 1
                        paths = add_terminal_path(
                            best, path_costs, path_ends, paths, scratch, cost, ends
                        )
                        if paths == k - 1:
                            bound = min(bound, path_costs[paths - 1] * (1 + 1e-9))
            if (
                other_cell < 0
                or 2 * through > bound
                or (
                    other_cell > 0
                    and (
                        through > distances[other]
                        or (through == distances[other] and cell >= other_cell)
                    )
                )
            ):
                continue
            distances[other] = through
            cells[other] = cell
            arrivals[other] = slot
            sift_up(keys, rows, size, through, np.int64(other))
            size += 1
    return accepted[:joined], settled


@compiled
def add_terminal_path(best, costs, ends, size, trees, cost, between):
    """Add a path between two terminals to their minimum spanning forest; return its size.

    `best` has the least cost of each pair; `costs` (ascending) and `ends` are the forest's edges.
    """
    a, b = between
    if a > b:
        a, b = b, a
    k = len(trees)
    if cost >= best[a, b] or (size == k - 1 and cost >= costs[size - 1]):
        return size
    best[a, b] = cost
    place = size
    while place > 0 and costs[place - 1] > cost:
        costs[place], ends[place] = costs[place - 1], ends[place - 1]
        place -= 1
    costs[place], ends[place] = cost, a * k + b
    for i in range(k):
        trees[i] = i
    retained = 0
    for i in range(size + 1):
        x, y = find_root(trees, ends[i] // k), find_root(trees, ends[i] % k)
        if x != y:
            trees[max(x, y)] = min(x, y)
            costs[retained], ends[retained] = costs[i], ends[i]
            retained += 1
    return retained


@compiled
def bridge_paths(starts, targets, bridges, arrivals):
    """Return the bridges and the slots of the paths from both their ends back to the terminals."""
    slots, size = np.empty(256, np.int64), 0
    for bridge in bridges:
        slots, size = append(slots, size, bridge)
        for end in (source_of(starts, bridge), np.int64(targets[bridge])):
            for slot in path_back(starts, arrivals, end):
                slots, size = append(slots, size, slot)
    return np.unique(slots[:size])


@compiled
def path_back(starts, arrivals, row):
    """Return the slots of the path from a row back to where its search began."""
    slots, size = np.empty(16, np.int64), 0
    while arrivals[row] >= 0:
        slots, size = append(slots, size, arrivals[row])
        row = source_of(starts, arrivals[row])
    return slots[:size]


@compiled
def grow_tree(starts, targets, lengths, source, goal):
    """Return the slots of a tree that grows from one row by the nearest row of `goal`."""
    n = len(starts) - 1
    distances = np.full(n, np.inf)
    arrivals = np.full(n, -1, np.int64)
    missing = goal.copy()
    missing[source] = False
    remaining = missing.sum()
    keys, rows, size = np.empty(1024, np.float64), np.empty(1024, np.int64), 0
    slots, count = np.empty(256, np.int64), 0
    distances[source] = 0.0
    keys, rows, size = push(keys, rows, size, 0.0, np.int64(source))
    while size > 0 and remaining > 0:
        key, row, size = pop(keys, rows, size)
        if key > distances[row]:
            continue
        if missing[row]:
            missing[row] = False
            remaining -= 1
            end = row
            # The path joins the tree. Its rows are new sources: rows nearer to them settle anew.
            while distances[end] > 0:
                slots, count = append(slots, count, arrivals[end])
                distances[end] = 0.0
                keys, rows, size = push(keys, rows, size, 0.0, end)
                end = source_of(starts, arrivals[end])
            continue
        for slot in range(starts[row], starts[row + 1]):
            other = targets[slot]
            through = key + length_of(slot, row, other, lengths)
            if through < distances[other]:
                distances[other] = through
                arrivals[other] = slot
                keys, rows, size = push(keys, rows, size, through, np.int64(other))
    return np.unique(slots[:count])


@compiled
def shortest_paths_from(starts, targets, lengths, source, goal):
    """Return (distances, arrivals) from one row; ends once all rows of `goal` are settled."""
    n = len(starts) - 1
    distances = np.full(n, np.inf)
    arrivals = np.full(n, -1, np.int64)
    remaining = goal.sum()
    keys, rows, size = np.empty(1024, np.float64), np.empty(1024, np.int64), 0
    distances[source] = 0.0
    keys, rows, size = push(keys, rows, size, 0.0, np.int64(source))
    while size > 0 and remaining > 0:
        key, row, size = pop(keys, rows, size)
        if key > distances[row]:
            continue
        remaining -= goal[row]
        for slot in range(starts[row], starts[row + 1]):
            other = targets[slot]
            through = key + length_of(slot, row, other, lengths)
            if through < distances[other]:
                distances[other] = through
                arrivals[other] = slot
                keys, rows, size = push(keys, rows, size, through, np.int64(other))
    return distances, arrivals


@compiled
def dreyfus_wagner(starts, targets, lengths, terminals, max_cost):
    """Return the slots of an optimal tree over the terminals, which costs `max_cost` or less.

    cost[set, row] is the least cost of a tree that joins the row and a set of terminals, the last
    terminal left out. Such a tree is reached over an edge, or it is the union of two trees at the
    row, of a part of the set and of its rest. origin[set, row] is the slot of the edge, or
    -2 - part. O(3^k n + 2^k m log n).
    """
    n, k = len(starts) - 1, len(terminals) - 1
    sets = 1 << k
    cost = np.full((sets, n), np.inf)
    origin = np.full((sets, n), -1, np.int64)
    settled = np.empty(n, np.bool_)
    keys, rows = np.empty(1024, np.float64), np.empty(1024, np.int64)
    for chosen in range(1, sets):
        for i in range(k):
            if chosen == 1 << i:
                cost[chosen, terminals[i]] = 0.0
        part = (chosen - 1) & chosen
        while part > chosen ^ part:
            rest = chosen ^ part
            for row in range(n):
                union = cost[part, row] + cost[rest, row]
                if union < cost[chosen, row]:
                    cost[chosen, row] = union
                    origin[chosen, row] = -2 - part
            part = (part - 1) & chosen
        settled[:] = False
        size = 0
        for row in range(n):
            if cost[chosen, row] <= max_cost:
                keys, rows, size = push(keys, rows, size, cost[chosen, row], np.int64(row))
        while size > 0:
            key, row, size = pop(keys, rows, size)
            if settled[row]:
                continue
            settled[row] = True
            for slot in range(starts[row], starts[row + 1]):
                other = targets[slot]
                through = key + length_of(slot, row, other, lengths)
                if through <= max_cost and through < cost[chosen, other]:
                    cost[chosen, other] = through
                    origin[chosen, other] = slot
                    keys, rows, size = push(keys, rows, size, through, np.int64(other))
    slots, count = np.empty(64, np.int64), 0
    stack = [(sets - 1, np.int64(terminals[k]))]
    while len(stack) > 0:
        chosen, row = stack.pop()
        step = origin[chosen, row]
        if step >= 0:
            slots, count = append(slots, count, step)
            stack.append((chosen, source_of(starts, step)))
        elif step <= -2:
            stack.append((-2 - step, row))
            stack.append((chosen ^ (-2 - step), row))
    return slots[:count]
