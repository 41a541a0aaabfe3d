"""Sparse matrices by rows, of numpy's arrays: what a new process needs before its first answer.

To import scipy's sparse arrays takes twice as long as a question. So matrices are multiplied by its
loops alone, see `clew.algorithms.sparse_loops`. Where these cannot be loaded by themselves, numpy
multiplies what has few entries, and scipy what has many. All add in the order of the columns.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms import sparse_loops
from clew.graph import Floats, Mask, expand_ranges, freeze, offsets_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Slots = NDArray[np.int64]

MAX_BY_NUMPY = 10_000  # entries of a product: some 20 ms, for which scipy is not imported


@dataclass(frozen=True, eq=False)
class CompressedRows:
    """A matrix of few entries, row by row.

    Attributes:
        starts: int64 [rows + 1], where the entries of each row start, and where the last ones end.
        columns: int32 [m], the column of each entry, ascending in a row.
        values: float [m].
        width: the number of columns.

    Example:
        >>> matrix = CompressedRows.counted([0, 0, 1, 0], [2, 1, 0, 2], (2, 3))
        >>> matrix.dense().tolist()
        [[0.0, 1.0, 2.0], [1.0, 0.0, 0.0]]
    """

    starts: Slots
    columns: NDArray[np.int32]
    values: NDArray[Any]
    width: int

    @classmethod
    def counted(
        cls,
        rows: Sequence[int] | NDArray[Any],
        columns: Sequence[int] | NDArray[Any],
        shape: tuple[int, int],
        dtype: type[np.floating[Any]] = np.float64,
    ) -> CompressedRows:
        """Return how often each place comes.

        Args:
            rows: the row of each place, in any order.
            columns: its column.
            shape: the number of rows and of columns.
            dtype: the type of the counts.
        """
        # Short keys are sorted in half the time.
        is_short = shape[0] * shape[1] < 1 << 32
        keys: NDArray[Any] = np.array(rows, np.uint32 if is_short else np.int64)
        keys *= keys.dtype.type(shape[1])
        keys += np.asarray(columns).astype(keys.dtype, copy=False)
        keys.sort()
        is_first = np.ones(len(keys), np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
        firsts = np.flatnonzero(is_first)  # by which keys are taken in a fraction of the time
        keys, places = keys[firsts], np.append(firsts, len(is_first))
        counts = np.empty(len(keys), dtype)
        np.subtract(places[1:], places[:-1], out=counts, casting="unsafe")
        del firsts, places, is_first  # as long as the text: not beside what `_of_keys` makes
        return cls._of_keys(keys, counts, shape)

    @classmethod
    def summed(
        cls,
        rows: NDArray[Any],
        columns: NDArray[Any],
        values: NDArray[Any],
        shape: tuple[int, int],
    ) -> CompressedRows:
        """Return the matrix of some entries; those of one place are added in their order.

        Args:
            rows: the row of each entry, in any order.
            columns: its column.
            values: its value.
            shape: the number of rows and of columns.
        """
        keys = np.asarray(rows, np.int64) * shape[1] + columns
        order = np.argsort(keys, kind="stable")  # takes little time where they ascend already
        keys = keys[order]
        is_first = np.ones(len(keys), np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
        sums = np.bincount(np.cumsum(is_first) - 1, values[order])
        return cls._of_keys(keys[is_first], sums.astype(values.dtype), shape)

    @classmethod
    def _of_keys(
        cls, keys: NDArray[np.integer], values: NDArray[Any], shape: tuple[int, int]
    ) -> CompressedRows:
        """Return the matrix with entries at different keys, row * width + column, ascending."""
        width = max(shape[1], 1)
        bounds = np.arange(1, shape[0] + 1, dtype=np.int64) * width
        starts = np.searchsorted(keys, (bounds - 1).astype(keys.dtype), side="right")
        columns = (keys % keys.dtype.type(width)).astype(np.int32)
        return cls(np.concatenate([[0], starts]), columns, values, shape[1])

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Slots:
        """The number of entries of every row."""
        return self.starts[1:] - self.starts[:-1]  # `np.diff` takes ten times as long for few rows

    @property
    def rows(self) -> Slots:
        """The row of every entry."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def with_values(self, values: NDArray[Any]) -> CompressedRows:
        """Return the matrix with other values at the same places."""
        return replace(self, values=values)

    def part(self, start: int, end: int) -> CompressedRows:
        """Return some rows, one after the other."""
        starts = self.starts[start : end + 1]
        some = slice(int(starts[0]), int(starts[-1]))
        return replace(
            self, starts=starts - starts[0], columns=self.columns[some], values=self.values[some]
        )

    def take(self, rows: Slots) -> CompressedRows:
        """Return some rows, in any order."""
        lengths = self.lengths[rows]
        places = expand_ranges(self.starts[rows], lengths)
        return replace(
            self,
            starts=offsets_of(lengths),
            columns=self.columns[places],
            values=self.values[places],
        )

    @classmethod
    def stacked(cls, parts: Sequence[CompressedRows]) -> CompressedRows:
        """Return the rows of matrices of one width, one matrix below the other."""
        return cls(
            offsets_of(np.concatenate([part.lengths for part in parts])),
            np.concatenate([part.columns for part in parts]),
            np.concatenate([part.values for part in parts]),
            parts[0].width,
        )

    def with_columns(self, stays: Mask) -> CompressedRows:
        """Return the columns that stay, renumbered."""
        places, numbers = np.flatnonzero(stays[self.columns]), np.cumsum(stays, dtype=np.int32) - 1
        starts = np.searchsorted(places, self.starts)
        columns = numbers[self.columns[places]]
        return CompressedRows(starts, columns, self.values[places], int(stays.sum()))

    def dense(self) -> Floats:
        """Return the matrix as an array, float64 [rows, width]."""
        array = np.zeros((len(self), self.width))
        array[self.rows, self.columns] = self.values
        return array

    def times(self, other: CompressedRows) -> CompressedRows:
        """Return the product with another such matrix [width, k]."""
        lengths = other.lengths[self.columns]
        shape = (len(self), other.width)
        if _is_for_scipy(int(lengths.sum())):
            product = sparse_loops.product(self._for_loops(), other._for_loops())
            columns = product.columns.astype(np.int32, copy=False)
            starts = freeze(product.starts, np.int64)
            return CompressedRows(starts, columns, product.values, other.width)
        entries = np.repeat(np.arange(len(self.columns)), lengths)
        before = np.repeat(offsets_of(lengths)[:-1], lengths)
        places = other.starts[self.columns][entries] + np.arange(len(entries)) - before
        values = self.values[entries] * other.values[places]
        return CompressedRows.summed(self.rows[entries], other.columns[places], values, shape)

    def dense_product(self, other: CompressedRows) -> Floats:
        """Return the product with another such matrix [width, k] as an array, float64."""
        if _is_for_scipy(int(other.lengths[self.columns].sum())):
            return sparse_loops.dense_product(self._for_loops(), other._for_loops())
        return self.times(other).dense()

    def times_dense(self, other: Floats) -> Floats:
        """Return the product with an array, float64 [width, k]."""
        if _is_for_scipy(len(self.values)):
            return sparse_loops.product_with_array(self._for_loops(), other)
        product = np.zeros((len(self), other.shape[1]))
        for row, column, value in zip(self.rows, self.columns, self.values, strict=True):
            product[row] += value * other[column]
        return product

    def _for_loops(self) -> sparse_loops.SparseRows:
        return sparse_loops.SparseRows(
            self.starts, self.columns, self.values.astype(np.float64, copy=False), self.width
        )

    def for_scipy(self) -> csr_array[Any, tuple[int, int]]:
        """Return the matrix as a scipy CSR array, which shares the arrays."""
        from scipy.sparse import csr_array

        parts = (self.values, self.columns, self.starts)
        return csr_array(parts, shape=(len(self), self.width))


def _is_for_scipy(entries: int) -> bool:
    """Return whether scipy's loops compute a product of so many entries."""
    return entries > MAX_BY_NUMPY or sparse_loops.are_there_alone() or "scipy.sparse" in sys.modules
