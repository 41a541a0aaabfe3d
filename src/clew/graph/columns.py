"""The kinds of column that a graph is made of: frozen arrays, repeated words and lists of rows.

The arrays have short names here: `Rows` (int32), `Vectors` (float32), `Floats` (float64) and
`Mask` (bool).
"""

from __future__ import annotations

import mmap
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NoReturn, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.graph.copied_at_once import CopiedAtOnce
from clew.graph.long_tuples import pick, places_among

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Rows = NDArray[np.int32]
Mask = NDArray[np.bool_]

Float = TypeVar("Float", bound=np.floating[Any])
Scalar = TypeVar("Scalar", bound=np.generic)
Value = TypeVar("Value", bound=np.generic, covariant=True)


COPIED_ROWS = 512
MIN_BISECTED = 16  # names for each that is looked for among them without a dictionary
MAX_INSERTED = 64  # names that are put among others one by one
LOOKED_AT = 4096  # rows that are looked at first, to see whether every word is used
MAX_ABSENT = 1000  # values that are left out one by one
RELEASED_BYTES = 32 * 2**20  # of a mapped file are read before its pages are released


class Blocks(Protocol[Value]):
    """What gives blocks of rows: an array, or a column of another kind."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice, /) -> NDArray[Value]: ...


@runtime_checkable
class Paged(Protocol):
    """What can let go the pages of the files that it maps."""

    def release_pages(self) -> None: ...


class _EmptyMapping(Mapping[str, Any]):
    """A mapping without entries. It is immutable and, unlike `MappingProxyType`, can be pickled."""

    def __getitem__(self, key: str) -> NoReturn:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __contains__(self, key: object) -> bool:
        return False  # as `get`

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 - as in `Mapping`
        return default  # without the error of a missing key, which takes longer than the rest

    def __repr__(self) -> str:
        return "{}"

    def __hash__(self) -> int:
        return 0

    def __reduce__(self) -> str:
        return "EMPTY"


EMPTY: Mapping[str, Any] = _EmptyMapping()


def freeze(
    values: ArrayLike, dtype: type[np.generic], shape: tuple[int, ...] | None = None
) -> NDArray[Any]:
    """Return `values` as a contiguous, read-only array.

    The caller's own array stays writeable: it is copied if it could change the result.

    Args:
        values: an array, or whatever numpy converts to one.
        dtype: the type of the result.
        shape: the shape of the result; None keeps that of `values`.

    Example:
        >>> freeze([1, 2], np.int32)
        array([1, 2], dtype=int32)
        >>> freeze([1, 2], np.int32).flags.writeable
        False
    """
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


def seal(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a contiguous array that nobody else has, read-only; unlike `freeze` it copies nothing.

    Example:
        >>> seal(np.zeros(2)).flags.writeable
        False
    """
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array.view()


def are_consecutive(rows: NDArray[np.integer[Any]]) -> bool:
    """Return whether rows are one run, each the next of the one before, and at least one.

    Example:
        >>> are_consecutive(np.array([3, 4])), are_consecutive(np.array([3, 5]))
        (True, False)
    """
    return bool(
        len(rows) and rows[-1] - rows[0] == len(rows) - 1 and (rows[1:] - rows[:-1] == 1).all()
    )


def in_blocks(rows: Blocks[Scalar], height: int) -> Iterator[tuple[int, NDArray[Scalar]]]:
    """Yield blocks of rows, each with the number of its first, to be read once each.

    Of a mapped file no more than some blocks are in memory.

    Example:
        >>> [(start, len(block)) for start, block in in_blocks(np.zeros((5, 2)), 2)]
        [(0, 2), (2, 2), (4, 1)]
    """
    read = 0
    for start in range(0, len(rows), height):
        block = rows[start : start + height]
        yield start, block
        read += block.nbytes
        if read > RELEASED_BYTES:
            release_pages(rows)
            read = 0
    release_pages(rows)


def row_blocks(starts: NDArray[np.int64], height: int) -> Iterator[tuple[int, int]]:
    """Yield runs of rows, first and end, that have about `height` values each, of at least one row.

    Args:
        starts: int64 [n + 1], where the values of each row begin, and the end of the last.
        height: values of a run.

    Example:
        >>> list(row_blocks(np.array([0, 2, 3, 9, 9, 10]), 4))
        [(0, 2), (2, 3), (3, 5)]
    """
    first, n = 0, len(starts) - 1
    while first < n:
        last = int(np.searchsorted(starts, starts[first] + height, side="right")) - 1
        last = min(max(last, first + 1), n)
        yield first, last
        first = last


