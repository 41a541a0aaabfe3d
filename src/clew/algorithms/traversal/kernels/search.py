"""Compiled searches outward from start rows, whose memory depends on the rows they reach.

Rows get places in the order they are first seen. `table` is a hash table from row to place, open
addressed, so that a search needs no array as long as the graph. Relevance is measured when a row is
first seen: the cosine with the query, at least 0. Equal cosines become the same number (see
`kernels.equal_scores`). A row without a vector is as relevant as the row it is seen from.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.equal_scores import leader_of, with_room
from clew.algorithms.kernels.heap import pop, push, sift_up
from clew.algorithms.kernels.sums import product
from clew.algorithms.ranking import TOLERANCE
from clew.graph import Rows, Vectors

MAX_INSERTION = 24  # so many are sorted by insertion, which allocates no array
UNSEEN, OPEN, DONE = -1, 0, 1
HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing: adjacent rows are far apart


class WeightedLinks(NamedTuple):
    """Compressed rows with weights: int64 [n + 1], int32 [m], float32 [m]."""

    starts: NDArray[np.int64]
    targets: Rows
    weights: Vectors


class BreadthLimits(NamedTuple):
    """The limits of `breadth_first`."""

    max_depth: int
    max_degree: int
    max_nodes: int
    max_tokens: int


class TypedEdges(NamedTuple):
    """Compressed rows, and the edges of each slot: where they begin, their types and weights."""

    starts: NDArray[np.int64]
    targets: Rows
    edge_starts: NDArray[np.int64]
    codes: Rows
    weights: Vectors


class BestLimits(NamedTuple):
    """The limits of `best_first`; a beam of 0 is none."""

    decay: float
    beam: int
    threshold: float
    max_nodes: int
    max_depth: int


@compiled
def cosine(vector, unit):
    """Return max(0, cosine) of a unit vector with another; nan for a vector of zeros."""
    measured = product(vector, unit)
    if measured == 0.0 and not np.any(vector):
        return np.nan
    return min(max(0.0, measured), 1.0)


@compiled
def relevance(vectors, unit, row, leaders):
    """Return the relevance of a row: 1 without a query vector, nan for a row without a vector."""
    if len(unit) == 0:
        return 1.0
    measured = cosine(vectors[row], unit)
    return measured if np.isnan(measured) else leader_of(measured, leaders)


@compiled(forceinline=True)  # a call would cost as much as the look-up
def table_index(table, rows, row):
    """Return the index of the table where a row's place is, or would be."""
    mask = len(table) - 1
    at = np.int64(np.uint64(row) * HASH_FACTOR >> np.uint64(33)) & mask
    while table[at] >= 0 and rows[table[at]] != row:
        at = (at + 1) & mask
    return at


@compiled
def grown_table(table, rows, size):
    """Return a table of twice the length with the places of the first `size` rows."""
    grown = np.full(2 * len(table), -1, np.int32)
    for place in range(size):
        grown[table_index(grown, rows, rows[place])] = place
    return grown


@compiled
def doubled(values):
    """Return the array, twice as long."""
    longer = np.empty(2 * len(values), values.dtype)
    longer[: len(values)] = values
    return longer


@compiled
def sort_falling(keys, items, size):
    """Sort the first `size` items by falling key; equal keys keep their order."""
    if size > MAX_INSERTION:
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
def select_highest(keys, items, size, most):
    """Move the `most` greatest keys to the front, in their order, of equal ones the first.

    Return how many there are.
    """
    least = np.partition(keys[:size], size - most)[size - most]
    room = most - (keys[:size] > least).sum()
    count = 0
    for i in range(size):
        if keys[i] == least:
            room -= 1
        if keys[i] > least or (keys[i] == least and room >= 0):
            keys[count], items[count] = keys[i], items[i]
            count += 1
    return count


