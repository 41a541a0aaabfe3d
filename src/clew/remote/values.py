"""Vectors and columns of numbers in the binary form that PostgreSQL has for them."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from clew.graph import Rows, Vectors, expand_ranges, freeze

if TYPE_CHECKING:
    from psycopg.adapt import AdaptersMap, Dumper

ARRAY_HEAD, EMPTY_ARRAY = 5, 3  # words before the numbers of an array, and of one without any
INT, INT_BYTES = 23, 4  # the type of numbers in arrays
HEAD = 4  # bytes before the numbers of a vector: its width, and nothing


@dataclass(frozen=True, eq=False)
class NumberList:
    """Numbers that are bound to a statement as one array, where it says `::int[]`.

    Attributes:
        numbers: int32 [n].
    """

    numbers: Rows


def register(adapters: AdaptersMap, oid: int) -> None:
    """Let a connection send arrays as vectors, and lists of numbers as arrays.

    Args:
        adapters: Those of the connection.
        oid: The number that the type of vectors has in the database; 0 where it has none.
    """
    from psycopg.adapt import Dumper
    from psycopg.pq import Format
    from psycopg.types import TypeInfo

    def dump_numbers(_: Dumper, some: NumberList) -> bytes:
        pairs = np.full((len(some.numbers), 2), INT_BYTES, ">i4")  # of each its size and itself
        pairs[:, 1] = some.numbers
        if not len(pairs):
            return struct.pack(">iii", 0, 0, INT)
        return struct.pack(">iiiii", 1, 0, INT, len(pairs), 1) + pairs.tobytes()

    # without a type of its own, so that lists of Python stay what they are; statements name it
    parts: dict[str, Any] = {"oid": 0, "format": Format.BINARY, "dump": dump_numbers}
    adapters.register_dumper(NumberList, cast("Any", type("NumberDumper", (Dumper,), parts)))
    if not oid:
        return

    def dump(_: Dumper, vector: NDArray[Any]) -> bytes:
        return struct.pack(">hh", len(vector), 0) + vector.astype(">f4").tobytes()

    adapters.types.add(TypeInfo("vector", oid, 0))
    parts = {"oid": oid, "format": Format.BINARY, "dump": dump}
    adapters.register_dumper(np.ndarray, cast("Any", type("VectorDumper", (Dumper,), parts)))


def read_numbers(data: bytes | None) -> Rows:
    """Return the numbers of a column that `int4send` wrote, one behind the other.

    Example:
        >>> read_numbers(bytes([0, 0, 0, 7])).tolist(), len(read_numbers(None))
        ([7], 0)
    """
    return freeze(np.frombuffer(data or b"", ">i4").astype(np.int32), np.int32)


def read_weights(data: bytes | None) -> Vectors:
    """Return the weights of a column that `float4send` wrote."""
    return freeze(np.frombuffer(data or b"", ">f4").astype(np.float32), np.float32)


def read_vectors(data: bytes | None, has: NDArray[np.bool_], dimension: int) -> Vectors:
    """Return vectors, of which those that are there stand one behind the other.

    Args:
        data: What `vector_send` wrote.
        has: bool [n], which are there; the others are rows of zeros.
        dimension: Their width.
    """
    vectors = np.zeros((len(has), dimension), np.float32)
    if data:
        rows = np.frombuffer(data, np.uint8).reshape(-1, HEAD + 4 * dimension)[:, HEAD:]
        vectors[has] = np.ascontiguousarray(rows).view(">f4")
    vectors.flags.writeable = False  # so that it is not copied
    return freeze(vectors, np.float32)


def read_lists(data: bytes | None, lengths: Rows) -> Rows:
    """Return the numbers of lists that `array_send` wrote, one list behind the other.

    An array is its number of dimensions, two words of its type, for each dimension two words, and
    for each number a word of its size and one of its value. An empty one has no dimension.

    Args:
        data: The arrays, one behind the other.
        lengths: int32 [n], how many numbers each has.
    """
    words = np.frombuffer(data or b"", ">i4")
    sizes = np.where(lengths > 0, ARRAY_HEAD + 2 * lengths.astype(np.int64), EMPTY_ARRAY)
    first = np.cumsum(sizes) - sizes + ARRAY_HEAD
    places = expand_ranges(np.zeros(len(lengths), np.int64), lengths)
    values = words[np.repeat(first, lengths) + 2 * places + 1]
    return freeze(values.astype(np.int32), np.int32)
