"""Compiled separation: the node separators that a fractional choice violates.

Every row u is split into an entrance (2 u) and an exit (2 u + 1), joined by an arc of capacity
x[u]. Edges have no limit. So a minimum cut between Q and the entrance of v is a set C of rows that
every path from Q to v crosses. It is violated where x[v] > x[C].

`row_flow` (float64 [n]) is the flow through each row, `edge_flow` (float64 [m]) that along each
slot.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled

MIN_FLOW = 1e-9  # a remaining capacity below this counts as 0


@compiled
def reverse_slots(starts, targets):
    """Return for each slot u -> w the slot w -> u."""
    reverse = np.empty(len(targets), np.int64)
    for row in range(len(starts) - 1):
        for slot in range(starts[row], starts[row + 1]):
            other = targets[slot]
            for back in range(starts[other], starts[other + 1]):
                if targets[back] == row:
                    reverse[slot] = back
    return reverse


@compiled
def violated_separators(starts, targets, reverse, roots, x, creep, least, nested):
    """Return the separators violated by more than `least`, as (ends, rows, heads).

    Cut i has the rows[ends[i]:ends[i + 1]] and separates the row v = heads[i] from Q. For each v,
    those of larger x first, it takes the cut nearest to Q and the cut nearest to v. Then the cut's
    rows get capacity 1 and the flow continues, `nested` times at most. `creep` is added to each
    capacity, so that of equal cuts the one of fewest rows comes out.
    """
    n = len(starts) - 1
    ends, rows, heads = [0], [0], [0]  # typed by a first element, taken off at the end
    rows.pop()
    heads.pop()
    is_root = np.zeros(n, np.bool_)
    for root in roots:
        is_root[root] = True
    row_flow, edge_flow = np.zeros(n), np.zeros(len(targets))
    for v in np.argsort(-x, kind="mergesort"):
        if x[v] <= least:
            break
        if is_root[v]:
            continue
        capacity = np.minimum(x, 1.0) + creep
        row_flow[:], edge_flow[:] = 0.0, 0.0
        flow = 0.0
        for _ in range(nested):
            flow, reached = _send_flow(
                starts,
                targets,
                reverse,
                roots,
                capacity,
                row_flow,
                edge_flow,
                v,
                flow,
                x[v] - least,
            )
            if flow > x[v] - least:  # it suffices
                break
            found = 0
            for side in range(2):
                if side == 1:
                    reached = ~_residual_ancestors(
                        starts, targets, capacity, row_flow, edge_flow, v
                    )
                total, size = 0.0, len(rows)
                for u in range(n):
                    if reached[2 * u] and not reached[2 * u + 1] and u != v:
                        rows.append(u)
                        total += x[u]
                if x[v] - total <= least or (
                    side == 1
                    and size - ends[-2] == len(rows) - size
                    and _is_repeated(rows, ends[-2], size)
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
    return np.array(ends, np.int64), np.array(rows, np.int64), np.array(heads, np.int64)


@compiled
def _is_repeated(rows, begin, end):
    """Return whether rows[begin:end] and the rows after it, of the same number, are the same."""
    for at in range(begin, end):  # noqa: SIM110 - loops compile, generators do not
        if rows[at] != rows[end + at - begin]:
            return False
    return True


@compiled
def _send_flow(starts, targets, reverse, roots, capacity, row_flow, edge_flow, v, flow, enough):
    """Send flow from Q to the entrance of v by shortest paths until it is enough.

    Return (the flow, mask of the entrances and exits that Q reaches in the residual graph).
    """
    n = len(starts) - 1
    parents = np.empty(2 * n, np.int64)
    queue = np.empty(2 * n, np.int64)
    while True:
        parents[:] = -2
        end = 0
        for root in roots:
            if parents[2 * root] == -2:
                parents[2 * root], queue[end] = -1, 2 * root
                end += 1
        at = 0
        while at < end and parents[2 * v] == -2:
            state = queue[at]
            at += 1
            u = state // 2
            if state % 2 == 0:
                if parents[state + 1] == -2 and capacity[u] - row_flow[u] > MIN_FLOW:
                    parents[state + 1], queue[end] = state, state + 1
                    end += 1
                for slot in range(starts[u], starts[u + 1]):
                    other = 2 * targets[slot] + 1
                    if parents[other] == -2 and edge_flow[reverse[slot]] > MIN_FLOW:
                        parents[other], queue[end] = state, other
                        end += 1
            else:
                if parents[state - 1] == -2 and row_flow[u] > MIN_FLOW:
                    parents[state - 1], queue[end] = state, state - 1
                    end += 1
                for slot in range(starts[u], starts[u + 1]):
                    other = 2 * targets[slot]
                    if parents[other] == -2:
                        parents[other], queue[end] = state, other
                        end += 1
        if parents[2 * v] == -2 or flow > enough:
            return flow, parents != -2
        _augment(starts, targets, reverse, capacity, row_flow, edge_flow, parents, v)
        flow = 0.0
        for slot in range(starts[v], starts[v + 1]):
            flow += edge_flow[reverse[slot]] - edge_flow[slot]


@compiled
def _augment(starts, targets, reverse, capacity, row_flow, edge_flow, parents, v):
    """Send as much flow along the path to the entrance of v as fits."""
    amount = 2.0
    for change in range(2):
        state = 2 * v
        while parents[state] >= 0:
            before = parents[state]
            u, w = before // 2, state // 2
            if u == w:
                if state % 2:
                    if change:
                        row_flow[u] += amount
                    else:
                        amount = min(amount, capacity[u] - row_flow[u])
                elif change:
                    row_flow[u] -= amount
                else:
                    amount = min(amount, row_flow[u])
            else:
                for slot in range(starts[u], starts[u + 1]):
                    if targets[slot] == w:
                        if before % 2:
                            edge_flow[slot] += amount if change else 0.0
                        elif change:
                            edge_flow[reverse[slot]] -= amount
                        else:
                            amount = min(amount, edge_flow[reverse[slot]])
                        break
            state = before


@compiled
def _residual_ancestors(starts, targets, capacity, row_flow, edge_flow, v):
    """Return a mask of the entrances and exits from which more flow can reach the entrance of v."""
    n = len(starts) - 1
    seen = np.zeros(2 * n, np.bool_)
    queue = np.empty(2 * n, np.int64)
    seen[2 * v], queue[0], at, end = True, 2 * v, 0, 1
    while at < end:
        state = queue[at]
        at += 1
        u = state // 2
        if state % 2 == 0:  # an exit next to it leads here; so does its own exit, backwards
            if not seen[state + 1] and row_flow[u] > MIN_FLOW:
                seen[state + 1], queue[end] = True, state + 1
                end += 1
            for slot in range(starts[u], starts[u + 1]):
                other = 2 * targets[slot] + 1
                if not seen[other]:
                    seen[other], queue[end] = True, other
                    end += 1
        else:  # its entrance while capacity is left; an entrance that it sends flow to, backwards
            if not seen[state - 1] and capacity[u] - row_flow[u] > MIN_FLOW:
                seen[state - 1], queue[end] = True, state - 1
                end += 1
            for slot in range(starts[u], starts[u + 1]):
                other = 2 * targets[slot]
                if not seen[other] and edge_flow[slot] > MIN_FLOW:
                    seen[other], queue[end] = True, other
                    end += 1
    return seen
