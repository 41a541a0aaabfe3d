"""Two kinds of column that a graph keeps beside its plain arrays: repeated words and lists of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Rows = NDArray[np.int32]
Mask = NDArray[np.bool_]


class _Nothing(Mapping[str, Any]):
    """A mapping of nothing that nobody can write to; unlike Python's own it can be copied and pickled."""

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"

    def __hash__(self) -> int:
        return 0

    def __reduce__(self) -> str:
        return "EMPTY"


EMPTY: Mapping[str, Any] = _Nothing()


def freeze(
    values: Any, dtype: type[np.generic], shape: tuple[int, ...] | None = None
) -> NDArray[Any]:
    """Return `values` as a contiguous array of `dtype` that nobody can write to: the caller's own array, if it can be, is copied."""
    array = np.ascontiguousarray(values, dtype=dtype)
    if (
        array.flags.writeable
        and isinstance(values, np.ndarray)
        and np.may_share_memory(array, values)
    ):
        array = array.copy()
    if shape is not None:
        array = array.reshape(shape)
    array = array.view()
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class Labels:
    """A column of words that repeat: every distinct word once, and a small number per row."""

    names: tuple[str, ...]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, words: Iterable[str]) -> Labels:
        words = list(words)
        names = tuple(sorted(set(words)))
        code = {name: i for i, name in enumerate(names)}
        return cls(names, freeze([code[word] for word in words], np.int32))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> str:
        return self.names[int(self.codes[row])]

    def __iter__(self) -> Iterator[str]:
        return (self.names[code] for code in self.codes)

    def mask(self, *names: str) -> Mask:
        """Return True for the rows whose word is one of `names`."""
        wanted = np.array([name in names for name in self.names], dtype=np.bool_)
        return wanted[self.codes] if len(self.names) else np.zeros(0, np.bool_)

    def take(self, rows: NDArray[Any]) -> Labels:
        """Return the column of the chosen rows; words that no row uses any more are forgotten."""
        used, codes = np.unique(self.codes[rows], return_inverse=True)
        return Labels(tuple(self.names[i] for i in used), freeze(codes, np.int32))

    @classmethod
    def join(cls, parts: Sequence[Labels]) -> Labels:
        names = tuple(sorted({name for part in parts for name in part.names}))
        code = {name: i for i, name in enumerate(names)}
        chunks = [
            np.array([code[n] for n in part.names], np.int32)[part.codes]
            for part in parts
            if len(part)
        ]
        return cls(names, freeze(np.concatenate(chunks) if chunks else [], np.int32))


@dataclass(frozen=True, eq=False)
class Ragged:
    """A list of rows for every row: list `i` is `values[starts[i]:starts[i + 1]]`."""

    starts: NDArray[np.int64]
    values: Rows

    @classmethod
    def of(cls, lists: Iterable[Iterable[int]]) -> Ragged:
        parts = [list(part) for part in lists]
        starts = np.zeros(len(parts) + 1, np.int64)
        np.cumsum([len(part) for part in parts], out=starts[1:])
        return cls(
            freeze(starts, np.int64), freeze([row for part in parts for row in part], np.int32)
        )

    @classmethod
    def empty(cls, length: int) -> Ragged:
        return cls(freeze(np.zeros(length + 1), np.int64), freeze([], np.int32))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> Rows:
        return self.values[self.starts[row] : self.starts[row + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.starts)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The row that each value belongs to, as long as `values`."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, rows: NDArray[Any]) -> Ragged:
        """Return the lists of the chosen rows."""
        rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else np.asarray(rows, np.int64)
        lengths = self.starts[rows + 1] - self.starts[rows]
        starts = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        inside = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        return Ragged(
            freeze(starts, np.int64),
            freeze(self.values[np.repeat(self.starts[rows], lengths) + inside], np.int32),
        )

    def renumbered(self, new: Rows) -> Ragged:
        """Return the lists with every value `v` replaced by `new[v]`; values whose new number is -1 are left out."""
        values = new[self.values] if len(self.values) else self.values
        kept = values >= 0
        starts = np.zeros(len(self) + 1, np.int64)
        np.cumsum(np.bincount(self.owners[kept], minlength=len(self)), out=starts[1:])
        return Ragged(freeze(starts, np.int64), freeze(values[kept], np.int32))

    @classmethod
    def join(cls, parts: Sequence[Ragged]) -> Ragged:
        lengths = (
            np.concatenate([part.lengths for part in parts]) if parts else np.zeros(0, np.int64)
        )
        starts = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        values: Any = np.concatenate([part.values for part in parts]) if parts else []
        return cls(freeze(starts, np.int64), freeze(values, np.int32))
