"""Vectors in segments that are shared by a graph and those that are made of it, and never copied.

An array that grows is copied, and the vectors of a large index take more than all else of it
together. So a graph that has grown keeps the segments of the one before, and has one more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol, TypeAlias, overload, runtime_checkable

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clew.graph.columns import (
    COPIED_ROWS,
    Mask,
    Vectors,
    are_consecutive,
    in_blocks,
    is_mapped,
    release_pages,
    seal,
)
from clew.graph.copied_at_once import CopiedAtOnce

MIN_ROWS = 1024  # of a segment; shorter ones are copied into one
MAPPED_ROWS = 32  # of a file, copied before its pages go: with each come some of its neighbourhood
MIN_SHARED = 10_000  # rows of an array, of which fewer are copied
AT_ONCE = 8  # vectors with which rows are compared together
MIN_TOGETHER = 3  # of fewer, one by one takes no longer
MIN_RUN = 64  # rows of a run that is looked at where it is, on average
FIRST_COLUMNS = 8  # by which most rows show that they are not all zeros
MAX_RUNS = 64  # of consecutive rows that are looked at where they are; of more, rows are copied


class VectorSegment(Protocol):
    """Rows of a column of vectors: float32 [n, d], each of length 1 or zeros. They never change."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and of dimensions."""
        ...

    @property
    def has_vector(self) -> Mask:
        """True for the rows that are not all zeros: bool [n]."""
        ...

    @property
    def addresses(self) -> NDArray[np.int64]:
        """Where in memory the one thing is that each row has to itself: int64 [n]."""
        ...

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Vectors:
        """Return some rows."""
        ...

    def take(self, rows: NDArray[np.int64]) -> VectorSegment:
        """Return the segment of some rows, without a copy where they are consecutive."""
        ...

    def compact(self) -> VectorSegment:
        """Return the same rows side by side in memory, to be gone through often."""
        ...

    def products(self, query: Vectors) -> Vectors:
        """Return the dot products of the rows with a float32 vector: float32 [n]."""
        ...

    def release_pages(self) -> None:
        """Let the system take back the memory of a mapped file's pages."""
        ...


@runtime_checkable
class ComparesSeveral(Protocol):
    """A segment that is compared with several vectors in less time than one by one."""

    def several_products(self, queries: Vectors) -> Vectors:
        """Return the dot products of the rows with some vectors: float32 [m, n].

        Args:
            queries: float32 [m, d], at most `AT_ONCE`.
        """
        ...


@dataclass(frozen=True, eq=False)
class DenseSegment(CopiedAtOnce):
    """Rows that are an array.

    Attributes:
        array: float32 [n, d].
    """

    array: Vectors

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.array.shape
        return n, d

    @cached_property
    def has_vector(self) -> Mask:
        return has_vector(self.array)

    @property
    def addresses(self) -> NDArray[np.int64]:
        array = self.array
        return array.ctypes.data + array.strides[0] * np.arange(len(array), dtype=np.int64)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Vectors:
        chosen: Vectors = self.array[rows]
        return chosen

    def take(self, rows: NDArray[np.int64]) -> DenseSegment:
        return DenseSegment(vectors_of(self.array, rows))

    def compact(self) -> DenseSegment:
        return self

    def products(self, query: Vectors) -> Vectors:
        return products(self.array, query)

    def release_pages(self) -> None:
        release_pages(self.array)


