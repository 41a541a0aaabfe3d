"""Compiled sums of bags, and of sparse rows, for several vectors in one pass over the entries.

A vector that is compared with all bags reads every entry, and the product of its column. With the
products of `LANES` vectors side by side, one instruction of the processor multiplies and one adds
those of all, and an entry is read once. What each lane adds, and in which order, is what
`clew.algorithms.kernels.bags.bag_sums` adds for its vector: the sums are the same to the bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clew.algorithms.kernels.bags import bag_sums, row_products
from clew.algorithms.kernels.compiled import Kernel, compiled
from clew.graph.vector_column import AT_ONCE

LANES = AT_ONCE  # as many numbers as the longest registers hold, and a line of the cache


def _add_entries(columns, counts, start, end, weights_of, products, sums):
    first, second = [0.0] * LANES, [0.0] * LANES
    for place in range(int(start), int(end)):
        own = first if (place - int(start)) % 2 == 0 else second
        for lane in range(LANES):
            own[lane] += weights_of[counts[place]] * products[columns[place], lane]
    for lane in range(LANES):
        sums[lane] = first[lane] + second[lane]


def _build_add_entries() -> Any:
    """Return what machine code calls: numba alone keeps no numbers side by side in registers."""
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic
    from numba.np.arrayobj import make_array

    place, lanes = ir.IntType(64), ir.VectorType(ir.DoubleType(), LANES)
    every_lane = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    one, two = ir.Constant(place, 1), ir.Constant(place, 2)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def data(number: int) -> Any:
            array = make_array(signature.args[number])
            return array(context, builder, arguments[number]).data

        columns, counts, weights_of, products = data(0), data(1), data(4), data(5)
        start, end = arguments[2], arguments[3]

        def number_at(numbers: Any, at: Any) -> Any:
            return builder.zext(builder.load(builder.gep(numbers, [at])), place)

        def term(at: Any) -> Any:
            """The weight of an entry, in every lane, times the products of its column."""
            own = builder.mul(number_at(columns, at), ir.Constant(place, LANES))
            pointer = builder.bitcast(builder.gep(products, [own]), lanes.as_pointer())
            weight = builder.load(builder.gep(weights_of, [number_at(counts, at)]))
            nothing = ir.Constant(lanes, ir.Undefined)
            in_first = builder.insert_element(nothing, weight, ir.Constant(ir.IntType(32), 0))
            weights = builder.shuffle_vector(in_first, nothing, every_lane)
            return builder.fmul(weights, builder.load(pointer, align=8))

        before = builder.block
        names = ("looks", "adds_two", "looks_again", "adds_one", "ends")
        looks, adds_two, looks_again, adds_one, ends = map(builder.append_basic_block, names)
        builder.branch(looks)

        builder.position_at_end(looks)
        at, first, second = builder.phi(place), builder.phi(lanes), builder.phi(lanes)
        next_at = builder.add(at, two)
        builder.cbranch(builder.icmp_unsigned("<=", next_at, end), adds_two, looks_again)

        builder.position_at_end(adds_two)
        values = (
            next_at,
            builder.fadd(first, term(at)),
            builder.fadd(second, term(builder.add(at, one))),
        )
        zeros = ir.Constant(lanes, [0.0] * LANES)
        for phi, begun, value in zip(
            (at, first, second), (start, zeros, zeros), values, strict=True
        ):
            phi.add_incoming(begun, before)
            phi.add_incoming(value, adds_two)
        builder.branch(looks)

        builder.position_at_end(looks_again)
        builder.cbranch(builder.icmp_unsigned("<", at, end), adds_one, ends)

        builder.position_at_end(adds_one)
        with_last = builder.fadd(first, term(at))
        builder.branch(ends)

        builder.position_at_end(ends)
        whole = builder.phi(lanes)
        whole.add_incoming(first, looks_again)
        whole.add_incoming(with_last, adds_one)
        pointer = builder.bitcast(data(6), lanes.as_pointer())
        builder.store(builder.fadd(whole, second), pointer, align=8)
        return context.get_dummy_value()

    @intrinsic
    def add_entries(_context, columns, counts, start, end, weights_of, products, sums):  # noqa: ARG001  # by its signature
        between = types.uint64, types.uint64
        return types.void(columns, counts, *between, weights_of, products, sums), generate

    return add_entries


add_entries = Kernel(_add_entries, None, {"intrinsic": "add_entries 1"}, build=_build_add_entries)
"""Write what the entries of one row sum up to in each lane.

