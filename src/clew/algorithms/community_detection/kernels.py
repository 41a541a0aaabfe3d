"""Compiled loops of Louvain and Leiden over a `CommunityGraph` (see `modularity`), in float64.

Indices are unsigned, so that none is checked for being negative. Weight inside a node of an
aggregated graph moves with the node and decides nothing. `number` is the community of each node, a
number below n. `scale` is resolution / sum of strengths.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled

NOISE = 1e-10  # of a node's strength; a smaller gain is a rounding error
ZERO, ONE = np.uint64(0), np.uint64(1)  # counters are unsigned, too
MAX_LOOKS = 1000  # at a node, on average; never reached on undirected graphs


@compiled
def move_nodes(graph, number, order, scale):
    """Move nodes, one by one, to the neighbouring community of most gain, until none gains.

    `number`, uint32 [n], is changed. A node is looked at again when a neighbour has left its
    community (Ozaki et al. 2016; Traag et al. 2019, "fast local move"). `order`, uint32, is the
    order of the first look.
    """
    starts, targets, weights, strengths = graph
    n = len(starts) - 1
    totals, sizes = np.zeros(n), np.zeros(n, np.int32)
    for row in range(n):
        totals[number[row]] += strengths[row]
        sizes[number[row]] += 1
    free, frees = np.empty(n, np.uint32), 0  # numbers without a node
    for one in range(n - 1, -1, -1):
        if not sizes[one]:
            free[frees] = one
            frees += 1
    queue, queued = np.empty(n + 1, np.uint32), np.zeros(n, np.bool_)
    first, last = 0, 0
    for row in order:
        if starts[row] < starts[row + 1]:
            queue[last] = row
            last += 1
            queued[row] = True
    weight_to, adjacent = np.zeros(n), np.empty(n, np.uint32)
    looks = MAX_LOOKS * n
    while first != last and looks:
        looks -= 1
        row = queue[first]
        first = first + 1 if first < n else 0
        queued[row] = False
        own, strength = number[row], strengths[row]
        neighbours = np.uint64(0)
        for slot in range(starts[row], starts[row + 1]):
            other = number[targets[slot]]
            if weight_to[other] == 0:
                adjacent[neighbours] = other
                neighbours += ONE
            weight_to[other] += weights[slot]
        noise, rate = NOISE * strength, strength * scale
        totals[own] -= strength
        best, best_gain = own, weight_to[own] - rate * totals[own] + noise
        for i in range(ZERO, neighbours):
            other = adjacent[i]
            gain = weight_to[other] - rate * totals[other]
            if gain > best_gain:
                best, best_gain = other, gain
            weight_to[other] = 0
        if best_gain < -noise and sizes[own] > 1:
            frees -= 1
            best = free[frees]
        totals[best] += strength
        if best != own:
            number[row] = best
            sizes[best] += 1
            sizes[own] -= 1
            if not sizes[own]:
                free[frees] = own
                frees += 1
            for slot in range(starts[row], starts[row + 1]):
                other = targets[slot]
                if number[other] != best and not queued[other]:
                    queued[other] = True
                    queue[last] = other
                    last = last + 1 if last < n else 0


@compiled
def refine(graph, number, order, scale):
    """Return connected parts of every community, uint32 [n].

    Only a node that is still alone joins a part, and only one whose weight to the rest of the
    community is at least as much as by chance. It joins the part of most gain.
    """
    starts, targets, weights, strengths = graph
    n = len(starts) - 1
    whole, part, totals = np.zeros(n), np.arange(n).astype(np.uint32), strengths.copy()
    for row in range(n):
        whole[number[row]] += strengths[row]
    out, is_alone = np.zeros(n), np.ones(n, np.bool_)
    for row in range(n):
        own, sum = number[row], 0.0
        for slot in range(starts[row], starts[row + 1]):
            if number[targets[slot]] == own:
                sum += weights[slot]
        out[row] = sum
    weight_to, adjacent = np.zeros(n), np.empty(n, np.uint32)
    for row in order:
        own, strength = number[row], strengths[row]
        if (
            not is_alone[row]
            or out[row] == 0
            or out[row] < scale * strength * (whole[own] - strength)
        ):
            continue
        neighbours = np.uint64(0)
        for slot in range(starts[row], starts[row + 1]):
            if number[targets[slot]] == own:
                other = part[targets[slot]]
                if weight_to[other] == 0:
                    adjacent[neighbours] = other
                    neighbours += ONE
                weight_to[other] += weights[slot]
        best, best_gain, link = row, NOISE * strength, 0.0
        for i in range(ZERO, neighbours):
            other = adjacent[i]
            gain = weight_to[other] - scale * strength * totals[other]
            if gain > best_gain and out[other] >= scale * totals[other] * (
                whole[own] - totals[other]
            ):
                best, best_gain, link = other, gain, weight_to[other]
            weight_to[other] = 0
        if best != row:
            part[row] = best
            totals[best] += strength
            out[best] += out[row] - 2 * link
            is_alone[best] = False
    return part


@compiled
def split_disconnected(starts, targets, number):
    """Return (connected parts of every community, numbered by first row, uint32 [n]; how many)."""
    n = len(starts) - 1
    part, seen, stack, parts = (
        np.empty(n, np.uint32),
        np.zeros(n, np.bool_),
        np.empty(n, np.uint32),
        0,
    )
    for row in range(n):
        if seen[row]:
            continue
        seen[row], stack[0], size = True, row, 1
        while size:
            size -= 1
            at = stack[size]
            part[at] = parts
            for slot in range(starts[at], starts[at + 1]):
                other = targets[slot]
                if not seen[other] and number[other] == number[at]:
                    seen[other] = True
                    stack[size] = other
                    size += 1
        parts += 1
    return part, parts


@compiled
def renumber(number):
    """Return (the communities numbered 0, 1, ... by first row, uint32 [n]; how many)."""
    new, count = np.full(len(number), -1, np.int64), 0
    numbers = np.empty(len(number), np.uint32)
    for row in range(len(number)):
        if new[number[row]] < 0:
            new[number[row]] = count
            count += 1
        numbers[row] = new[number[row]]
    return numbers, count


@compiled
def aggregate(graph, number, count):
    """Return the fields of the graph whose nodes are the `count` communities."""
    starts, targets, weights, strengths = graph
    n = len(starts) - 1
    begins = np.zeros(count + 1, np.uint64)
    for row in range(n):
        begins[number[row] + ONE] += ONE
    for one in range(count):
        begins[one + 1] += begins[one]
    members, place = np.empty(n, np.uint32), begins[:-1].copy()
    for row in range(n):
        members[place[number[row]]] = row
        place[number[row]] += ONE
    new_starts, new_strengths = np.zeros(count + 1, np.uint64), np.zeros(count)
    new_targets, new_weights = np.empty(len(targets), np.uint32), np.empty(len(targets))
    place[:] = ZERO  # from now on, the slot after that of the link to each community
    size = ZERO
    for one in range(count):
        begin = size
        for i in range(begins[one], begins[one + 1]):
            row = members[i]
            new_strengths[one] += strengths[row]
            for slot in range(starts[row], starts[row + ONE]):
                other = number[targets[slot]]
                if other == one:
                    continue
                if place[other] <= begin:
                    new_targets[size], new_weights[size] = other, weights[slot]
                    size += ONE
                    place[other] = size
                else:
                    new_weights[place[other] - ONE] += weights[slot]
        new_starts[one + 1] = size
    return new_starts, new_targets[:size].copy(), new_weights[:size].copy(), new_strengths
