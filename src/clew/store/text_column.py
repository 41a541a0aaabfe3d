"""Texts that stay in the run of bytes they were saved as, and are made when they are asked for.

An index of many passages has a million texts, most of which no question reads. As Python's own they
take twice the memory of their bytes, and those bytes may be on the disk.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from clew.graph import Rows, offsets_of, release_pages
from clew.store.text_bytes import PlainBytes, TextBytes

MAX_MADE = 4096  # texts of recent use that are not made again
ENCODING = "utf-8", "surrogatepass"
MAX_ALIKE = 64  # of more texts that look the same, all are made
MAX_UNSORTED = 64  # texts that are looked for before numbers are sorted
EIGHT = 8  # bytes of a text that are looked at as one number
SEEN = 4 * EIGHT  # bytes of a text by which it is looked for
PADDING = bytes(EIGHT)
MASKS = np.array([2 ** (8 * n) - 1 for n in range(EIGHT + 1)], np.uint64)  # of the first n bytes
FACTOR = np.uint64(0x9E3779B97F4A7C15)
AHEAD = 32  # texts that are made with one, where they are asked for one after the other
READ_ON = 3  # texts in a row that were next, after which more are made with one
MAX_STEP = 4  # from a text to the next one that is asked for
TOGETHER = 256  # texts that are read at once
MIN_GATHERED = 32  # texts that are made at once
PART = 1 << 21  # bytes that are read for them at a time, unless one text has more
MAX_APART = 1 << 15  # bytes between two texts that are read together, as many as a block has
MAX_KEPT = 1 << 22  # bytes of texts that a column may keep
BLOCK = 16_384  # texts that are read before the pages of their file are released


class StringTable:
    """Distinct texts as one run of UTF-8.

    Args:
        raw: the run of bytes: uint8 [b], or in compressed blocks.
        starts: int64 [n + 1], where each text begins, and where the last ends.

    Raises:
        ValueError: The bytes between two starts are no text.

    Example:
        >>> table = StringTable(np.frombuffer(b"seaisland", np.uint8), np.array([0, 3, 9]))
        >>> table[1]
        'island'
    """

    def __init__(self, raw: NDArray[np.uint8] | TextBytes, starts: NDArray[np.int64]) -> None:
        self.raw: TextBytes = PlainBytes(raw) if isinstance(raw, np.ndarray) else raw
        self.starts = np.asarray(starts, np.int64)
        self._starts = memoryview(self.starts.view(np.ndarray))  # type: ignore[arg-type]
        self._made: dict[int, str] = {}
        self._next = self._run = 0
        if isinstance(raw, np.ndarray):  # blocks are checked when they are read
            self._check()

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, code: int) -> str:
        text = self._made.get(code)
        if text is None:
            is_next = 0 <= code - self._next < MAX_STEP
            self._run = self._run + 1 if is_next else 0
            is_read_on = self._run >= READ_ON  # a column that is read row by row
            n = min(AHEAD if is_read_on else 1, MAX_MADE, len(self) - code)
            if len(self._made) + n > MAX_MADE:
                self._made.clear()
            texts = texts_of(self.raw, self.starts[code : code + n + 1]) if n > 1 else ()
            self._made.update(enumerate(texts, code))
            text = self._made[code] = texts[0] if texts else self.make(code)
            self._next = code + n
        return text

    def make(self, code: int) -> str:
        """Return a text that is made anew."""
        return str(self.raw.cut(self._starts[code], self._starts[code + 1]), *ENCODING)

    def made(self, codes: NDArray[Any]) -> list[str]:
        """Return texts that are made anew: many at once, for those of a column stand close."""
        if len(codes) < MIN_GATHERED:
            return list(map(self.make, codes.tolist()))
        order: NDArray[np.int64] = np.argsort(codes, kind="stable")
        texts = np.empty(len(codes), object)
        for rows in _in_parts(order, self._read_with(codes[order])):
            texts[rows] = self._cut_out(codes[rows])
        made: list[str] = texts.tolist()
        return made

    def _read_with(self, codes: NDArray[Any]) -> NDArray[np.int64]:
        """Return how many bytes are read with each of some texts, ascending, at most."""
        starts, ends = self.starts[codes], self.starts[codes + 1]
        read: NDArray[np.int64] = ends - starts
        read[1:] += np.clip(starts[1:] - ends[:-1], 0, MAX_APART)
        return read

    def _cut_out(self, codes: NDArray[Any]) -> list[str]:
        """Return some texts, ascending, out of one that has all of them.

        A byte is a letter of it, which takes a fifth of the time that single texts take. Those that
        are not ASCII are read once more as what they are.
        """
        raw, starts = _bytes_of(self, codes)
        ends = starts + self.starts[codes + 1] - self.starts[codes]
        letters = str(raw.data, "latin-1")
        texts = [letters[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        if letters.isascii():
            return texts
        return [one if one.isascii() else str(one.encode("latin-1"), *ENCODING) for one in texts]

    def __reduce__(self) -> tuple[type[StringTable], tuple[Any, ...]]:
        return StringTable, (self.raw, np.array(self.starts))

    def _check(self) -> None:
        """Raise ValueError unless every text begins at a character, and all bytes are UTF-8."""
        for first in range(0, len(self), BLOCK):
            own = self.starts[first : first + BLOCK + 1]
            raw = self.raw.cut(int(own[0]), int(own[-1]))
            begins = own[own < own[-1]] - own[0]
            if len(begins) and ((np.frombuffer(raw, np.uint8)[begins] & 0xC0) == 0x80).any():
                raise ValueError("strings.starts divides a character of the texts")
            str(raw, *ENCODING)
            release_pages(self.raw)


class TextColumn(Sequence[str]):
    """A column of stored texts, and of others behind them: it does what a tuple of them does.

    Example:
        >>> table = StringTable(np.frombuffer(b"seaisland", np.uint8), np.array([0, 3, 9]))
        >>> texts = TextColumn(table, np.array([1, 0], np.int32))
        >>> texts, texts == ("island", "sea"), texts[1:] + ("port",)
        (('island', 'sea'), True, ('sea', 'port'))
    """

    __hash__ = None  # type: ignore[assignment]  # no two columns are compared by a hash

    def __init__(self, table: StringTable, codes: Rows, others: tuple[str, ...] = ()) -> None:
        self.table, self.codes, self.others = table, codes, others
        self._is_kept = False
        self._kept: list[str] | None = None  # all that are stored, once they are made

    def __len__(self) -> int:
        return len(self.codes) + len(self.others)

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> TextColumn: ...
    def __getitem__(self, row: int | slice) -> str | TextColumn:
        n, kept = len(self.codes), self._kept
        if kept is not None and type(row) is int and 0 <= row < n:
            return kept[row]
        if isinstance(row, slice):
            rows = range(len(self))[row]
            if rows.step != 1:
                return TextColumn(self.table, self.codes[:0], tuple(self[one] for one in rows))
            behind = self.others[max(rows.start - n, 0) : max(rows.stop - n, 0)]
            return TextColumn(self.table, self.codes[rows.start : max(rows.stop, 0)], behind)
        if row < 0:
            row += len(self)
        if 0 <= row < n:
            if self._is_kept:
                return self._made_once()[row]
            return self.table[int(self.codes[row])]
        if not 0 <= row < len(self):
            raise IndexError("there is no such text")
        return self.others[row - n]

    def __iter__(self) -> Iterator[str]:
        return chain(self._made_once() if self._is_kept else self._stored(), self.others)

    def __add__(self, others: Sequence[str]) -> TextColumn:
        return TextColumn(self.table, self.codes, (*self.others, *others))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, (tuple, TextColumn)):
            return NotImplemented
        return len(self) == len(other) and all(
            one == another for one, another in zip(self, other, strict=True)
        )

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[type[tuple[str, ...]], tuple[tuple[str, ...]]]:
        return tuple, (tuple(self),)

    def take(self, rows: NDArray[np.int64]) -> TextColumn:
        """Return the column of some rows, of which those of stored texts come first."""
        n = int(np.searchsorted(rows >= len(self.codes), True))
        behind = tuple(self.others[row] for row in (rows[n:] - len(self.codes)).tolist())
        taken = TextColumn(self.table, self.codes[rows[:n]], behind)
        if self._is_kept:
            kept = self._made_once()
            taken._is_kept, taken._kept = True, [kept[row] for row in rows[:n].tolist()]
        return taken

    def keeping_texts(self) -> TextColumn:
        """Return the column that keeps all its texts once one is made, unless they are long.

        That is for the few texts of a large table which are read several times.

        Example:
            >>> table = StringTable(np.frombuffer(b"seaisland", np.uint8), np.array([0, 3, 9]))
            >>> texts = TextColumn(table, np.array([1, 0], np.int32)).keeping_texts()
            >>> texts[0] is texts[0], texts[0] is texts.take(np.array([0]))[0]
            (True, True)
        """
        starts = self.table.starts
        if int((starts[self.codes + 1] - starts[self.codes]).sum()) > MAX_KEPT:
            return self
        column = TextColumn(self.table, self.codes, self.others)
        column._is_kept = True
        return column

    def places(self) -> Callable[[str], int | None]:
        """Return the function from a text to its place; None for a text that is not here.

        No stored text is made but those that look like the one that is wanted: they are found by
        their length and some of their bytes.

        Example:
            >>> table = StringTable(np.frombuffer(b"seaisland", np.uint8), np.array([0, 3, 9]))
            >>> place = TextColumn(table, np.array([1, 0], np.int32), ("port",)).places()
            >>> place("sea"), place("port"), place("ship")
            (1, 2, None)
        """
        return _PlaceFinder(self)

    def count_distinct(self) -> int:
        """Return the number of different texts; a table has a text once, so its are not made.

        Example:
            >>> table = StringTable(np.frombuffer(b"seaisland", np.uint8), np.array([0, 3, 9]))
            >>> TextColumn(table, np.array([1, 0], np.int32), ("sea", "port")).count_distinct()
            3
        """
        n = int(np.count_nonzero(np.bincount(self.codes, minlength=1)))
        if not self.others:
            return n
        place_of = TextColumn(self.table, self.codes).places()
        return n + sum(place_of(text) is None for text in set(self.others))

    def begins(self, other: object) -> bool:
        """Return whether another column is this one, perhaps with more texts behind."""
        return (
            isinstance(other, TextColumn)
            and other.table is self.table
            and other.codes is self.codes
            and other.others[: len(self.others)] == self.others
        )

    def differing(self, other: TextColumn) -> NDArray[np.bool_]:
        """Return the rows of other texts in a column of the same table and length: bool [n]."""
        n = min(len(self.codes), len(other.codes))
        unequal = np.ones(len(self), np.bool_)
        unequal[:n] = self.codes[:n] != other.codes[:n]  # a table has a text once
        for row in (n + np.flatnonzero(unequal[n:])).tolist():
            unequal[row] = self[row] != other[row]
        return unequal

    def _made_once(self) -> list[str]:
        if self._kept is None:
            self._kept = self.table.made(self.codes)
            release_pages(self.table.raw)
        return self._kept

    def _stored(self) -> Iterator[str]:
        for start in range(0, len(self.codes), BLOCK):
            yield from self.table.made(self.codes[start : start + BLOCK])
            release_pages(self.table.raw)


class _PlaceFinder:
    """Finds the place of a text in a column by a number that says how it looks; see `_looks`.

    The numbers of all are sorted once many texts are looked for.
    """

    def __init__(self, column: TextColumn) -> None:
        self._column, self._n_asked = column, 0
        keys = _looks_of(column.table, column.codes)
        # The places in the order of the keys, once these are sorted; both change at one time.
        self._keys: tuple[NDArray[np.uint64], NDArray[np.int64] | None] = keys, None
        self._behind = {text: len(keys) + place for place, text in enumerate(column.others)}

    def __call__(self, text: str) -> int | None:
        table, codes = self._column.table, self._column.codes
        places = self._places_like(_look(text.encode(*ENCODING)))
        if len(places) > MAX_ALIKE:
            return self._all.get(text)
        for place in places:
            if table.make(codes.item(place)) == text:
                return place
        return self._behind.get(text)

    @cached_property
    def _all(self) -> Mapping[str, int]:
        return {text: place for place, text in enumerate(self._column)}

    def _places_like(self, key: int) -> list[int]:
        """Return the places of the stored texts that have a key, ascending."""
        self._n_asked += 1
        keys, order = self._keys
        if order is None and self._n_asked <= MAX_UNSORTED:
            found: list[int] = np.flatnonzero(keys == np.uint64(key)).tolist()
            return found
        if order is None:
            order = np.argsort(keys, kind="stable")
            keys = keys[order]
            self._keys = keys, order
        sorted_keys = memoryview(keys)  # type: ignore[arg-type]  # its items are Python's own: faster
        first = bisect_left(sorted_keys, key)
        behind = first
        while behind < len(keys) and sorted_keys[behind] == key:
            behind += 1
        return [order.item(at) for at in range(first, behind)]


def places_of(texts: Sequence[str]) -> Mapping[str, int]:
    """Return the place of each of some texts, none of which comes twice.

    Those of a column are looked for in it, until all are asked for.

    Example:
        >>> dict(places_of(("sea", "island")))
        {'sea': 0, 'island': 1}
    """
    if isinstance(texts, TextColumn):
        return _Places(texts)
    return {text: place for place, text in enumerate(texts)}


class _Places(Mapping[str, int]):
    """The place of each text of a column; a question asks for those of a few."""

    def __init__(self, column: TextColumn) -> None:
        self._column = column
        self._all: dict[str, int] | None = None
        self._found: dict[str, int | None] = {}  # of those that were asked for last

    @cached_property
    def _place_of(self) -> Callable[[str], int | None]:
        return self._column.places()

    def __getitem__(self, text: str) -> int:
        place = self._find(text) if self._all is None else self._all.get(text)
        if place is None:
            raise KeyError(text)
        return place

    def _find(self, text: str) -> int | None:
        """Return the place of a text, looked for once for what asks for it again."""
        found = self._found
        if text in found:
            return found.get(text)
        if len(found) >= MAX_MADE:
            self._found = found = {}
        return found.setdefault(text, self._place_of(text))

    def __iter__(self) -> Iterator[str]:
        if self._all is None:
            self._all = {text: place for place, text in enumerate(self._column)}
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._column)

    @property
    def stored(self) -> object:
        """What the places are found by; see `clew.graph.sizes`."""
        return self._column, self._all, self.__dict__.get("_place_of")

    def __reduce__(self) -> tuple[type[dict[str, int]], tuple[dict[str, int]]]:
        return dict, (dict(self),)


def _in_parts(order: NDArray[np.int64], sizes: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield some rows in turn, so many that their sizes come to one `PART`."""
    parts = np.cumsum(sizes) // PART
    yield from np.split(order, np.flatnonzero(np.diff(parts)) + 1)


