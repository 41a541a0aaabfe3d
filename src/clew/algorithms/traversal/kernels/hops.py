"""Compiled: the fewest hops between some rows, and paths of the fewest hops to some rows."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled

START, SLOT = 1, 2  # how a row was reached: 0 not yet, 1 as a start row, 2 + slot by that slot


def _slots_from(starts, rows):
    """Return all slots of some rows, row by row."""
    lengths = starts[rows + 1] - starts[rows]
    ends = np.cumsum(lengths)
    return np.arange(ends[-1]) + np.repeat(starts[rows] - ends + lengths, lengths)


def _reach_at_once(starts, targets, sources, wanted, max_hops, nearby):
    origins, frontier = np.zeros(len(starts) - 1, np.int64), sources
    ahead, near = np.full(len(starts) - 1, nearby + 1, np.uint8), wanted
    ahead[near] = 0
    for depth in range(1, nearby + 1):
        if not len(near):
            break
        others = targets[_slots_from(starts, near)]
        near = np.flatnonzero(np.bincount(others[ahead[others] > nearby], minlength=0))
        ahead[near] = depth
    origins[frontier] = START
    for depth in range(max_hops):
        if not len(frontier) or origins[wanted].all():
            break
        slots = _slots_from(starts, frontier)
        is_new = origins[targets[slots]] == 0
        left = max_hops - depth - 1
        if left <= nearby:
            is_new &= ahead[targets[slots]] <= left
        slots = slots[is_new]
        reached = targets[slots]
        # Of several slots to one row the first is written last, and stays.
        origins[reached[::-1]] = slots[::-1] + SLOT
        frontier = reached[origins[reached] == slots + SLOT].astype(np.int64)
    return origins


@compiled(at_once=_reach_at_once)
def reach(starts, targets, sources, wanted, max_hops, nearby):
    """Return how rows are reached from `sources` in `max_hops` hops, until all `wanted` rows are.

    It is 0 for a row that is not, START for a source, SLOT + the first slot that leads to it for
    another one: int64 [n]. What is reached after the last wanted row is not defined.

    Args:
        starts: int64 [n + 1], of compressed rows.
        targets: int32 [m], of compressed rows.
        sources: int64 [s], distinct.
        wanted: int64 [w], distinct.
        max_hops: at most so many.
        nearby: the rows within so many hops of a wanted one are looked up first, so that a row from
            which none can be reached any more is passed over. At most 250; 0 where links do not
            lead in both directions.

    The wanted rows have the same paths with any `nearby`: what is passed over is on none of them,
    and the others keep their order.
    """
    origins = np.zeros(len(starts) - 1, np.int64)
    ahead = np.full(len(starts) - 1, nearby + 1, np.uint8)  # hops to the nearest wanted row
    queue, done, size, missing = np.empty(len(starts) - 1, np.int64), 0, 0, 0
    for row in wanted:
        ahead[row], queue[size] = 0, row
        size += 1
    for depth in range(1, nearby + 1):
        end = size
        while done < end:
            row = queue[done]
            done += 1
            for slot in range(starts[row], starts[row + 1]):
                other = targets[slot]
                if ahead[other] > nearby:
                    ahead[other], queue[size] = depth, other
                    size += 1
    done, size = 0, 0
    for row in sources:
        origins[row], queue[size] = START, row
        size += 1
    for row in wanted:
        missing += origins[row] == 0
    for depth in range(max_hops):
        end, left = size, max_hops - depth - 1
        if left > nearby:
            left = nearby + 1
        while done < end and missing > 0:
            row = queue[done]
            done += 1
            for slot in range(starts[row], starts[row + 1]):
                other = targets[slot]
                if origins[other] == 0 and ahead[other] <= left:
                    origins[other], queue[size] = slot + SLOT, other
                    size += 1
                    missing -= ahead[other] == 0
    return origins


@compiled
def hops(starts, targets, rows):
    """Return the fewest hops between every two of `rows`, int32 [k, k]; -1 where no path leads.

    Each search ends when it has met all rows.
    """
    n, k = len(starts) - 1, len(rows)
    distances = np.full((k, k), -1, np.int32)
    place, seen, depth, queue = (
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.zeros(n, np.int32),
        np.empty(n, np.int32),
    )
    for i in range(k):
        place[rows[i]] = i
    for i in range(k):
        seen[rows[i]], depth[rows[i]], queue[0], done, size = i, 0, rows[i], 0, 1
        distances[i, i], met = 0, 1
        while done < size and met < k:
            row = queue[done]
            done += 1
            for slot in range(starts[row], starts[row + 1]):
                other = targets[slot]
                if seen[other] == i:
                    continue
                seen[other], depth[other] = i, depth[row] + 1
                queue[size] = other
                size += 1
                if place[other] >= 0:
                    distances[i, place[other]] = depth[other]
                    met += 1
    return distances
