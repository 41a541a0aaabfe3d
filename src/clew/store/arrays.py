"""Arrays as plain `.npy` files, each written once under a name that never was before.

The header is written and expected byte for byte as the manifest describes it, so nothing in a file is ever interpreted: an array is
as large as the manifest and the file both say, or it is not read. `numpy.load(file, allow_pickle=False)` reads the files too.
"""

from __future__ import annotations

import math
import os
import re
import secrets
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.store import disk

DATA = "data"
ITEM = {"<f4": 4, "<f8": 8, "<i4": 4, "<i8": 8, "|b1": 1, "|u1": 1}
NAME = re.compile(r"[a-z_.]+-[0-9]{8,}-[0-9a-f]{16}\.npy")


@dataclass(frozen=True)
class Entry:
    """What a manifest says of a file: its path below the index's folder, its size, the array in it, and the checksum of all its bytes."""

    path: str
    bytes: int
    dtype: str
    shape: tuple[int, ...]
    blake2b: str

    def __post_init__(self) -> None:
        folder, _, name = self.path.partition("/")
        if folder != DATA or not NAME.fullmatch(name):
            raise ValueError(f"{self.path!r} is no path of a file of an index")
        if (
            self.dtype not in ITEM
            or len(self.shape) > 2
            or not all(type(n) is int and n >= 0 for n in self.shape)
        ):
            raise ValueError(
                f"{self.path} is said to hold an array of type {self.dtype!r} and shape {self.shape!r}, which an index has not"
            )
        wanted = len(_header(self.dtype, self.shape)) + math.prod(self.shape) * ITEM[self.dtype]
        if self.bytes != wanted:
            raise ValueError(
                f"{self.path} is said to have {self.bytes!r} bytes; an array of shape {self.shape} takes {wanted}"
            )


def write_array(root: Path, name: str, generation: int, array: NDArray[Any]) -> Entry:
    """Write the array to a new file below `root` and sync it; a file that could not be finished is taken away again."""
    array = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    dtype, shape = array.dtype.str, tuple(int(n) for n in array.shape)
    header = _header(dtype, shape)
    path = f"{DATA}/{name}-{generation:08d}-{secrets.token_hex(8)}.npy"
    digest = blake2b(header, digest_size=32)
    data = array.reshape(-1).view(np.uint8).data
    digest.update(data)
    write_file(root / path, header, data)
    return Entry(path, len(header) + len(data), dtype, shape, digest.hexdigest())


def write_file(file: Path, *parts: bytes | memoryview) -> None:
    """Write a new file and sync it."""
    descriptor = disk.create(file)
    try:
        for part in parts:
            disk.write(descriptor, memoryview(part))
        disk.sync(descriptor)
    except BaseException:
        os.close(descriptor)
        file.unlink(missing_ok=True)
        raise
    os.close(descriptor)


def read_array(root: Path, entry: Entry, *, mapped: bool, full: bool) -> NDArray[Any]:
    """Return the array of a file, unwritable.

    Args:
        mapped: leave it on the disk and map it, rather than read it. full: check the checksum of a mapped one too; one that is read
            is always checked.

    Raises:
        FileNotFoundError: the file is gone. ValueError: it is not the file that was saved.
    """
    file, header = root / entry.path, _header(entry.dtype, entry.shape)
    with os.fdopen(disk.open_plain(file), "rb", buffering=0) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size != entry.bytes:
            raise ValueError(
                f"{file} is damaged: it has {size:,} bytes where {entry.bytes:,} were saved"
            )
        if mapped and stream.read(len(header)) != header:
            raise ValueError(f"{file} is damaged: it does not begin as it was saved")
        if mapped and full:
            _check(file, entry, stream)
        if mapped and 0 not in entry.shape:  # nothing cannot be mapped
            return np.memmap(stream, entry.dtype, "r", len(header), entry.shape)
        buffer = bytearray(size)
        stream.seek(0)
        view = memoryview(buffer)
        while len(view) and (got := stream.readinto(view)):
            view = view[got:]
    if len(view) or blake2b(buffer, digest_size=32).hexdigest() != entry.blake2b:
        raise ValueError(f"{file} is damaged: its checksum is not the one that was saved")
    array = np.frombuffer(buffer, entry.dtype, offset=len(header)).reshape(entry.shape)
    array.flags.writeable = False
    return array


def _check(file: Path, entry: Entry, stream: Any) -> None:
    digest = blake2b(digest_size=32)
    stream.seek(0)
    while chunk := stream.read(disk.CHUNK):
        digest.update(chunk)
    if digest.hexdigest() != entry.blake2b:
        raise ValueError(f"{file} is damaged: its checksum is not the one that was saved")


def _header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """The header of numpy's format, version 1.0: magic, version, length, a dictionary padded so that the data are aligned to 64 bytes."""
    words = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape!r}, }}"
    words += " " * (-(len(words) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(words).to_bytes(2, "little") + words.encode("ascii")
