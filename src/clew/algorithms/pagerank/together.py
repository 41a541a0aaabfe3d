"""The iteration of a large walk, by two threads where there is a core for the second."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from clew.second_thread import begin, both

PAUSE = 0.0001  # seconds between two looks at a part that has stopped

Links = tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.floating]]


def iterate_together(
    bounds: NDArray[np.uint64],
    links: Links,
    shares: NDArray[np.floating],
    start: NDArray[np.floating],
    damping: float,
    products: int,
) -> NDArray[np.floating] | None:
    """Return what the kernel `semi_iterate` returns; None where one thread had better do it.

    Where the second thread has stopped, since another program has its core, this one does the rest
    alone, as soon as what the other was at is done.

    Args:
        bounds: where the parts start, of the kernel's `parts_of`.
        links: starts, targets and weights.
        shares: float32 [n], as the kernel takes them.
        start: float32 [n], likewise.
        damping: likewise.
        products: likewise.
    """
    from clew.algorithms.pagerank.kernels import shared_walks

    counts = shared_walks.new_counts(products)
    even, odd = start.copy(), np.zeros_like(start)
    arguments = (counts, bounds, links, shares, start, even, odd, damping, products)
    iterate = shared_walks.semi_iterate_together
    if not iterate.is_ready(0, 0, *arguments):
        return None
    begun = begin(lambda: iterate(1, 0, *arguments))
    if not begun.is_offered:
        return None
    before = time.thread_time()
    done = iterate(0, 0, *arguments)
    while done < products:
        counts[shared_walks.IS_LEFT] = 1
        while not shared_walks.is_done(counts, done):
            time.sleep(PAUSE)
        done = iterate(0, done, *arguments)
    begun.drop(time.thread_time() - before)  # each has about a half
    return odd if products % 2 else even


def residual_together(
    bounds: NDArray[np.uint64],
    links: Links,
    shares: NDArray[np.float64],
    start: NDArray[np.float64],
    x: NDArray[np.float64],
    damping: float,
) -> NDArray[np.float64]:
    """Return what the kernel `residual` returns, each half of the rows by a thread.

    Args:
        bounds: as in `iterate_together`.
        links: likewise.
        shares: float64 [n].
        start: float64 [n].
        x: float64 [n].
        damping: as the kernel takes it.
    """
    from clew.algorithms.pagerank.kernels.walks import residual_of_rows

    starts, sources, weights = links
    density, middle = x * shares, int(bounds[len(bounds) // 2])

    def of_rows(first: int, end: int) -> NDArray[np.float64]:
        some = slice(first, end)
        own = starts[first : end + 1]
        found: NDArray[np.float64] = residual_of_rows(
            own, sources, weights, density, start[some], x[some], damping
        )
        return found

    halves = both(lambda: of_rows(0, middle), lambda: of_rows(middle, len(x)))
    return np.concatenate(halves)