def release_pages(array: object) -> None:
    """Let the system take back the memory of a mapped file's pages; nothing else changes.

    A page that is needed again is mapped again. What maps no file stays as it is.

    Args:
        array: an array, or a column that has a method of this name.
    """
    if not isinstance(array, np.ndarray) and isinstance(array, Paged):  # which takes long to tell
        array.release_pages()
    base = _base_of(array)
    if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
        base.madvise(mmap.MADV_DONTNEED)


def is_mapped(array: object) -> bool:
    """Return whether an array is mapped from a file.

    Example:
        >>> is_mapped(np.zeros(2))
        False
    """
    return isinstance(_base_of(array), mmap.mmap)


def _base_of(array: object) -> Any:  # noqa: ANN401  # whatever numpy keeps
    """Return what an array is a view of in the end, or the array."""
    base: Any = array
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    return base


def row_mask(rows: ArrayLike, n: int) -> Mask:
    """Return a mask of `n` rows that is True for the given ones.

    Example:
        >>> row_mask([0, 2], 4)
        array([ True, False,  True, False])
    """
    mask = np.zeros(n, np.bool_)
    mask[np.asarray(rows, np.int64)] = True
    return mask


def expand_ranges(starts: NDArray[np.integer], lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the integers of several ranges, one range after the other.

    Range `i` is `starts[i], starts[i] + 1, ..., starts[i] + lengths[i] - 1`. With the starts and
    the lengths of some compressed rows, these are the slots of the rows.

    Args:
        starts: the first integer of every range.
        lengths: the number of integers in every range, >= 0.

    Example:
        >>> expand_ranges(np.array([5, 0, 8]), np.array([2, 0, 3]))
        array([ 5,  6,  8,  9, 10])
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    integers: NDArray[np.int64] = np.arange(total) + np.repeat(starts - ends + lengths, lengths)
    return integers


def offsets_of(lengths: ArrayLike) -> NDArray[np.int64]:
    """Return where each of several consecutive lists starts, and where the last one ends.

    Example:
        >>> offsets_of([2, 0, 3])
        array([0, 2, 2, 5])
    """
    lengths = np.asarray(lengths, np.int64)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def distinct(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return the different values of an array, ascending.

    From numpy 2.3 on, `np.unique` by itself puts whole numbers into a table, which takes ten to
    thirty times as long as to sort them where most are different. It sorts where it counts them.

    Example:
        >>> distinct(np.array([[3, 1], [1, 2]]))
        array([1, 2, 3])
    """
    found: NDArray[Scalar] = np.unique(values, return_counts=True)[0]
    return found


def first_places(numbers: NDArray[np.integer[Any]], n: int) -> NDArray[np.int64]:
    """Return the place at which each number below `n` comes first; any place if it does not come.

    Example:
        >>> first_places(np.array([1, 0, 1]), 2)
        array([1, 0])
    """
    places = np.empty(n, np.int64)
    places[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)  # the first is put there last
    return places


def unit_rows(rows: NDArray[Float]) -> NDArray[Float]:
    """Return the rows of a float matrix, each divided by its length; rows of zeros stay zeros.

    Example:
        >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
        array([[0.6, 0.8],
               [0. , 0. ]])
    """
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    scaled: NDArray[Float] = rows / lengths
    return scaled


@dataclass(frozen=True, eq=False)
class Labels(CopiedAtOnce):
    """A column of words that repeat.

    Attributes:
        names: every distinct word once, sorted.
        codes: int32 [n], for every row the place of its word in `names`.

    Example:
        >>> labels = Labels.of(["passage", "entity", "passage"])
        >>> labels.names, labels[2]
        (('entity', 'passage'), 'passage')
        >>> labels.mask("entity")
        array([False,  True, False])
    """

    names: tuple[str, ...]
    codes: Rows

    @classmethod
    def of(cls, words: Iterable[str]) -> Labels:
        """Return the column of these words, one a row."""
        words = list(words)
        names = tuple(sorted(set(words)))
        code = {name: i for i, name in enumerate(names)}
        return cls(names, freeze([code[word] for word in words], np.int32))

    @classmethod
    def alike(cls, word: str, length: int) -> Labels:
        """Return the column of one word in all rows."""
        return cls((word,) if length else (), seal(np.zeros(length, np.int32)))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> str:
        return self.names[int(self.codes[row])]

    def __iter__(self) -> Iterator[str]:
        return (self.names[code] for code in self.codes)

    def has(self, word: str) -> bool:
        """Return whether a word is one of the names.

        Example:
            >>> Labels.of(["passage", "entity"]).has("entity")
            True
        """
        return word in self.names

    def mask(self, *names: str) -> Mask:
        """Return True for the rows whose word is one of `names`."""
        wanted = np.fromiter(map(names.__contains__, self.names), np.bool_, len(self.names))
        return wanted[self.codes] if len(self.names) else np.zeros(0, np.bool_)

    def take(self, rows: NDArray[Any] | slice) -> Labels:
        """Return the column of the chosen rows; a word that no row uses any more is dropped."""
        taken = Labels(self.names, seal(self.codes[rows].astype(np.int32, copy=False)))
        is_used = taken._used
        if not is_used.all():
            used = np.flatnonzero(is_used)
            number_of = np.zeros(len(self.names), np.int32)
            number_of[used] = np.arange(len(used), dtype=np.int32)
            taken = Labels(pick(self.names, used), seal(number_of[taken.codes]))
        return taken._known_sorted() if self.__dict__.get("is_sorted") else taken

    def between(self, start: int, end: int) -> Labels:
        """Return the column of the rows from one on, and before another, without a copy.

        A word that no row uses any more stays.
        """
        some = Labels(self.names, self.codes[start:end])
        return some._known_sorted() if self.__dict__.get("is_sorted") else some

    @classmethod
    def join(cls, parts: Sequence[Labels]) -> Labels:
        """Return the columns one after the other."""
        names = _joined_names(parts)
        chunks = [
            part.codes
            if part.names is names or part.names == names[: len(part.names)]
            else _places(part.names, names)[part.codes]
            for part in parts
            if len(part)
        ]
        codes = seal(np.concatenate([freeze([], np.int32), *chunks]))
        return cls(names, codes)._known_sorted()

    @cached_property
    def are_used(self) -> bool:
        """Whether every word is that of some row."""
        return bool(self._used.all())

    @property
    def _used(self) -> Mask:
        """Whether each word is that of some row; few rows show it where there are few words."""
        used, start, size = np.zeros(len(self.names), np.bool_), 0, LOOKED_AT
        while start < len(self.codes) and not used.all():
            used[self.codes[start : start + size]] = True
            start, size = start + size, 2 * size
        return used

    @cached_property
    def is_sorted(self) -> bool:
        """Whether the words are sorted, as they are but in a column that others have made."""
        return all(map(str.__lt__, self.names, self.names[1:]))

    def _known_sorted(self) -> Labels:
        """Return the column, of whose words it is known that they are sorted."""
        self.__dict__["is_sorted"] = True  # where the property keeps what it has found
        return self


def _places(names: tuple[str, ...], all_names: tuple[str, ...]) -> Rows:
    """Return where each of some names is among all, which are sorted."""
    if len(names) <= len(all_names) // MIN_BISECTED:
        return np.array([bisect_left(all_names, name) for name in names], np.int32)
    return places_among(names, all_names)


def _joined_names(parts: Sequence[Labels]) -> tuple[str, ...]:
    """Return all words once, sorted: the very tuple of a part that has them all."""
    most = max(parts, key=lambda part: len(part.names), default=Labels((), freeze([], np.int32)))
    first = most.names
    new = {name for part in parts if part.names is not first for name in part.names}
    if most.is_sorted:
        if len(new) > len(first) // MIN_BISECTED:
            new.difference_update(first)
        new = {
            name
            for name in new
            if (at := bisect_left(first, name)) == len(first) or first[at] != name
        }
        if not new:
            return first
        if len(new) <= MAX_INSERTED:
            names = list(first)
            for name in new:
                insort(names, name)
            return tuple(names)
    return tuple(sorted((*first, *new)))


@dataclass(frozen=True, eq=False)
class Ragged:
    """A list of rows for every row: list `i` is `values[starts[i]:starts[i + 1]]`.

    Attributes:
        starts: int64 [n + 1], where each list begins, and the end of the last.
        values: int32, all lists one after the other.

    Example:
        >>> ragged = Ragged.of([[3, 1], [], [2]])
        >>> ragged[0], len(ragged)
        (array([3, 1], dtype=int32), 3)
        >>> ragged.lengths, ragged.owners
        (array([2, 0, 1]), array([0, 0, 2]))
    """

    starts: NDArray[np.int64]
    values: Rows

    @classmethod
    def of(cls, lists: Iterable[Iterable[int]]) -> Ragged:
        """Return the column of these lists, one a row."""
        parts = [list(part) for part in lists]
        starts = offsets_of([len(part) for part in parts])
        values = [row for part in parts for row in part]
        return cls(freeze(starts, np.int64), freeze(values, np.int32))

    @classmethod
    def empty(cls, length: int) -> Ragged:
        """Return `length` empty lists."""
        return cls(seal(np.zeros(length + 1, np.int64)), freeze([], np.int32))

    @classmethod
    def grouped(cls, rows: NDArray[np.integer[Any]], n: int) -> Ragged:
        """Return for each of n rows the places at which it comes, ascending.

        Example:
            >>> list(Ragged.grouped(np.array([2, 0, 2]), 3))
            [array([1], dtype=int32), array([], dtype=int32), array([0, 2], dtype=int32)]
        """
        from scipy.sparse import coo_array  # which loads slowly

        # One walk over the places; to sort them takes four times as long.
        ones, places = np.ones(len(rows), np.bool_), np.arange(len(rows), dtype=np.int32)
        grouped = coo_array((ones, (rows, places)), shape=(n, len(rows))).tocsr()
        return cls(freeze(grouped.indptr, np.int64), freeze(grouped.indices, np.int32))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> Rows:
        return self.values[self.starts[row] : self.starts[row + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The length of every list."""
        return self.starts[1:] - self.starts[:-1]

    @property
    def owners(self) -> NDArray[np.int64]:
        """The row that each value belongs to, as long as `values`."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def owners_of(self, chosen: Mask) -> NDArray[np.int64]:
        """Return the rows whose lists have a chosen value, each as often as it has some.

        Args:
            chosen: bool [rows that the values name].

        Example:
            >>> Ragged.of([[1], [], [1, 0], [0]]).owners_of(np.array([False, True]))
            array([0, 2])
        """
        places = np.flatnonzero(chosen[self.values])
        return np.searchsorted(self.starts, places, side="right") - 1

    def take(self, rows: NDArray[Any]) -> Ragged:
        """Return the lists of the chosen rows: row numbers, or a mask of all rows."""
        rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else np.asarray(rows, np.int64)
        if not len(self.values):
            return Ragged.empty(len(rows))
        if are_consecutive(rows):
            starts = self.starts[rows[0] : rows[-1] + 2]
            return Ragged(freeze(starts - starts[0], np.int64), self.values[starts[0] : starts[-1]])
        lengths = self.starts[rows + 1] - self.starts[rows]
        slots = expand_ranges(self.starts[rows], lengths)
        return Ragged(seal(offsets_of(lengths)), seal(self.values[slots]))

    def between(self, start: int, end: int) -> Ragged:
        """Return the lists from one on, and before another; their values are not copied."""
        starts = self.starts[start : end + 1]
        first = starts[0]
        return Ragged(starts - first if first else starts, self.values[first : starts[-1]])

    def renumbered(self, new: Rows) -> Ragged:
        """Return the lists with every value `v` replaced by `new[v]`, or left out if that is -1."""
        values = new[self.values] if len(self.values) else self.values
        absent = np.flatnonzero(values < 0)
        if not len(absent):
            return Ragged(self.starts, seal(values))
        if len(absent) > MAX_ABSENT:
            present = values >= 0
            return Ragged(seal(offsets_of(present)[self.starts]), seal(values[present]))
        starts = self.starts.copy()  # each is less by those left out before it
        places = np.searchsorted(starts, absent, side="right").tolist()
        for n_before, (first, last) in enumerate(pairwise([*places, len(starts)]), 1):
            starts[first:last] -= n_before
        return Ragged(seal(starts), seal(np.delete(values, absent)))

    @classmethod
    def join(cls, parts: Sequence[Ragged]) -> Ragged:
        """Return the lists of all parts, one part after the other."""
        if not parts:
            return cls.empty(0)
        firsts = offsets_of([len(part.values) for part in parts])
        bounds = offsets_of([len(part) for part in parts])
        starts = np.empty(bounds[-1] + 1, np.int64)
        for part, first, (start, end) in zip(parts, firsts, pairwise(bounds), strict=False):
            np.add(part.starts[:-1], first, out=starts[start:end])
        starts[-1] = firsts[-1]
        return cls(seal(starts), seal(np.concatenate([part.values for part in parts])))
