"""Compiled rows of bits: which nodes are neighbours of a node, 64 to a word, without empty words.

Nodes that are neighbours of one node are often near to each other in number, so a row has few
words. Bit b of a word of number w is the node 64 w + b. A `dense` set of nodes has a word for every
number.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled

ONE = np.uint64(1)
PAIRS, FOURS, BYTES = (
    np.uint64(0x5555555555555555),
    np.uint64(0x3333333333333333),
    np.uint64(0x0F0F0F0F0F0F0F0F),
)
TWO, FOUR, EACH_BYTE, LAST_BYTE = (
    np.uint64(2),
    np.uint64(4),
    np.uint64(0x0101010101010101),
    np.uint64(56),
)


def count_at_once(word):
    """Return how many bits of a word are set."""
    return int(np.bitwise_count(word))


@compiled(at_once=count_at_once)
def count_bits(word):
    """Return how many bits of a word are set; compilers know this sum as one instruction."""
    word = word - ((word >> ONE) & PAIRS)
    word = (word & FOURS) + ((word >> TWO) & FOURS)
    return np.int64((((word + (word >> FOUR)) & BYTES) * EACH_BYTE) >> LAST_BYTE)


@compiled
def lowest_bit(word):
    """Return the number of the lowest bit that is set of a word that is not 0."""
    return count_bits((word & (~word + ONE)) - ONE)


@compiled
def bit_of(node):
    """Return the word that has the bit of a node alone."""
    return ONE << np.uint64(node & 63)


@compiled
def has_bit(dense, node):
    """Return whether a node is in a dense set."""
    return dense[node >> 6] & bit_of(node) != 0


@compiled
def bit_rows(starts, targets):
    """Return the words of rows of ascending targets.

    The result is (where those of each row begin, their numbers, the slots of their lowest bits,
    words).
    """
    n, size = len(starts) - 1, 0
    word_starts = np.zeros(n + 1, np.int64)
    for row in range(n):
        last = -1
        for slot in range(starts[row], starts[row + 1]):
            number = targets[slot] >> 6
            if number != last:
                size += 1
                last = number
        word_starts[row + 1] = size
    numbers, slots, words = (
        np.zeros(size, np.int32),
        np.zeros(size, np.int32),
        np.zeros(size, np.uint64),
    )
    size = 0
    for row in range(n):
        last = -1
        for slot in range(starts[row], starts[row + 1]):
            number = targets[slot] >> 6
            if number != last:
                numbers[size], slots[size] = number, slot
                size += 1
                last = number
            words[size - 1] |= bit_of(targets[slot])
    return word_starts, numbers, slots, words


@compiled
def word_of(word_starts, word_numbers, row, number):
    """Return the place of the first word of a row whose number is at least this one."""
    low, high = word_starts[row], word_starts[row + 1]
    while low < high:
        middle = (low + high) >> 1
        if word_numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def fill_dense(word_starts, word_numbers, words, row, dense):
    """Let `dense`, which is empty, have the nodes of a row."""
    for place in range(word_starts[row], word_starts[row + 1]):
        dense[word_numbers[place]] = words[place]


@compiled
def empty_dense(word_starts, word_numbers, row, dense):
    """Take the nodes of a row out of `dense`."""
    for place in range(word_starts[row], word_starts[row + 1]):
        dense[word_numbers[place]] = 0
