"""Compiled loops of random walks: products with a walk's matrix, fused with the iteration's step.

Every kernel takes `starts` (uint64 [n + 1]), `targets` (uint32 [m]) and `weights` (float [m]).
Indices are unsigned, so that none is checked for being negative. `shares` are the reciprocals of
the strengths: a walk at u goes to v with probability weights[u, v] * shares[u]. The iterations work
on densities z = x * shares, for which the matrix needs no scaling.

`semi_iterate` and `residual` add the links of a row in four running sums. Half of all links are
those of hubs, whose sums would wait for one addition after the other, and be less exact.

The loops that a first question needs have a form of whole arrays, too: it adds in the order of the
loop, which `numpy.add.at` and `numpy.bincount` do and `numpy.sum` does not.
"""

from __future__ import annotations

import numpy as np

from clew.algorithms.kernels.compiled import compiled, tick

BLOCK = 2**20  # slots that a form of whole arrays goes over at once, of some 50 bytes each


def _blocks(starts):
    """Yield runs of rows, first and end, of about `BLOCK` slots each, and at least one row."""
    first, n = 0, len(starts) - 1
    while first < n:
        tick()
        end = np.searchsorted(starts, starts[first] + np.uint64(BLOCK), side="right") - 1
        end = min(max(int(end), first + 1), n)
        yield first, end
        first = end


