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
    CopiedAtOnce,
    Floats,
    Mask,
    Rows,
    Vectors,
    in_blocks,
    products,
    release_pages,
    seal,
)
from clew.graph.columns import are_consecutive

LARGEST = 127  # the whole number that the largest number of a vector becomes
BLOCK = 1024  # vectors that are made at once
RELEASED = 64 * BLOCK  # rows that are read before the pages of their file are released
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
    name, kept_as = f"{embedder.name}, rounded", f"{embedder.kept_as}, rounded"
    rounding = _Rounded(embedder.embed_texts)
    return replace(embedder, name=name, embed_texts=rounding, kept_as=kept_as)


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
class RoundedSegment(CopiedAtOnce):
    """Rows of a column of vectors as whole numbers; see `VectorSegment`.

    Attributes:
        codes: int8 [k, d], the numbers of each vector, of which the largest is 127 or -127.
        lengths: float64 [k], the length of each row of `codes / 127`.
        places: int32 [n], the place of each row's vector among them; -1 for a row of zeros.
    """

    codes: NDArray[np.int8]
    lengths: Floats
    places: Rows

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.places), self.codes.shape[1]

    @cached_property
    def has_vector(self) -> Mask:
        found: Mask = self.places >= 0
        return found

    @property
    def addresses(self) -> NDArray[np.int64]:
        return self.codes.ctypes.data + self.codes.strides[0] * self.places.astype(np.int64)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Vectors:
        places = self.places[rows]
        vectors = np.zeros((len(places), self.shape[1]), np.float32)
        vectors[places >= 0] = self._made(places[places >= 0])
        return vectors

    def take(self, rows: NDArray[np.int64]) -> RoundedSegment:
        run = slice(int(rows[0]), int(rows[-1]) + 1) if are_consecutive(rows) else rows
        return replace(self, places=self.places[run])

    def compact(self) -> RoundedSegment:
        own = np.flatnonzero(self.has_vector)
        places, of_own = np.full(len(self.places), -1, np.int32), self.places[own]
        places[own] = np.arange(len(own), dtype=np.int32)
        return RoundedSegment(self.codes[of_own], self.lengths[of_own], places)

    def products(self, query: Vectors) -> Vectors:
        found = np.zeros(len(self.places), np.float32)
        for start, rows in in_blocks(np.flatnonzero(self.has_vector), BLOCK):
            found[rows] = products(self._made(self.places[rows]), query)
            if start % RELEASED == 0:
                self.release_pages()
        return found

    def release_pages(self) -> None:
        release_pages(self.codes)

    def _made(self, places: Rows) -> Vectors:
        run = slice(int(places[0]), int(places[-1]) + 1) if are_consecutive(places) else places
        return _made(self.codes[run], self.lengths[run])


def as_rounded(vectors: AnyVectors) -> RoundedSegment | None:
    """Return vectors as whole numbers, or None where one of them is not such a vector to the bit.

    Args:
        vectors: float32 [n, d], unit rows or zeros.

    Example:
        >>> as_rounded(np.array([[0.6, 0.8]], np.float32)) is None
        True
    """
    width, places = vectors.shape[1], np.full(len(vectors), -1, np.int32)
    codes, lengths = [np.zeros((0, width), np.int8)], [np.zeros(0)]
    n = 0
    for start, block in in_blocks(vectors, BLOCK):
        bits = np.ascontiguousarray(block).view(np.uint32)
        own = np.flatnonzero(bits.any(axis=1))
        wide = block[own].astype(np.float64)
        whole = np.rint(wide / _largest(wide) * LARGEST).astype(np.int8)
        of_whole = np.linalg.norm(whole / LARGEST, axis=1)
        if (
            not whole.any(axis=1).all()
            or (_made(whole, of_whole).view(np.uint32) != bits[own]).any()
        ):
            return None
        codes.append(whole)
        lengths.append(of_whole)
        places[start + own] = np.arange(n, n + len(own))
        n += len(own)
    return RoundedSegment(np.concatenate(codes), np.concatenate(lengths), seal(places))


def _made(codes: NDArray[np.int8], lengths: Floats) -> Vectors:
    """Return unit rows, as `normalize_vectors` makes them of whole numbers."""
    made: Vectors = (SHARES[codes.view(np.uint8)] / lengths[:, None]).astype(np.float32)
    return made


def _largest(rows: Floats) -> Floats:
    """Return the largest number of each row, without its sign: float64 [n, 1]; 1 for zeros."""
    largest: Floats = np.abs(rows).max(axis=1, keepdims=True, initial=0)
    largest[largest == 0] = 1
    return largest
