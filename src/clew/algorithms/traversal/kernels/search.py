"""Compiled searches outward from some rows, in the memory of what they touch and not of the graph.

Rows get places in the order they are first seen; `table` is a hash table from row to place, open addressed, so that a search needs no array
as long as the graph. Relevance is measured when a row is first seen: the cosine with the question, at least 0, where equal ones are made
the same number (see `kernels.settling`); a row without a vector is as relevant as the row it is seen from.
"""

from __future__ import annotations

import numba
import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.heap import lift, pop, push
from clew.algorithms.kernels.settling import settled, wider
from clew.algorithms.ranking import TOLERANCE

SHORT = 24  # so many are sorted by insertion: no array is made for them
UNSEEN, OPEN, DONE = -1, 0, 1
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: rows side by side fall far apart


@numba.njit(fastmath={"reassoc", "contract"})  # compiled into its caller, and cached with it
def likeness(vector, unit):
    """Return max(0, cosine) of a unit vector with another; nan for a vector of zeros."""
    product, square = np.float32(0), np.float32(0)
    for i in range(len(unit)):
        product += vector[i] * unit[i]
        square += vector[i] * vector[i]
    if not square > 0:
        return np.nan
    return min(max(0.0, np.float64(product)), 1.0)


@compiled
def relevance(vectors, unit, row, leaders):
    """Return the relevance of a row: 1 where the question has no vector, nan where the row has none."""
    if len(unit) == 0:
        return 1.0
    found = likeness(vectors[row], unit)
    return found if np.isnan(found) else settled(found, leaders)


@numba.njit(forceinline=True)  # a call would cost as much as the search
def slot_in(table, rows, row):
    """Return where in the table a row's place stands, or would."""
    mask = len(table) - 1
    at = np.int64(np.uint64(row) * SPREAD >> np.uint64(33)) & mask
    while table[at] >= 0 and rows[table[at]] != row:
        at = (at + 1) & mask
    return at


@compiled
def grown_table(table, rows, size):
    """Return a table of twice the length with the places of the first `size` rows."""
    wider = np.full(2 * len(table), -1, np.int32)
    for place in range(size):
        wider[slot_in(wider, rows, rows[place])] = place
    return wider


@compiled
def longer(values):
    """Return the array, twice as long."""
    found = np.empty(2 * len(values), values.dtype)
    found[: len(values)] = values
    return found


@compiled
def rank(keys, items, size):
    """Sort the first `size` items by falling key; equal keys keep their order."""
    if size > SHORT:
        order = np.argsort(-keys[:size], kind="mergesort")
        keys[:size] = keys[:size][order]
        items[:size] = items[:size][order]
        return
    for i in range(1, size):
        key, item = keys[i], items[i]
        j = i
        while j > 0 and keys[j - 1] < key:
            keys[j], items[j] = keys[j - 1], items[j - 1]
            j -= 1
        keys[j], items[j] = key, item


@compiled
def strongest(keys, items, size, most):
    """Bring the `most` greatest keys to the front, in their order; of equal ones the first."""
    least = np.partition(keys[:size], size - most)[size - most]
    room = most - (keys[:size] > least).sum()
    kept = 0
    for i in range(size):
        if keys[i] == least:
            room -= 1
        if keys[i] > least or (keys[i] == least and room >= 0):
            keys[kept], items[kept] = keys[i], items[i]
            kept += 1
    return kept