@compiled
def breadth_first(links, relevances, tokens, sources, limits):
    """Return (rows, depths, parents, scores, slots) of the rows visited, in order.

    `parents` are places in `rows`, -1 at start rows. From every row at most `max_degree` unvisited
    neighbours are visited, by falling weight x relevance. `relevances` are the rows' vectors and
    the query's.
    """
    starts, targets, weights = links
    vectors, unit = relevances
    max_depth, max_degree, max_nodes, max_tokens = limits
    table, leaders = np.full(1024, -1, np.int32), np.zeros(256)
    rows, relevances_seen, size = np.empty(512, np.int64), np.empty(512), 0
    turn = np.empty(512, np.int32)  # a place's index in the queue; UNSEEN before it is visited
    queue, depths, parents = (
        np.empty(512, np.int32),
        np.empty(512, np.int32),
        np.empty(512, np.int32),
    )
    scores, slots, visited = np.empty(512), np.empty(512, np.int64), 0
    keys, neighbour_slots = np.empty(64), np.empty(64, np.int64)
    spent, full = 0, False
    head = -1  # -1 for the start rows, then places of the queue
    while head < visited and not full:
        row, otherwise, first, last = np.int64(-1), 1.0, np.int64(0), np.int64(len(sources))
        if head >= 0:
            if depths[head] >= max_depth:
                break
            row, otherwise = rows[queue[head]], relevances_seen[queue[head]]
            first, last = starts[row], starts[row + 1]
        seen = 0
        for slot in range(first, last):
            other = np.int64(targets[slot]) if head >= 0 else sources[slot]
            at = table_index(table, rows, other)
            place = table[at]
            if place < 0:
                if 2 * size >= len(table):
                    table = grown_table(table, rows, size)
                    at = table_index(table, rows, other)
                if size == len(rows):
                    rows, relevances_seen, turn = (
                        doubled(rows),
                        doubled(relevances_seen),
                        doubled(turn),
                    )
                place = size
                table[at], rows[place], turn[place] = place, other, UNSEEN
                leaders = with_room(leaders, size + 1)
                own_relevance = relevance(vectors, unit, other, leaders)
                relevances_seen[place] = otherwise if np.isnan(own_relevance) else own_relevance
                size += 1
            if turn[place] == UNSEEN:
                if seen == len(keys):
                    keys, neighbour_slots = doubled(keys), doubled(neighbour_slots)
                keys[seen], neighbour_slots[seen] = (
                    (weights[slot] if head >= 0 else 1.0) * relevances_seen[place],
                    slot,
                )
                seen += 1
        if head >= 0:
            if seen > max_degree:
                seen = select_highest(keys, neighbour_slots, seen, max_degree)
            sort_falling(keys, neighbour_slots, seen)
        for i in range(seen):
            slot = neighbour_slots[i]
            other = np.int64(targets[slot]) if head >= 0 else sources[slot]
            place = table[table_index(table, rows, other)]
            if turn[place] != UNSEEN:
                continue  # a start row that is named twice
            spent += tokens[other] if len(tokens) > 0 else 0
            full = visited >= max_nodes or spent > max_tokens
            if full:
                break
            if visited == len(queue):
                queue, depths, parents = doubled(queue), doubled(depths), doubled(parents)
                scores, slots = doubled(scores), doubled(slots)
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


@compiled(forceinline=True)
def strength_of(slot, edge_starts, codes, weights, factors):
    """Return the greatest weight x factor among the edges of a slot."""
    best = 0.0
    for place in range(edge_starts[slot], edge_starts[slot + 1]):
        best = max(best, factors[codes[place]] * weights[place])
    return best


