"""Arrays as plain `.npy` files, each written once, under a name that was never used before.

The header is written and expected byte for byte as the manifest describes it, so nothing in a file
is ever interpreted: an array is as large as the manifest and the file both say, or it is not read.
`numpy.load(file, allow_pickle=False)` reads the files too.
"""

from __future__ import annotations

import math
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from clew.graph import VectorColumn, in_blocks
from clew.store import disk
from clew.store.syncing import sync_and_close

DATA = "data"
WRITTEN_ROWS = 4096  # of a table, at once
ITEM_SIZES = {
    "<f4": 4,
    "<f8": 8,
    "|i1": 1,
    "<i2": 2,
    "<i4": 4,
    "<i8": 8,
    "|b1": 1,
    "|u1": 1,
    "<u2": 2,
}
FILE_NAME = re.compile(r"[a-z_.]+-[0-9]{8,}-[0-9a-f]{16}\.npy")


@dataclass(frozen=True)
class Entry:
    """What a manifest says of a file.

    Attributes:
        path: Where it is below the index's folder.
        bytes: Its size.
        dtype: The type of the array in it, as numpy writes it.
        shape: The shape of the array.
        blake2b: The checksum of all bytes.

    Raises:
        ValueError: It is not what an index has.
    """

    path: str
    bytes: int
    dtype: str
    shape: tuple[int, ...]
    blake2b: str

    def __post_init__(self) -> None:
        folder, _, name = self.path.partition("/")
        if folder != DATA or not FILE_NAME.fullmatch(name):
            raise ValueError(f"{self.path!r} is no path of a file of an index")
        sizes_are_valid = all(type(n) is int and n >= 0 for n in self.shape)
        if self.dtype not in ITEM_SIZES or len(self.shape) > 2 or not sizes_are_valid:
            raise ValueError(
                f"{self.path} is said to hold an array of type {self.dtype!r} "
                f"and shape {self.shape!r}, which an index has not"
            )
        header = _header(self.dtype, self.shape)
        size = len(header) + math.prod(self.shape) * ITEM_SIZES[self.dtype]
        if self.bytes != size:
            raise ValueError(
                f"{self.path} is said to have {self.bytes!r} bytes; "
                f"an array of shape {self.shape} takes {size}"
            )


def write_array(
    root: Path,
    name: str,
    generation: int,
    array: NDArray[Any] | VectorColumn,
    sync: Callable[[int], None] = sync_and_close,
) -> Entry:
    """Write the array to a new file below `root` and sync it.

    A column in segments is written block by block. A file that could not be finished is deleted.

    Args:
        root: The index's folder.
        name: What the array is called.
        generation: The number of the generation.
        array: The array.
        sync: Has the file behind a descriptor synced and closed.
    """
    dtype, shape = array.dtype.newbyteorder("<").str, tuple(int(n) for n in array.shape)
    path = f"{DATA}/{name}-{generation:08d}-{secrets.token_hex(8)}.npy"
    digest, size = blake2b(digest_size=32), 0

    def parts() -> Iterator[bytes | memoryview]:
        nonlocal size
        for part in _contents(_header(dtype, shape), array):
            digest.update(part)
            size += len(part)
            yield part

    write_file(root / path, parts(), sync)
    return Entry(path, size, dtype, shape, digest.hexdigest())


def _contents(header: bytes, array: NDArray[Any] | VectorColumn) -> Iterator[bytes | memoryview]:
    """Yield the bytes of a file: the header, and the array block by block."""
    yield header
    blocks = (block for _, block in in_blocks(array, WRITTEN_ROWS)) if array.ndim == 2 else [array]
    for block in blocks:
        plain = np.ascontiguousarray(block).astype(block.dtype.newbyteorder("<"), copy=False)
        yield plain.reshape(-1).view(np.uint8).data


def write_file(
    file: Path,
    parts: Iterable[bytes | memoryview],
    sync: Callable[[int], None] = sync_and_close,
) -> None:
    """Write a new file and sync it; see `write_array`."""
    descriptor = disk.create(file)
    try:
        try:
            for part in parts:
                disk.write(descriptor, memoryview(part))
        except BaseException:
            os.close(descriptor)
            raise
        sync(descriptor)
    except BaseException:
        file.unlink(missing_ok=True)
        raise


def read_array(root: Path, entry: Entry, *, mapped: bool, full: bool) -> NDArray[Any]:
    """Return the array of a file, read-only.

    Args:
        root: The index's folder.
        entry: What the manifest says of the file.
        mapped: Whether to leave it on the disk and map it, rather than read it.
        full: Whether to check the checksum of a mapped array too. One that is read is always
            checked.

    Raises:
        FileNotFoundError: The file is not there.
        ValueError: It is not the file that was saved.
    """
    file, header = root / entry.path, _header(entry.dtype, entry.shape)
    with os.fdopen(disk.open_plain(file), "rb", buffering=0) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size != entry.bytes:
            raise ValueError(
                f"{file} is damaged: it has {size:,} bytes where {entry.bytes:,} were saved"
            )
        if mapped:
            if stream.read(len(header)) != header:
                raise ValueError(f"{file} is damaged: it does not begin as it was saved")
            if full:
                _check(file, entry, stream)
            if 0 not in entry.shape:  # an empty array cannot be mapped
                return np.memmap(stream, entry.dtype, "r", len(header), entry.shape)
        data = _read_all(stream, size)
    if len(data) != size or blake2b(data, digest_size=32).hexdigest() != entry.blake2b:
        raise ValueError(f"{file} is damaged: its checksum is not the one that was saved")
    array = np.frombuffer(data, entry.dtype, offset=len(header)).reshape(entry.shape)
    array.flags.writeable = False
    return array


def _read_all(stream: FileIO, size: int) -> bytearray:
    """Return the bytes of a file; fewer than `size` where it ends before."""
    buffer, filled = bytearray(size), 0
    stream.seek(0)
    while filled < size and (n := stream.readinto(memoryview(buffer)[filled:])):
        filled += n
    return buffer if filled == size else buffer[:filled]


def _check(file: Path, entry: Entry, stream: BinaryIO | FileIO) -> None:
    digest = blake2b(digest_size=32)
    stream.seek(0)
    while chunk := stream.read(disk.CHUNK):
        digest.update(chunk)
    if digest.hexdigest() != entry.blake2b:
        raise ValueError(f"{file} is damaged: its checksum is not the one that was saved")


def _header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """Return the header of numpy's format, version 1.0.

    It is the magic, the version, the length, and a dictionary, padded so that the data are aligned
    to 64 bytes.
    """
    words = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape!r}, }}"
    words += " " * (-(len(words) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(words).to_bytes(2, "little") + words.encode("ascii")
