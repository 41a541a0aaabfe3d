"""Compiled loop of a forward push: personalised PageRank near its seeds, until the best rows are proven; arrays as in `kernels.walks`."""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled
from clew.algorithms.kernels.heap import lift, pop
from clew.algorithms.ranking import TOLERANCE


@compiled
def pushed(
    starts,
    targets,
    weights,
    shares,
    tops,
    damping,
    symmetric,
    seeds,
    masses,
    k,
    most,
    margin,
    accuracy,
    estimates,
    residuals,
    queue,
    marks,
):
    """Return (rows touched, work, proven) of a forward push that ends when the k best rows are proven, or after work on `most` links.

    Invariant: x = estimates + X(residuals), where X(r) solves x = (1 - damping) r + damping * W^T x. So x_u lies between
    l_u = estimate_u + (1 - damping) residual_u and l_u + damping * min(R, M / shares_u), where R is the sum of the residuals and M the
    greatest of residual * share; the second bound needs a symmetric adjacency, by which X_uv / shares_v is symmetric too. The k rows of
    greatest l are the best k if the least of them is above all other rows' upper bounds by `margin` and the tolerance of equal scores.
    `tops[i]` is the greatest strength of the rows from i on, and bounds the rows that no mass has reached. The bounds of the best must
    also be at most `accuracy` apart.

    `estimates`, `residuals` (float64 [n]) and `marks` (bool [n]) come as zeros; `queue` is uint32 [2, n]: the queue, and what is touched.
    """
    n = len(starts) - 1
    waiting, touched = queue[0], queue[1]
    reached, work = 0, 0
    limit = 0.0
    for i in range(len(seeds)):
        u = seeds[i]
        touched[reached] = u
        reached += 1
        residuals[u] = masses[i]
        limit = max(limit, masses[i] * shares[u])
        if starts[u] == starts[u + 1]:
            estimates[u], residuals[u] = (
                (1 - damping) * masses[i],
                0.0,
            )  # nothing of it goes anywhere
    least = limit * 2.0**-60  # what is below this is rounding
    free = 0  # the first row that may be untouched
    while True:
        limit /= 4
        head, size = 0, 0
        for i in range(reached):
            u = touched[i]
            if residuals[u] * shares[u] > limit:
                waiting[size] = u
                marks[u] = True
                size += 1
        while size > 0 and work < most:
            u = waiting[head]
            head = head + 1 if head + 1 < n else 0
            size -= 1
            marks[u] = False
            mass = residuals[u]
            residuals[u] = 0.0
            estimates[u] += (1 - damping) * mass
            mass *= damping * shares[u]
            work += starts[u + 1] - starts[u]
            for slot in range(starts[u], starts[u + 1]):
                v, gain = targets[slot], weights[slot] * mass
                if gain == 0.0:
                    continue
                if residuals[v] == 0.0 and estimates[v] == 0.0:
                    touched[reached] = v
                    reached += 1
                residuals[v] += gain
                if not marks[v] and residuals[v] * shares[v] > limit:
                    marks[v] = True
                    end = head + size
                    waiting[end if end < n else end - n] = v
                    size += 1
        for i in range(size):  # the work allowed is done
            at = head + i
            marks[waiting[at if at < n else at - n]] = False
        while free < n and (residuals[free] > 0.0 or estimates[free] > 0.0):
            free += 1
        beyond = tops[free] if free < n else -1.0
        if proven(
            shares,
            beyond,
            damping,
            symmetric,
            k,
            margin,
            accuracy,
            estimates,
            residuals,
            touched[:reached],
        ):
            return reached, work, True
        if work >= most or limit <= least:
            return reached, work, False


@compiled
def proven(shares, beyond, damping, symmetric, k, margin, accuracy, estimates, residuals, touched):
    """Say whether the k touched rows of greatest lower bound are the best, and known to `accuracy`; see `pushed`.

    `beyond` is the greatest strength of the rows that are not touched, or -1 if there are none.
    """
    whole, most = 0.0, 0.0
    keys, rows, size = np.empty(k + 1), np.empty(k + 1, np.uint32), 0
    for u in touched:
        whole += residuals[u]
        most = max(most, residuals[u] * shares[u])
        low = estimates[u] + (1 - damping) * residuals[u]
        if size == k:
            if low <= keys[0]:
                continue
            _, _, size = pop(keys, rows, size)
        lift(keys, rows, size, low, u)
        size += 1
    if size < k:
        return False
    bar, above, highest = keys[0], 0, 0.0
    for i in range(k):
        highest = max(highest, keys[i])
    margin += TOLERANCE * (highest + damping * whole)
    rest = whole if beyond >= 0 else -1.0
    if symmetric and beyond >= 0:
        rest = min(whole, most * beyond)
    if rest >= 0 and damping * rest + margin >= bar:
        return False
    for u in touched:
        low = estimates[u] + (1 - damping) * residuals[u]
        more = damping * (min(whole, most / shares[u]) if symmetric else whole)
        above += low >= bar
        if above > k or (more > accuracy if low >= bar else low + more + margin >= bar):
            return False
    return True
