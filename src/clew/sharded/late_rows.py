"""Columns of what was pulled whose texts and vectors are made when a question asks for them.

A question pulls a thousand nodes and ten thousands of facts, reads the texts of a few, and compares
itself with the passages, if with anything.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from clew.forking import renew_after_fork
from clew.graph import (
    AnyVectors,
    DeferredSegment,
    Labels,
    Mask,
    Rows,
    VectorColumn,
    Vectors,
    distinct,
    has_vector,
    products,
    row_mask,
    seal,
    texts_at,
)

Numbers = NDArray[np.integer[Any]]


class TextsInColumns(Sequence[str]):
    """Texts that stay in the columns they are in: it does what a tuple of them does.

    Args:
        columns: The columns.
        owners: int [n], the place of the column that has each text.
        rows: int [n], the row that each text has there.

    Example:
        >>> texts = TextsInColumns([("sea", "isle"), ("port",)], np.array([1, 0]), np.array([0, 1]))
        >>> list(texts), texts[-1], texts[:1], texts.take(np.array([1])) == ("isle",)
        (['port', 'isle'], 'isle', ('port',), True)
    """

    __hash__ = None  # type: ignore[assignment]  # no two columns are compared by a hash

    def __init__(self, columns: Sequence[Sequence[str]], owners: Numbers, rows: Numbers) -> None:
        self.columns, self.owners, self.rows = tuple(columns), owners, rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[str, ...]: ...
    def __getitem__(self, row: int | slice) -> str | tuple[str, ...]:
        if isinstance(row, slice):
            return tuple(self.take(np.arange(len(self))[row]))
        return self.columns[self.owners.item(row)][self.rows.item(row)]

    def __iter__(self) -> Iterator[str]:
        texts = np.empty(len(self), object)
        for owner, column in enumerate(self.columns):
            own = np.flatnonzero(self.owners == owner)
            own = own[np.argsort(self.rows[own], kind="stable")]
            texts[own] = texts_at(column, self.rows[own].tolist())
        return iter(texts.tolist())

    def __add__(self, others: Sequence[str]) -> tuple[str, ...]:
        return (*self, *others)

    def __eq__(self, other: object) -> bool:
        return self is other or (
            tuple(self) == tuple(other)
            if isinstance(other, (tuple, TextsInColumns))
            else NotImplemented
        )

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[type[tuple[str, ...]], tuple[tuple[str, ...]]]:
        return tuple, (tuple(self),)

    def take(self, rows: Numbers) -> TextsInColumns:
        """Return the column of some rows."""
        return TextsInColumns(self.columns, self.owners[rows], self.rows[rows])


class WordNumbers:
    """Numbers of words, given to each as it first comes.

    Attributes:
        words: The words by their numbers; more may come.

    Example:
        >>> numbers = WordNumbers()
        >>> numbers.of(["sea", "isle", "sea"]), numbers.words, numbers.known("port")
        ([0, 1, 0], ['sea', 'isle'], None)
    """

    def __init__(self) -> None:
        self.words: list[str] = []
        self._numbers: dict[str, int] = {}
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Renew the lock: after a fork, another thread may have held it."""
        self._lock = threading.Lock()

    def of(self, words: Iterable[str]) -> list[int]:
        """Return the numbers of words, which they have from now on."""
        with self._lock:
            found = []
            for word in words:
                number = self._numbers.get(word)
                if number is None:
                    number = len(self.words)
                    self.words.append(word)  # first: a fork may leave it at that
                    self._numbers[word] = number
                found.append(number)
            return found

    def known(self, word: str) -> int | None:
        """Return the number of a word; None where it has come to nobody so far."""
        return self._numbers.get(word)