class VectorColumn:
    """A column of vectors in segments: it is read as an array of float32 [n, d] is.

    A row, a slice and an array of rows give an array, and so does `np.asarray`, of all rows.

    Args:
        segments: the rows, one segment after the other, all of one width; at least one.

    Example:
        >>> column = VectorColumn([DenseSegment(np.eye(2, dtype=np.float32))])
        >>> grown = column.with_rows(np.array([[0.6, 0.8]], np.float32))
        >>> grown.shape, grown[2], grown[[1, 0]].tolist()
        ((3, 2), array([0.6, 0.8], dtype=float32), [[0.0, 1.0], [1.0, 0.0]])
    """

    dtype = np.dtype(np.float32)
    ndim = 2

    def __init__(self, segments: Sequence[VectorSegment]) -> None:
        self.segments = tuple(segments)
        self._starts = np.cumsum([0, *(segment.shape[0] for segment in self.segments)])

    @classmethod
    def of(cls, vectors: AnyVectors) -> VectorColumn:
        """Return vectors as a column: an array as its one segment."""
        return vectors if isinstance(vectors, VectorColumn) else cls([DenseSegment(vectors)])

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and of dimensions."""
        return len(self), self.segments[0].shape[1]

    @property
    def has_vector(self) -> Mask:
        """True for the rows that are not all zeros: bool [n]."""
        return np.concatenate([segment.has_vector for segment in self.segments])

    @property
    def is_dense(self) -> bool:
        """Whether all rows are arrays."""
        return all(isinstance(segment, DenseSegment) for segment in self.segments)

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __repr__(self) -> str:
        return f"VectorColumn{self.shape}"

    def __iter__(self) -> Iterator[Vectors]:
        for _, block in in_blocks(self, COPIED_ROWS):
            yield from block

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        array = self[:]
        if copy is None:
            return np.asarray(array, dtype)
        return np.array(array, dtype, copy=copy)

    @overload
    def __getitem__(self, rows: int | np.integer[Any]) -> Vectors: ...
    @overload
    def __getitem__(self, rows: slice | Sequence[int] | NDArray[Any]) -> Vectors: ...
    def __getitem__(
        self, rows: int | np.integer[Any] | slice | Sequence[int] | NDArray[Any]
    ) -> Vectors:
        n = len(self)
        if isinstance(rows, slice):
            start, stop, step = rows.indices(n)
            if step == 1:
                return self._between(start, max(start, stop))
            return self._gathered(np.arange(start, stop, step))
        if isinstance(rows, (int, np.integer)):
            row: Vectors = self._gathered(_in_range(np.array([rows], np.int64), n))[0]
            return row
        chosen = np.asarray(rows)
        if chosen.dtype == np.bool_:
            if chosen.shape != (n,):
                raise IndexError(f"a mask of {n} rows is wanted; got one of shape {chosen.shape}")
            chosen = np.flatnonzero(chosen)
        flat = self._gathered(_in_range(chosen.astype(np.int64).ravel(), n))
        gathered: Vectors = flat.reshape(*chosen.shape, self.shape[1])
        return gathered

    def compact(self) -> VectorColumn:
        """Return the same rows side by side in memory, to be gone through often."""
        return VectorColumn([segment.compact() for segment in self.segments])

    def products(self, query: Vectors) -> Vectors:
        """Return the dot products of all rows with a float32 vector: float32 [n]."""
        parts = [segment.products(query) for segment in self.segments]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def several_products(self, queries: Vectors) -> Vectors:
        """Return the dot products of all rows with several vectors: float32 [m, n].

        They are those of `products`, to the bit. A segment that has a `several_products` of its own
        goes through its rows once for all vectors.

        Args:
            queries: float32 [m, d].
        """
        found = np.empty((len(queries), len(self)), np.float32)
        for first, some in in_blocks(queries, AT_ONCE):
            rows = found[first : first + AT_ONCE]
            if len(some) < MIN_TOGETHER:
                for row, query in zip(rows, some, strict=True):
                    row[:] = self.products(query)
                continue
            for (start, end), segment in zip(pairwise(self._starts), self.segments, strict=True):
                if isinstance(segment, ComparesSeveral):
                    rows[:, start:end] = segment.several_products(some)
                    continue
                for row, query in zip(rows, some, strict=True):
                    row[start:end] = segment.products(query)
        return found

    def release_pages(self) -> None:
        """Let the system take back the memory of mapped files' pages."""
        for segment in self.segments:
            segment.release_pages()

    def with_rows(self, new: Vectors) -> VectorColumn:
        """Return the column with more rows behind its own, which are not copied.

        The last segments are copied into one where they are short, or no longer than what comes
        behind them. So their number grows with the logarithm of the rows.

        Args:
            new: float32 [m, d], nobody else's.
        """
        if not len(new):
            return self
        segments: list[VectorSegment] = [one for one in self.segments if one.shape[0]]
        while segments and isinstance(last := segments[-1], DenseSegment):
            if len(last.array) >= max(MIN_ROWS, 2 * len(new)):
                break
            new = np.concatenate([last.array, new])
            segments.pop()
        return VectorColumn([*segments, DenseSegment(seal(new))])

    def take(self, rows: NDArray[np.integer[Any]]) -> VectorColumn:
        """Return the column of some rows, without a copy where they are a few long runs.

        Runs of an array become segments of their own. Any other segment shares what its rows are
        made of, whichever of them are taken, and is compared in one step where it stays one.

        Args:
            rows: int [m], from 0.
        """
        chosen = rows.astype(np.int64)
        owners = self._owners(chosen)
        leaves = owners[1:] != owners[:-1]  # the segment, behind a row
        bounds = _bounds(leaves, len(rows))
        is_array = np.array([isinstance(one, DenseSegment) for one in self.segments])
        ends = is_array[owners[1:]] & (chosen[1:] - chosen[:-1] != 1)  # a run of an array
        runs = _bounds(leaves | ends, len(rows))
        if len(bounds) > MAX_RUNS:
            return VectorColumn([DenseSegment(seal(self._gathered(chosen)))])
        taken: list[VectorSegment] = []
        are_long = len(rows) >= MIN_RUN * len(runs)
        for first, last in _pairs(runs if are_long and len(runs) <= MAX_RUNS else bounds):
            owner = int(owners[first])
            taken.append(self.segments[owner].take(chosen[first:last] - self._starts[owner]))
        nothing = DenseSegment(seal(np.zeros((0, self.shape[1]), np.float32)))
        return VectorColumn(_without_short_ones(taken) or [nothing])

    def _owners(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The segment that has each row."""
        if len(self.segments) == 1:
            return np.zeros(len(rows), np.int64)
        return np.searchsorted(self._starts, rows, side="right") - 1

    def _between(self, start: int, stop: int) -> Vectors:
        parts = [
            segment[max(start - own, 0) : stop - own]
            for segment, own in zip(self.segments, self._starts.tolist(), strict=False)
            if own < stop and start < own + segment.shape[0]
        ]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([np.zeros((0, self.shape[1]), np.float32), *parts])

    def _gathered(self, rows: NDArray[np.int64]) -> Vectors:
        if len(self.segments) == 1:
            return self.segments[0][rows]
        owners = self._owners(rows)
        gathered = np.empty((len(rows), self.shape[1]), np.float32)
        for owner in sorted({*owners.tolist()}):  # `np.unique` imports masked arrays
            own = owners == owner
            gathered[own] = self.segments[owner][rows[own] - self._starts[owner]]
        return gathered


AnyVectors: TypeAlias = Vectors | VectorColumn
"""Float32 [n, d], as an array or in segments."""


def vectors_of(vectors: Vectors, rows: NDArray[np.integer[Any]]) -> Vectors:
    """Return the rows of an array, without a copy where they are consecutive.

    Passages are, where they were read first.

    Example:
        >>> vectors_of(np.eye(3, dtype=np.float32), np.array([1, 2], np.int32))
        array([[0., 1., 0.],
               [0., 0., 1.]], dtype=float32)
    """
    if are_consecutive(rows):
        return vectors if len(rows) == len(vectors) else vectors[rows[0] : rows[-1] + 1]
    chosen = np.empty((len(rows), vectors.shape[1]), vectors.dtype)
    height = MAPPED_ROWS if is_mapped(vectors) else COPIED_ROWS
    for start, block in in_blocks(rows, height):
        np.take(vectors, block, axis=0, out=chosen[start : start + len(block)], mode="clip")
        release_pages(vectors)
    return seal(chosen)


def take_vectors(vectors: AnyVectors, rows: NDArray[np.integer[Any]]) -> AnyVectors:
    """Return some rows of vectors, without a copy where they are a few runs.

    Example:
        >>> take_vectors(np.eye(3, dtype=np.float32), np.array([1, 2])).shape
        (2, 3)
    """
    if isinstance(vectors, VectorColumn):
        return vectors.take(rows)
    if len(rows) >= MIN_SHARED and np.count_nonzero(np.diff(rows) != 1) < MAX_RUNS:
        return VectorColumn.of(vectors).take(rows)
    return vectors_of(vectors, rows)


def products(vectors: AnyVectors, query: Vectors) -> Vectors:
    """Return the dot products of all rows with a vector: float32 [n].

    A row has the same product wherever it is. Not by `@`: BLAS sums in an order that depends on the
    row's place and the number of threads.

    Args:
        vectors: float32 [n, d].
        query: float32 [d].

    Example:
        >>> products(np.eye(2, dtype=np.float32), np.array([0.5, 0.25], np.float32)).tolist()
        [0.5, 0.25]
    """
    if isinstance(vectors, VectorColumn):
        return vectors.products(query)
    found: Vectors = np.einsum("ij,j->i", vectors, query)
    return found


def has_vector(vectors: AnyVectors) -> Mask:
    """Return True for the rows that are not all zeros: bool [n].

    Example:
        >>> has_vector(np.array([[0, 1], [0, 0]], np.float32))
        array([ True, False])
    """
    if isinstance(vectors, VectorColumn):
        return vectors.has_vector
    found = np.zeros(len(vectors), np.bool_)
    for start, block in in_blocks(vectors, COPIED_ROWS):
        own = np.any(block[:, :FIRST_COLUMNS], axis=1, out=found[start : start + len(block)])
        if len(doubtful := np.flatnonzero(~own)):  # few rows that are not all zeros begin so
            own[doubtful] = block[doubtful].any(axis=1)
    return found


def row_addresses(vectors: AnyVectors) -> NDArray[np.int64]:
    """Return where in memory each row is: rows with one address are the same.

    Example:
        >>> rows = np.eye(2, dtype=np.float32)
        >>> row_addresses(rows[1:]) == row_addresses(rows)[1:]
        array([ True])
    """
    return np.concatenate([one.addresses for one in VectorColumn.of(vectors).segments])


def with_rows(vectors: AnyVectors, new: Vectors) -> AnyVectors:
    """Return vectors with more behind them; those that were there are not copied, but a few.

    Args:
        vectors: float32 [n, d].
        new: float32 [m, d].
    """
    column = VectorColumn.of(vectors).with_rows(new)
    first = column.segments[0]
    if len(column.segments) == 1 and isinstance(first, DenseSegment):
        return first.array
    return column


def _without_short_ones(segments: Sequence[VectorSegment]) -> list[VectorSegment]:
    """Return the segments, with neighbours of few rows copied into one."""
    left: list[VectorSegment] = []
    for segment in segments:
        last = left[-1] if left else None
        if (
            isinstance(segment, DenseSegment)
            and isinstance(last, DenseSegment)
            and max(len(segment.array), len(last.array)) < MIN_ROWS
        ):
            left[-1] = DenseSegment(seal(np.concatenate([last.array, segment.array])))
        else:
            left.append(segment)
    return left


def _in_range(rows: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return rows from 0, of rows that may count from the end."""
    if len(rows) and (rows.min() < -n or rows.max() >= n):
        raise IndexError(f"rows from {rows.min()} to {rows.max()} are wanted of {n}")
    return np.where(rows < 0, rows + n, rows)


def _bounds(breaks: Mask, n: int) -> list[int]:
    """Return where runs begin, by whether one ends behind each row but the last; and the end."""
    return [0, *(np.flatnonzero(breaks) + 1).tolist(), n] if n else [0]


def _pairs(bounds: list[int]) -> Iterator[tuple[int, int]]:
    return pairwise(bounds)
