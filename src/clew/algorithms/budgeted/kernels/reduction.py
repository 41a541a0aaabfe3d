"""Compiled loops that reduce a budgeted problem, and list its first inequalities."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.heap import find_root


@compiled
def contract(starts, targets, prizes, tokens, roots, reached, labels):
    """Return (label of each row; starts, targets, prizes, tokens and roots of the smaller problem).

    `labels` are the two without a row in the smaller problem. The first is for rows that are not
    `reached`, and for leaves without a prize. The second is for free rows adjacent to Q. Adjacent
    free rows share a label.
    """
    removed, part_of_root = labels
    n = len(starts) - 1
    part, is_root, is_free = np.arange(n), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    for row in range(n):
        if reached[row] and tokens[row] == 0:
            for other in targets[starts[row] : starts[row + 1]]:
                if reached[other] and tokens[other] == 0:
                    a, b = find_root(part, row), find_root(part, np.int64(other))
                    part[max(a, b)] = min(a, b)
    for row in roots:
        is_root[row] = True
        if reached[row] and tokens[row] == 0:
            is_free[find_root(part, np.int64(row))] = True
    label, count = np.full(n, removed), 0
    for row in range(n):
        if not reached[row]:
            continue
        first = find_root(part, row)
        if is_free[first]:
            label[row] = part_of_root
        elif first == row:
            label[row], count = count, count + 1
        else:
            label[row] = label[first]
    part_prizes, cost, linked = (
        np.zeros(count),
        np.zeros(count, np.int64),
        np.zeros(count, np.bool_),
    )
    pairs, size = np.empty(len(targets), np.int64), 0
    for row in range(n):
        at = label[row]
        if at == part_of_root:
            for other in targets[starts[row] : starts[row + 1]]:
                if label[other] >= 0:
                    linked[label[other]] = True
        if at < 0:
            continue
        part_prizes[at] += prizes[row]
        cost[at] += tokens[row]
        linked[at] |= is_root[row]
        for other in targets[starts[row] : starts[row + 1]]:
            if label[other] >= 0 and label[other] != at:
                pairs[size] = at * count + label[other]
                size += 1
    pairs = np.unique(pairs[:size])
    begin = np.searchsorted(pairs, np.arange(count + 1) * count)
    links = np.array([begin[i + 1] - begin[i] + linked[i] for i in range(count)], np.int64)
    retained, leaves = (
        np.ones(count, np.bool_),
        [i for i in range(count) if part_prizes[i] <= 0 and links[i] < 2],
    )
    while len(leaves) > 0:
        leaf = leaves.pop()
        retained[leaf] = False
        for pair in pairs[begin[leaf] : begin[leaf + 1]]:
            other = pair % count
            links[other] -= 1
            if retained[other] and part_prizes[other] <= 0 and links[other] == 1:
                leaves.append(other)
    place = np.cumsum(retained) - 1
    for row in range(n):
        if label[row] >= 0:
            label[row] = place[label[row]] if retained[label[row]] else removed
    ends, last = np.zeros(retained.sum() + 1, np.int64), 0
    heads = np.empty(len(pairs), np.int32)
    for pair in pairs:
        if retained[pair // count] and retained[pair % count]:
            heads[last] = place[pair % count]
            last += 1
            ends[place[pair // count] + 1] = last
    for i in range(1, len(ends)):
        ends[i] = max(ends[i], ends[i - 1])
    return (
        label,
        ends,
        heads[:last],
        part_prizes[retained],
        cost[retained],
        np.flatnonzero(linked[retained]),
    )


@compiled
def first_inequalities(starts, targets, prizes, tokens, roots, budget):
    """Return (starts, columns, values, limits) of the first inequalities.

    Tokens are within the budget. Each row needs a neighbour or Q; a row without a prize that costs
    tokens needs two. A free row comes with each neighbour.
    """
    n, m = len(starts) - 1, len(targets)
    is_root = np.zeros(n, np.bool_)
    for row in roots:
        is_root[row] = True
    ends, limits = np.zeros(1 + n + m + 1, np.int64), np.zeros(1 + n + m)
    columns, values = np.empty(n + n + 3 * m, np.int64), np.empty(n + n + 3 * m)
    size, at = 0, 1
    for row in range(n):
        columns[size], values[size] = row, tokens[row] / max(1, budget)
        size += 1
    ends[1], limits[0] = size, 1.0
    for row in range(n):
        needed = 2.0 if prizes[row] == 0 and tokens[row] > 0 else 1.0
        if is_root[row] and needed == 1.0:
            continue
        columns[size], values[size] = row, needed
        size += 1
        for other in targets[starts[row] : starts[row + 1]]:
            columns[size], values[size] = other, -1.0
            size += 1
        limits[at] = 1.0 if is_root[row] else 0.0
        at += 1
        ends[at] = size
    for row in range(n):
        for other in targets[starts[row] : starts[row + 1]]:
            if tokens[other] == 0:
                columns[size], values[size] = row, 1.0
                columns[size + 1], values[size + 1] = other, -1.0
                size += 2
                at += 1
                ends[at] = size
    return ends[: at + 1], columns[:size], values[:size], limits[:at]
