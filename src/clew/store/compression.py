"""Arrays in fewer bytes on the disk, without loss, and back.

The bytes of numbers are put in order first: all lowest bytes, then all second ones, and so on, so
that those that hardly change stand side by side. Of whole numbers that grow slowly, the steps from
one to the next are written. Whichever form is the smallest is kept. Each is one frame of Zstandard.

Arrays that stay on the disk and are mapped are left as they are, and so is one that would not
shrink.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Container, Mapping
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from clew.store.arrays import ITEM_SIZES

COMPRESSED = ".zstd"
"""The end of the name of an array that is compressed."""

LEVEL = 3  # 9 takes five times the time to save, for 2 % fewer bytes
HEAD = 24  # bytes: type, dimensions, form, and the shape as two whole numbers of 8 bytes
AS_IT_IS, IN_PLANES, STEPS_IN_PLANES = range(3)

_own = threading.local()


def compressed(
    arrays: Mapping[str, NDArray[Any]], mapped: Container[str]
) -> dict[str, NDArray[Any]]:
    """Return arrays of which those that shrink are compressed, under another name.

    Args:
        arrays: The arrays by name.
        mapped: The names of those that stay as they are.

    Example:
        >>> arrays = compressed({"edges.tails": np.arange(1000)}, mapped=())
        >>> [(name, array.nbytes < 100) for name, array in arrays.items()]
        [('edges.tails.zstd', True)]
        >>> int(expanded(arrays)["edges.tails"][-1])
        999
    """
    result: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        smaller = None if name in mapped else pack_array(array)
        if smaller is None or smaller.nbytes >= array.nbytes:
            result[name] = array
        else:
            result[name + COMPRESSED] = smaller
    return result


def expanded(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays that `compressed` was given.

    Raises:
        ValueError: An array is not what `compressed` returned, by its name.
    """
    result: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        if not name.endswith(COMPRESSED):
            result[name] = array
            continue
        try:
            result[name.removesuffix(COMPRESSED)] = unpack_array(array)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    return result


def pack_array(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Return an array as the smallest of its forms: uint8 [b]."""
    plain = np.ascontiguousarray(array)
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    flat = plain.reshape(-1)
    form, smallest = AS_IT_IS, compress(flat.view(np.uint8).data)
    if plain.dtype.itemsize > 1:  # one after the other: each takes as much memory as the array
        if len(frame := compress(_planes(flat))) < len(smallest):
            form, smallest = IN_PLANES, frame
        are_whole = plain.dtype.kind in "iu"
        if are_whole and len(frame := compress(_planes(_steps(flat)))) < len(smallest):
            form, smallest = STEPS_IN_PLANES, frame
    shape = (*plain.shape, 0)[:2]
    head = plain.dtype.str.encode() + bytes([plain.ndim, form]) + bytes(3)
    packed = head + np.array(shape, "<i8").tobytes() + smallest
    return np.frombuffer(packed, np.uint8)


def unpack_array(packed: NDArray[np.uint8]) -> NDArray[Any]:
    """Return the array that was packed, read-only.

    Raises:
        ValueError: It is not what `pack_array` returned.
    """
    raw = packed.reshape(-1).view(np.uint8).tobytes()
    if len(raw) < HEAD:
        raise ValueError(f"it has {len(raw)} bytes and is no compressed array")
    dtype, dimensions, form = raw[:3].decode("latin-1"), raw[3], raw[4]
    if dtype not in ITEM_SIZES or dimensions not in (1, 2) or form > STEPS_IN_PLANES:
        raise ValueError("it is no compressed array")
    shape = [int(n) for n in np.frombuffer(raw, "<i8", 2, 8)[:dimensions]]
    size = math.prod(shape) * ITEM_SIZES[dtype]
    if min(shape) < 0:
        raise ValueError(f"it has the shape {shape}")
    plain = decompress(memoryview(raw)[HEAD:], size)
    array = np.frombuffer(plain, dtype)
    if form != AS_IT_IS:
        planes = np.frombuffer(plain, np.uint8).reshape(ITEM_SIZES[dtype], -1)
        array = _side_by_side(planes).view(dtype).reshape(-1)
    if form == STEPS_IN_PLANES:
        array = np.cumsum(array, dtype=dtype)
    array = array.reshape(shape)
    array.flags.writeable = False
    return array


def compress(raw: bytes | bytearray | memoryview) -> bytes:
    """Return bytes as one frame."""
    frame: bytes = zstandard.ZstdCompressor(level=LEVEL).compress(raw)
    return frame


def decompress(frame: bytes | memoryview, size: int) -> bytes:
    """Return the bytes of a frame.

    Args:
        frame: What `compress` returned.
        size: How many bytes it has; more are never made.

    Raises:
        ValueError: It is no frame of so many bytes.
    """
    decompressor = getattr(_own, "decompressor", None)  # which no two threads may use at once
    if decompressor is None:
        decompressor = _own.decompressor = zstandard.ZstdDecompressor()
    if size_of(frame) != size:
        raise ValueError(f"it is no frame of {size:,} bytes")
    try:
        plain: bytes = decompressor.decompress(frame)
    except zstandard.ZstdError as error:
        raise ValueError(f"it cannot be decompressed: {error}") from error
    return plain


def size_of(frame: bytes | memoryview) -> int:
    """Return how many bytes a frame has when it is decompressed; -1 where it does not say so.

    Raises:
        ValueError: It is no frame.
    """
    try:
        return int(zstandard.frame_content_size(frame))
    except zstandard.ZstdError as error:
        raise ValueError(f"it is no frame of Zstandard: {error}") from error


def _side_by_side(planes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the bytes of each number side by side; plane by plane takes a third of a transpose."""
    turned = np.empty(planes.shape[::-1], np.uint8)
    for place, plane in enumerate(planes):
        turned[:, place] = plane
    return turned


def _steps(flat: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers as the steps to them, which may go round, and come back."""
    steps = flat.copy()
    np.subtract(flat[1:], flat[:-1], out=steps[1:])
    return steps


def _planes(flat: NDArray[Any]) -> bytes:
    return flat.view(np.uint8).reshape(-1, flat.itemsize).T.tobytes()
