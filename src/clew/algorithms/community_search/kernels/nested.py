"""Compiled loops that put the trusses of a graph in order, and go from one to the next."""

from __future__ import annotations

import numpy as np

from clew.algorithms.community_search.arrays import NestedTrusses, PeelingState
from clew.algorithms.community_search.kernels.bit_rows import (
    ONE,
    bit_of,
    bit_rows,
    count_bits,
    empty_dense,
    fill_dense,
    lowest_bit,
    word_of,
)
from clew.algorithms.kernels.compiled import compiled


@compiled
def nest_trusses(starts, targets, values, triangles, first, with_slots):
    """Return the trusses of k >= `first` of links as `NestedTrusses`.

    `values` is the trussness of each slot, and `triangles` how many its edge is in. The targets of
    each row ascend.
    """
    n, kept, size, largest = len(starts) - 1, 0, 0, first
    place, rows = np.full(n, -1, np.int32), np.empty(n, np.int32)
    for row in range(n):
        own = 0
        for slot in range(starts[row], starts[row + 1]):
            if values[slot] >= first:
                own += 1
                largest = max(largest, values[slot])
        if own > 0:
            place[row], rows[size] = size, row
            size += 1
            kept += own
    rows = rows[:size].copy()
    new_starts, new_targets, new_triangles, new_slots = (
        np.zeros(size + 1, np.int64),
        np.empty(kept, np.int32),
        np.empty(kept, np.int32),
        np.empty(kept if with_slots else 0, np.int64),
    )
    begins = np.zeros(largest - first + 2, np.int64)  # where the edges of each trussness begin
    kept = 0
    for i in range(size):
        for slot in range(starts[rows[i]], starts[rows[i] + 1]):
            if values[slot] >= first:
                new_targets[kept], new_triangles[kept] = place[targets[slot]], triangles[slot]
                if with_slots:
                    new_slots[kept] = slot
                if i < new_targets[kept]:
                    begins[values[slot] - first + 1] += 1
                kept += 1
        new_starts[i + 1] = kept
    for step in range(largest - first + 1):
        begins[step + 1] += begins[step]
    tails, heads, edge_slots, edge_values = (
        np.empty(kept // 2, np.int32),
        np.empty(kept // 2, np.int32),
        np.empty(kept // 2, np.int32),
        np.empty(kept // 2, np.int32),
    )
    # Rows come ascending, so the reverse of a slot is the next slot of the row it leads to.
    lower, back, new = np.empty(kept, np.int32), new_starts[:-1].copy(), 0
    for i in range(size):
        for slot in range(starts[rows[i]], starts[rows[i] + 1]):
            if values[slot] < first:
                continue
            other = new_targets[new]
            if i < other:
                edge = begins[values[slot] - first]
                begins[values[slot] - first] += 1
                tails[edge], heads[edge], edge_values[edge] = i, other, values[slot]
                edge_slots[edge] = lower[new] = new
                lower[back[other]] = new
                back[other] += 1
            new += 1
    word_starts, word_numbers, word_slots, words = bit_rows(new_starts, new_targets)
    word_middles = np.empty(size, np.int64)
    for i in range(size):
        word_middles[i] = word_of(word_starts, word_numbers, i, i >> 6)
    return NestedTrusses(
        rows,
        new_starts,
        new_triangles,
        lower,
        new_slots,
        tails,
        heads,
        edge_slots,
        edge_values,
        word_starts,
        word_middles,
        word_numbers,
        word_slots,
        words,
    )


@compiled
def begin_peeling(trusses, relevance):
    """Return the `PeelingState` before the first truss; `relevance` is float64, of every row."""
    n, m = len(trusses.rows), len(trusses.lower)
    own, turn = np.empty(n, np.float64), np.empty(n, np.int32)
    for node in range(n):
        own[node] = relevance[trusses.rows[node]]
    order = np.argsort(own, kind="mergesort").astype(np.int32)
    for place in range(n):
        turn[order[place]] = place
    sizes = np.zeros(3, np.int64)
    sizes[0] = n
    return PeelingState(
        own,
        turn,
        order,
        sizes,
        trusses.words.copy(),
        trusses.triangles.copy(),
        np.zeros(n, np.int32),
        np.zeros((n >> 6) + 1, np.uint64),
        np.zeros(m, np.int32),
        np.full(n, -1, np.int32),
        np.zeros(m, np.int32),
        np.zeros(m, np.int32),
        np.full(n, -1, np.int32),
    )


@compiled
def descend(trusses, state, k):
    """Bring the state to the k-truss, in which no node is peeled off yet; return its size."""
    word_starts, words, triangles = trusses.word_starts, state.words, state.triangles
    state.sizes[2] = 0
    begin, end = state.sizes[1], state.sizes[1]
    while end < len(trusses.values) and trusses.values[end] < k:
        end += 1
    state.sizes[1] = end
    remove_edges(trusses, words, triangles, begin, end)
    state.alive[:] = 0
    size = 0
    for position in range(state.sizes[0]):
        node = state.order[position]
        remains = False
        for place in range(word_starts[node], word_starts[node + 1]):
            if words[place] != 0:
                remains = True
                break
        state.part[node] = -1
        if not remains:
            continue
        state.order[size] = node
        size += 1
        state.alive[node >> 6] |= bit_of(node)
        state.critical[node], state.watching[node] = -1, -1
        state.left[trusses.starts[node] : trusses.starts[node + 1]] = triangles[
            trusses.starts[node] : trusses.starts[node + 1]
        ]
    state.sizes[0] = size
    return size


@compiled
def remove_edges(trusses, words, triangles, begin, end):
    """Remove edges from rows of bits; the two others of each of their triangles lose one."""
    word_starts, numbers, slots = trusses.word_starts, trusses.word_numbers, trusses.word_slots
    whole, lower = trusses.words, trusses.lower
    dense, place_of = (
        np.zeros((len(trusses.rows) >> 6) + 1, np.uint64),
        np.zeros((len(trusses.rows) >> 6) + 1, np.int64),
    )
    filled = -1
    for edge in range(begin, end):
        tail, head = trusses.tails[edge], trusses.heads[edge]
        if tail != filled:
            if filled >= 0:
                empty_dense(word_starts, numbers, filled, dense)
            fill_dense(word_starts, numbers, words, tail, dense)
            for place in range(word_starts[tail], word_starts[tail + 1]):
                place_of[numbers[place]] = place
            filled = tail
        for place in range(word_starts[head], word_starts[head + 1]):
            common = words[place] & dense[numbers[place]]
            other_place = place_of[numbers[place]]
            while common != 0:
                below = (common & (~common + ONE)) - ONE
                common &= common - ONE
                one = slots[place] + count_bits(whole[place] & below)
                other = slots[other_place] + count_bits(whole[other_place] & below)
                triangles[lower[one]] -= 1
                triangles[lower[other]] -= 1
        words[word_of(word_starts, numbers, tail, head >> 6)] &= ~bit_of(head)
        words[word_of(word_starts, numbers, head, tail >> 6)] &= ~bit_of(tail)
        dense[head >> 6] &= ~bit_of(head)


@compiled
def number_parts(trusses, state):
    """Number the connected components of a truss, by their first nodes; return how many."""
    word_starts, numbers, words = trusses.word_starts, trusses.word_numbers, state.words
    part = state.part
    seen, queue, parts = np.zeros(len(state.alive), np.uint64), np.empty(len(part), np.int32), 0
    for first in range(len(part)):
        if part[first] >= 0 or state.alive[first >> 6] & bit_of(first) == 0:
            continue
        part[first], queue[0], done, size = parts, first, 0, 1
        seen[first >> 6] |= bit_of(first)
        while done < size:
            node = queue[done]
            done += 1
            for place in range(word_starts[node], word_starts[node + 1]):
                number = numbers[place]
                new = words[place] & ~seen[number]
                seen[number] |= new
                while new != 0:
                    other = (number << 6) + lowest_bit(new)
                    new &= new - ONE
                    part[other], queue[size] = parts, other
                    size += 1
        parts += 1
    return parts