@compiled
def breadth_first(
    starts,
    targets,
    weights,
    vectors,
    unit,
    tokens,
    sources,
    max_depth,
    max_degree,
    max_nodes,
    most_tokens,
):
    """Return (rows, depths, parents, scores, slots) of what is visited, in turn; `parents` are places in `rows`, -1 at sources.

    From every row, in turn, at most `max_degree` unvisited neighbours are visited, by falling weight x relevance.
    """
    table, leaders = np.full(1024, -1, np.int32), np.zeros(256)
    rows, near, size = np.empty(512, np.int64), np.empty(512), 0
    turn = np.empty(
        512, np.int32
    )  # of a place, where it stands in the queue; UNSEEN before it is visited
    queue, depths, parents = (
        np.empty(512, np.int32),
        np.empty(512, np.int32),
        np.empty(512, np.int32),
    )
    scores, slots, visited = np.empty(512), np.empty(512, np.int64), 0
    keys, found = np.empty(64), np.empty(64, np.int64)
    spent, full = 0, False
    head = -1  # first the sources, then the queue
    while head < visited and not full:
        row, otherwise, first, last = np.int64(-1), 1.0, np.int64(0), np.int64(len(sources))
        if head >= 0:
            if depths[head] >= max_depth:
                break
            row, otherwise = rows[queue[head]], near[queue[head]]
            first, last = starts[row], starts[row + 1]
        seen = 0
        for slot in range(first, last):
            other = np.int64(targets[slot]) if head >= 0 else sources[slot]
            at = slot_in(table, rows, other)
            place = table[at]
            if place < 0:
                if 2 * size >= len(table):
                    table = grown_table(table, rows, size)
                    at = slot_in(table, rows, other)
                if size == len(rows):
                    rows, near, turn = longer(rows), longer(near), longer(turn)
                place = size
                table[at], rows[place], turn[place] = place, other, UNSEEN
                leaders = wider(leaders, size + 1)
                like = relevance(vectors, unit, other, leaders)
                near[place] = otherwise if np.isnan(like) else like
                size += 1
            if turn[place] == UNSEEN:
                if seen == len(keys):
                    keys, found = longer(keys), longer(found)
                keys[seen], found[seen] = (weights[slot] if head >= 0 else 1.0) * near[place], slot
                seen += 1
        if head >= 0:
            if seen > max_degree:
                seen = strongest(keys, found, seen, max_degree)
            rank(keys, found, seen)
        for i in range(seen):
            slot = found[i]
            other = np.int64(targets[slot]) if head >= 0 else sources[slot]
            place = table[slot_in(table, rows, other)]
            if turn[place] != UNSEEN:
                continue  # a source that is named twice
            spent += tokens[other] if len(tokens) > 0 else 0
            full = visited >= max_nodes or spent > most_tokens
            if full:
                break
            if visited == len(queue):
                queue, depths, parents = longer(queue), longer(depths), longer(parents)
                scores, slots = longer(scores), longer(slots)
            turn[place] = visited
            queue[visited], depths[visited], parents[visited] = (
                place,
                depths[head] + 1 if head >= 0 else 0,
                head,
            )
            scores[visited], slots[visited] = keys[i], slot if head >= 0 else -1
            visited += 1
        head += 1
    return (
        rows[queue[:visited]],
        depths[:visited],
        parents[:visited],
        scores[:visited],
        slots[:visited],
    )


@numba.njit(forceinline=True)
def strength_of(slot, held, codes, weights, factors):
    """Return the greatest weight x factor among the edges of a slot."""
    best = 0.0
    for place in range(held[slot], held[slot + 1]):
        best = max(best, factors[codes[place]] * weights[place])
    return best


