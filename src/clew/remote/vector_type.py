"""The type of vectors of PostgreSQL, for connections of psycopg, which has to be installed."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg.abc import AdaptContext
from psycopg.adapt import AdaptersMap, Dumper
from psycopg.pq import Format
from psycopg.types import TypeInfo


def register(adapters: AdaptersMap, oid: int) -> None:
    """Let a connection send arrays as vectors.

    Args:
        adapters: Those of the connection.
        oid: The number that the type of vectors has in the database; 0 where it has none.
    """
    if not oid:
        return
    adapters.types.add(TypeInfo("vector", oid, 0))
    kind: Any = type("VectorDumper", (_VectorDumper,), {"oid": oid})
    adapters.register_dumper(np.ndarray, kind)


class _VectorDumper(Dumper):
    format = Format.BINARY

    def __init__(self, cls: type, context: AdaptContext | None = None) -> None:
        super().__init__(cls, context)

    def dump(self, obj: NDArray[Any]) -> bytes:
        """Return a vector as bytes."""
        return struct.pack(">hh", len(obj), 0) + obj.astype(">f4").tobytes()
