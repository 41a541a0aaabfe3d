"""The bytes of all texts of an index: as one run, or in blocks of which each is compressed.

A block is decompressed when a text within it is asked for. Few are kept: what is read from the disk
is a quarter of the texts, and what is in memory are the blocks of recent use.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clew.graph import offsets_of, release_pages
from clew.store.compression import compress, decompress, size_of

BLOCK = 1 << 15
"""Bytes of a block. With half as many the texts take 5 % more, and 3 % less with twice as many."""

MAX_BLOCKS = 1024  # of recent use, 32 MB
MAX_KEPT = 4  # blocks that are read together and kept; more belong to a run of texts


class TextBytes(Protocol):
    """The bytes of texts, one behind the other."""

    def __len__(self) -> int: ...

    def cut(self, start: int, end: int) -> bytes | memoryview:
        """Return the bytes from one place to another."""
        ...

    def release_pages(self) -> None:
        """Let go the pages of the file that has them."""
        ...


class PlainBytes:
    """Bytes as they are.

    Example:
        >>> bytes(PlainBytes(np.frombuffer(b"seaisland", np.uint8)).cut(3, 9))
        b'island'
    """

    def __init__(self, raw: NDArray[np.uint8]) -> None:
        self._raw = raw
        self._bytes = memoryview(raw.view(np.ndarray))  # type: ignore[arg-type]  # it has a buffer

    def __len__(self) -> int:
        return len(self._raw)

    def cut(self, start: int, end: int) -> memoryview:
        return self._bytes[start:end]

    def release_pages(self) -> None:
        release_pages(self._raw)

    def __reduce__(self) -> tuple[type[PlainBytes], tuple[Any, ...]]:
        return PlainBytes, (np.array(self._raw),)


class CompressedBytes:
    """Bytes in blocks of `BLOCK`, of which the last may have fewer.

    Args:
        frames: uint8 [b], the compressed blocks, one behind the other.
        starts: int64 [blocks + 1], where each begins, and where the last ends.

    Raises:
        ValueError: The last block is none.

    Example:
        >>> blocks = CompressedBytes(*compress_blocks([b"sea", b"island"]))
        >>> len(blocks), bytes(blocks.cut(3, 9))
        (9, b'island')
    """

    def __init__(self, frames: NDArray[np.uint8], starts: NDArray[np.int64]) -> None:
        self._frames = PlainBytes(frames)
        self._raw, self._starts = frames, np.asarray(starts, np.int64)
        self._made: dict[int, bytes] = {}
        self._last = len(starts) - 2
        self._size = 0
        if self._last >= 0:
            size = size_of(self._frame(self._last))
            if size > BLOCK:
                raise ValueError(f"the last block of the texts has {size:,} bytes, not {BLOCK:,}")
            self._size = self._last * BLOCK + size

    def __len__(self) -> int:
        return self._size

    def cut(self, start: int, end: int) -> bytes | memoryview:
        """Return the bytes from one place to another.

        Raises:
            ValueError: A block is not what it should be.
        """
        if start >= end:
            return b""
        first, last = start // BLOCK, (end - 1) // BLOCK
        offset = first * BLOCK
        if first == last:
            return memoryview(self._kept(first))[start - offset : end - offset]
        block = self._kept if last - first < MAX_KEPT else self._block
        return memoryview(b"".join(map(block, range(first, last + 1))))[
            start - offset : end - offset
        ]

    def release_pages(self) -> None:
        self._frames.release_pages()

    def __reduce__(self) -> tuple[type[CompressedBytes], tuple[Any, ...]]:
        return CompressedBytes, (np.array(self._raw), self._starts)

    def _kept(self, number: int) -> bytes:
        block = self._made.pop(number, None)  # it comes back behind those of less recent use
        if block is None:
            block = self._block(number)
        self._made[number] = block
        while len(self._made) > MAX_BLOCKS:
            with suppress(RuntimeError, StopIteration):  # another thread was faster
                self._made.pop(next(iter(self._made)), None)
        return block

    def _block(self, number: int) -> bytes:
        size = BLOCK if number < self._last else self._size - number * BLOCK
        try:
            return decompress(self._frame(number), size)
        except ValueError as error:
            raise ValueError(f"block {number} of the texts: {error}") from error

    def _frame(self, number: int) -> memoryview:
        return self._frames.cut(int(self._starts[number]), int(self._starts[number + 1]))


def compress_blocks(parts: Iterable[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return bytes as compressed blocks, one behind the other, and where each begins.

    Args:
        parts: The bytes, in turn; a block may have several parts, and a part several blocks.
    """
    # One run from the start: what the library returns for a block keeps the memory of a whole one.
    frames, lengths, waiting = bytearray(), list[int](), bytearray()

    def add(block: bytearray) -> None:
        frame = compress(block)
        frames.extend(frame)
        lengths.append(len(frame))

    for part in parts:
        waiting += part
        whole = len(waiting) // BLOCK * BLOCK
        for start in range(0, whole, BLOCK):
            add(waiting[start : start + BLOCK])
        del waiting[:whole]
    if waiting:
        add(waiting)
    return np.frombuffer(frames, np.uint8), offsets_of(lengths)
