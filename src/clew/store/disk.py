"""The few calls that change a disk, in one place: each may fail, and a test makes each fail.

A file is safe when it and then its folder have been synced, in that order. A rename is safe when
the folder has been synced after it.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

PLAIN_ONLY = (
    getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
)
"""Flags for opening: links are not followed, and a pipe does not make us wait."""

CHUNK = 1 << 22
"""Bytes that are read or written at a time."""

CANNOT_SYNC = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.ENOTTY, errno.EOPNOTSUPP}
"""What a file system says that has no such sync, as some of a network have none of folders."""


def create(file: Path) -> int:
    """Return a descriptor for writing a file that does not exist yet."""
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | PLAIN_ONLY, 0o666)


def write(descriptor: int, data: memoryview) -> None:
    """Write all of `data`, a view of bytes."""
    while len(data):
        data = data[os.write(descriptor, data[:CHUNK]) :]


def sync(descriptor: int) -> None:
    """Wait until the file has reached the disk."""
    if not _flush_drive(descriptor):
        os.fsync(descriptor)


def _flush_drive(descriptor: int) -> bool:
    """Wait until the drive has written the file, on macOS; return whether its file system can."""
    if sys.platform != "darwin":
        return False
    import fcntl

    try:
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)  # fsync alone stops at the drive's cache there
    except OSError as error:
        if error.errno not in CANNOT_SYNC:
            raise
        return False
    return True


def sync_folder(folder: Path) -> None:
    """Wait until the folder's list of names has reached the disk, where the system can tell."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        sync(descriptor)
    except OSError as error:
        if error.errno not in CANNOT_SYNC:
            raise
    finally:
        os.close(descriptor)


def rename(old: Path, new: Path) -> None:
    """Rename a file, in one step; on Windows, too, the new name may be there already."""
    os.replace(old, new)  # noqa: PTH105  # as the others here: one call, that a test can replace


def open_plain(file: Path) -> int:
    """Return a descriptor for reading a plain file.

    Raises:
        FileNotFoundError: There is none.
        ValueError: It is a link, a folder or a device.
    """
    try:
        if not stat.S_ISREG(os.lstat(file).st_mode):
            raise ValueError(
                f"{file} is not a plain file; "
                "a saved index has no links, folders or devices in the places of its files"
            )
        descriptor = os.open(file, os.O_RDONLY | PLAIN_ONLY)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror or error}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError(f"{file} is not a plain file")
    return descriptor


def memory_of_machine() -> int | None:
    """Return the bytes of memory that this machine has; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
