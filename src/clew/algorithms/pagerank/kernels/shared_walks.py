"""Chebyshev's semi-iteration by two threads, whose result is that of one to the bit.

Both call the same loop with the same arrays. A product is made of parts, runs of rows of about as
many links each. One thread takes them from the first on, the other from the last on, so that each
finds in its processor's cache what it had at the product before. Who takes a part has
counted it first, so that no part is taken twice. A product starts when all parts of the one before
are done. A thread that comes late, or never, is no matter: the other takes what is left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.kernels.atomics import add, read
from clew.algorithms.kernels.compiled import compiled

PARTS = 16  # of a product: the last one is all that a thread may have to wait for
LINE = 8  # numbers of a line of the processor's cache, which two threads had better not share
IS_LEFT = 0  # the place of the number that says that one thread is alone
MAX_LOOKS = 200_000  # at a part that is under way, before it is taken for stopped: some 0.5 ms


def new_counts(products: int) -> NDArray[np.int64]:
    """Return the counts of parts that are taken and done at each product, all zeros: int64."""
    return np.zeros(LINE * (2 * products + 1), np.int64)


def is_done(counts: NDArray[np.int64], product: int) -> bool:
    """Return whether all parts of a product are done."""
    return bool(counts[LINE * (2 * product + 2)] >= PARTS)


def parts_of(starts: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return where the parts start, and where the last ends: uint64 [PARTS + 1].

    Args:
        starts: uint64 [n + 1], where the links of each row start.
    """
    wanted = np.linspace(0, float(starts[-1]), PARTS + 1).astype(np.uint64)
    bounds = np.searchsorted(starts, wanted).astype(np.uint64)
    bounds[0], bounds[-1] = 0, len(starts) - 1
    ascending: NDArray[np.uint64] = np.maximum.accumulate(bounds)
    return ascending


@compiled
def semi_iterate_together(
    side, first, counts, bounds, links, shares, start, even, odd, damping, products
):
    """Do products of `semi_iterate`, and return how many are done.

    These are fewer than `products` where the other thread has stopped at a part, and on the side 1
    also where the other thread wants to be alone.

    Args:
        side: 0 takes parts from the first on, 1 from the last on.
        first: the product to begin with.
        counts: of `new_counts`, shared by both.
        bounds: of `parts_of`.
        links: the starts, targets and weights of `semi_iterate`.
        shares: as in `semi_iterate`.
        start: as in `semi_iterate`.
        even: [n], a copy of `start` before the first product. Products with an odd number are
            written there.
        odd: [n], zeros before the first product. Products with an even number are written there.
        damping: as in `semi_iterate`.
        products: their number.
    """
    starts, targets, weights = links
    nothing, follow, omega = start.dtype.type(0), start.dtype.type(damping), 1.0
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    square = damping * damping
    for done in range(products):
        factor = start.dtype.type(omega)
        omega = 1 / (1 - square / 2) if done == 0 else 1 / (1 - square * omega / 4)
        z, before = (even, odd) if done % 2 == 0 else (odd, even)
        if done < first:
            continue
        taken, finished, own = LINE * (2 * done + 1), LINE * (2 * done + 2), 0
        while side == 0 or read(counts, IS_LEFT) == 0:
            if add(counts, taken, 1) >= PARTS:
                break
            part = own if side == 0 else PARTS - 1 - own
            own += 1
            for u in range(bounds[part], bounds[part + 1]):
                a = b = c = d = nothing
                slot, end = starts[u], starts[u + 1]
                while slot + four <= end:
                    a += weights[slot] * z[targets[slot]]
                    b += weights[slot + one] * z[targets[slot + one]]
                    c += weights[slot + two] * z[targets[slot + two]]
                    d += weights[slot + three] * z[targets[slot + three]]
                    slot += four
                while slot < end:
                    a += weights[slot] * z[targets[slot]]
                    slot += one
                gathered = (a + b) + (c + d)
                before[u] += factor * (start[u] + follow * shares[u] * gathered - before[u])
            add(counts, finished, 1)
        looks = 0
        while read(counts, finished) < PARTS:
            looks += 1
            if looks > MAX_LOOKS or (side == 1 and read(counts, IS_LEFT) != 0):
                return done
    return products
