"""The nearest rows by cosine, block by block: never n by n in memory.

Exactly up to `MAX_EXACT` rows, and for single rows always; of more rows, most of the nearest.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from clew.algorithms.nearest.pivots import Block, blocks_by_pivots
from clew.algorithms.ranking import TOLERANCE, dense_ranks, equalize, exceeds, reaches, top_k
from clew.graph import (
    AnyVectors,
    Floats,
    Rows,
    VectorColumn,
    Vectors,
    freeze,
    in_blocks,
    release_pages,
    take_vectors,
    vectors_of,
)
from clew.second_thread import Begun, begin, one_thread_each

BLOCK_BYTES = 64 * 2**20
AROUND = 3  # small blocks on both sides of a row in which a floor under its nearest is found
STRIP_BYTES = 32 * 2**20  # of products that a thread looks through at once
MAX_EXACT = 20_000  # rows; of more, some 99 in 100 of the nearest are found, by pivots
MAX_EXACT_BY_BOUNDS = 50_000  # rows whose cosines are bounded before they are computed
MIN_HEIGHT = 64  # rows of a block, by which a floor under the nearest of other rows is found
MAX_WAITING = 4_000_000  # candidates, or four times those that remain, before the nearest are taken
CROWD = 64  # a row with so many candidates above k, mostly copies of one text, is ranked by itself
MAX_FEW = 96  # rows, such as candidates, whose cosines are looked through all at once
MIN_BOUNDED = 2048  # rows whose cosines are bounded before they are computed
MIN_THRESHOLD = 0.5  # lowest cosine; below, too few directions are left out, if any
MAX_IN_TILES = 2048  # rows whose products are computed part by part, so that no thread wakes up
MAX_BY_ONE_THREAD = 2**18  # multiplications of two numbers, of which OpenBLAS wakes no thread
MIN_SIFTED = 128  # rows whose cosines are bounded by their first columns before they are computed
SIFTING = 6  # times that the vectors are longer than the first columns
MAX_REST = 0.9  # of the lowest cosine, in the squares behind the first columns, on the average
MAX_PASSED = 16  # pairs a row; where more pass, all cosines at once take less time
MAX_ABOVE = 16  # pairs a row that are not below its floor; of more, the nearest are found first
MIN_SAVING = 3  # times that the vectors are longer than those of the bounds
LEFT_OUT = 0.4  # of the lowest cosine; with more, too many pairs pass, with less, each costs more
MAX_SAMPLE = 2048  # rows, evenly spaced, whose leading directions the bounds are made in
MAX_COMPARED = 8192  # pairs whose cosines are computed at once
MAX_BY_PRODUCTS = 500  # new vectors; for more, those that are no arrays are made
COPIED_ROWS = 4096  # vectors that are compared with newer ones at once
TILE = 32  # columns of a block that are passed over together

Part = TypeVar("Part")
Pairs = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # rows, neighbours, cosines


class Neighbours(NamedTuple):
    """Near rows, pair by pair: those of one row together, the nearest first.

    Attributes:
        rows: the row whose neighbour is meant.
        others: its neighbour.
        cosines: their cosine.
    """

    rows: NDArray[np.int64]
    others: NDArray[np.int64]
    cosines: Floats


def nearest_pairs(vectors: Vectors, k: int, min_cosine: float) -> tuple[Rows, Rows, Floats]:
    """Return (rows, neighbours, cosines): at most `k` nearest other rows of every row.

    Rows of zeros have no neighbours and are no one's neighbour. Equal cosines are the same number
    and go to the lower row. A cosine that is too low by noise alone counts (see
    `clew.algorithms.ranking`). Each cosine is computed once, for both of its rows.
    Of more than `MAX_EXACT` rows, or `MAX_EXACT_BY_BOUNDS`, some 99 in 100 of these pairs are
    found, and others a little farther in the place of the rest (see `pivots`): comparing all takes
    time with n ** 2.
    Memory: a few blocks of 64 MB, or of 64 rows, and 4 k candidates for a row.

    Args:
        vectors: float32 [n, d], unit rows or zeros.
        k: neighbours of a row, at most.
        min_cosine: lowest cosine of a neighbour, > 0.

    Example:
        >>> vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
        >>> rows, neighbours, cosines = nearest_pairs(vectors, 1, 0.5)
        >>> rows.tolist(), neighbours.tolist(), cosines.tolist()
        ([0, 1], [1, 0], [1.0, 1.0])
    """
    if 0 < len(vectors) <= MAX_FEW:
        return _frozen(nearest_among([_near_of_few(vectors, k, min_cosine)], k, min_cosine))
    close = _near_by_columns(vectors, k, min_cosine)
    if close is not None:
        return _frozen(nearest_among(close, k, min_cosine))
    with _threads_of_products(len(vectors)):
        bounds = _bounding_vectors(vectors, min_cosine)
    if len(vectors) > (MAX_EXACT if bounds is None else MAX_EXACT_BY_BOUNDS):
        blocks = _near_by_pivots(vectors, k, min_cosine)
    elif bounds is None:
        blocks = _all_near(vectors, k, min_cosine)
    else:
        blocks = _near_by_bounds(vectors, bounds, k, min_cosine)
    return _frozen(nearest_among(blocks, k, min_cosine))


def _frozen(pairs: Neighbours) -> tuple[Rows, Rows, Floats]:
    return (
        freeze(pairs.rows, np.int32),
        freeze(pairs.others, np.int32),
        freeze(pairs.cosines, np.float64),
    )


def _near_of_few(vectors: Vectors, k: int, min_cosine: float) -> Pairs:
    """Return the pairs of few rows that may be among the nearest, by all cosines at once."""
    cosines = _all_products(vectors, vectors, begins_alike=True)
    np.fill_diagonal(cosines, -1)
    floors = np.full(len(cosines), min_cosine, np.float32)
    if k <= len(cosines):
        np.maximum(floors, np.partition(cosines, -k, axis=1)[:, -k], out=floors)
    rows, others = np.nonzero(cosines >= (floors - np.float32(2 * TOLERANCE))[:, None])
    return rows, others, cosines[rows, others].astype(np.float64)


def _near_by_columns(vectors: Vectors, k: int, min_cosine: float) -> list[Pairs] | None:
    """Return the pairs with at least the lowest cosine; None where another way is quicker.

    By Cauchy and Schwarz, a cosine is at most the product of the first columns, and that of the
    lengths of what is behind them. The first sixth of the columns of the embedded default has a
    third of the squares, and tells most pairs of names apart.

    Args:
        vectors: float32 [n, d], unit rows or zeros.
        k: neighbours of a row, at most.
        min_cosine: the lowest cosine that is wanted.
    """
    n, d = vectors.shape
    if not MIN_SIFTED <= n < MIN_BOUNDED or min_cosine < MIN_THRESHOLD:
        return None
    leading = vectors[:, : d // SIFTING]
    squares = np.einsum("ij,ij->i", leading, leading)
    if 1 - squares.mean() > MAX_REST * min_cosine:
        return None
    rests = np.maximum(np.einsum("ij,ij->i", vectors, vectors) - squares, 0) + TOLERANCE
    bounds = np.hstack([leading, np.sqrt(rests)[:, None]])
    highest = _all_products(bounds, bounds, begins_alike=True)
    places = np.flatnonzero(highest.reshape(-1) >= np.float32(min_cosine - 2 * TOLERANCE))
    rows, others = np.divmod(places, n)
    once = others > rows
    if np.count_nonzero(once) > MAX_PASSED * n:
        return None
    return _near_among(vectors, rows[once], others[once], k, min_cosine)


def _near_among(
    vectors: Vectors,
    rows: NDArray[np.integer],
    others: NDArray[np.integer],
    k: int,
    min_cosine: float,
) -> list[Pairs]:
    """Return those of some pairs, in both directions, that have at least the lowest cosine."""

    def near() -> Iterator[Pairs]:
        for start in range(0, len(rows), MAX_COMPARED):
            some, other = rows[start : start + MAX_COMPARED], others[start : start + MAX_COMPARED]
            cosines = np.einsum("ij,ij->i", vectors[some], vectors[other])
            found = cosines >= min_cosine - 2 * TOLERANCE
            yield some[found], other[found], cosines[found].astype(np.float64)

    return in_both_directions(near(), len(vectors), k, min_cosine)


def in_both_directions(blocks: Iterable[Pairs], n: int, k: int, min_cosine: float) -> list[Pairs]:
    """Return pairs that may be among the nearest of either row, and never hold many more.

    Args:
        blocks: (rows, others, cosines), different pairs, each in one direction.
        n: the number of rows.
        k: neighbours of a row, at most.
        min_cosine: lowest cosine of a neighbour, > 0.

    Example:
        >>> pairs = np.array([0]), np.array([1]), np.array([0.8])
        >>> [rows.tolist() for rows, _, _ in in_both_directions([pairs], 2, 1, 0.5)]
        [[0], [1]]
    """
    kept: list[Pairs] = []
    waiting = 0
    for rows, others, cosines in blocks:
        kept += [(rows, others, cosines), (others, rows, cosines)]
        waiting += 2 * len(cosines)
        if waiting > max(MAX_WAITING // 2, 4 * n * k):
            kept = [_nearest_of(_joined(kept), k, min_cosine)]
            waiting = len(kept[0][2])
    return kept


def _all_near(vectors: Vectors, k: int, min_cosine: float) -> list[Pairs]:
    """Return the pairs that may be among the nearest, by all cosines.

    They are looked through strip by strip. A strip has those of some rows with themselves and all
    later rows, so each pair comes once.
    """
    n, floors = len(vectors), _floors_by_neighbourhoods(vectors, k, min_cosine)
    changing = threading.Lock()

    def near_in(strip: _Strip) -> list[Pairs]:
        with changing:
            raised = floors[strip.start :].copy()
        found = _near_in_strip(vectors, strip, k, raised)
        with changing:
            np.maximum(floors[strip.start :], raised, out=floors[strip.start :])
        return found

    return _near_in_any(_strips(n), near_in, n, k, min_cosine)


def _near_in_any(
    parts: Iterable[Part],
    near_in: Callable[[Part], list[Pairs]],
    n: int,
    k: int,
    min_cosine: float,
) -> list[Pairs]:
    """Return the pairs of all parts that may be among the nearest.

    Two threads take parts in turn, where there is a core for it.

    Args:
        parts: what is looked through.
        near_in: returns the pairs of a part that may be.
        n: the number of rows.
        k: neighbours of a row, at most.
        min_cosine: the lowest cosine of a neighbour.
    """
    left, beside = deque(parts), list[Begun[list[Pairs]]]()
    most_waiting = max(MAX_WAITING, 4 * n * k) // 2

    def look_through(offer: Callable[[], object]) -> list[Pairs]:
        blocks: list[Pairs] = []
        while left:
            try:
                part = left.popleft()
            except IndexError:  # the other thread has taken it
                break
            offer()
            blocks += near_in(part)
            if sum(len(scores) for _, _, scores in blocks) > most_waiting:
                blocks = [_nearest_of(_joined(blocks), k, min_cosine)]
        return blocks

    def offer() -> None:
        """Offer what is left to the second thread, once there is a core for it."""
        if left and not (beside and beside[0].is_offered):
            beside[:] = [begin(partial(look_through, lambda: None))]

    with _threads_of_products(n):
        blocks = look_through(offer)
        return blocks + [pairs for begun in beside for pairs in begun.result()]


def _threads_of_products(n: int) -> AbstractContextManager[None]:
    """Return the block in which products of so many rows are computed."""
    return one_thread_each() if n > MAX_IN_TILES else nullcontext()  # tiles wake no thread up


def _near_in_strip(vectors: Vectors, strip: _Strip, k: int, floors: Vectors) -> list[Pairs]:
    """Return the pairs of a strip that may be among the nearest, and raise the floors.

    Args:
        vectors: float32 [n, d], unit rows or zeros.
        strip: The strip.
        k: neighbours of a row, at most.
        floors: float32, the lowest cosine of a neighbour so far, from the first row of the strip.
    """
    start, end = strip.start, strip.end
    some, columns = vectors[start:end], vectors[start:].T
    in_tiles = partial(_all_products, begins_alike=True)
    cosines = in_tiles(some, columns.T) if strip.in_tiles else some @ columns
    own = np.arange(len(some))
    cosines[own, own] = -1
    own_floors, their_floors = floors[: len(some)], floors[len(some) :]
    rows, near, scores = _few_above(cosines, own_floors[:, None]) or _candidates(
        cosines, k, own_floors
    )
    below = cosines[:, len(some) :]  # whose rows come later, as columns of this strip
    above, later, their_scores = _few_above(below, their_floors) or _turned(
        _candidates(below.T, k, their_floors)
    )
    return [(rows + start, near + start, scores), (later + end, above + start, their_scores)]


def _few_above(cosines: Vectors, floors: Vectors) -> Pairs | None:
    """Return the pairs of a block with at least the floors; None where they are many.

    That takes a third of the time of `_candidates`, which raises the floors.

    Args:
        cosines: float32 [b, n].
        floors: float32 [b, 1] or [n], the lowest cosine of a neighbour so far.
    """
    is_near = cosines >= floors - np.float32(2 * TOLERANCE)
    if np.count_nonzero(is_near) > MAX_ABOVE * floors.size:
        return None
    rows, others = np.divmod(np.flatnonzero(is_near), max(cosines.shape[1], 1))
    return rows, others, cosines[rows, others].astype(np.float64)


def _turned(pairs: Pairs) -> Pairs:
    rows, others, scores = pairs
    return others, rows, scores


def _floors_by_neighbourhoods(vectors: Vectors, k: int, min_cosine: float) -> Vectors:
    """Return cosines that the k-th nearest of each row has at least: float32 [n].

    They are those of the k-th nearest among some rows around it, which often come from one document
    and are nearer than most, or the lowest cosine. So few pairs are looked at as candidates.

    Args:
        vectors: float32 [n, d], unit rows or zeros.
        k: neighbours of a row.
        min_cosine: the lowest cosine of a neighbour.
    """
    n, d = vectors.shape
    floors = np.full(n, min_cosine, np.float32)
    height = math.isqrt(
        MAX_BY_ONE_THREAD // max(d, 1)
    )  # small products, so that no thread wakes up
    whole = n // max(height, 1)
    if whole < 2 or k >= (2 * AROUND + 1) * height:
        return floors
    parts = vectors[: whole * height].reshape(whole, height, d)
    near = np.full((whole, height, 2 * AROUND + 1, height), -1, np.float32)
    for away in range(min(AROUND, whole - 1) + 1):
        cosines = np.matmul(parts[: whole - away], parts[away:].transpose(0, 2, 1))
        near[away:, :, AROUND - away] = cosines.transpose(0, 2, 1)
        near[: whole - away, :, AROUND + away] = cosines
    own = np.arange(height)
    near[:, own, AROUND, own] = -1
    nearest = np.partition(near.reshape(whole * height, -1), -k, axis=1)[:, -k]
    np.maximum(floors[: len(nearest)], nearest, out=floors[: len(nearest)])
    return floors


class _Strip(NamedTuple):
    """Some rows of the products of all.

    Attributes:
        start: the first row.
        end: the row behind the last.
        in_tiles: whether the products are computed part by part.
    """

    start: int
    end: int
    in_tiles: bool


def _strips(n: int) -> list[_Strip]:
    """Return the strips of the products of so many rows, the smallest ones last.

    The last rows are computed in tiles. They come first, since that takes the longest.
    """
    height = max(MIN_HEIGHT, BLOCK_BYTES // (4 * max(n, 1)))
    strip = max(MIN_HEIGHT, STRIP_BYTES // (4 * max(n, 1)))
    strips, tiled = list[_Strip](), list[_Strip]()
    for start in range(0, n, height):
        end = min(start + height, n)
        if n - start <= MAX_IN_TILES:
            tiled.append(_Strip(start, end, True))
            continue
        # All of about one height: the product of a single row is rounded otherwise.
        parts = math.ceil((end - start) / strip)
        bounds = [start + (end - start) * i // parts for i in range(parts + 1)]
        strips += [_Strip(first, last, False) for first, last in pairwise(bounds)]
    return [*tiled, *strips]


def _all_products(some: Vectors, others: Vectors, *, begins_alike: bool = False) -> Vectors:
    """Return the product of each row with each other: float32 [m, n].

    Args:
        some: float32 [m, d].
        others: float32 [n, d].
        begins_alike: whether the first m of these are the first ones.
    """
    m, n = len(some), len(others)
    height = math.isqrt(MAX_BY_ONE_THREAD // max(some.shape[1], 1))
    if max(m, n) > MAX_IN_TILES or not height:
        at_once: Vectors = some @ others.T
        return at_once
    cosines = np.empty((m, n), np.float32)
    columns = others.T
    for top in range(0, m, height):
        bottom = min(top + height, m)
        for left in range(top if begins_alike else 0, n, height):
            right = min(left + height, n)
            tile = np.matmul(some[top:bottom], columns[:, left:right])
            cosines[top:bottom, left:right] = tile
            if begins_alike and top < left < m:
                cosines[left : min(right, m), top:bottom] = tile[:, : m - left].T
    return cosines


def _near_by_pivots(vectors: Vectors, k: int, min_cosine: float) -> list[Pairs]:
    """Return the pairs that may be among the nearest of those that pivots bring together."""
    from clew.graph import release_free_memory  # which loads what only this needs

    n = len(vectors)
    floors = np.full(n, min_cosine, np.float32)
    blocks: list[Pairs] = []
    waiting = 0
    for (some, others), cosines in _products_of(vectors, blocks_by_pivots(vectors)):
        if some is others:
            own = np.arange(len(some))
            cosines[own, own] = -1
        else:  # these rows have no turn of their own in this list
            blocks.append(_candidates_of(cosines.T.copy(), others, some, k, floors))
            waiting += len(blocks[-1][2])
        blocks.append(_candidates_of(cosines, some, others, k, floors))
        waiting += len(blocks[-1][2])
        if waiting > max(MAX_WAITING // 4, 4 * n * k):
            blocks = [_narrow(_nearest_of(_distinct(_joined(blocks), n), k, min_cosine))]
            waiting = len(blocks[0][2])
            release_free_memory()  # of the blocks, between which the next ones do not fit
    return [_distinct(_joined(blocks), n)] if blocks else []


def _products_of(vectors: Vectors, blocks: Iterator[Block]) -> Iterator[tuple[Block, Vectors]]:
    """Yield blocks with their cosines; those of the next one are computed beside."""

    def product(block: Block) -> Vectors:
        some, others = block
        cosines: Vectors = vectors_of(vectors, some) @ vectors_of(vectors, others).T
        return cosines

    with _threads_of_products(len(vectors)):
        block = next(blocks, None)
        begun = None if block is None else begin(partial(product, block))
        while block is not None and begun is not None:
            cosines, before = begun.result(), block
            block = next(blocks, None)
            begun = None if block is None else begin(partial(product, block))
            yield before, cosines
            del cosines


def _candidates_of(
    cosines: Vectors, some: NDArray[np.int64], others: NDArray[np.int64], k: int, floors: Vectors
) -> Pairs:
    """Return what `_candidates` returns, of rows by their numbers."""
    own_floors = floors[some]
    rows, places, scores = _candidates(cosines, k, own_floors)
    floors[some] = own_floors
    return _narrow((some[rows], others[places], scores))


def _narrow(pairs: Pairs) -> Pairs:
    """Return pairs in half the memory; their cosines were computed as float32."""
    rows, others, scores = pairs
    return rows.astype(np.int32), others.astype(np.int32), scores.astype(np.float32)


def _distinct(pairs: Pairs, n: int) -> Pairs:
    """Return each pair once."""
    rows, others, scores = pairs
    _, first = np.unique(rows.astype(np.int64) * n + others, return_index=True)
    return rows[first], others[first], scores[first].astype(np.float64)


def _bounding_vectors(vectors: Vectors, min_cosine: float) -> Vectors | None:
    """Return short vectors whose products are no lower than the cosines; None where that is slower.

    They are the vectors in the leading directions of a sample, and the length of what these leave
    out: by Cauchy and Schwarz, no two rests have a higher product than their lengths.

    Args:
        vectors: float32 [n, d], unit rows or zeros.
        min_cosine: the lowest cosine that is wanted. The directions hold so much that the product
            of two rests is at most `LEFT_OUT` of it, on the average.
    """
    n, d = vectors.shape
    if n < MIN_BOUNDED or min_cosine < MIN_THRESHOLD:
        return None
    places = np.linspace(0, n - 1, min(n, MAX_SAMPLE)).round().astype(np.int64)
    sample = vectors[places].astype(np.float64)
    shares, directions = np.linalg.eigh(sample.T @ sample)
    held = np.cumsum(shares[::-1]) / max(float(shares.sum()), 1e-300)
    width = int(np.searchsorted(held, 1 - LEFT_OUT * min_cosine)) + 1
    if width > d // MIN_SAVING:
        return None
    leading = vectors @ directions[:, ::-1][:, :width].astype(np.float32)
    squares = np.square(vectors).sum(axis=1) - np.square(leading).sum(axis=1)
    rests = np.sqrt(np.maximum(squares, 0) + TOLERANCE)
    return np.hstack([leading, rests[:, None].astype(np.float32)])


def _near_by_bounds(vectors: Vectors, bounds: Vectors, k: int, min_cosine: float) -> list[Pairs]:
    """Return the pairs with at least the lowest cosine, which is computed where the bound has it.

    Args:
        vectors: float32 [n, d].
        bounds: float32 [n, m], see `_bounding_vectors`.
        k: neighbours of a row, at most.
        min_cosine: lowest cosine of a neighbour, > 0.
    """
    n = len(vectors)
    height = max(MIN_HEIGHT, BLOCK_BYTES // (16 * n))

    def near_in(start: int) -> list[Pairs]:
        highest = bounds[start : start + height] @ bounds[start:].T
        places = np.flatnonzero(highest.reshape(-1) >= min_cosine - 2 * TOLERANCE)
        rows, others = np.divmod(places, highest.shape[1])
        once = others > rows
        rows, others = rows[once] + start, others[once] + start
        return _near_among(vectors, rows, others, k, min_cosine)

    return _near_in_any(range(0, n, height), near_in, n, k, min_cosine)


def nearest_of_some(
    vectors: AnyVectors, chosen: NDArray[np.int64], k: int, min_cosine: float
) -> Neighbours:
    """Return at most `k` nearest other rows of some rows; see `nearest_pairs`.

    Args:
        vectors: float32 [n, d], unit rows or zeros.
        chosen: the rows whose neighbours are wanted, ascending.
        k: neighbours of a row, at most.
        min_cosine: lowest cosine of a neighbour, > 0.

    Example:
        >>> vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
        >>> nearest_of_some(vectors, np.array([1]), 1, 0.5).others.tolist()
        [0]
    """
    height = max(MIN_HEIGHT, BLOCK_BYTES // (4 * max(len(vectors), 1)))
    blocks: list[Pairs] = []
    for start in range(0, len(chosen), height):
        some = chosen[start : start + height]
        cosines = _cosines_of(vectors, vectors[some])
        cosines[np.arange(len(some)), some] = -1
        rows, others, scores = _candidates(cosines, k, np.full(len(some), min_cosine, np.float32))
        blocks.append((some[rows], others, scores))
    return nearest_among(blocks, k, min_cosine)


def with_newer(
    every: AnyVectors,
    compared: NDArray[np.integer],
    n_before: int,
    before: Neighbours,
    k: int,
    min_cosine: float,
    lowest: Floats | None = None,
) -> Neighbours:
    """Return what `nearest_pairs` returns, from its result for the first rows alone.

    Equal cosines are not made the same number: those that were there stay what they were.

    Args:
        every: float32 [m, d], unit rows or zeros.
        compared: int [n], which of them are the rows.
        n_before: the number of rows that were there before.
        before: their nearest rows.
        k: neighbours of a row, at most.
        min_cosine: lowest cosine of a neighbour, > 0.
        lowest: float64 [n_before], what no cosine of a row with one that is not among its nearest
            exceeds, or 0; newer rows below that are left out. None: 0 for all.

    Example:
        >>> before = Neighbours(np.array([0, 1]), np.array([1, 0]), np.array([0.8, 0.8]))
        >>> vectors = np.array([[1, 0], [0.8, 0.6], [1, 0]], np.float32)
        >>> with_newer(vectors, np.arange(3), 2, before, 1, 0.5).others.tolist()
        [2, 0, 0]
    """
    n = len(compared)
    floors = np.full(n_before, min_cosine, np.float32)  # no k-th nearest of a row is farther
    lengths = np.bincount(before.rows, minlength=n_before)
    full = np.flatnonzero(lengths >= k)
    floors[full] = before.cosines[np.cumsum(lengths)[full] - 1]
    if lowest is not None:
        floors = np.maximum(floors, lowest.astype(np.float32))
    blocks: list[Pairs] = [(before.rows, before.others, before.cosines)]
    height = max(MIN_HEIGHT, BLOCK_BYTES // (4 * max(n, 1)))
    for start in range(n_before, n, height):
        some = np.arange(start, min(start + height, n))
        new = every[compared[some]]
        cosines = _cosines_of(every, new, compared)
        cosines[np.arange(len(some)), some] = -1
        came, old = np.nonzero(cosines[:, :n_before] >= floors - np.float32(2 * TOLERANCE))
        blocks.append((old, some[came], cosines[came, old].astype(np.float64)))
        rows, others, scores = _candidates(cosines, k, np.full(len(some), min_cosine, np.float32))
        blocks.append((some[rows], others, scores))
    return _finished_with(blocks, n, k, min_cosine)


def _cosines_of(
    every: AnyVectors, some: Vectors, compared: NDArray[np.integer] | None = None
) -> Vectors:
    """Return the cosines of some vectors with others: float32 [m, n].

    Args:
        every: float32 [n, d].
        some: float32 [m, d].
        compared: which of them are the others; None for all.
    """
    is_dense = not isinstance(every, VectorColumn) or every.is_dense
    if compared is None and is_dense:
        return _all_products(some, np.asarray(every))
    compared = np.arange(len(every)) if compared is None else compared
    if not is_dense and len(some) <= MAX_BY_PRODUCTS:
        return VectorColumn.of(take_vectors(every, compared)).several_products(some)
    cosines = np.empty((len(some), len(compared)), np.float32)
    for first, block in in_blocks(compared, COPIED_ROWS):
        other = np.asarray(take_vectors(every, block))
        cosines[:, first : first + len(block)] = some @ other.T
        release_pages(every)
    return cosines


def _finished_with(blocks: list[Pairs], n: int, k: int, min_cosine: float) -> Neighbours:
    """Return the pairs of `nearest_among`, of a first block with the nearest of most rows in order.

    Cosines are as they come, so that those of rows that nothing is done to are the very numbers.

    Such a row is ranked again where another block has it, where two of its cosines may count as
    equal, and where one is near the lowest.

    Args:
        blocks: the pairs, those of a row together in the first block.
        n: the number of rows.
        k: neighbours of a row, at most.
        min_cosine: the lowest cosine of a neighbour.
    """
    rows, others, scores = blocks[0]
    again = np.zeros(n, np.bool_)
    for changed, _, _ in blocks[1:]:
        again[changed] = True
    falls = scores[:-1] - scores[1:] > 4 * TOLERANCE
    in_order = falls | (rows[:-1] < rows[1:])
    again[rows[1:][~in_order]] = True
    again[rows[scores < min_cosine + 4 * TOLERANCE]] = True
    stays = ~again[rows]
    ranked = _nearest_of(
        _joined([(rows[~stays], others[~stays], scores[~stays]), *blocks[1:]]), k, min_cosine
    )
    rows, others, scores = _joined([(rows[stays], others[stays], scores[stays]), ranked])
    order = np.argsort(rows, kind="stable")
    return Neighbours(rows[order], others[order], np.minimum(scores[order], 1.0))


def nearest_among(blocks: Sequence[Pairs], k: int, min_cosine: float) -> Neighbours:
    """Return at most `k` nearest of the pairs of each row, in order.

    Args:
        blocks: (rows, neighbours, cosines), pairs of different rows; each once.
        k: neighbours of a row, at most.
        min_cosine: lowest cosine of a neighbour, > 0.

    Example:
        >>> pairs = np.array([0, 0, 1]), np.array([1, 2, 0]), np.array([0.8, 0.9, 0.8])
        >>> nearest_among([pairs], 1, 0.5).others.tolist()
        [2, 0]
    """
    if not blocks:
        return Neighbours(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    rows, others, scores = _nearest_of(_joined(blocks), k, min_cosine)
    return Neighbours(rows, others, np.minimum(equalize(scores, 1.0), 1.0))


def _joined(blocks: Sequence[Pairs]) -> Pairs:
    rows, others, scores = (np.concatenate(column) for column in zip(*blocks, strict=True))
    return rows, others, scores


def _candidates(cosines: Vectors, k: int, floors: Vectors) -> Pairs:
    """Return the pairs of a block that may be among the nearest, and raise the floors.

    The k-th highest of the maxima of tiles is no higher than the k-th highest cosine. Only tiles
    with a maximum from there on are looked at.

    Args:
        cosines: float32 [b, n].
        k: neighbours of a row, at most.
        floors: float32 [b], the lowest cosine of a neighbour so far.
    """
    if not cosines.size:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    maxima = _tile_maxima(cosines)
    n_near = TILE * int((maxima >= floors[:, None] - np.float32(2 * TOLERANCE)).sum(axis=1).max())
    if k <= cosines.shape[1] and n_near > k:  # else no floor leaves out much
        highest = maxima if k < maxima.shape[1] else cosines
        np.maximum(floors, np.partition(highest, -k, axis=1)[:, -k], out=floors)
    floor = floors - np.float32(2 * TOLERANCE)
    is_near = maxima >= floor[:, None]
    crowded = is_near.sum(axis=1) > k + CROWD
    is_near[crowded] = False
    owners, tile = np.nonzero(is_near)
    columns = np.minimum(tile[:, None] * TILE + np.arange(TILE), cosines.shape[1] - 1)
    near = cosines[owners[:, None], columns]
    near[:, 1:][columns[:, 1:] == columns[:, :-1]] = -1  # beyond the last column
    found, place = np.nonzero(near >= floor[owners, None])
    rows, others, scores = owners[found], columns[found, place], near[found, place]
    crowded |= np.bincount(rows, minlength=len(cosines)) > k + CROWD
    if not crowded.any():
        return rows, others, scores.astype(np.float64)
    alone = ~crowded[rows]
    parts = [(rows[alone], others[alone], scores[alone].astype(np.float64))]
    for row in np.flatnonzero(crowded).tolist():
        all_scores = cosines[row].astype(np.float64)
        best = top_k(all_scores, k, 1.0)
        parts.append((np.full(len(best), row), best, all_scores[best]))
    return _joined(parts)


def _tile_maxima(cosines: Vectors) -> Vectors:
    """Return the highest cosine of every `TILE` columns: float32 [b, tiles]."""
    height, n = cosines.shape
    whole = n // TILE
    strides = (cosines.strides[0], TILE * cosines.strides[1], cosines.strides[1])
    tiles = as_strided(cosines, (height, whole, TILE), strides, writeable=False)
    maxima: Vectors = tiles.max(axis=2, initial=-1)
    if n % TILE:
        rest = cosines[:, whole * TILE :].max(axis=1)
        maxima = np.concatenate([maxima, rest[:, None]], axis=1)
    return maxima


def _nearest_of(candidates: Pairs, k: int, min_cosine: float) -> Pairs:
    """Return the `k` nearest of each row's candidates, nearest first."""
    rows, others, scores = candidates
    # Less 4 per row, all cosines of a row are above those of the next: one ranking serves all rows.
    order = np.lexsort((others, dense_ranks(scores - 4.0 * rows, 1.0)))
    rows, others, scores = rows[order], others[order], scores[order]
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
    nearest = (rank < k) & reaches(scores, min_cosine) & exceeds(scores, 0.0)
    return rows[nearest], others[nearest], scores[nearest]
