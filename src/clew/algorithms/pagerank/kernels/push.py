"""Compiled loop of a forward push: personalised PageRank near its start, until the best are proven.

Rows here are the places of a `Walk`, and the arrays those of `kernels.walks`.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from clew.algorithms.kernels.compiled import compiled, tick
from clew.algorithms.kernels.heap import pop, sift_up
from clew.algorithms.ranking import TOLERANCE


def _push_at_once(walk, start_rows, masses, limits, arrays):
    """Push by the mass of rows in a dict, and by lists of a row's links, one after the other."""
    starts, targets, weights, shares, tops, damping, _ = walk
    n = len(starts) - 1
    residuals, estimates, share_of = {}, {}, {}  # by row, in the order in which they are reached
    limit, work, free = 0.0, 0, 0
    alone = starts[start_rows] == starts[1:][start_rows]
    own = (start_rows, masses, shares[start_rows], alone)
    for u, mass, share, is_alone in zip(*(one.tolist() for one in own), strict=True):
        limit = max(limit, mass * share)
        residuals[u], estimates[u], share_of[u] = mass, 0.0, share
        if is_alone:  # nothing leaves a row without links
            estimates[u], residuals[u] = (1 - damping) * mass, 0.0
    least = max(limits.least, limit * 2.0**-60)
    while True:
        limit = max(limit / 4, least)
        waiting = deque(u for u, mass in residuals.items() if mass * share_of[u] > limit)
        marked = set(waiting)
        while waiting and work < limits.max_work:
            tick()
            u = waiting.popleft()
            marked.remove(u)
            mass, residuals[u] = residuals[u], 0.0
            estimates[u] += (1 - damping) * mass
            mass *= damping * share_of[u]
            links = slice(int(starts[u]), int(starts[u + 1]))
            work += links.stop - links.start
            to = targets[links]
            own = (to, weights[links], shares[to])
            for v, weight, share in zip(*(one.tolist() for one in own), strict=True):
                gain = weight * mass
                if gain == 0.0:
                    continue
                if v in residuals:
                    gain += residuals[v]
                else:
                    estimates[v], share_of[v] = 0.0, share
                residuals[v] = gain
                if gain * share > limit and v not in marked:
                    marked.add(v)
                    waiting.append(v)
        is_over = work >= limits.max_work or limit <= least
        if limits.k > 0 or is_over:
            reached = len(residuals)
            rows = arrays.queue[1, :reached]
            rows[:] = list(residuals)
            arrays.residuals[rows] = list(residuals.values())
            arrays.estimates[rows] = list(estimates.values())
        while free < n and (residuals.get(free, 0.0) > 0.0 or estimates.get(free, 0.0) > 0.0):
            free += 1
        beyond = tops[free] if free < n else -1.0
        found = (arrays.estimates, arrays.residuals, rows) if limits.k > 0 else ()
        if found and is_proven.plain(walk, beyond, limits, *found):
            return reached, work, True
        if is_over:
            return reached, work, False