Stored machine code is known again by the number in the options: a change of what is built is a
higher one.

Args:
    columns: as in `bag_sums`, without a sign.
    counts: as in `bag_sums`.
    start: where the entries of the row start.
    end: where they end.
    weights_of: as in `bag_sums`.
    products: float64 [columns, LANES].
    sums: float64 [LANES], where the sums are written.
"""


def _lanes_at_once(starts, ends, columns, counts, weights_of, products, n_vectors):
    entries = (starts, ends, columns, counts, weights_of)
    found = np.empty((n_vectors, len(starts)))
    for lane in range(n_vectors):
        found[lane] = bag_sums.plain(*entries, np.ascontiguousarray(products[:, lane]))
    return found


@compiled(at_once=_lanes_at_once, changes=())
def bag_sums_of_several(starts, ends, columns, counts, weights_of, products, n_vectors):
    """Return what `bag_sums` does for each of several vectors: float64 [n_vectors, n].

    Args:
        starts: as in `bag_sums`.
        ends: as in `bag_sums`.
        columns: as in `bag_sums`; none is below 0.
        counts: as in `bag_sums`.
        weights_of: as in `bag_sums`.
        products: float64 [columns, LANES], the product of each column with each vector.
        n_vectors: how many of the lanes are vectors; what the others have is not looked at.
    """
    found = np.empty((n_vectors, len(starts)))
    sums = np.empty(LANES)
    for row in range(len(starts)):
        start, end = np.uint64(starts[row]), np.uint64(ends[row])
        add_entries(columns, counts, start, end, weights_of, products, sums)
        for vector in range(n_vectors):
            found[vector, row] = sums[vector]
    return found


def _row_lanes_at_once(starts, columns, values, vectors):
    found = np.empty((len(starts) - 1, LANES))
    for lane in range(LANES):
        vector = np.ascontiguousarray(vectors[:, lane])
        found[:, lane] = row_products.plain(starts, columns, values, vector)
    return found


@compiled(at_once=_row_lanes_at_once, changes=())
def row_products_of_several(starts, columns, values, vectors):
    """Return what `row_products` does for each of several vectors: float64 [n, LANES].

    Args:
        starts: as in `row_products`.
        columns: as in `row_products`.
        values: as in `row_products`.
        vectors: float64 [d, LANES].
    """
    found = np.empty((len(starts) - 1, LANES))
    sums, rest, one, eight = np.empty((8, LANES)), np.empty(LANES), np.uint64(1), np.uint64(8)
    for row in range(len(found)):
        i, end = np.uint64(starts[row]), np.uint64(starts[row + 1])
        own, value, of_column = found[row], np.float64(values[i]), vectors[np.uint64(columns[i])]
        for lane in range(LANES):
            own[lane] = value * of_column[lane]
        i += one
        for lane in range(LANES):
            rest[lane] = 0.0
        if end - i >= eight:
            whole = i + (end - i) // eight * eight
            for turn in range(8):
                for lane in range(LANES):
                    sums[turn, lane] = 0.0
            while i < whole:
                for turn in range(8):
                    value, of_column = np.float64(values[i]), vectors[np.uint64(columns[i])]
                    for lane in range(LANES):
                        sums[turn, lane] += value * of_column[lane]
                    i += one
            for lane in range(LANES):
                low = (sums[0, lane] + sums[1, lane]) + (sums[2, lane] + sums[3, lane])
                high = (sums[4, lane] + sums[5, lane]) + (sums[6, lane] + sums[7, lane])
                rest[lane] = low + high
        while i < end:
            value, of_column = np.float64(values[i]), vectors[np.uint64(columns[i])]
            for lane in range(LANES):
                rest[lane] += value * of_column[lane]
            i += one
        for lane in range(LANES):
            own[lane] += rest[lane]
    return found
