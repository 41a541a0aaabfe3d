"""Compiled loop of a finite automaton: what it says of the bytes of texts."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled


def _found_at_once(blocks, moves, outputs, letters, starts):
    block_of, move, output_of = memoryview(blocks), memoryview(moves), memoryview(outputs)
    every, counts = np.zeros(len(letters), np.int32), np.zeros(len(starts) - 1, np.int64)
    for text in range(len(counts)):
        state, found = 0, []
        for letter in letters[starts[text] : starts[text + 1]].tobytes():
            state = move[(block_of[state] << 8) + letter]
            if output_of[state] >= 0:
                found.append(output_of[state])
        every[starts[text] : starts[text] + len(found)] = found
        counts[text] = len(found)
    return every, counts


@compiled(at_once=_found_at_once)
def found_by_automaton(blocks, moves, outputs, letters, starts):
    """Return what an automaton puts out on its way through each of some texts, from state 0.

    It goes through all texts at once, byte by byte. The table of the moves is far larger than what
    a processor keeps beside it, and it waits for several moves as long as for one.

    Args:
        blocks: uint16 [states], the number of the block of 256 moves that each state has.
        moves: uint32 [256 * blocks], the next state by block and byte.
        outputs: int32 [states], what each state puts out; negative for nothing.
        letters: uint8 [n], the bytes of the texts, one after the other.
        starts: int64 [texts + 1], where each text starts, and where the last one ends.

    Returns:
        int32 [n], what is put out for each text, from where its bytes start; and int64 [texts], how
        much that is.
    """
    n = len(starts) - 1
    found, counts = np.zeros(len(letters), np.int32), np.zeros(n, np.int64)
    states, longest = np.zeros(n, np.int64), 0
    for text in range(n):
        longest = max(longest, starts[text + 1] - starts[text])
    for at in range(longest):
        for text in range(n):
            place = starts[text] + at
            if place < starts[text + 1]:
                block = np.int64(blocks[states[text]])
                state = np.int64(moves[block * 256 + np.int64(letters[place])])
                states[text] = state
                if outputs[state] >= 0:
                    found[starts[text] + counts[text]] = outputs[state]
                    counts[text] += 1
    return found, counts
