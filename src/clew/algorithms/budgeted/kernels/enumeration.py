"""A compiled depth-first search through the connected choices that can still be better."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled

OPEN, IN, OUT = 0, 1, 2


@compiled
def searched(
    starts,
    targets,
    roots,
    upper,
    required,
    prizes,
    tokens,
    left,
    order,
    budget,
    bound,
    wanted,
    margin,
    effort,
):
    """Return (which rows the best choice worth `wanted` has, whether there is one, whether none better is left, the effort).

    A choice grows from Q by one neighbour at a time, taken or left out, so that it is connected at every step. A branch ends where the
    knapsack over the rows that it can still reach, or the `bound` less the reduced prizes `left` of what it did against them, stays below
    what is wanted: `margin` more than the best so far. `order` holds the rows with an `upper` above 0, by prize per token; a look at a
    row or an edge is one effort.
    """
    n, deep = (
        len(starts) - 1,
        (upper > 0).sum() - required.sum() + 2,
    )  # each branching row lies on the stack once
    states, spent, values, losses = (
        np.zeros((deep, n), np.int8),
        np.zeros(deep),
        np.zeros(deep),
        np.zeros(deep),
    )
    best, found, top, done = np.zeros(n, np.bool_), False, 1, 0
    states[0, upper <= 0] = OUT
    reached, beside, queue = np.zeros(n, np.bool_), np.zeros(n, np.bool_), np.empty(n, np.int64)
    while top:
        if done > effort:
            return best, found, False, done
        top -= 1
        state, used, value, loss = states[top], spent[top], values[top], losses[top]
        reached[:], beside[:], size = False, False, 0
        for row in roots:
            if state[row] != OUT and not reached[row]:
                reached[row] = beside[row] = True
                queue[size] = row
                size += 1
        at = 0
        while at < size:
            row = queue[at]
            at += 1
            done += starts[row + 1] - starts[row]
            for other in targets[starts[row] : starts[row + 1]]:
                if state[row] == IN:
                    beside[other] = True
                if not reached[other] and state[other] != OUT:
                    reached[other] = True
                    queue[size] = other
                    size += 1
        done += 2 * len(order)
        room, most, lost, possible, complete = budget - used, value, loss, True, True
        for row in order:
            if state[row] != OPEN:
                continue
            complete = complete and not required[row]
            if not reached[row]:
                lost += max(left[row], 0.0)
                possible = possible and not required[row]
            elif tokens[row] <= room:
                room -= tokens[row]
                most += prizes[row]
            elif room > 0:
                most += prizes[row] * room / tokens[row]
                room = 0.0
        if not possible or most < wanted or bound - lost < wanted:
            continue
        if complete and value >= wanted:
            best[:] = state == IN
            found, wanted = True, value + margin
        pick, weight = -1, -1.0
        for row in order:
            if beside[row] and state[row] == OPEN:
                if required[row]:
                    pick = row
                    break
                if abs(left[row]) + 1e-9 * prizes[row] > weight:  # what decides most comes first
                    pick, weight = row, abs(left[row]) + 1e-9 * prizes[row]
        if pick < 0:
            continue
        if not required[
            pick
        ]:  # `state` is this place of the stack: what lies in it is left out, what goes on top of it is taken
            if used + tokens[pick] <= budget:
                states[top + 1] = state
                states[top + 1, pick] = IN
                spent[top + 1], values[top + 1] = used + tokens[pick], value + prizes[pick]
                losses[top + 1] = loss + max(-left[pick], 0.0)
                state[pick], losses[top] = OUT, loss + max(left[pick], 0.0)
                top += 2
            else:
                state[pick], losses[top] = OUT, loss + max(left[pick], 0.0)
                top += 1
        elif used + tokens[pick] <= budget:
            state[pick] = IN
            spent[top], values[top] = (
                used + tokens[pick],
                value + prizes[pick],
            )  # the bound counts already what is required
            top += 1
    return best, found, True, done
