"""Columns of texts, lists and labels as arrays, and back.

Every distinct text is written once, and columns hold small numbers in its place.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from itertools import chain, islice, pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.graph import AnyVectors, Labels, Ragged, Rows, freeze, offsets_of
from clew.store.manifest import TEXT_BLOCKS as BLOCKS
from clew.store.narrow import widening
from clew.store.text_bytes import CompressedBytes, PlainBytes, TextBytes, compress_blocks
from clew.store.text_column import ENCODING, StringTable, TextColumn, texts_of

Arrays = dict[str, NDArray[Any]]

RUN = "strings.bytes"  # all texts as they are
MIN_STORED = 10_000  # texts in all that stay as they were saved; fewer are made at once
ENCODED = 4096  # texts that are encoded at once
MAX_ONE_BY_ONE = 4  # parts of a text that are made one by one, which takes less than a run


class ColumnWriter:
    """Makes the arrays of columns.

    Example:
        >>> writer = ColumnWriter()
        >>> writer.texts("titles", ["sea", "island", "sea"])
        >>> writer.done()["titles"].tolist()
        [0, 1, 0]
    """

    def __init__(self) -> None:
        self.arrays: Arrays = {}
        self._codes = _Codes()

    def numbers(self, name: str, array: ArrayLike, dtype: type[np.generic] | None = None) -> None:
        """Write a column of numbers."""
        self.arrays[name] = np.asarray(array, dtype)

    def vectors(self, name: str, vectors: AnyVectors) -> None:
        """Write a column of vectors, which are copied when the file is written, if at all."""
        self.arrays[name] = cast("NDArray[Any]", vectors)

    def texts(self, name: str, texts: Iterable[str | None]) -> None:
        """Write a column of texts, or None."""
        own = texts if isinstance(texts, Sequence) else list(texts)
        try:
            self.arrays[name] = np.array(array("i", map(self._codes.__getitem__, own)), np.int32)
        except TypeError:
            wrong = next((one for one in own if not isinstance(one, str | None)), None)
            if wrong is None:
                raise
            raise TypeError(
                f"{name} has {wrong!r}, a {type(wrong).__name__}; only texts can be saved there"
            ) from None

    def lists(self, name: str, lists: Sequence[Sequence[str]]) -> None:
        """Write a column of lists of texts."""
        self.numbers(f"{name}.starts", np.cumsum([0, *map(len, lists)]), np.int64)
        self.texts(f"{name}.values", chain.from_iterable(lists))

    def labels(self, name: str, labels: Labels) -> None:
        """Write a column of labels."""
        self.texts(f"{name}.names", labels.names)
        self.numbers(f"{name}.codes", labels.codes, np.int32)

    def ragged(self, name: str, ragged: Ragged) -> None:
        """Write a column of lists of rows."""
        self.numbers(f"{name}.starts", ragged.starts, np.int64)
        self.numbers(f"{name}.values", ragged.values, np.int32)

    def done(self) -> Arrays:
        """Return all arrays, with the texts as one run of UTF-8 and where each begins."""
        words = [text.encode(*ENCODING) for text in self._codes]
        strings: Arrays = {
            "strings.starts": np.cumsum([0, *map(len, words)], dtype=np.int64),
            RUN: np.frombuffer(b"".join(words), np.uint8),
        }
        return self.arrays | strings

    def done_in_blocks(self) -> Arrays:
        """Return all arrays, with the texts compressed, block by block, and where each begins.

        The run of all is at no time in memory.
        """
        lengths = array("q")

        def encoded() -> Iterator[bytes]:
            texts = iter(self._codes)
            while some := [text.encode(*ENCODING) for text in islice(texts, ENCODED)]:
                lengths.extend(map(len, some))
                yield b"".join(some)

        frames, starts = compress_blocks(encoded())
        strings: Arrays = {
            "strings.starts": offsets_of(np.array(lengths, np.int64)),
            BLOCKS: frames,
            f"{BLOCKS}.starts": starts,
        }
        return self.arrays | strings


class _Codes(dict[str, int]):
    """The number of each text, in the order in which they come first; that of None is -1."""

    def __missing__(self, text: object) -> int:
        if text is None:
            return -1
        if not isinstance(text, str):
            raise TypeError
        number = self[text] = len(self)
        return number


def array_of(arrays: Arrays) -> Callable[[str], NDArray[Any]]:
    """Return what finds an array by its name, and says which one is missing, for a `ColumnReader`.

    Example:
        >>> array_of({})("kinds")
        Traceback (most recent call last):
        ValueError: kinds is missing
    """

    def array(name: str) -> NDArray[Any]:
        if name not in arrays:
            raise ValueError(f"{name} is missing")
        return arrays[name]

    return array


class ColumnReader:
    """Reads the columns of arrays that a `ColumnWriter` made.

    What does not fit together is a ValueError that names the column.

    Example:
        >>> writer = ColumnWriter()
        >>> writer.lists("tags", [["sea"], ["sea", "island"]])
        >>> ColumnReader(writer.done().__getitem__).lists("tags")
        (('sea',), ('sea', 'island'))
    """

    def __init__(self, array: Callable[[str], NDArray[Any]]) -> None:
        self._array = widening(array)
        raw = self._text_bytes()
        starts = self._starts("strings.starts", raw)
        are_many = len(starts) > MIN_STORED
        self._strings = StringTable(raw, starts) if are_many else texts_of(raw, starts)

    def has(self, name: str) -> bool:
        """Return whether there is an array of this name; an earlier version may have had none."""
        try:
            self._array(name)
        except (KeyError, ValueError):
            return False
        return True

    def numbers(self, name: str, dimensions: int = 1) -> NDArray[Any]:
        """Return a column of numbers, or a table of them where it has two dimensions."""
        array = self._array(name)
        if array.ndim != dimensions:
            raise ValueError(f"{name} has {array.ndim} dimensions, not {dimensions}")
        return array

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a column of texts."""
        codes = self._codes(name)
        if len(codes) and codes.min() < 0:
            raise ValueError(f"{name} lacks a text")
        strings, rows = self._made(codes)
        return tuple(map(strings.__getitem__, rows.tolist()))

    def optional_texts(self, name: str) -> tuple[str | None, ...]:
        """Return a column of texts, or None."""
        codes = self._codes(name)
        strings, rows = self._made(np.maximum(codes, 0) if len(self._strings) else codes)
        pairs = zip(codes.tolist(), rows.tolist(), strict=True)
        return tuple(strings[row] if code >= 0 else None for code, row in pairs)

    def stored_texts(self, name: str) -> tuple[str, ...]:
        """Return a column of texts, which are made when they are asked for where they are many."""
        if not isinstance(self._strings, StringTable):
            return self.texts(name)
        codes = _check_codes(name, self.numbers(name), len(self._strings), 0)
        return cast("tuple[str, ...]", TextColumn(self._strings, codes))  # it does what one does

    def lists(self, name: str) -> tuple[tuple[str, ...], ...]:
        """Return a column of lists of texts."""
        values = self.texts(f"{name}.values")
        starts = self._starts(f"{name}.starts", values)
        lists: list[tuple[str, ...]] = [()] * (len(starts) - 1)  # as most are
        rows = np.flatnonzero(starts[1:] > starts[:-1])
        bounds = zip(starts[rows].tolist(), starts[rows + 1].tolist(), strict=True)
        for row, (start, end) in zip(rows.tolist(), bounds, strict=True):
            lists[row] = values[start:end]
        return tuple(lists)

    def stored_lists(self, name: str) -> tuple[tuple[str, ...], ...]:
        """Return a column of lists of texts, which are made as those of `stored_texts`."""
        values = self.stored_texts(f"{name}.values")
        bounds = self._starts(f"{name}.starts", values).tolist()
        return tuple(values[a:b] for a, b in pairwise(bounds))

    def joined_lists(self, name: str) -> list[Callable[[], str]]:
        """Return functions that put the texts of each list together.

        Where texts are many, they are made when a function is called.
        """
        values = self.stored_texts(f"{name}.values")
        bounds = self._starts(f"{name}.starts", values).tolist()
        return [_Joined(values, a, b) for a, b in pairwise(bounds)]

    def distinct_texts(
        self, name: str, bounds: Sequence[int]
    ) -> Callable[[int, int], Sequence[str]]:
        """Return the function to the texts between two of some bounds, none of them twice.

        Args:
            name: The column.
            bounds: Where each part of the column begins, and where the last ends, ascending.

        Raises:
            ValueError: A part has a text twice.
        """
        codes = self._codes(name)
        if len(codes) and codes.min() < 0:
            raise ValueError(f"{name} lacks a text")
        place = np.full(len(self._strings), -1, np.int64)
        for start, end in pairwise(bounds):
            own = codes[start:end]
            place[own] = np.arange(start, end)  # of a text that comes twice the last place stays
            if (place[own] != np.arange(start, end)).any():
                raise ValueError(f"{name} has a text twice")
        column = self.stored_texts(name)
        return lambda start, end: column[start:end]

    def labels(self, name: str) -> Labels:
        """Return a column of labels."""
        names = self.texts(f"{name}.names")
        codes = _check_codes(name, self.numbers(f"{name}.codes"), len(names), 0)
        return Labels(names, freeze(codes, np.int32))

    def ragged(self, name: str) -> Ragged:
        """Return a column of lists of rows."""
        values = self.numbers(f"{name}.values")
        starts = self._starts(f"{name}.starts", values)
        return Ragged(freeze(starts, np.int64), freeze(values, np.int32))

    def _text_bytes(self) -> TextBytes:
        if not self.has(BLOCKS):
            return PlainBytes(self.numbers(RUN))
        frames = self.numbers(BLOCKS)
        return CompressedBytes(frames, self._starts(f"{BLOCKS}.starts", frames))

    def _made(self, codes: Rows) -> tuple[Sequence[str], NDArray[Any]]:
        """Return texts, each made once, and which of them a column has."""
        if not isinstance(self._strings, StringTable):
            return self._strings, codes
        used, places = np.unique(codes, return_inverse=True)
        return self._strings.made(used), places

    def _codes(self, name: str) -> Rows:
        return _check_codes(name, self.numbers(name), len(self._strings), -1)

    def _starts(self, name: str, values: Sized) -> NDArray[np.int64]:
        starts = self._array(name)
        is_row = starts.ndim == 1 and len(starts) > 0
        if not is_row or starts[0] != 0 or starts[-1] != len(values) or (np.diff(starts) < 0).any():
            raise ValueError(f"{name} does not divide its {len(values)} values into lists")
        return starts


class _Joined:
    """Puts some texts together when it is called; an index has many of these."""

    __slots__ = ("_end", "_start", "_values")

    def __init__(self, values: Sequence[str], start: int, end: int) -> None:
        self._values, self._start, self._end = values, start, end

    def __call__(self) -> str:
        if self._end - self._start <= MAX_ONE_BY_ONE:
            return "".join([self._values[place] for place in range(self._start, self._end)])
        return "".join(self._values[self._start : self._end])


def _check_codes(name: str, codes: Rows, n: int, minimum: int) -> Rows:
    if codes.ndim != 1 or (len(codes) and (codes.min() < minimum or codes.max() >= n)):
        raise ValueError(f"{name} points outside the {n} texts it chooses from")
    return codes
