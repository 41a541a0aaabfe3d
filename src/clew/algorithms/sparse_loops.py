"""scipy's compiled loops over sparse matrices, without the rest of `scipy.sparse`.

To import that package takes a tenth of a second, since it looks at all of numpy. A process that
reads files needs two products of it. So the module with its loops is loaded by itself. That module
is no part of what scipy promises: where it is not there, or does not multiply as it should,
`scipy.sparse` multiplies, by the same loops.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PACKAGE, NAME = "scipy.sparse", "_sparsetools"
LOOPS = (
    "csr_matmat_maxnnz",
    "csr_matmat",
    "csr_sort_indices",
    "csr_todense",
    "csr_matvecs",
)
MAX_SHORT = 2**31 - 1  # the highest number of what is counted in four bytes


class SparseRows(NamedTuple):
    """A matrix of few entries, row by row.

    Attributes:
        starts: int [rows + 1], where the entries of each row start, and where the last ones end.
        columns: int [m], the column of each entry.
        values: float64 [m].
        width: the number of columns.
    """

    starts: NDArray[np.integer]
    columns: NDArray[np.integer]
    values: NDArray[np.float64]
    width: int


class _Places(NamedTuple):
    """Where the entries of the rows of a matrix start, and their columns; see `SparseRows`."""

    starts: NDArray[np.integer]
    columns: NDArray[np.integer]


def are_there_alone() -> bool:
    """Return whether the loops multiply without the package, which is not imported then.

    They are loaded for that, which takes less than a millisecond.
    """
    return _loops() is not None


def product(rows: SparseRows, other: SparseRows) -> SparseRows:
    """Return the product of two matrices, the columns of each row in ascending order.

    Example:
        >>> starts, columns = np.array([0, 2, 2]), np.array([0, 1])
        >>> rows = SparseRows(starts, columns, np.array([2.0, 3.0]), 2)
        >>> product(rows, rows).values.tolist()  # [[2, 3], [0, 0]] times itself
        [4.0, 6.0]
    """
    if (loops := _loops()) is None:
        by_scipy = _for_scipy(rows) @ _for_scipy(other)
        by_scipy.sort_indices()
        return SparseRows(by_scipy.indptr, by_scipy.indices, by_scipy.data, other.width)
    found = _product(loops, rows, other)
    starts, columns, values, _ = found
    loops.csr_sort_indices(len(starts) - 1, starts, columns, values)
    return found


def dense_product(rows: SparseRows, other: SparseRows) -> NDArray[np.float64]:
    """Return the product of two matrices as an array: float64 [rows, k].

    Example:
        >>> starts, columns = np.array([0, 2, 2]), np.array([0, 1])
        >>> rows = SparseRows(starts, columns, np.array([2.0, 3.0]), 2)
        >>> dense_product(rows, rows).tolist()
        [[4.0, 6.0], [0.0, 0.0]]
    """
    if (loops := _loops()) is None:
        by_scipy: NDArray[np.float64] = (_for_scipy(rows) @ _for_scipy(other)).toarray()
        return by_scipy
    found = np.zeros((len(rows.starts) - 1, other.width))
    starts, columns, values, _ = _product(loops, rows, other, found.size)
    loops.csr_todense(*found.shape, starts, columns, values, found)
    return found


def _product(
    loops: Any,  # noqa: ANN401  # a compiled module without types
    rows: SparseRows,
    other: SparseRows,
    entries: int | None = None,
) -> SparseRows:
    """Return the product of two matrices, the columns of each row in any order.

    Args:
        loops: the loops.
        rows: the matrix.
        other: the other one.
        entries: a number that the product has no more entries than; None to count them, which
            takes as long as to multiply.
    """
    shape = len(rows.starts) - 1, other.width
    own, others = _numbers(rows, other)
    dtype: type[np.integer] = np.int32
    if entries is None:
        entries = int(loops.csr_matmat_maxnnz(*shape, *own, *others))
    if entries > MAX_SHORT or own[0].dtype != dtype:
        dtype = np.int64
        own, others = (_Places(*(a.astype(dtype) for a in pair)) for pair in (own, others))
    starts, columns = np.zeros(shape[0] + 1, dtype), np.zeros(entries, dtype)
    values = np.zeros(entries)
    loops.csr_matmat(*shape, *own, rows.values, *others, other.values, starts, columns, values)
    return SparseRows(starts, columns, values, other.width)


def product_with_array(rows: SparseRows, other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the product of a matrix with an array: float64 [rows, k].

    Args:
        rows: the matrix.
        other: float64 [width, k].

    Example:
        >>> rows = SparseRows(np.array([0, 1]), np.array([1]), np.array([2.0]), 2)
        >>> product_with_array(rows, np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
        [[6.0, 8.0]]
    """
    if (loops := _loops()) is None:
        by_scipy: NDArray[np.float64] = _for_scipy(rows) @ other
        return by_scipy
    n, width = len(rows.starts) - 1, other.shape[1]
    found = np.zeros((n, width))
    (own,) = _numbers(rows)
    loops.csr_matvecs(n, rows.width, width, *own, rows.values, other.ravel(), found.ravel())
    return found