class NumberedLabels:
    """Words that repeat, of which those are numbered that are asked for.

    Args:
        labels: The words.
        numbers: Their numbers, which several columns may share.

    Example:
        >>> labels = NumberedLabels(Labels.of(["port", "sea", "isle"]), WordNumbers())
        >>> list(labels.at(np.array([1, 1, 2]))), labels.numbers.words
        (['sea', 'sea', 'isle'], ['isle', 'sea'])
    """

    def __init__(self, labels: Labels, numbers: WordNumbers) -> None:
        self.labels, self.numbers = labels, numbers
        self._number_of = np.full(len(labels.names), -1, np.int32)

    def at(self, rows: NDArray[np.integer]) -> LabelsOfMany:
        """Return the words of some rows."""
        codes = self.labels.codes[rows]
        used = distinct(codes)
        new = used[self._number_of[used] < 0]
        if len(new):
            self._number_of[new] = self.numbers.of(texts_at(self.labels.names, new.tolist()))
        return LabelsOfMany(self.numbers, seal(self._number_of[codes]))


class LabelsOfMany(Labels):
    """Words that repeat, of many of which few come: those are looked for when all are wanted.

    Args:
        words: The numbers of words.
        numbers: int32 [n], for every row the number of its word.

    Example:
        >>> words = WordNumbers()
        >>> labels = LabelsOfMany(words, np.array(words.of(["sea", "isle", "sea"]), np.int32))
        >>> labels[0], labels.has("port"), labels.mask("sea").tolist(), labels.names
        ('sea', False, [True, False, True], ('isle', 'sea'))
    """

    words: WordNumbers
    numbers: Rows

    def __init__(self, words: WordNumbers, numbers: Rows) -> None:
        self.__dict__.update(words=words, numbers=numbers)

    @cached_property
    def _used_ones(self) -> Labels:
        used, codes = np.unique(self.numbers, return_inverse=True)
        return Labels.of([self.words.words[number] for number in used.tolist()]).take(codes)

    @property
    def names(self) -> tuple[str, ...]:  # a field of what it is
        """Every word that a row has once, sorted."""
        return self._used_ones.names

    @property
    def codes(self) -> Rows:  # likewise
        """For every row the place of its word."""
        return self._used_ones.codes

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, row: int) -> str:
        return self.words.words[int(self.numbers[row])]

    def has(self, word: str) -> bool:
        """Return whether some row has a word."""
        return bool(self.mask(word).any())

    def mask(self, *names: str) -> Mask:
        """Return True for the rows whose word is one of `names`."""
        found = np.zeros(len(self), np.bool_)
        for number in map(self.words.known, names):
            if number is not None:
                found |= self.numbers == number
        return found

    def take(self, rows: NDArray[Any] | slice) -> Labels:
        """Return the column of the chosen rows."""
        return LabelsOfMany(self.words, seal(self.numbers[rows]))


class VectorsInColumns(DeferredSegment):
    """Vectors that stay in the columns they are in: a row is an array when it is asked for.

    Args:
        columns: The columns, all of one width.
        owners: int [n], the place of the column that has each vector.
        rows: int [n], the row that each vector has there.

    Example:
        >>> columns, rows = [np.eye(2, dtype=np.float32)], np.array([1, 0])
        >>> late = VectorsInColumns(columns, np.zeros(2, np.int8), rows)
        >>> late[np.array([0])].tolist(), late.is_made, late.products(np.float32([3, 4])).tolist()
        ([[0.0, 1.0]], False, [4.0, 3.0])
    """

    def __init__(self, columns: Sequence[AnyVectors], owners: Numbers, rows: Numbers) -> None:
        shape = len(rows), max((column.shape[1] for column in columns), default=0)
        self.__dict__.update(_shape=shape)  # without what makes all, which would hold itself
        self.__dict__.update(_columns=tuple(columns), _owners=owners, _rows=rows)

    @cached_property
    def array(self) -> Vectors:
        """All rows, from the time on that all are asked for."""
        return seal(self._of(slice(None)))

    @cached_property
    def has_vector(self) -> Mask:
        """Which rows are not all zeros; none is made for it where a column knows."""
        own = self.__dict__
        found = np.zeros(self.shape[0], np.bool_)
        for owner, column in enumerate(own["_columns"]):
            here = np.flatnonzero(own["_owners"] == owner)
            rows = own["_rows"][here]
            is_known = isinstance(column, VectorColumn)
            found[here] = column.has_vector[rows] if is_known else has_vector(column[rows])
        return found

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Vectors:
        return self.array[rows] if self.is_made else self._of(rows)

    def _of(self, rows: slice | NDArray[np.int64]) -> Vectors:
        own = self.__dict__
        owners, places = own["_owners"][rows], own["_rows"][rows]
        found = np.zeros((len(places), self.shape[1]), np.float32)
        for owner, column in enumerate(own["_columns"]):
            here = np.flatnonzero(owners == owner)
            if len(here):
                found[here] = column[places[here]]
        return found

    def take(self, rows: NDArray[np.int64]) -> DeferredSegment:
        """Return the segment of some rows."""
        own = self.__dict__
        taken = VectorsInColumns(own["_columns"], own["_owners"][rows], own["_rows"][rows])
        if self.is_made:
            taken.__dict__["array"] = self.array[rows]
        return taken


