"""Compiled loops of the truss decomposition, over compressed rows of an undirected graph.

Every edge is stored at its lower end, the one of fewer neighbours (ties by row). So a triangle is
found once, from the edge between its two lower ends, by merging two short ascending lists. `starts`
is int64 [n + 1], `targets` int32 [m], ascending in each row.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled

MAX_LISTED = (
    4  # triangles per edge on average; beyond, they are searched again when an edge is removed
)


@compiled
def decompose(starts, targets, listed):
    """Return the trussness of every slot, int32 [m]; -1 in the first place for a directed graph.

    The triangles are listed where there are at most `listed` per edge.
    """
    return decompose_counted(starts, targets, listed)[0]


@compiled
def decompose_counted(starts, targets, listed):
    """Return `decompose`, and the number of triangles of the edge of every slot, int32 [m]."""
    values, counts = np.empty(len(targets), np.int32), np.empty(len(targets), np.int32)
    lows, highs, edge_of, is_undirected = orient_edges(starts, targets)
    if not is_undirected:
        values[0] = -1
        return values, counts
    support, corners, total = triangles(lows, highs, listed * len(highs))
    begins, pairs = (
        triangles_by_edge(support, corners) if total == len(corners) else (lows[:0], corners)
    )
    for slot in range(len(targets)):
        counts[slot] = support[edge_of[slot]]
    peel_edges(starts, targets, edge_of, support, begins, pairs)
    for slot in range(len(targets)):
        values[slot] = support[edge_of[slot]] + 2
    return values, counts


@compiled
def orient_edges(starts, targets):
    """Return (lows, highs, the edge of every slot, whether the graph is undirected).

    Rows are ranked by rising number of neighbours, ties by row, so that the rows met most often are
    together in memory. The edges of rank i to higher ranks are highs[lows[i]:lows[i + 1]],
    ascending; an edge's number is its place there.
    """
    n, m = len(starts) - 1, len(targets) // 2
    lows, highs, edge_of = (
        np.zeros(n + 1, np.int64),
        np.empty(m, np.int32),
        np.empty(len(targets), np.int32),
    )
    rank = degree_ranks(starts)
    for row in range(n):
        mine, above = rank[row], 0
        for slot in range(starts[row], starts[row + 1]):
            above += rank[targets[slot]] > mine
        lows[mine + 1] = above
    for i in range(n):
        lows[i + 1] += lows[i]
    if 2 * m != len(targets) or lows[n] != m:
        return lows, highs, edge_of, False
    back, slots = starts[:-1].copy(), np.empty(m, np.int32)
    for row in range(n):
        mine = rank[row]
        begin = size = lows[mine]
        for slot in range(starts[row], starts[row + 1]):
            high = rank[targets[slot]]
            if high > mine:
                place = size
                while place > begin and highs[place - 1] > high:
                    highs[place], slots[place] = highs[place - 1], slots[place - 1]
                    place -= 1
                highs[place], slots[place] = high, slot
                size += 1
        for place in range(begin, size):
            edge_of[slots[place]] = place
    # Rows come ascending, so the reverse of a slot is the next slot of the row it leads to.
    for row in range(n):
        for slot in range(starts[row], starts[row + 1]):
            other = targets[slot]
            reverse = back[other]
            if other == row or reverse >= starts[other + 1] or targets[reverse] != row:
                return lows, highs, edge_of, False
            back[other] += 1
            if rank[row] > rank[other]:
                edge_of[slot] = edge_of[reverse]
    return lows, highs, edge_of, True


@compiled
def degree_ranks(starts):
    """Return the rank of every row by its number of neighbours, ties by row."""
    n, max_degree = len(starts) - 1, 0
    for row in range(n):
        max_degree = max(max_degree, starts[row + 1] - starts[row])
    following = np.zeros(max_degree + 2, np.int64)
    for row in range(n):
        following[starts[row + 1] - starts[row] + 1] += 1
    for degree in range(max_degree + 1):
        following[degree + 1] += following[degree]
    rank = np.empty(n, np.int32)
    for row in range(n):
        degree = starts[row + 1] - starts[row]
        rank[row] = following[degree]
        following[degree] += 1
    return rank


@compiled
def triangles(lows, highs, max_listed):
    """Return (triangles of every edge, the three edges of each triangle, number of triangles).

    The edges are int32 [t, 3]; none are listed if there are more than `max_listed`.
    """
    support, total = np.zeros(len(highs), np.int32), 0
    corners = np.empty((min(max_listed, len(highs)), 3), np.int32)
    for low in range(len(lows) - 1):
        end = lows[low + 1]
        for edge in range(lows[low], end - 1):
            mine, its, its_end = edge + 1, lows[highs[edge]], lows[highs[edge] + 1]
            while mine < end and its < its_end:
                a, b = highs[mine], highs[its]
                if a == b:
                    support[edge] += 1
                    support[mine] += 1
                    support[its] += 1
                    if total == len(corners) and total < max_listed:
                        corners = np.concatenate(
                            (
                                corners,
                                np.empty(
                                    (min(len(corners) + 1024, max_listed - total), 3), np.int32
                                ),
                            )
                        )
                    if total < len(corners):
                        corners[total, 0], corners[total, 1], corners[total, 2] = edge, mine, its
                    total += 1
                mine += a <= b
                its += b <= a
    return support, corners[: total if total <= max_listed else 0], total


@compiled
def triangles_by_edge(support, corners):
    """Return (begins, pairs): edge e closes triangles with pairs[begins[e]:begins[e + 1]]."""
    m = len(support)
    begins = np.zeros(m + 1, np.int64)
    for edge in range(m):
        begins[edge + 1] = begins[edge] + support[edge]
    pairs, at = np.empty((begins[m], 2), np.int32), begins[:-1].copy()
    for corner in corners:
        for i in range(3):
            edge = corner[i]
            pairs[at[edge], 0], pairs[at[edge], 1] = corner[(i + 1) % 3], corner[(i + 2) % 3]
            at[edge] += 1
    return begins, pairs


@compiled
def compact_remaining(support, left, removed):
    """Move the remaining edges to the front of `left`; return (number, least support)."""
    size, least = 0, np.iinfo(np.int32).max
    for place in range(len(left)):
        edge = left[place]
        if not removed[edge]:
            left[size] = edge
            size += 1
            least = min(least, support[edge])
    return size, least


@compiled
def peel_edges(starts, targets, edge_of, support, begins, pairs):
    """Remove edges by rising support; `support` becomes trussness - 2.

    The triangles of an edge are its `pairs`. Without `begins` they are searched among the
    neighbours that its ends still have.
    """
    n, m, listed = len(starts) - 1, len(support), len(begins) > 0
    ends = np.empty((0 if listed else m, 2), np.int32)
    others, edges, stops = targets[:0].copy(), edge_of[:0].copy(), starts[:0].copy()
    if not listed:
        others, edges, stops = targets.copy(), edge_of.copy(), starts[1:].copy()
        for row in range(n):
            for slot in range(starts[row], starts[row + 1]):
                ends[edge_of[slot], 0], ends[edge_of[slot], 1] = row, targets[slot]

    left, removed, queue = (
        np.arange(m).astype(np.int32),
        np.zeros(m, np.bool_),
        np.empty(m, np.int32),
    )
    while len(left) > 0:
        size, least = compact_remaining(support, left, removed)
        left = left[:size]
        for row in range(0 if listed else n):  # close the gaps of removed edges
            retained = starts[row]
            for place in range(starts[row], stops[row]):
                if not removed[edges[place]]:
                    others[retained], edges[retained] = others[place], edges[place]
                    retained += 1
            stops[row] = retained
        waiting = 0
        for edge in left:
            if support[edge] == least:
                queue[waiting] = edge
                waiting += 1
        if listed:
            remove_listed(support, removed, queue, waiting, least, begins, pairs)
        else:
            remove_searched(
                support, removed, queue, waiting, least, starts, stops, others, edges, ends
            )


@compiled
def remove_listed(support, removed, queue, waiting, least, begins, pairs):
    """Remove the edges in the queue, and all that then have no more than `least` triangles."""
    done = 0
    while done < waiting:
        edge = queue[done]
        done += 1
        removed[edge] = True
        for place in range(begins[edge], begins[edge + 1]):
            one, other = pairs[place, 0], pairs[place, 1]
            if removed[one] or removed[other]:
                continue
            if support[one] > least:
                support[one] -= 1
                if support[one] == least:
                    queue[waiting] = one
                    waiting += 1
            if support[other] > least:
                support[other] -= 1
                if support[other] == least:
                    queue[waiting] = other
                    waiting += 1


@compiled
def remove_searched(support, removed, queue, waiting, least, starts, stops, others, edges, ends):
    """As `remove_listed`, without a list of triangles."""
    done = 0
    while done < waiting:
        edge = queue[done]
        done += 1
        removed[edge] = True
        if support[edge] > 0:
            a, b = starts[ends[edge, 0]], starts[ends[edge, 1]]
            a_stop, b_stop = stops[ends[edge, 0]], stops[ends[edge, 1]]
            while a < a_stop and b < b_stop:
                one, other = others[a], others[b]
                if one == other and not removed[edges[a]] and not removed[edges[b]]:
                    for side in (edges[a], edges[b]):
                        if support[side] > least:
                            support[side] -= 1
                            if support[side] == least:
                                queue[waiting] = side
                                waiting += 1
                a += one <= other
                b += other <= one
