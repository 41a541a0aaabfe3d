"""Vectors whose numbers are whole ones of one byte, scaled: a quarter of the bytes on the disk.

An embedder rounds the vectors of texts; what is saved of these are the whole numbers, and nothing
more is lost. A question's vector stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.embedding.embedder import Embedder, EmbedderSource
from clew.embedding.raw_vectors import to_array
from clew.graph import (
    AnyVectors,
    Floats,
    Mask,
    Vectors,
    in_blocks,
    products,
    release_pages,
    vectors_of,
)

LARGEST = 127  # the whole number that the largest number of a vector becomes
BLOCK = 1024  # vectors that are made at once
SHARES: Floats = np.arange(256, dtype=np.uint8).view(np.int8) / LARGEST  # of a byte


def rounded(source: EmbedderSource) -> Embedder:
    """Return an embedder that rounds the vectors of texts, so that an index takes less disk.

    Each vector is scaled until its largest number is 127, and its numbers are rounded. A saved
    index of at least 10,000 nodes and facts keeps them as one byte each, in place of four. A
    question is compared as the embedder has it.

    Args:
        source: what `Embedder.of` takes.

    Raises:
        ValueError: it is the embedded default, whose vectors take less as they are.

    Example:
        >>> rounded(lambda texts: [[0.1, -1.0, 0.5] for _ in texts]).embed_texts(["sea"])
        array([[  13., -127.,   64.]])
    """
    embedder = Embedder.of(source)
    if embedder.fitted is not None:
        raise ValueError(
            "the embedded default came to be rounded; its vectors are saved in less as they are: "
            "give an embedder of your own"
        )
    name = f"{embedder.name}, rounded"
    return replace(embedder, name=name, embed_texts=_Rounded(embedder.embed_texts))


@dataclass(frozen=True)
class _Rounded:
    """An embedder's function that rounds; what has no length is left for others to refuse."""

    embed_texts: Callable[[list[str]], ArrayLike]

    def __call__(self, texts: list[str]) -> ArrayLike:
        rows: Any = to_array(self.embed_texts(texts))
        if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.dtype.kind not in "fiu":
            return rows  # type: ignore[no-any-return]  # ragged, or of other values
        if not rows.size or not np.isfinite(rows).all():
            return rows
        wide = rows.astype(np.float64)
        return np.rint(wide / _largest(wide) * LARGEST) + 0.0  # of -0.0


@dataclass(frozen=True, eq=False)
class RoundedSegment:
    """Rows of a column of vectors as whole numbers; see `VectorSegment`.

    Attributes:
        codes: int8 [n, d], the numbers of each row, of which the largest is 127 or -127; zeros for
            a row that is no vector.
        lengths: float64 [n], the length of each row of `codes / 127`, or 1 where it is all zeros.
    """

    codes: NDArray[np.int8]
    lengths: Floats

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.codes.shape
        return n, d

    @cached_property
    def has_vector(self) -> Mask:
        found = np.zeros(len(self.codes), np.bool_)
        for start, block in in_blocks(self.codes, BLOCK):
            found[start : start + len(block)] = block.any(axis=1)
        return found

    @property
    def addresses(self) -> NDArray[np.int64]:
        step = self.codes.strides[0]
        return self.codes.ctypes.data + step * np.arange(len(self.codes), dtype=np.int64)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Vectors:
        return _made(self.codes[rows], self.lengths[rows])

    def take(self, rows: NDArray[np.int64]) -> RoundedSegment:
        codes: Any = vectors_of(self.codes, rows)  # type: ignore[arg-type]  # of any type
        return RoundedSegment(codes, self.lengths[rows])

    def products(self, query: Vectors) -> Vectors:
        found = np.empty(len(self.codes), np.float32)
        for start, codes in in_blocks(self.codes, BLOCK):
            block = slice(start, start + len(codes))
            found[block] = products(_made(codes, self.lengths[block]), query)
        return found

    def release_pages(self) -> None:
        release_pages(self.codes)


def as_rounded(vectors: AnyVectors) -> RoundedSegment | None:
    """Return vectors as whole numbers, or None where one of them is not such a vector to the bit.

    Args:
        vectors: float32 [n, d], unit rows or zeros.

    Example:
        >>> as_rounded(np.array([[0.6, 0.8]], np.float32)) is None
        True
    """
    codes = np.empty(vectors.shape, np.int8)
    lengths = np.ones(len(vectors))
    for start, block in in_blocks(vectors, BLOCK):
        own = slice(start, start + len(block))
        wide = block.astype(np.float64)
        whole = np.rint(wide / _largest(wide) * LARGEST)
        codes[own] = whole
        lengths[own] = np.linalg.norm(whole / LARGEST, axis=1)
        lengths[own][lengths[own] == 0] = 1
        made = _made(codes[own], lengths[own])
        if not np.array_equal(made.view(np.uint32), np.ascontiguousarray(block).view(np.uint32)):
            return None
    return RoundedSegment(codes, lengths)


def _made(codes: NDArray[np.int8], lengths: Floats) -> Vectors:
    """Return unit rows, as `normalize_vectors` makes them of whole numbers."""
    made: Vectors = (SHARES[codes.view(np.uint8)] / lengths[:, None]).astype(np.float32)
    return made


def _largest(rows: Floats) -> Floats:
    """Return the largest number of each row, without its sign: float64 [n, 1]; 1 for zeros."""
    largest: Floats = np.abs(rows).max(axis=1, keepdims=True)
    largest[largest == 0] = 1
    return largest
