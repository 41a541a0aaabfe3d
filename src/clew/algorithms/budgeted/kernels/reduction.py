"""Compiled loops that make a budgeted selection smaller, and write down its first inequalities."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.heap import root


@compiled
def contracted(starts, targets, prizes, tokens, roots, near, away, with_q):
    """Return (the label of each row, then starts, targets, prizes, tokens and roots of the smaller problem).

    `near` marks the rows that matter; the others, and connectors that hang on one row, are labelled `away`, what costs nothing beside Q
    is labelled `with_q`, and free rows that touch share a label.
    """
    n = len(starts) - 1
    part, is_root, nothing = np.arange(n), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    for row in range(n):
        if near[row] and tokens[row] == 0:
            for other in targets[starts[row] : starts[row + 1]]:
                if near[other] and tokens[other] == 0:
                    a, b = root(part, row), root(part, np.int64(other))
                    part[max(a, b)] = min(a, b)
    for row in roots:
        is_root[row] = True
        if near[row] and tokens[row] == 0:
            nothing[root(part, np.int64(row))] = True
    label, count = np.full(n, away), 0
    for row in range(n):
        if not near[row]:
            continue
        first = root(part, row)
        if nothing[first]:
            label[row] = with_q
        elif first == row:
            label[row], count = count, count + 1
        else:
            label[row] = label[first]
    worth, cost, linked = np.zeros(count), np.zeros(count, np.int64), np.zeros(count, np.bool_)
    pairs, size = np.empty(len(targets), np.int64), 0
    for row in range(n):
        at = label[row]
        if at == with_q:
            for other in targets[starts[row] : starts[row + 1]]:
                if label[other] >= 0:
                    linked[label[other]] = True
        if at < 0:
            continue
        worth[at] += prizes[row]
        cost[at] += tokens[row]
        linked[at] |= is_root[row]
        for other in targets[starts[row] : starts[row + 1]]:
            if label[other] >= 0 and label[other] != at:
                pairs[size] = at * count + label[other]
                size += 1
    pairs = np.unique(pairs[:size])
    begin = np.searchsorted(pairs, np.arange(count + 1) * count)
    links = np.array([begin[i + 1] - begin[i] + linked[i] for i in range(count)], np.int64)
    stay, going = (
        np.ones(count, np.bool_),
        [i for i in range(count) if worth[i] <= 0 and links[i] < 2],
    )
    while len(going) > 0:
        leaf = going.pop()
        stay[leaf] = False
        for pair in pairs[begin[leaf] : begin[leaf + 1]]:
            other = pair % count
            links[other] -= 1
            if stay[other] and worth[other] <= 0 and links[other] == 1:
                going.append(other)
    place = np.cumsum(stay) - 1
    for row in range(n):
        if label[row] >= 0:
            label[row] = place[label[row]] if stay[label[row]] else away
    ends, last = np.zeros(stay.sum() + 1, np.int64), 0
    heads = np.empty(len(pairs), np.int32)
    for pair in pairs:
        if stay[pair // count] and stay[pair % count]:
            heads[last] = place[pair % count]
            last += 1
            ends[place[pair // count] + 1] = last
    for i in range(1, len(ends)):
        ends[i] = max(ends[i], ends[i - 1])
    return label, ends, heads[:last], worth[stay], cost[stay], np.flatnonzero(linked[stay])


@compiled
def first_rows(starts, targets, prizes, tokens, roots, budget):
    """Return (starts, columns, values, limits) of the inequalities that are there from the start.

    Tokens are within the budget; each row needs a neighbour or Q, a worthless one that costs tokens two of them; and a free row comes
    with each neighbour.
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
