"""A compiled depth-first search through the connected choices that can still be better."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled

OPEN, IN, OUT = 0, 1, 2


@compiled(lists=(np.bool_, None, None, None))
def search_choices(enumeration, min_value):
    """Return (mask of the best choice, whether there is one, whether none better is left, effort).

    `enumeration` is an `Enumeration` of `clew.algorithms.budgeted.enumeration`. A choice grows from
    Q by one neighbour at a time, which is taken or left out, so it is connected at every step. A
    branch ends if one of two bounds is below the value that is looked for: the knapsack over the
    rows that it can still reach, or the programme's bound less the reduced prizes of what it did
    against them. The value looked for is first `min_value`, then `margin` more than the best so
    far. A look at a row or an edge is one effort.
    """
    problem, upper, required, reduced, order, budget, bound, margin, effort = enumeration
    starts, targets, tokens, prizes, roots = problem
    n = len(starts) - 1
    depth = 2  # each branching row is on the stack once
    for row in range(n):
        depth += upper[row] > 0 and not required[row]
    states, spent = np.zeros((depth, n), np.int64), np.zeros(depth)
    values, losses = np.zeros(depth), np.zeros(depth)
    best, is_found, top, done = np.zeros(n, np.bool_), False, 1, 0
    for row in range(n):
        if upper[row] <= 0:
            states[0][row] = OUT
    reached, adjacent, queue = np.zeros(n, np.bool_), np.zeros(n, np.bool_), np.empty(n, np.int64)
    nothing = np.zeros(n, np.bool_)
    while top:
        if done > effort:
            return best, is_found, False, done
        top -= 1
        state, used, value, loss = states[top], spent[top], values[top], losses[top]
        reached[:] = nothing
        adjacent[:] = nothing
        size = 0
        for row in roots:
            if state[row] != OUT and not reached[row]:
                reached[row] = adjacent[row] = True
                queue[size] = row
                size += 1
        at = 0
        while at < size:
            row = queue[at]
            at += 1
            done += starts[row + 1] - starts[row]
            is_in = state[row] == IN
            for other in targets[starts[row] : starts[row + 1]]:
                if is_in:
                    adjacent[other] = True
                if not reached[other] and state[other] != OUT:
                    reached[other] = True
                    queue[size] = other
                    size += 1
        done += 2 * len(order)
        room, highest, lost, possible, complete = budget - used, value, loss, True, True
        for row in order:
            if state[row] != OPEN:
                continue
            complete = complete and not required[row]
            if not reached[row]:
                lost += max(reduced[row], 0.0)
                possible = possible and not required[row]
            elif tokens[row] <= room:
                room -= tokens[row]
                highest += prizes[row]
            elif room > 0:
                highest += prizes[row] * room / tokens[row]
                room = 0.0
        if not possible or highest < min_value or bound - lost < min_value:
            continue
        if complete and value >= min_value:
            for row in range(n):
                best[row] = state[row] == IN
            is_found, min_value = True, value + margin
        pick, pick_weight = -1, -1.0
        for row in order:
            if adjacent[row] and state[row] == OPEN:
                if required[row]:
                    pick = row
                    break
                weight = abs(reduced[row]) + 1e-9 * prizes[row]
                if weight > pick_weight:  # the row that decides most comes first
                    pick, pick_weight = row, weight
        if pick < 0:
            continue
        fits = used + tokens[pick] <= budget
        if required[pick]:
            if fits:  # the bound counts what is required already
                state[pick] = IN
                spent[top], values[top] = used + tokens[pick], value + prizes[pick]
                top += 1
            continue
        if (
            fits
        ):  # `state` is the stack's entry `top`: there the row is out, in the next entry it is in
            states[top + 1][:] = state
            states[top + 1][pick] = IN
            spent[top + 1], values[top + 1] = used + tokens[pick], value + prizes[pick]
            losses[top + 1] = loss + max(-reduced[pick], 0.0)
        state[pick], losses[top] = OUT, loss + max(reduced[pick], 0.0)
        top += 2 if fits else 1
    return best, is_found, True, done
