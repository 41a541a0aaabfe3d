"""Compiled loops of Louvain and Leiden over compressed rows of an undirected weighted graph, in float64.

`starts` is uint64 [n + 1], `targets` uint32 [m] (unsigned, so that no index is looked at for its sign), `weights` float64 [m], > 0, both
ways of every edge, no loops: what lies inside a node of a graph of communities moves with it and decides nothing. `strengths` are the
nodes' sums of weights, what lies inside counted twice; `scale` is resolution / sum of strengths. Communities are numbers below n.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled

NOISE = 1e-10  # of a node's strength: a gain below that is a rounding error; links of equal weight have the same number (`nearest_pairs`)
ZERO, ONE = np.uint64(0), np.uint64(1)  # counters are unsigned too
LOOKS = 1000  # at a node, on average: never seen on undirected graphs, where every move gains


@compiled
def moved(starts, targets, weights, strengths, number, order, scale):
    """Move nodes, one by one, to the neighbouring community of most gain until none gains; `number`, uint32 [n], is changed.

    A node is looked at again when a neighbour has left its community (Ozaki et al. 2016; Traag et al. 2019, "fast local move"). `order`,
    uint32, is the order of the first look.
    """
    n = len(starts) - 1
    totals, sizes = np.zeros(n), np.zeros(n, np.int32)
    for row in range(n):
        totals[number[row]] += strengths[row]
        sizes[number[row]] += 1
    free, frees = np.empty(n, np.uint32), 0  # numbers that no node has
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
    to, near = np.zeros(n), np.empty(n, np.uint32)
    looks = LOOKS * n
    while first != last and looks:
        looks -= 1
        row = queue[first]
        first = first + 1 if first < n else 0
        queued[row] = False
        own, strength = number[row], strengths[row]
        found = np.uint64(0)
        for slot in range(starts[row], starts[row + 1]):
            other = number[targets[slot]]
            if to[other] == 0:
                near[found] = other
                found += ONE
            to[other] += weights[slot]
        noise, rate = NOISE * strength, strength * scale
        totals[own] -= strength
        best, most = own, to[own] - rate * totals[own] + noise
        for i in range(ZERO, found):
            other = near[i]
            gain = to[other] - rate * totals[other]
            if gain > most:
                best, most = other, gain
            to[other] = 0
        if most < -noise and sizes[own] > 1:
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
def refined(starts, targets, weights, strengths, number, order, scale):
    """Return uint32 [n]: within every community, nodes joined to parts to which they are well connected, so that each part is connected.

    Only a node that is still alone joins, and only a part from which enough leads to the rest of the community: at least as much as
    would by chance. It joins the one of most gain.
    """
    n = len(starts) - 1
    whole, part, totals = np.zeros(n), np.arange(n).astype(np.uint32), strengths.copy()
    for row in range(n):
        whole[number[row]] += strengths[row]
    out, alone = np.zeros(n), np.ones(n, np.bool_)
    for row in range(n):
        own, sum = number[row], 0.0
        for slot in range(starts[row], starts[row + 1]):
            if number[targets[slot]] == own:
                sum += weights[slot]
        out[row] = sum
    to, near = np.zeros(n), np.empty(n, np.uint32)
    for row in order:
        own, strength = number[row], strengths[row]
        if not alone[row] or out[row] == 0 or out[row] < scale * strength * (whole[own] - strength):
            continue
        found = np.uint64(0)
        for slot in range(starts[row], starts[row + 1]):
            if number[targets[slot]] == own:
                other = part[targets[slot]]
                if to[other] == 0:
                    near[found] = other
                    found += ONE
                to[other] += weights[slot]
        best, most, link = row, NOISE * strength, 0.0
        for i in range(ZERO, found):
            other = near[i]
            gain = to[other] - scale * strength * totals[other]
            if gain > most and out[other] >= scale * totals[other] * (whole[own] - totals[other]):
                best, most, link = other, gain, to[other]
            to[other] = 0
        if best != row:
            part[row] = best
            totals[best] += strength
            out[best] += out[row] - 2 * link
            alone[best] = False
    return part


@compiled
def split(starts, targets, number):
    """Return (int numbers of the connected parts of every community, by first row, uint32 [n]; how many)."""
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
def dense(number):
    """Return (the numbers 0, 1, ... by first row, uint32 [n]; how many)."""
    new, count = np.full(len(number), -1, np.int64), 0
    found = np.empty(len(number), np.uint32)
    for row in range(len(number)):
        if new[number[row]] < 0:
            new[number[row]] = count
            count += 1
        found[row] = new[number[row]]
    return found, count


@compiled
def aggregated(starts, targets, weights, strengths, number, count):
    """Return (starts, targets, weights, strengths) of the graph whose nodes are the `count` communities."""
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
    place[:] = ZERO  # from now on, one after where the link to each stands
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