def _for_scipy(rows: SparseRows) -> Any:  # noqa: ANN401  # a class that is not imported before
    from scipy.sparse import csr_array

    starts, columns, values, width = rows
    return csr_array((values, columns, starts), shape=(len(starts) - 1, width))


def _numbers(*matrices: SparseRows) -> list[_Places]:
    """Return the starts and columns of matrices, all of one type."""
    highest = max(max(int(one.starts[-1]), one.width) for one in matrices)
    dtype = np.int32 if highest <= MAX_SHORT else np.int64
    return [
        _Places(np.ascontiguousarray(one.starts, dtype), np.ascontiguousarray(one.columns, dtype))
        for one in matrices
    ]


@lru_cache(maxsize=1)
def _loops() -> Any:  # noqa: ANN401  # a compiled module without types
    """Return the module with the loops; None where the package is to multiply."""
    if PACKAGE in sys.modules:
        return None
    loops = _load_alone()
    return loops if loops is not None and _multiplies(loops) else None


def _multiplies(loops: Any) -> bool:  # noqa: ANN401  # a compiled module without types
    """Return whether loops do as they did in the versions of scipy that clew is tested with."""
    places = np.array([0, 2, 3], np.int32), np.array([1, 0, 1], np.int32)
    rows, wanted = SparseRows(*places, np.array([3.0, 2.0, 5.0]), 2), [[4.0, 21.0], [0.0, 25.0]]
    found, by_array = np.zeros((2, 2)), np.zeros((2, 2))
    try:
        starts, columns, values, _ = _product(loops, rows, rows)
        loops.csr_sort_indices(2, starts, columns, values)
        loops.csr_todense(2, 2, starts, columns, values, found)
        loops.csr_matvecs(2, 2, 2, *rows[:3], np.array([2.0, 3.0, 0.0, 5.0]), by_array.ravel())
    except (TypeError, ValueError):
        return False
    is_sorted = columns.tolist() == [0, 1, 1]
    return is_sorted and found.tolist() == wanted and by_array.tolist() == wanted


def _load_alone() -> Any:  # noqa: ANN401  # a compiled module without types
    """Return the module with the loops; None where it is not found, or needs the package."""
    package, name = find_spec("scipy"), f"{PACKAGE}.{NAME}"
    folders = [] if package is None else package.submodule_search_locations or []
    files = (file for one in folders for file in Path(one, "sparse").glob(f"{NAME}.*"))
    for file in files:
        spec = spec_from_file_location(name, file)
        if spec is None or spec.loader is None:
            continue
        try:
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
        except ImportError:
            continue
        finally:
            sys.modules.pop(name, None)  # the package, once it is imported, loads it as its own
        if all(hasattr(module, one) for one in LOOPS):
            return module
    return None