def texts_of(raw: TextBytes, starts: NDArray[np.int64]) -> list[str]:
    """Return the texts of a run of UTF-8, by where each begins and the last ends.

    Those of a block of ASCII are cut out of one text, which takes half the time.
    """
    strings: list[str] = []
    for first in range(0, len(starts) - 1, TOGETHER):
        own = starts[first : first + TOGETHER + 1]
        block, bounds = bytes(raw.cut(int(own[0]), int(own[-1]))), (own - own[0]).tolist()
        if block.isascii():
            text = block.decode("ascii")
            strings += [text[a:b] for a, b in pairwise(bounds)]
        else:
            strings += [block[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]
    return strings


def _looks_of(table: StringTable, codes: Rows) -> NDArray[np.uint64]:
    """Return the number of `_looks` for some texts; their bytes are read block by block."""
    order = np.argsort(codes, kind="stable")
    keys = np.zeros(len(codes), np.uint64)
    for first in range(0, len(codes), BLOCK):
        rows = order[first : first + BLOCK]
        own = codes[rows]
        raw, starts = _bytes_of(table, own)
        keys[rows] = _looks(raw, starts, starts + table.starts[own + 1] - table.starts[own])
    return keys


def _bytes_of(table: StringTable, codes: Rows) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return bytes that have some texts, ascending, and where each of these begins in them.

    What lies between two of them is left out where it is long. `PADDING` is behind the last one.
    """
    starts, ends = table.starts[codes], table.starts[codes + 1]
    breaks = np.flatnonzero(starts[1:] - ends[:-1] > MAX_APART) + 1
    firsts, lasts = np.append(0, breaks), np.append(breaks, len(codes)) - 1
    bounds = zip(starts[firsts].tolist(), ends[lasts].tolist(), strict=True)
    parts = [table.raw.cut(start, end) for start, end in bounds]
    begins = offsets_of([len(part) for part in parts])[:-1]
    moved = np.repeat(begins - starts[firsts], lasts - firsts + 1)
    return np.frombuffer(b"".join([*parts, PADDING]), np.uint8), starts + moved


def _looks(
    raw: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return a number for each text, the same for the same text: of its length and `SEEN` bytes.

    It is made of the first bytes and the last ones, eight at a time, where ids differ the most.

    Args:
        raw: uint8 [b], with `PADDING` behind the last text.
        starts: int64 [n], where each text begins.
        ends: int64 [n], where each ends.
    """
    lengths = ends - starts
    # Eight bytes from each place on, as one number.
    eight = np.ndarray(len(raw) - EIGHT + 1, "<u8", raw.data, strides=(1,))
    keys = lengths.astype(np.uint64) * FACTOR + _first_of(eight[starts], lengths)
    longer = np.flatnonzero(lengths > EIGHT)
    keys[longer] = keys[longer] * FACTOR + eight[ends[longer] - EIGHT]
    longer = np.flatnonzero(lengths > 2 * EIGHT)
    more = keys[longer] * FACTOR + eight[starts[longer] + EIGHT]
    keys[longer] = more * FACTOR + eight[ends[longer] - 2 * EIGHT]
    return keys


def _first_of(eight: NDArray[np.uint64], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return eight bytes as numbers, with zeros in the place of those that a short text lacks."""
    first: NDArray[np.uint64] = eight & MASKS[np.minimum(lengths, EIGHT)]
    return first


def _look(raw: bytes) -> int:
    """Return the number that `_looks` has for one text; arrays of one take fifty times as long."""
    n, factor = len(raw), int(FACTOR)
    key = n * factor + int.from_bytes(raw[:EIGHT], "little")
    if n > EIGHT:
        key = key * factor + int.from_bytes(raw[-EIGHT:], "little")
    if n > 2 * EIGHT:
        more = key * factor + int.from_bytes(raw[EIGHT : 2 * EIGHT], "little")
        key = more * factor + int.from_bytes(raw[-2 * EIGHT : -EIGHT], "little")
    return key % 2**64
