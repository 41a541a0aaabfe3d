"""Compiled loops of Q-Peel, where only single nodes are removed; see `..q_peel` for the problem.

From each component of a truss the node of the lowest relevance is removed, as long as it is
below the mean, every edge keeps the triangles that it needs, and the rest is connected and large
enough. An edge that is in no more triangles than it needs is critical: no node across from it may
be removed.

Rows are bits, so that the triangles of a node that is removed are found 64 neighbours at a time,
and each of them is taken apart once. A node that may not be removed has a witness, and is tried
again when that is removed: an edge across from it, or two nodes that it alone connects.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.community_search.kernels.bit_rows import (
    ONE,
    bit_of,
    count_bits,
    empty_dense,
    has_bit,
    lowest_bit,
)
from clew.algorithms.community_search.kernels.nested import descend, number_parts
from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.heap import append, find_root, pop, push
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
def peel_next(trusses, state, k, least):
    """Peel the k-truss, of a higher k than before; return (component and mean after each removal).

    The state has what remains.
    """
    word_starts, numbers = trusses.word_starts, trusses.word_numbers
    relevance, turn, order = state.relevance, state.turn, state.order
    alive, part, watching = state.alive, state.part, state.watching
    nodes = descend(trusses, state, k)
    parts = number_parts(trusses, state)
    begin_critical(trusses, state, k)
    total, size = np.zeros(parts), np.zeros(parts, np.int64)
    for place in range(nodes):
        node = order[place]
        total[part[node]] += relevance[node]
        size[part[node]] += 1
    near, reached = np.zeros(len(alive), np.uint64), np.zeros(len(alive), np.uint64)
    around, queue = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    keys, rows, waiting, queued = (
        np.empty(16, np.float64),
        np.empty(16, np.int64),
        0,
        np.zeros(len(order), np.bool_),
    )
    watchers, next_watchers, watches = np.empty(16, np.int32), np.empty(16, np.int32), 0
    trace_part, trace_mean, steps, place = (
        np.empty(nodes, np.int32),
        np.empty(nodes, np.float64),
        0,
        0,
    )
    while waiting > 0 or place < nodes:
        if waiting > 0:
            _, row, waiting = pop(keys, rows, waiting)
            node = np.int32(row)
            queued[node] = False
        else:
            node = order[place]
            place += 1
        own = part[node]
        if size[own] <= least or not has_bit(alive, node):
            continue
        mean = total[own] / size[own]
        if relevance[node] >= mean - SLACK * max(1.0, abs(mean)):
            continue
        neighbours = list_around(trusses, state, node, near, around)
        one, other = critical_across(state, around[:neighbours], near)
        if one < 0:
            joined = reach_around(trusses, state, near, reached, around[0], neighbours, queue)
            if joined < neighbours:
                one, other = separated_without(trusses, state, node, around[:neighbours], reached)
            empty_dense(word_starts, numbers, node, reached)
        if one >= 0:
            for witness in (one, other):
                next_watchers, _ = append(next_watchers, watches, watching[witness])
                watchers, after = append(watchers, watches, node)
                watching[witness] = watches
                watches = after
            empty_dense(word_starts, numbers, node, near)
            continue

        alive[node >> 6] &= ~bit_of(node)
        total[own] -= relevance[node]
        size[own] -= 1
        trace_part[steps], trace_mean[steps] = own, total[own] / size[own]
        steps += 1
        remove_triangles(trusses, state, k - 2, around[:neighbours], near)
        empty_dense(word_starts, numbers, node, near)
        entry = watching[node]
        while entry >= 0:
            watcher = watchers[entry]
            if has_bit(alive, watcher) and not queued[watcher]:
                keys, rows, waiting = push(
                    keys, rows, waiting, float(turn[watcher]), np.int64(watcher)
                )
                queued[watcher] = True
            entry = next_watchers[entry]
    return trace_part[:steps].copy(), trace_mean[:steps].copy()


@compiled
def begin_critical(trusses, state, k):
    """List the critical edges of a truss. An edge of a higher trussness is in more triangles."""
    edge = state.sizes[1]
    while edge < len(trusses.values) and trusses.values[edge] == k:
        if state.left[trusses.edge_slots[edge]] == k - 2:
            add_critical(state, trusses.tails[edge], trusses.heads[edge])
        edge += 1


@compiled
def add_critical(state, tail, head):
    """Add an edge to the lists of both its ends."""
    entry = state.sizes[2]
    state.ends[entry], state.ends[entry + 1] = head, tail
    state.next_entries[entry], state.critical[tail] = state.critical[tail], entry
    state.next_entries[entry + 1], state.critical[head] = state.critical[head], entry + 1
    state.sizes[2] = entry + 2


@compiled
def list_around(trusses, state, node, near, around):
    """List the neighbours of a node that are not peeled off; return how many.

    The dense set `near`, which is empty, has them afterwards.
    """
    size = 0
    for place in range(trusses.word_starts[node], trusses.word_starts[node + 1]):
        number = trusses.word_numbers[place]
        new = state.words[place] & state.alive[number]
        near[number] = new
        while new != 0:
            around[size] = (number << 6) + lowest_bit(new)
            new &= new - ONE
            size += 1
    return size


@compiled
def remove_triangles(trusses, state, need, around, near):
    """Take apart the triangles of a node that is removed, and list the edges that get critical.

    `around` are its neighbours, of which `near` is the set.
    """
    word_starts, numbers, slots = trusses.word_starts, trusses.word_numbers, trusses.word_slots
    words, whole, left = state.words, trusses.words, state.left
    for node in around:
        above = ~(bit_of(node) | (bit_of(node) - ONE))
        for place in range(trusses.word_middles[node], word_starts[node + 1]):
            number = numbers[place]
            common = words[place] & near[number]
            if number == node >> 6:
                common &= above
            while common != 0:
                below = (common & (~common + ONE)) - ONE
                common &= common - ONE
                slot = slots[place] + count_bits(whole[place] & below)
                left[slot] -= 1
                if left[slot] == need:
                    other = (number << 6) + count_bits(below)
                    add_critical(state, node, other)


@compiled
def critical_across(state, around, near):
    """Return the ends of a critical edge between nodes of `around`, of which `near` is the set."""
    critical, ends, next_entries = state.critical, state.ends, state.next_entries
    for node in around:
        entry = critical[node]
        while entry >= 0:
            if has_bit(near, ends[entry]):
                return node, ends[entry]
            entry = next_entries[entry]
    return np.int32(-1), np.int32(-1)


@compiled
def reach_around(trusses, state, near, reached, first, most, queue):
    """Return how many nodes of `near` are reached from its node `first` without leaving it.

    `reached`, which is empty, has them afterwards. The search ends at `most`.
    """
    word_starts, numbers, words = trusses.word_starts, trusses.word_numbers, state.words
    reached[first >> 6] |= bit_of(first)
    queue[0], done, size = first, 0, 1
    while done < size and size < most:
        node = queue[done]
        done += 1
        for place in range(word_starts[node], word_starts[node + 1]):
            number = numbers[place]
            new = words[place] & near[number] & ~reached[number]
            reached[number] |= new
            while new != 0:
                queue[size] = (number << 6) + lowest_bit(new)
                new &= new - ONE
                size += 1
    return size


@compiled
def separated_without(trusses, state, node, around, reached):
    """Return two of the neighbours `around` that only `node` connects; -1 and -1 if there are none.

    One search starts from all of them at once; those in `reached` are one group already. It ends
    when all groups have met, or when one has seen all it can. The removal of `node` separates the
    two as long as both remain.
    """
    word_starts, numbers, words = trusses.word_starts, trusses.word_numbers, state.words
    alive, turn, n = state.alive, state.turn, len(state.part)
    group, queue, size = np.full(n, -1, np.int32), np.empty(n, np.int32), 0
    roots, left, first = np.arange(len(around)).astype(np.int32), len(around), -1
    pending = np.zeros(len(around), np.int32)
    for i in range(len(around)):
        near = around[i]
        group[near] = i
        if has_bit(reached, near):
            first = i if first < 0 else first
            group[near] = first
            left -= first != i
        queue[size] = near
        pending[group[near]] += 1
        size += 1
    done = 0
    while left > 1:
        here = queue[done]
        done += 1
        mine = find_root(roots, group[here])
        pending[mine] -= 1
        for place in range(word_starts[here], word_starts[here + 1]):
            number = numbers[place]
            new = words[place] & alive[number]
            while new != 0:
                other = (number << 6) + lowest_bit(new)
                new &= new - ONE
                if other == node:
                    continue
                if group[other] < 0:
                    group[other] = mine
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
        if left > 1 and pending[mine] == 0:
            one, apart = np.int32(-1), np.int32(-1)
            for place in range(size):
                member = queue[place]
                if find_root(roots, group[member]) == mine:
                    if one < 0 or turn[member] > turn[one]:
                        one = member
                elif place < len(around) and (apart < 0 or turn[member] > turn[apart]):
                    apart = member
            return one, apart
    return np.int32(-1), np.int32(-1)


@compiled
def best_remaining(trusses, state, trace_part, trace_mean, least):
    """Return what remains of the best component: (rows, slots of its edges, mean, means).

    The means are those of its component, the whole one first. There are no rows where no component
    has `least` nodes.
    """
    own, part, parts = state.relevance, state.part, 0
    for node in range(len(own)):
        parts = max(parts, part[node] + 1)
    whole, before, total, size = (
        np.zeros(parts),
        np.zeros(parts, np.int64),
        np.zeros(parts),
        np.zeros(parts, np.int64),
    )
    for node in range(len(own)):
        if part[node] >= 0:
            whole[part[node]] += own[node]
            before[part[node]] += 1
            if has_bit(state.alive, node):
                total[part[node]] += own[node]
                size[part[node]] += 1
    best = best_part(total, size, least)
    rows, nodes, slots, filled = (
        np.empty(0 if best < 0 else size[best], np.int32),
        0,
        np.empty(0, np.int64),
        0,
    )
    if best < 0:
        return rows, slots, 0.0, np.empty(0, np.float64)
    for node in range(len(own)):
        if part[node] == best and has_bit(state.alive, node):
            rows[nodes] = trusses.rows[node]
            nodes += 1
            if len(trusses.slots) > 0:
                slots, filled = add_slots(trusses, state, node, slots, filled)
    steps = trace_mean[trace_part == best]
    means = np.concatenate((np.array([whole[best] / before[best]]), steps))
    return rows, slots[:filled].copy(), total[best] / size[best], means


@compiled
def add_slots(trusses, state, node, slots, size):
    """Add the slots of the links from a node to what remains of its higher neighbours."""
    above = ~(bit_of(node) | (bit_of(node) - ONE))
    for place in range(trusses.word_middles[node], trusses.word_starts[node + 1]):
        number = trusses.word_numbers[place]
        new = state.words[place] & state.alive[number]
        if number == node >> 6:
            new &= above
        while new != 0:
            below = (new & (~new + ONE)) - ONE
            new &= new - ONE
            slot = trusses.word_slots[place] + count_bits(trusses.words[place] & below)
            slots, size = append(slots, size, trusses.slots[slot])
    return slots, size


@compiled
def best_part(total, size, least):
    """Return the component of the highest mean, of equal ones the largest; -1 for none.

    `total` and `size` are the sum and the number of nodes of each; those of fewer than `least`
    nodes do not count.
    """
    best, best_mean = -1, 0.0
    for one in range(len(size)):
        if size[one] >= least:
            mean = total[one] / size[one]
            slack = SLACK * max(1.0, abs(best_mean))
            if (
                best < 0
                or mean > best_mean + slack
                or (mean >= best_mean - slack and size[one] > size[best])
            ):
                best, best_mean = one, mean
    return best
