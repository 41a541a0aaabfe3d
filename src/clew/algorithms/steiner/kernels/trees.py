"""Compiled loops of the Steiner trees: searches over compressed rows with one question's edge lengths.

Every kernel takes `starts` (int64 [n + 1]), `targets` (int32 [m], ascending in each row) and `costs` (see `lengths`). Ties are broken by
row, then by slot, so that a tree depends on nothing but the graph.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.heap import add, lift, pop, push, root
from clew.algorithms.steiner.kernels.lengths import length_of
from clew.algorithms.steiner.kernels.spanning import source_of

MOST_BOUNDED = 256  # terminals for which a table of all pairs is kept


@compiled
def mehlhorn(starts, targets, costs, terminals, most_path, whole, distance, came, cell):
    """Return (slots of the bridges in the order they were accepted, rows settled); `distance`, `came` and `cell` come as zeros.

    One Dijkstra from all terminals at once gives every row its nearest terminal; an edge between two cells is a bridge of cost
    d(u) + l(u, v) + d(v). Both ends of a bridge of cost C are within C / 2 of their terminals, so once everything nearer than R is
    settled no bridge cheaper than 2 R is missing, and Kruskal's rule may take them in order: the search ends when the terminals are
    joined (unless `whole`), usually long before it has seen the graph. Where the searches first touch they show ways between terminals;
    the dearest edge of the minimum spanning tree of these is never less than the last bridge's cost, so that what is farther than half
    of it is not even queued.

    `cell` becomes i + 1 for a row reached from terminal i, and -i - 1 once it is settled; `came` the slot by which, -1 at terminals.
    """
    k = len(terminals)
    lengths, most_edge = costs[0], costs[1]
    read = len(lengths) > 0
    bound = min(most_path, np.finfo(np.float64).max)
    pairs = k if k <= MOST_BOUNDED and not whole else 0
    best, way_costs, way_ends, ways = (
        np.full((pairs, pairs), np.inf),
        np.empty(k + 1),
        np.empty(k + 1, np.int64),
        0,
    )
    keys, rows, size = np.empty(1024, np.float64), np.empty(1024, np.int64), 0
    bridge_keys, bridge_slots, bridges = np.empty(256, np.float64), np.empty(256, np.int64), 0
    of, scratch = np.arange(k), np.arange(k)
    for i in range(k):
        cell[terminals[i]] = i + 1
        came[terminals[i]] = -1
        keys, rows, size = push(keys, rows, size, 0.0, np.int64(terminals[i]))
    taken = np.empty(max(k - 1, 1), np.int64)
    joined = 0
    settled = 0
    while True:
        radius = keys[0] if size > 0 else np.inf
        while bridges > 0 and bridge_keys[0] < 2 * radius and joined < k - 1:
            _, slot, bridges = pop(bridge_keys, bridge_slots, bridges)
            a, b = root(of, -cell[source_of(starts, slot)] - 1), root(of, -cell[targets[slot]] - 1)
            if a != b:
                of[max(a, b)] = min(a, b)
                taken[joined] = slot
                joined += 1
        if size == 0 or (joined == k - 1 and not whole):
            break
        key, row, size = pop(keys, rows, size)
        mine = cell[row]
        if mine < 0:
            continue
        cell[row] = -mine
        settled += 1
        room = size + starts[row + 1] - starts[row] - len(keys)
        if room > 0:  # once for all, since handing arrays to and fro costs more than the heap
            keys = np.concatenate((keys, np.empty(room + size, keys.dtype)))
            rows = np.concatenate((rows, np.empty(room + size, rows.dtype)))
        for slot in range(starts[row], starts[row + 1]):
            length = lengths[slot] if read else 0.0
            if key + length > bound:
                continue
            other = targets[slot]
            its = cell[other]
            if its == -mine:
                continue
            if not 0 < length <= most_edge:
                length = length_of(slot, row, other, costs)
            through = key + length
            if through > bound:
                continue
            if its != 0 and its != mine:
                # summed from the end settled first: then twice the distance of either end is never more than the cost, rounding included
                cost = distance[other] + length + key if its < 0 else through + distance[other]
                if cost <= bound:
                    if its < 0:
                        bridge_keys, bridge_slots, bridges = push(
                            bridge_keys, bridge_slots, bridges, cost, np.int64(slot)
                        )
                    if pairs > 0:
                        ways = note_way(
                            best, way_costs, way_ends, ways, scratch, cost, mine - 1, abs(its) - 1
                        )
                        if ways == k - 1:
                            bound = min(bound, way_costs[ways - 1] * (1 + 1e-9))
            if (
                its < 0
                or 2 * through > bound
                or (
                    its > 0
                    and (through > distance[other] or (through == distance[other] and mine >= its))
                )
            ):
                continue
            distance[other] = through
            cell[other] = mine
            came[other] = slot
            lift(keys, rows, size, through, np.int64(other))
            size += 1
    return taken[:joined], settled


@compiled
def note_way(best, costs, ends, size, of, cost, a, b):
    """Add a way between two terminals to their minimum spanning forest (`costs` ascending); return the number of its edges."""
    if a > b:
        a, b = b, a
    k = len(of)
    if cost >= best[a, b] or (size == k - 1 and cost >= costs[size - 1]):
        return size
    best[a, b] = cost
    place = size
    while place > 0 and costs[place - 1] > cost:
        costs[place], ends[place] = costs[place - 1], ends[place - 1]
        place -= 1
    costs[place], ends[place] = cost, a * k + b
    for i in range(k):
        of[i] = i
    kept = 0
    for i in range(size + 1):
        x, y = root(of, ends[i] // k), root(of, ends[i] % k)
        if x != y:
            of[max(x, y)] = min(x, y)
            costs[kept], ends[kept] = costs[i], ends[i]
            kept += 1
    return kept


@compiled
def walked(starts, targets, bridges, came):
    """Return the bridges and the slots of the ways from both their ends back to where they came from."""
    found, size = np.empty(256, np.int64), 0
    for bridge in bridges:
        found, size = add(found, size, bridge)
        for end in (source_of(starts, bridge), np.int64(targets[bridge])):
            for slot in way_back(starts, came, end):
                found, size = add(found, size, slot)
    return np.unique(found[:size])


@compiled
def way_back(starts, came, row):
    """Return the slots of the way from a row back to where a search began."""
    found, size = np.empty(16, np.int64), 0
    while came[row] >= 0:
        found, size = add(found, size, came[row])
        row = source_of(starts, came[row])
    return found[:size]


@compiled
def grown(starts, targets, costs, source, goal):
    """Return the slots of a tree grown from one row: over and over the nearest row of `goal` is joined to it, as long as there is one."""
    n = len(starts) - 1
    distance = np.full(n, np.inf)
    came = np.full(n, -1, np.int64)
    left = goal.copy()
    left[source] = False
    wanted = left.sum()
    keys, rows, size = np.empty(1024, np.float64), np.empty(1024, np.int64), 0
    found, taken = np.empty(256, np.int64), 0
    distance[source] = 0.0
    keys, rows, size = push(keys, rows, size, 0.0, np.int64(source))
    while size > 0 and wanted > 0:
        key, row, size = pop(keys, rows, size)
        if key > distance[row]:
            continue
        if left[row]:
            left[row] = False
            wanted -= 1
            end = row  # the way to it now belongs to the tree: its rows are new sources, and what is nearer to them is settled anew
            while distance[end] > 0:
                found, taken = add(found, taken, came[end])
                distance[end] = 0.0
                keys, rows, size = push(keys, rows, size, 0.0, end)
                end = source_of(starts, came[end])
            continue
        for slot in range(starts[row], starts[row + 1]):
            other = targets[slot]
            through = key + length_of(slot, row, other, costs)
            if through < distance[other]:
                distance[other] = through
                came[other] = slot
                keys, rows, size = push(keys, rows, size, through, np.int64(other))
    return np.unique(found[:taken])


@compiled
def from_one(starts, targets, costs, source, goal):
    """Return (distance, the slot each row was reached by) from one row; ends once all rows of `goal` are settled."""
    n = len(starts) - 1
    distance = np.full(n, np.inf)
    came = np.full(n, -1, np.int64)
    wanted = goal.sum()
    keys, rows, size = np.empty(1024, np.float64), np.empty(1024, np.int64), 0
    distance[source] = 0.0
    keys, rows, size = push(keys, rows, size, 0.0, np.int64(source))
    while size > 0 and wanted > 0:
        key, row, size = pop(keys, rows, size)
        if key > distance[row]:
            continue
        wanted -= goal[row]
        for slot in range(starts[row], starts[row + 1]):
            other = targets[slot]
            through = key + length_of(slot, row, other, costs)
            if through < distance[other]:
                distance[other] = through
                came[other] = slot
                keys, rows, size = push(keys, rows, size, through, np.int64(other))
    return distance, came


@compiled
def dreyfus_wagner(starts, targets, costs, terminals, most):
    """Return the slots of an optimal tree over the terminals, none of whose trees costs more than `most`.

    cost[set, row] is the least cost of a tree that joins the row and a set of all terminals but the last; it comes over an edge (`made`
    is the slot) or is the union of the trees of a part of the set and of the rest at the row (-2 - part). O(3^k n + 2^k m log n).
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
        while part > chosen ^ part:
            rest = chosen ^ part
            for row in range(n):
                both = cost[part, row] + cost[rest, row]
                if both < cost[chosen, row]:
                    cost[chosen, row] = both
                    made[chosen, row] = -2 - part
            part = (part - 1) & chosen
        settled[:] = False
        size = 0
        for row in range(n):
            if cost[chosen, row] <= most:
                keys, rows, size = push(keys, rows, size, cost[chosen, row], np.int64(row))
        while size > 0:
            key, row, size = pop(keys, rows, size)
            if settled[row]:
                continue
            settled[row] = True
            for slot in range(starts[row], starts[row + 1]):
                other = targets[slot]
                through = key + length_of(slot, row, other, costs)
                if through <= most and through < cost[chosen, other]:
                    cost[chosen, other] = through
                    made[chosen, other] = slot
                    keys, rows, size = push(keys, rows, size, through, np.int64(other))
    found, taken = np.empty(64, np.int64), 0
    stack = [(sets - 1, np.int64(terminals[k]))]
    while len(stack) > 0:
        chosen, row = stack.pop()
        how = made[chosen, row]
        if how >= 0:
            found, taken = add(found, taken, how)
            stack.append((chosen, source_of(starts, how)))
        elif how <= -2:
            stack.append((-2 - how, row))
            stack.append((chosen ^ (-2 - how), row))
    return found[:taken]