class FewVectors:
    """Rows of which few are not all zeros: a segment of a column, of which only these are kept.

    Args:
        n: The number of all rows.
        rows: int64 [k], those that have a vector, ascending.
        vectors: float32 [k, d], these.

    Example:
        >>> few = FewVectors(3, np.array([1]), np.float32([[0, 1]]))
        >>> few.shape, few.products(np.float32([0, 1])).tolist()
        ((3, 2), [0.0, 1.0, 0.0])
    """

    def __init__(self, n: int, rows: NDArray[np.int64], vectors: AnyVectors) -> None:
        self._n, self.rows, self.vectors = n, rows, vectors

    @classmethod
    def of(cls, vectors: AnyVectors) -> FewVectors:
        """Return the rows of a column as such a segment."""
        if isinstance(vectors, VectorColumn) and len(vectors.segments) == 1:
            only = vectors.segments[0]
            if isinstance(only, FewVectors):
                return only
        rows = np.flatnonzero(has_vector(vectors))
        return cls(len(vectors), rows, vectors[rows])

    @classmethod
    def joined(cls, parts: Sequence[FewVectors], rows: Sequence[Numbers], n: int) -> FewVectors:
        """Return the rows of several parts; of those that come for one row, the first.

        Args:
            parts: The parts.
            rows: Of each, the row that each of its rows has in the whole.
            n: The number of all rows.
        """
        found = np.concatenate([own[part.rows] for part, own in zip(parts, rows, strict=True)])
        some, first = np.unique(found, return_index=True)
        sizes = [len(part.rows) for part in parts]
        owners = np.repeat(np.arange(len(parts)), sizes)[first]
        places = np.concatenate([np.arange(size) for size in sizes])[first]
        late = VectorsInColumns([part.vectors for part in parts], owners, places)
        return cls(n, some.astype(np.int64), VectorColumn([late]))

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and of dimensions."""
        return self._n, self.vectors.shape[1]

    @cached_property
    def has_vector(self) -> Mask:
        """Which rows are not all zeros."""
        return row_mask(self.rows, self._n)

    @cached_property
    def array(self) -> Vectors:
        """All rows, of which those of zeros take no memory until somebody looks at them."""
        return seal(self[:])

    @property
    def addresses(self) -> NDArray[np.int64]:
        """Where in memory the one thing is that each row has to itself."""
        mask = self.has_vector
        return mask.ctypes.data + np.arange(len(mask), dtype=np.int64)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Vectors:
        chosen = np.arange(self._n)[rows]
        there = np.flatnonzero(self.has_vector[chosen])
        found = np.zeros((len(chosen), self.shape[1]), np.float32)
        found[there] = self.vectors[np.searchsorted(self.rows, chosen[there])]
        return found

    def take(self, rows: NDArray[np.int64]) -> FewVectors:
        """Return the segment of some rows."""
        there = np.flatnonzero(self.has_vector[rows])
        places = np.searchsorted(self.rows, rows[there])
        return FewVectors(len(rows), there, self.vectors[places])

    def compact(self) -> FewVectors:
        """Return the segment."""
        return self

    def products(self, query: Vectors) -> Vectors:
        """Return the dot products of the rows with a float32 vector: float32 [n]."""
        found = np.zeros(self._n, np.float32)
        found[self.rows] = products(self.vectors, query)
        return found

    def release_pages(self) -> None:
        """Do nothing: no file is mapped."""
