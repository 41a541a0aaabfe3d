"""Compiled loop of a finite automaton: what it says of the bytes of a text."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled


def _found_at_once(blocks, moves, outputs, letters):
    block_of, move, output_of = memoryview(blocks), memoryview(moves), memoryview(outputs)
    state, found = 0, []
    for letter in letters.tobytes():
        state = move[(block_of[state] << 8) + letter]
        if output_of[state] >= 0:
            found.append(output_of[state])
    return np.array(found, np.int32)


@compiled(at_once=_found_at_once)
def found_by_automaton(blocks, moves, outputs, letters):
    """Return what an automaton puts out on its way through a text, from state 0: int32 [k].

    Args:
        blocks: uint16 [states], the number of the block of 256 moves that each state has.
        moves: uint32 [256 * blocks], the next state by block and byte.
        outputs: int32 [states], what each state puts out; negative for nothing.
        letters: uint8 [n], the bytes of the text.
    """
    found = np.empty(len(letters), np.int32)
    n, state = 0, np.int64(0)
    for at in range(len(letters)):
        state = np.int64(moves[np.int64(blocks[state]) * 256 + np.int64(letters[at])])
        if outputs[state] >= 0:
            found[n] = outputs[state]
            n += 1
    return found[:n]