@compiled
def best_first(edges, factors, relevances, sources, priorities, limits):
    """Return (rows, depths, parents, priorities, slots, pushed, dropped, below) of the rows taken.

    `factors` are those of the types. `priorities` are those of the start rows, or nan for their
    relevance. Two heaps hold the open rows, one with the best and one with the worst on top. An
    entry that is outdated is skipped when it is popped.
    """
    starts, targets, edge_starts, codes, weights = edges
    vectors, unit = relevances
    decay, beam, threshold, max_nodes, max_depth = limits
    table, leaders = np.full(1024, -1, np.int32), np.zeros(256)
    rows, relevances_seen, priority, state = (
        np.empty(512, np.int64),
        np.empty(512),
        np.empty(512),
        np.empty(512, np.int8),
    )
    depth, parent, arrivals = (
        np.empty(512, np.int32),
        np.empty(512, np.int32),
        np.empty(512, np.int64),
    )
    size, alive, accepted, pushed, dropped, below = 0, 0, 0, 0, 0, 0
    # By falling priority (keys are negative), and by rising priority, the higher row first.
    tops, top_rows, top = np.empty(256), np.empty(256, np.int64), 0
    ends, end_rows, end = np.empty(256), np.empty(256, np.int64), 0
    order, turn = np.empty(256, np.int32), np.empty(512, np.int32)
    place, level, parent_relevance, discount = -1, 0, 1.0, 1.0
    first, last = np.int64(0), np.int64(len(sources))
    while True:
        for slot in range(first, last):
            other = np.int64(targets[slot]) if place >= 0 else sources[slot]
            at = table_index(table, rows, other)
            seen = table[at]
            if seen < 0:
                if 2 * size >= len(table):
                    table = grown_table(table, rows, size)
                    at = table_index(table, rows, other)
                if size == len(rows):
                    rows, relevances_seen, priority, state = (
                        doubled(rows),
                        doubled(relevances_seen),
                        doubled(priority),
                        doubled(state),
                    )
                    depth, parent, arrivals, turn = (
                        doubled(depth),
                        doubled(parent),
                        doubled(arrivals),
                        doubled(turn),
                    )
                seen = size
                table[at], rows[seen], state[seen] = seen, other, UNSEEN
                leaders = with_room(leaders, size + 1)
                relevances_seen[seen] = relevance(vectors, unit, other, leaders)
                size += 1
            if state[seen] == DONE:
                continue
            own_relevance = (
                parent_relevance if np.isnan(relevances_seen[seen]) else relevances_seen[seen]
            )
            if place >= 0:
                strength = strength_of(slot, edge_starts, codes, weights, factors)
                if strength <= 0:
                    continue  # a forbidden type
                key = own_relevance * strength * discount
            else:
                key = own_relevance if np.isnan(priorities[slot]) else priorities[slot]
            if key < threshold - TOLERANCE:
                below += 1
                continue
            if state[seen] == OPEN:
                if key <= priority[seen]:
                    continue
            else:
                alive += 1
            state[seen], priority[seen], depth[seen], parent[seen], arrivals[seen] = (
                OPEN,
                key,
                level,
                place,
                slot,
            )
            pushed += 1
            if top == len(tops):
                tops, top_rows = doubled(tops), doubled(top_rows)
            sift_up(tops, top_rows, top, -key, other)
            top += 1
            if beam > 0:
                ends, end_rows, end = push(ends, end_rows, end, key, -other)
                while alive > beam:
                    worst, least, end = pop(ends, end_rows, end)
                    outdone = table[table_index(table, rows, -least)]
                    if state[outdone] == OPEN and priority[outdone] == worst:
                        state[outdone] = UNSEEN
                        alive -= 1
                        dropped += 1
        place = -1
        while top > 0:
            best, row, top = pop(tops, top_rows, top)
            place = np.int64(table[table_index(table, rows, row)])
            if state[place] == OPEN and priority[place] == -best:
                break
            place = -1
        if place < 0 or accepted >= max_nodes:
            break
        state[place] = DONE
        alive -= 1
        if accepted == len(order):
            order = doubled(order)
        order[accepted], turn[place] = place, accepted
        accepted += 1
        if np.isnan(relevances_seen[place]):  # from now on it has the relevance it was taken with
            relevances_seen[place] = relevances_seen[parent[place]] if parent[place] >= 0 else 1.0
        row, level, parent_relevance = rows[place], depth[place] + 1, relevances_seen[place]
        discount = 1.0
        for _ in range(level):
            discount *= decay
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
        np.where(before >= 0, arrivals[chosen], -1),
        pushed,
        dropped,
        below,
    )


@compiled
def induced(starts, targets, rows):
    """Return (starts, targets, slots) of the links among some ascending rows, numbered by place."""
    table = np.full(1024, -1, np.int32)
    while len(table) < 2 * len(rows):
        table = np.full(2 * len(table), -1, np.int32)
    for place in range(len(rows)):
        table[table_index(table, rows, rows[place])] = place
    first = np.zeros(len(rows) + 1, np.int64)
    inner_targets, slots, size = np.empty(1024, np.int32), np.empty(1024, np.int64), 0
    for place in range(len(rows)):
        row = rows[place]
        for slot in range(starts[row], starts[row + 1]):
            other = table[table_index(table, rows, np.int64(targets[slot]))]
            if other < 0:
                continue
            if size == len(inner_targets):
                inner_targets, slots = doubled(inner_targets), doubled(slots)
            inner_targets[size], slots[size] = other, slot
            size += 1
        first[place + 1] = size
    return first, inner_targets[:size], slots[:size]
