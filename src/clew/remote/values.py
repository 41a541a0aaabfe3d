"""Vectors and columns of numbers in the binary form that PostgreSQL has for them."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from clew.graph import Rows, Vectors, freeze

if TYPE_CHECKING:
    from psycopg.adapt import AdaptersMap, Dumper

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
