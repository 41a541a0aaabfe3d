"""What an embedder returns, checked and converted to unit rows."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from clew.graph import Floats, Vectors, freeze

WANTED = "an array [n, d] of numbers, or n lists of d numbers"

RawRows = NDArray[Any] | list[NDArray[Any]]


def normalize_vectors(
    vectors: object, texts: Sequence[str], width: int | None = None, zeros: bool = False
) -> Vectors:
    """Return an embedder's vectors as float32 rows of length 1.

    Args:
        vectors: what the embedder returned for `texts`: an array, tensor, sparse matrix, generator
            or list, of numbers of any type.
        texts: the texts, for the messages.
        width: the dimension that the vectors must have; None for any.
        zeros: whether a row of zeros is allowed.

    Raises:
        ValueError: a vector is missing, ragged, not finite, zero or of another dimension; the
            message names the first such text.
        TypeError: what came holds no numbers, or is awaitable.

    Example:
        >>> normalize_vectors([[3, 4], [0, 2]], ["one", "two"])
        array([[0.6, 0.8],
               [0. , 1. ]], dtype=float32)
    """
    matrix = to_array(vectors)
    is_scalar = isinstance(matrix, np.ndarray) and not matrix.ndim
    if is_scalar or len(matrix) != len(texts):
        came = f"a {type(vectors).__name__}" if is_scalar else f"{len(matrix)} vectors"
        raise ValueError(
            f"the embedder returned {came} for {len(texts)} texts; wanted {WANTED}, "
            "one row per text"
        )
    if not len(matrix):
        return freeze(np.zeros((0, width or 0)), np.float32)
    rows = _to_floats(matrix, texts, width)
    wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(wrong):
        raise ValueError(
            f"the vector of {_quote(texts[wrong[0]])} has NaN or infinite values"
            f"{_others(len(wrong) - 1)}"
        )
    largest = np.abs(rows).max(axis=1, keepdims=True)
    zero = np.flatnonzero(largest[:, 0] == 0)
    if len(zero) and not zeros:
        raise ValueError(
            f"the vector of {_quote(texts[zero[0]])} is all zeros: the embedder found nothing in "
            f"that text{_others(len(zero) - 1)}"
        )
    largest[zero] = 1
    rows = rows / largest  # first, so that no square leaves the range of floats
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    length[zero] = 1
    return freeze(rows / length, np.float32)


def to_array(raw: object) -> RawRows:
    """Return what an embedder returned as one array, or as a list of arrays where it is ragged.

    Raises:
        TypeError: what came is awaitable, a text, a mapping or a set, or cannot be iterated.

    Example:
        >>> to_array(iter([[1, 2], [3, 4]]))
        array([[1, 2],
               [3, 4]])
    """
    if inspect.isawaitable(raw):
        if hasattr(raw, "close"):
            raw.close()
        raise TypeError(
            "the embedder returned an awaitable; give a plain callable, or a framework's embedder, "
            "which has both"
        )
    is_iterable = hasattr(raw, "__iter__") or hasattr(raw, "__array__")
    if isinstance(raw, (str, bytes, Mapping, set, frozenset)) or not is_iterable:
        raise TypeError(f"the embedder returned a {type(raw).__name__}; wanted {WANTED}")
    if hasattr(raw, "toarray"):  # a sparse matrix
        return cast("NDArray[Any]", raw.toarray())
    if hasattr(raw, "detach"):  # a tensor, perhaps of a type that numpy has not (bfloat16)
        return cast("NDArray[Any]", raw.detach().cpu().float().numpy())
    if hasattr(raw, "__array__"):
        array = np.asarray(raw)
        if array.ndim != 1 or array.dtype != object:  # else a column of lists, as in a table
            return array
    return _stack(cast("Iterable[object]", raw))


def _stack(raw: Iterable[object]) -> RawRows:
    rows = [
        to_array(row) if hasattr(row, "detach") or hasattr(row, "toarray") else row for row in raw
    ]
    try:
        return np.asarray(rows)
    except ValueError:  # ragged
        return [np.asarray(row, object) for row in rows]


def _to_floats(matrix: RawRows, texts: Sequence[str], width: int | None) -> Floats:
    """The rows as float64 [n, width]; the first row's width if that is None."""
    wanted = np.size(matrix[0]) if width is None else width
    rectangular = isinstance(matrix, np.ndarray)  # then the first row stands for all
    for row, text in zip(matrix[:1] if rectangular else matrix, texts, strict=not rectangular):
        if np.ndim(row) != 1 or not len(row):
            raise ValueError(
                f"the vector of {_quote(text)} came as an array of shape {np.shape(row)}; "
                f"wanted {WANTED}"
            )
        if len(row) != wanted:
            raise ValueError(
                f"the vector of {_quote(text)} has {len(row)} dimensions; wanted {wanted}, "
                "as the others have"
            )
    if isinstance(matrix, np.ndarray) and matrix.dtype.kind not in "fiubO":
        raise TypeError(f"the vectors hold values of type {matrix.dtype}; wanted {WANTED}")
    try:
        return np.asarray(matrix, np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the vectors hold values that are not numbers ({error}); wanted {WANTED}"
        ) from error


def _others(count: int) -> str:
    return f", as have {count:,} more of its batch" if count else ""


def _quote(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
