"""Compiled containers for searches: a binary heap, an array that grows, and union-find.

A heap is two parallel arrays, `keys` and `rows`, of which the first `size` places are used. The
entry with the lowest key comes first; of equal keys, the one with the lower row.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled


@compiled
def sift_up(keys, rows, place, key, row):
    """Put (key, row) into a heap at `place`, its first free place, and restore the order."""
    while place > 0:
        parent = (place - 1) >> 1
        if keys[parent] < key or (keys[parent] == key and rows[parent] <= row):
            break
        keys[place], rows[place] = keys[parent], rows[parent]
        place = parent
    keys[place], rows[place] = key, row


@compiled
def push(keys, rows, size, key, row):
    """Add (key, row) to a heap. Return its arrays, which grow as needed, and its new size."""
    if size == len(keys):
        keys = np.concatenate((keys, np.empty(size, keys.dtype)))
        rows = np.concatenate((rows, np.empty(size, rows.dtype)))
    sift_up(keys, rows, size, key, row)
    return keys, rows, size + 1


@compiled
def pop(keys, rows, size):
    """Remove the lowest (key, row) of a heap. Return its key, its row and the new size."""
    key, row = keys[0], rows[0]
    size -= 1
    last_key, last_row = keys[size], rows[size]
    parent = 0
    while True:
        child = 2 * parent + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (
            keys[right] < keys[child] or (keys[right] == keys[child] and rows[right] < rows[child])
        ):
            child = right
        if last_key < keys[child] or (last_key == keys[child] and last_row <= rows[child]):
            break
        keys[parent], rows[parent] = keys[child], rows[child]
        parent = child
    if size > 0:
        keys[parent], rows[parent] = last_key, last_row
    return key, row, size


@compiled
def append(values, size, value):
    """Append a value to an array that grows as needed. Return the array and its new size."""
    if size == len(values):
        values = np.concatenate((values, np.empty(size + 16, values.dtype)))
    values[size] = value
    return values, size + 1


@compiled
def find_root(parents, x):
    """Return the representative of x in a union-find forest, and halve the path to it."""
    while parents[x] != x:
        parents[x] = parents[parents[x]]
        x = parents[x]
    return x
