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


@compiled(lists=(np.int64, np.int64, np.int64))
def violated_separators(starts, targets, reverse, roots, x, order, creep, least, nested):
    """Return the separators violated by more than `least`, as (ends, rows, heads).

    Cut i has the rows[ends[i]:ends[i + 1]] and separates the row v = heads[i] from Q. For each v,
    in `order`, which is that of falling x, it takes the cut nearest to Q and the cut nearest to v.
    Then the cut's rows get capacity 1 and the flow continues, `nested` times at most. `creep` is
    added to each capacity, so that of equal cuts the one of fewest rows comes out. A flow of more
    than x[v] - `least` is enough, and so is one path on which each row has such a capacity.
    """
    n = len(starts) - 1
    ends, rows, heads = [0], [0], [0]  # typed by a first element, taken off at the end
    rows.pop()
    heads.pop()
    is_root, capacity = np.zeros(n, np.bool_), np.zeros(n)
    for root in roots:
        is_root[root] = True
    for row in range(n):
        capacity[row] = min(x[row], 1.0) + creep
    row_flow, edge_flow = np.zeros(n), np.zeros(len(targets))
    full, no_row_flow, no_edge_flow = np.zeros(n), np.zeros(n), np.zeros(len(targets))
    full[:] = capacity
    reached, wide, linked = np.zeros(2 * n, np.bool_), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    at = 0
    for v in order:
        enough = x[v] - least
        if enough <= 0:
            break
        while at < n and full[order[at]] > enough:
            _link(starts, targets, is_root, order[at], wide, linked)
            at += 1
        if is_root[v] or _has_linked_neighbour(starts, targets, v, linked):
            continue
        capacity[:] = full
        row_flow[:] = no_row_flow
        edge_flow[:] = no_edge_flow
        for _ in range(nested):
            flow = _send_flow(
                starts,
                targets,
                reverse,
                roots,
                capacity,
                row_flow,
                edge_flow,
                v,
                enough,
                reached,
            )
            if flow > enough:  # it suffices
                break
            found = 0
            for side in range(2):
                if side == 1:
                    _residual_rest(starts, targets, capacity, row_flow, edge_flow, v, reached)
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
            for place in range(ends[-1 - found], ends[-1]):
                capacity[rows[place]] = 1.0 + creep
    return np.array(ends, np.int64), np.array(rows, np.int64), np.array(heads, np.int64)


@compiled
def _is_repeated(rows, begin, end):
    """Return whether rows[begin:end] and the rows after it, of the same number, are the same."""
    for at in range(begin, end):  # noqa: SIM110 - loops compile, generators do not
        if rows[at] != rows[end + at - begin]:
            return False
    return True


@compiled
def _link(starts, targets, is_root, row, wide, linked):
    """Make a row wide, and mark those that this links with Q over wide rows alone."""
    wide[row] = True
    if not is_root[row] and not _has_linked_neighbour(starts, targets, row, linked):
        return
    queue, at, end = np.zeros(len(wide), np.int64), 0, 1
    queue[0], linked[row] = row, True
    while at < end:
        row = queue[at]
        at += 1
        for other in targets[starts[row] : starts[row + 1]]:
            if wide[other] and not linked[other]:
                linked[other], queue[end] = True, other
                end += 1


@compiled
def _has_linked_neighbour(starts, targets, row, linked):
    """Return whether a neighbour of a row is linked."""
    for other in targets[starts[row] : starts[row + 1]]:  # noqa: SIM110 - generators do not compile
        if linked[other]:
            return True
    return False


@compiled
def _send_flow(starts, targets, reverse, roots, capacity, row_flow, edge_flow, v, enough, reached):
    """Send flow from Q to the entrance of v by shortest paths until it is enough.

    Return the flow, and fill `reached`, where it is not enough, with the entrances and exits that Q
    reaches in the residual graph.
    """
    n = len(starts) - 1
    nothing, queue = np.full(2 * n, -2), np.zeros(2 * n, np.int64)
    parents = np.full(2 * n, -2)
    while True:
        flow = 0.0
        for slot in range(starts[v], starts[v + 1]):
            flow += edge_flow[reverse[slot]] - edge_flow[slot]
        if flow > enough:
            return flow
        parents[:] = nothing
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
                if row_flow[u] > MIN_FLOW:  # else no edge leads flow to it
                    for slot in range(starts[u], starts[u + 1]):
                        other = 2 * targets[slot] + 1
                        if parents[other] == -2 and edge_flow[reverse[slot]] > MIN_FLOW:
                            parents[other], queue[end] = state, other
                            end += 1
            else:
                if parents[state - 1] == -2 and row_flow[u] > MIN_FLOW:
                    parents[state - 1], queue[end] = state, state - 1
                    end += 1
                for other in targets[starts[u] : starts[u + 1]]:
                    if parents[2 * other] == -2:
                        parents[2 * other], queue[end] = state, 2 * other
                        end += 1
        if parents[2 * v] == -2:
            for state in range(2 * n):
                reached[state] = parents[state] != -2
            return flow
        _augment(starts, targets, reverse, capacity, row_flow, edge_flow, parents, v)


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
def _residual_rest(starts, targets, capacity, row_flow, edge_flow, v, rest):
    """Fill `rest` with the entrances and exits from which no more flow can reach that of v."""
    n = len(starts) - 1
    seen, queue = np.zeros(2 * n, np.bool_), np.zeros(2 * n, np.int64)
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
    for state in range(2 * n):
        rest[state] = not seen[state]