@compiled
def best_first(
    starts,
    targets,
    held,
    codes,
    weights,
    factors,
    vectors,
    unit,
    sources,
    given,
    decay,
    beam,
    threshold,
    max_nodes,
    max_depth,
):
    """Return (rows, depths, parents, priorities, slots, pushed, dropped, below) of what is accepted, in turn.

    `held` [m + 1], `codes` and `weights` are the edges of each slot, `factors` what each code counts for. `given` are the sources'
    priorities, or nan for their relevance. Two heaps hold the open rows, one with the best and one with the worst on top; what is no
    longer true of a row is passed over when it comes up.
    """
    table, leaders = np.full(1024, -1, np.int32), np.zeros(256)
    rows, near, priority, state = (
        np.empty(512, np.int64),
        np.empty(512),
        np.empty(512),
        np.empty(512, np.int8),
    )
    depth, parent, came = np.empty(512, np.int32), np.empty(512, np.int32), np.empty(512, np.int64)
    size, alive, accepted, pushed, dropped, below = 0, 0, 0, 0, 0, 0
    tops, top_rows, top = (
        np.empty(256),
        np.empty(256, np.int64),
        0,
    )  # by falling priority: keys are negative
    ends, end_rows, end = (
        np.empty(256),
        np.empty(256, np.int64),
        0,
    )  # by rising priority, of equals the higher row first
    order, turn = np.empty(256, np.int32), np.empty(512, np.int32)
    place, level, mine, faded = -1, 0, 1.0, 1.0
    first, last = np.int64(0), np.int64(len(sources))
    while True:
        for slot in range(first, last):
            other = np.int64(targets[slot]) if place >= 0 else sources[slot]
            at = slot_in(table, rows, other)
            seen = table[at]
            if seen < 0:
                if 2 * size >= len(table):
                    table = grown_table(table, rows, size)
                    at = slot_in(table, rows, other)
                if size == len(rows):
                    rows, near, priority, state = (
                        longer(rows),
                        longer(near),
                        longer(priority),
                        longer(state),
                    )
                    depth, parent, came, turn = (
                        longer(depth),
                        longer(parent),
                        longer(came),
                        longer(turn),
                    )
                seen = size
                table[at], rows[seen], state[seen] = seen, other, UNSEEN
                leaders = wider(leaders, size + 1)
                near[seen] = relevance(vectors, unit, other, leaders)
                size += 1
            if state[seen] == DONE:
                continue
            like = mine if np.isnan(near[seen]) else near[seen]
            if place >= 0:
                strength = strength_of(slot, held, codes, weights, factors)
                if strength <= 0:
                    continue  # a forbidden type
                key = like * strength * faded
            else:
                key = like if np.isnan(given[slot]) else given[slot]
            if key < threshold - TOLERANCE:
                below += 1
                continue
            if state[seen] == OPEN:
                if key <= priority[seen]:
                    continue
            else:
                alive += 1
            state[seen], priority[seen], depth[seen], parent[seen], came[seen] = (
                OPEN,
                key,
                level,
                place,
                slot,
            )
            pushed += 1
            if top == len(tops):
                tops, top_rows = longer(tops), longer(top_rows)
            lift(tops, top_rows, top, -key, other)
            top += 1
            if beam > 0:
                ends, end_rows, end = push(ends, end_rows, end, key, -other)
                while alive > beam:
                    worst, least, end = pop(ends, end_rows, end)
                    gone = table[slot_in(table, rows, -least)]
                    if state[gone] == OPEN and priority[gone] == worst:
                        state[gone] = UNSEEN
                        alive -= 1
                        dropped += 1
        place = -1
        while top > 0:
            best, row, top = pop(tops, top_rows, top)
            place = np.int64(table[slot_in(table, rows, row)])
            if state[place] == OPEN and priority[place] == -best:
                break
            place = -1
        if place < 0 or accepted >= max_nodes:
            break
        state[place] = DONE
        alive -= 1
        if accepted == len(order):
            order = longer(order)
        order[accepted], turn[place] = place, accepted
        accepted += 1
        if np.isnan(near[place]):  # from now on what it was taken for
            near[place] = near[parent[place]] if parent[place] >= 0 else 1.0
        row, level, mine = rows[place], depth[place] + 1, near[place]
        faded = decay**level
        first, last = (
            (starts[row], starts[row + 1]) if level <= max_depth else (np.int64(0), np.int64(0))
        )
    chosen = order[:accepted]
    before = parent[chosen]
    for i in range(accepted):
        before[i] = turn[before[i]] if before[i] >= 0 else -1
    return (
        rows[chosen],
        depth[chosen],
        before,
        priority[chosen],
        np.where(before >= 0, came[chosen], -1),
        pushed,
        dropped,
        below,
    )


@compiled
def induced(starts, targets, rows):
    """Return (starts, targets, slots) of the links among some ascending rows, which are numbered by their places."""
    table = np.full(1024, -1, np.int32)
    while len(table) < 2 * len(rows):
        table = np.full(2 * len(table), -1, np.int32)
    for place in range(len(rows)):
        table[slot_in(table, rows, rows[place])] = place
    first = np.zeros(len(rows) + 1, np.int64)
    found, slots, size = np.empty(1024, np.int32), np.empty(1024, np.int64), 0
    for place in range(len(rows)):
        row = rows[place]
        for slot in range(starts[row], starts[row + 1]):
            other = table[slot_in(table, rows, np.int64(targets[slot]))]
            if other < 0:
                continue
            if size == len(found):
                found, slots = longer(found), longer(slots)
            found[size], slots[size] = other, slot
            size += 1
        first[place + 1] = size
    return first, found[:size], slots[:size]
