"""Compiled separation: the node separators that a fractional choice violates.

Every row u is split into an entrance and an exit joined by an arc of capacity x[u]; edges have no limit, so a cut of least capacity
between Q and the entrance of v is a set C of rows that every way from Q to v crosses. It is violated where x[v] > x[C].
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled

LEAST = 1e-9  # what is left of a capacity below this counts as nothing


@compiled
def mates(starts, targets):
    """Return for each slot u -> w the slot w -> u."""
    mate = np.empty(len(targets), np.int64)
    for row in range(len(starts) - 1):
        for slot in range(starts[row], starts[row + 1]):
            other = targets[slot]
            for back in range(starts[other], starts[other + 1]):
                if targets[back] == row:
                    mate[slot] = back
    return mate


@compiled
def violated(starts, targets, mate, roots, x, creep, least, nested):
    """Return the separators violated by more than `least`: (ends int64 [k + 1] into rows, rows int64, the row v of each cut int64 [k]).

    For each v, those of larger x first: the cut nearest to Q and the cut nearest to v; then the rows of the cut are widened to capacity 1
    and the flow goes on, `nested` times at most. `creep` is added to each capacity, so that of cuts alike the one of fewest rows is found.
    """
    n = len(starts) - 1
    ends, rows, heads = [0], [0], [0]  # typed by a first element, taken off at the end
    rows.pop()
    heads.pop()
    is_root = np.zeros(n, np.bool_)
    for root in roots:
        is_root[root] = True
    through, along = np.zeros(n), np.zeros(len(targets))
    for v in np.argsort(-x, kind="mergesort"):
        if x[v] <= least:
            break
        if is_root[v]:
            continue
        capacity = np.minimum(x, 1.0) + creep
        through[:], along[:] = 0.0, 0.0
        flow = 0.0
        for _ in range(nested):
            flow, reached = _filled(
                starts, targets, mate, roots, capacity, through, along, v, flow, x[v] - least
            )
            if reached[2 * v]:  # the flow suffices
                break
            found = 0
            for side in range(2):
                if side == 1:
                    reached = ~_reaching(starts, targets, mate, capacity, through, along, v)
                total, size = 0.0, len(rows)
                for u in range(n):
                    if reached[2 * u] and not reached[2 * u + 1] and u != v:
                        rows.append(u)
                        total += x[u]
                if x[v] - total <= least or (
                    side == 1
                    and size - ends[-2] == len(rows) - size
                    and _same(rows, ends[-2], size)
                ):
                    while len(rows) > size:
                        rows.pop()
                else:
                    ends.append(len(rows))
                    heads.append(v)
                    found += 1
                if side == 0 and found == 0:
                    break
            if found == 0:
                break
            for at in range(ends[-1 - found], ends[-1]):
                capacity[rows[at]] = 1.0 + creep
    return np.array(ends), np.array(rows), np.array(heads)


@compiled
def _same(rows, begin, end):
    """Whether rows[begin:end] and what follows, of one length, are the same."""
    for at in range(begin, end):  # noqa: SIM110 - loops compile, generators do not
        if rows[at] != rows[end + at - begin]:
            return False
    return True


@compiled
def _filled(starts, targets, mate, roots, capacity, through, along, v, flow, enough):
    """Send flow from Q to the entrance of v by shortest ways until it is enough; return it and what Q reaches (2 u entrance, 2 u + 1 exit).

    The entrance of v counts as reached where the flow is enough.
    """
    n = len(starts) - 1
    came = np.empty(2 * n, np.int64)
    queue = np.empty(2 * n, np.int64)
    while True:
        came[:] = -2
        end = 0
        for root in roots:
            if came[2 * root] == -2:
                came[2 * root], queue[end] = -1, 2 * root
                end += 1
        at = 0
        while at < end and came[2 * v] == -2:
            state = queue[at]
            at += 1
            u = state // 2
            if state % 2 == 0:
                if came[state + 1] == -2 and capacity[u] - through[u] > LEAST:
                    came[state + 1], queue[end] = state, state + 1
                    end += 1
                for slot in range(starts[u], starts[u + 1]):
                    other = 2 * targets[slot] + 1
                    if came[other] == -2 and along[mate[slot]] > LEAST:
                        came[other], queue[end] = state, other
                        end += 1
            else:
                if came[state - 1] == -2 and through[u] > LEAST:
                    came[state - 1], queue[end] = state, state - 1
                    end += 1
                for slot in range(starts[u], starts[u + 1]):
                    other = 2 * targets[slot]
                    if came[other] == -2:
                        came[other], queue[end] = state, other
                        end += 1
        if came[2 * v] == -2 or flow > enough:
            return flow, came != -2
        _send(starts, targets, mate, capacity, through, along, came, v)
        flow = 0.0
        for slot in range(starts[v], starts[v + 1]):
            flow += along[mate[slot]] - along[slot]


@compiled
def _send(starts, targets, mate, capacity, through, along, came, v):
    """Send along the way found as much as fits."""
    amount = 2.0
    for change in range(2):
        state = 2 * v
        while came[state] >= 0:
            before = came[state]
            u, w = before // 2, state // 2
            if u == w:
                if state % 2:
                    if change:
                        through[u] += amount
                    else:
                        amount = min(amount, capacity[u] - through[u])
                elif change:
                    through[u] -= amount
                else:
                    amount = min(amount, through[u])
            else:
                for slot in range(starts[u], starts[u + 1]):
                    if targets[slot] == w:
                        if before % 2:
                            along[slot] += amount if change else 0.0
                        elif change:
                            along[mate[slot]] -= amount
                        else:
                            amount = min(amount, along[mate[slot]])
                        break
            state = before


@compiled
def _reaching(starts, targets, mate, capacity, through, along, v):
    """Return the entrances and exits from which more flow could reach the entrance of v."""
    n = len(starts) - 1
    seen = np.zeros(2 * n, np.bool_)
    queue = np.empty(2 * n, np.int64)
    seen[2 * v], queue[0], at, end = True, 2 * v, 0, 1
    while at < end:
        state = queue[at]
        at += 1
        u = state // 2
        if state % 2 == 0:  # an exit next to it leads here; so does its own exit, backwards
            if not seen[state + 1] and through[u] > LEAST:
                seen[state + 1], queue[end] = True, state + 1
                end += 1
            for slot in range(starts[u], starts[u + 1]):
                other = 2 * targets[slot] + 1
                if not seen[other]:
                    seen[other], queue[end] = True, other
                    end += 1
        else:  # its entrance while capacity is left; an entrance that it sends flow to, backwards
            if not seen[state - 1] and capacity[u] - through[u] > LEAST:
                seen[state - 1], queue[end] = True, state - 1
                end += 1
            for slot in range(starts[u], starts[u + 1]):
                other = 2 * targets[slot]
                if not seen[other] and along[slot] > LEAST:
                    seen[other], queue[end] = True, other
                    end += 1
    return seen