@compiled(at_once=_push_at_once)
def push_mass(walk, start_rows, masses, limits, arrays):
    """Return (rows reached, work, whether the k best rows are proven) of a forward push.

    It ends when they are proven, after work on `max_work` links, or when no row has a residual
    above `least` a unit of its strength. `walk`, `limits` and `arrays` are the NamedTuples of
    `clew.algorithms.pagerank.top`.

    Invariant: x = estimates + X(residuals), where X(r) solves x = (1 - damping) r + damping * W^T
    x. So x_u is between l_u = estimate_u + (1 - damping) residual_u and l_u + damping * min(R, M /
    shares_u), where R is the sum of the residuals and M the greatest of residual * share. The
    second bound needs a symmetric adjacency, by which X_uv / shares_v is symmetric too.

    The k rows of greatest l are the best k if the least of them is above all other rows' upper
    bounds by `margin` and the tolerance of equal scores. `tops[i]` is the greatest strength of the
    rows from i on, and bounds the rows that no mass has reached. The bounds of the best must also
    differ by at most `accuracy`.
    """
    starts, targets, weights, shares, tops, damping, _ = walk
    max_work = limits.max_work
    estimates, residuals, queue, marks = arrays
    n = len(starts) - 1
    waiting, reached_rows = queue[0], queue[1]
    reached, work = 0, 0
    limit = 0.0
    for i in range(len(start_rows)):
        u = start_rows[i]
        reached_rows[reached] = u
        reached += 1
        residuals[u] = masses[i]
        limit = max(limit, masses[i] * shares[u])
        if starts[u] == starts[u + 1]:
            # Nothing leaves a row without links.
            estimates[u], residuals[u] = (1 - damping) * masses[i], 0.0
    least = max(limits.least, limit * 2.0**-60)  # mass below this is rounding
    free = 0  # the first row that mass may not have reached
    while True:
        limit = max(limit / 4, least)
        head, size = 0, 0
        for i in range(reached):
            u = reached_rows[i]
            if residuals[u] * shares[u] > limit:
                waiting[size] = u
                marks[u] = True
                size += 1
        while size > 0 and work < max_work:
            u = waiting[head]
            head = head + 1 if head + 1 < n else 0
            size -= 1
            marks[u] = False
            mass = residuals[u]
            residuals[u] = 0.0
            estimates[u] += (1 - damping) * mass
            mass *= damping * shares[u]
            work += starts[u + 1] - starts[u]
            for slot in range(starts[u], starts[u + 1]):
                v, gain = targets[slot], weights[slot] * mass
                if gain == 0.0:
                    continue
                if residuals[v] == 0.0 and estimates[v] == 0.0:
                    reached_rows[reached] = v
                    reached += 1
                residuals[v] += gain
                if not marks[v] and residuals[v] * shares[v] > limit:
                    marks[v] = True
                    end = head + size
                    waiting[end if end < n else end - n] = v
                    size += 1
        for i in range(size):  # the work allowed is done: clear the queue
            at = head + i
            marks[waiting[at if at < n else at - n]] = False
        while free < n and (residuals[free] > 0.0 or estimates[free] > 0.0):
            free += 1
        beyond = tops[free] if free < n else -1.0
        if limits.k > 0 and is_proven(
            walk, beyond, limits, estimates, residuals, reached_rows[:reached]
        ):
            return reached, work, True
        if work >= max_work or limit <= least:
            return reached, work, False


@compiled
def is_proven(walk, beyond, limits, estimates, residuals, reached_rows):
    """Return whether the k rows of greatest lower bound are the best and known to `accuracy`.

    See `push_mass`. `beyond` is the greatest strength of the rows that mass has not reached, or -1
    if there are none.
    """
    shares, damping, symmetric = walk.shares, walk.damping, walk.symmetric
    k, margin, accuracy = limits.k, limits.margin, limits.accuracy
    whole, max_density = 0.0, 0.0
    keys, rows, size = np.empty(k + 1), np.empty(k + 1, np.uint32), 0
    for u in reached_rows:
        whole += residuals[u]
        max_density = max(max_density, residuals[u] * shares[u])
        low = estimates[u] + (1 - damping) * residuals[u]
        if size == k:
            if low <= keys[0]:
                continue
            _, _, size = pop(keys, rows, size)
        sift_up(keys, rows, size, low, u)
        size += 1
    if size < k:
        return False
    bar, above, highest = keys[0], 0, 0.0
    for i in range(k):
        highest = max(highest, keys[i])
    margin += TOLERANCE * (highest + damping * whole)
    rest = whole if beyond >= 0 else -1.0
    if symmetric and beyond >= 0:
        rest = min(whole, max_density * beyond)
    if rest >= 0 and damping * rest + margin >= bar:
        return False
    for u in reached_rows:
        low = estimates[u] + (1 - damping) * residuals[u]
        missing = damping * (min(whole, max_density / shares[u]) if symmetric else whole)
        above += low >= bar
        if above > k or (missing > accuracy if low >= bar else low + missing + margin >= bar):
            return False
    return True