def _sums_of_slots(starts):
    """Return the running sum that each slot is added to; row u has those from 4 * u on."""
    lengths = np.diff(starts).astype(np.int64)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    begins = (starts[:-1] - starts[0]).astype(np.int64)
    places = np.arange(len(rows)) - begins[rows]
    return 4 * rows + np.where(places < (lengths // 4 * 4)[rows], places % 4, 0)


def _total_at_once(sums):
    first, second, third, fourth = sums.reshape(-1, 4).T
    return (first + second) + (third + fourth)


def _permute_at_once(starts, targets, weights, order, places):
    lengths = np.diff(starts)[order]
    new_starts = np.zeros(len(starts), np.uint64)
    np.cumsum(lengths, out=new_starts[1:])
    shifts = (starts[:-1][order] - new_starts[:-1]).astype(np.int64)  # wrap around, and back
    new_targets, new_weights = np.empty(len(targets), np.uint32), np.empty_like(weights)
    for first, end in _blocks(new_starts):
        begin, last = int(new_starts[first]), int(new_starts[end])
        slots = np.repeat(shifts[first:end], lengths[first:end].astype(np.int64))
        slots += np.arange(begin, last)
        new_targets[begin:last] = places[targets[slots]]
        new_weights[begin:last] = weights[slots]
    return new_starts, new_targets, new_weights


def _semi_iterate_at_once(starts, targets, weights, shares, start, damping, products):
    z, before = start.copy(), np.zeros_like(start)
    follow, omega, square = z.dtype.type(damping), 1.0, damping * damping
    scale, kind = follow * shares, np.result_type(weights, z)  # as the loop adds them
    gathered = np.zeros(len(start), kind)
    blocks = list(_blocks(starts))
    places = None
    if len(blocks) == 1:  # what is the same for all products is made once where it is small
        places, targets = _sums_of_slots(starts), targets.astype(np.intp)
    for done in range(products):
        for first, end in blocks:
            tick()
            some = slice(int(starts[first]), int(starts[end]))
            into = _sums_of_slots(starts[first : end + 1]) if places is None else places
            sums = np.zeros(4 * (end - first), kind)
            np.add.at(sums, into, weights[some] * z[targets[some]])
            gathered[first:end] = _total_at_once(sums)
        before += z.dtype.type(omega) * (start + scale * gathered - before)
        z, before = before, z
        omega = 1 / (1 - square / 2) if done == 0 else 1 / (1 - square * omega / 4)
    return z


def _residual_of_rows_at_once(starts, sources, weights, density, start, x, damping):
    gathered = np.zeros_like(x)
    for first, end in _blocks(starts):
        some = slice(int(starts[first]), int(starts[end]))
        products = weights[some] * density[sources[some]]
        of_rows = _sums_of_slots(starts[first : end + 1])
        gathered[first:end] = _total_at_once(np.bincount(of_rows, products, 4 * (end - first)))
    return start + damping * gathered - x


def _residual_at_once(starts, sources, weights, shares, start, x, damping):
    return _residual_of_rows_at_once(starts, sources, weights, x * shares, start, x, damping)


@compiled(at_once=_permute_at_once)
def permute(starts, targets, weights, order, places):
    """Return the compressed rows in another order, their targets renumbered by `places`."""
    new_starts = np.zeros(len(starts), np.uint64)
    new_targets, new_weights = np.empty(len(targets), np.uint32), np.empty_like(weights)
    slot = 0
    for place in range(len(order)):
        row = order[place]
        for old in range(starts[row], starts[row + 1]):
            new_targets[slot], new_weights[slot] = places[targets[old]], weights[old]
            slot += 1
        new_starts[place + 1] = slot
    return new_starts, new_targets, new_weights


@compiled(at_once=_semi_iterate_at_once)
def semi_iterate(starts, targets, weights, shares, start, damping, products):
    """Return z after `products` steps of Chebyshev's semi-iteration.

    It solves z = start + damping * shares * A z, with A symmetric.

    All arrays are of one float type.
    """
    z, before = start.copy(), np.zeros_like(start)
    nothing, follow, omega = z.dtype.type(0), z.dtype.type(damping), 1.0
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    square = damping * damping
    for done in range(products):
        factor = z.dtype.type(omega)
        for u in range(len(shares)):
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
        z, before = before, z
        omega = 1 / (1 - square / 2) if done == 0 else 1 / (1 - square * omega / 4)
    return z


@compiled
def semi_iterate_many(starts, targets, weights, shares, start, damping, products):
    """Return what `semi_iterate` does for each column of start [n, k]."""
    z, before = start.copy(), np.zeros_like(start)
    gathered = np.zeros(start.shape[1], start.dtype)
    follow, omega, square = z.dtype.type(damping), 1.0, damping * damping
    for done in range(products):
        factor = z.dtype.type(omega)
        for u in range(len(shares)):
            gathered[:] = 0
            for slot in range(starts[u], starts[u + 1]):
                v, weight = targets[slot], weights[slot]
                for i in range(len(gathered)):
                    gathered[i] += weight * z[v, i]
            scale = follow * shares[u]
            for i in range(len(gathered)):
                before[u, i] += factor * (start[u, i] + scale * gathered[i] - before[u, i])
        z, before = before, z
        omega = 1 / (1 - square / 2) if done == 0 else 1 / (1 - square * omega / 4)
    return z


@compiled(at_once=_residual_of_rows_at_once)
def residual_of_rows(starts, sources, weights, density, start, x, damping):
    """Return what `residual` does of a run of rows; `density` is x * shares of all rows."""
    rest = np.empty_like(x)
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    for u in range(len(x)):
        a = b = c = d = 0.0
        slot, end = starts[u], starts[u + 1]
        while slot + four <= end:
            a += weights[slot] * density[sources[slot]]
            b += weights[slot + one] * density[sources[slot + one]]
            c += weights[slot + two] * density[sources[slot + two]]
            d += weights[slot + three] * density[sources[slot + three]]
            slot += four
        while slot < end:
            a += weights[slot] * density[sources[slot]]
            slot += one
        gathered = (a + b) + (c + d)
        rest[u] = start[u] + damping * gathered - x[u]
    return rest


@compiled(at_once=_residual_at_once)
def residual(starts, sources, weights, shares, start, x, damping):
    """Return start + damping * W^T x - x; the links are those INTO each row."""
    return residual_of_rows(starts, sources, weights, x * shares, start, x, damping)


@compiled
def residuals(starts, sources, weights, shares, start, x, damping):
    """Return what `residual` does for each column of x [n, k]."""
    rest = np.empty_like(x)
    gathered = np.zeros(x.shape[1])
    for u in range(len(x)):
        gathered[:] = 0
        for slot in range(starts[u], starts[u + 1]):
            v = sources[slot]
            scale = weights[slot] * shares[v]
            for i in range(len(gathered)):
                gathered[i] += scale * x[v, i]
        for i in range(len(gathered)):
            rest[u, i] = start[u, i] + damping * gathered[i] - x[u, i]
    return rest


@compiled
def gauss_seidel(starts, sources, weights, shares, start, x, damping, max_residual):
    """Solve x = start + damping * W^T x, W of any walk, by Gauss and Seidel.

    Return (x, sum of |change| in the last sweep, sweeps). `starts`, `sources` and `weights` are the
    links INTO each row. Every equation holds when its row is set. Only changes of later rows
    disturb it, by at most `damping` times as much. So the residual is at most damping * (sum of
    |change|). It ends when that is at most `max_residual` times the sum of x.
    """
    n = len(starts) - 1
    density = x * shares
    sweeps = 0
    while True:
        change, total = 0.0, 0.0
        for u in range(n):
            gathered = 0.0
            for slot in range(starts[u], starts[u + 1]):
                gathered += weights[slot] * density[sources[slot]]
            value = start[u] + damping * gathered
            change += abs(value - x[u])
            total += value
            x[u] = value
            density[u] = value * shares[u]
        sweeps += 1
        if damping * change <= max_residual * abs(total):
            return x, change, sweeps
