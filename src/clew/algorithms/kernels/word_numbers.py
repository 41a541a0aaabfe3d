"""Compiled numbering of words: a hash table over the codes of their signs.

A table in Python has an object for each word and for its number, somewhere in memory. Where the
words of a text are looked up in a table of thousands, fetching these takes longer than all else.
Here the words stand one behind the other in one array.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled

OFFSET, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # Fowler, Noll and Vo
HALF = np.uint64(32)


@compiled
def first_place(signs, start, end, n_slots):
    """Return the slot at which the search for a word begins, by all its signs.

    Args:
        signs: uint32, the codes of signs.
        start: where the word starts.
        end: where it ends.
        n_slots: of the table, a power of 2.
    """
    key = OFFSET
    for at in range(start, end):
        key = (key ^ np.uint64(signs[at])) * PRIME
    return np.int64(key ^ (key >> HALF)) & (n_slots - 1)


@compiled
def put_words(slots, first, end, starts, letters):
    """Put words that are not there yet into the table.

    Args:
        slots: int32, the number of the word in each slot, -1 in a free one; at most half of them
            are taken. It is changed.
        first: the number of the first word.
        end: the number behind the last one.
        starts: int64 [end + 1 or more], where each word starts among the letters.
        letters: uint32, the codes of the signs of all words.
    """
    for word in range(first, end):
        place = first_place(letters, starts[word], starts[word + 1], len(slots))
        while slots[place] >= 0:
            place = (place + 1) & (len(slots) - 1)
        slots[place] = word


@compiled
def find_words(signs, begins, ends, slots, starts, letters):
    """Return the number of each word of some texts, -1 where it has none: int64 [n].

    Args:
        signs: uint32, the codes of the signs of the texts.
        begins: int64 [n], where each word begins among these.
        ends: int64 [n], where it ends.
        slots: as in `put_words`.
        starts: as in `put_words`.
        letters: as in `put_words`.
    """
    numbers = np.full(len(begins), -1, np.int64)
    for i in range(len(begins)):
        begin, size = begins[i], ends[i] - begins[i]
        place = first_place(signs, begin, ends[i], len(slots))
        while slots[place] >= 0:
            word = slots[place]
            if starts[word + 1] - starts[word] == size:
                same = 0
                while same < size and letters[starts[word] + same] == signs[begin + same]:
                    same += 1
                if same == size:
                    numbers[i] = word
                    break
            place = (place + 1) & (len(slots) - 1)
    return numbers
