"""Many small arrays as one, so that they are one file: a list of them, then their bytes."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.store.arrays import ITEM_SIZES
from clew.store.tables import Arrays

ALIGNMENT = 8  # bytes, so that every array begins where its type may
LENGTH = 8  # bytes, of the length of the list


def pack(arrays: Arrays) -> NDArray[np.uint8]:
    """Return the arrays as one run of bytes.

    Example:
        >>> unpack(pack({"rows": np.array([3, 1], np.int32)}))["rows"]
        array([3, 1], dtype=int32)
    """
    listed, pieces, end = {}, [], 0
    for name, array in arrays.items():
        plain = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        listed[name] = [plain.dtype.str, list(plain.shape), end]
        data = plain.tobytes()
        padding = bytes(-len(data) % ALIGNMENT)
        pieces += [data, padding]
        end += len(data) + len(padding)
    head = json.dumps(listed).encode()
    head += b" " * (-len(head) % ALIGNMENT)
    packed = b"".join([len(head).to_bytes(LENGTH, "little"), head, *pieces])
    return np.frombuffer(packed, np.uint8)


def unpack(packed: NDArray[np.uint8]) -> Arrays:
    """Return the arrays of a run of bytes, which they share.

    Raises:
        ValueError, TypeError, KeyError: It is not what `pack` returned.
    """
    length = int.from_bytes(packed[:LENGTH].tobytes(), "little")
    start = LENGTH + length
    listed: dict[str, Any] = json.loads(packed[LENGTH:start].tobytes())
    arrays: Arrays = {}
    for name, (dtype, shape, offset) in listed.items():
        count = math.prod(shape)
        if (
            dtype not in ITEM_SIZES
            or len(shape) > 2
            or any(type(n) is not int or n < 0 for n in (*shape, offset))
            or start + offset + count * ITEM_SIZES[dtype] > len(packed)
        ):
            raise ValueError(f"a change has no array {name} of type {dtype} and shape {shape}")
        array = np.frombuffer(packed, dtype, count, start + offset) if count else np.zeros(0, dtype)
        arrays[name] = array.reshape(shape)
        arrays[name].flags.writeable = False
    return arrays
