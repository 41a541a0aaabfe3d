"""One writer at a time: a lock that the system releases when the process ends, however it ends."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from clew.store import disk

LOCK = "LOCK"
PAUSE = 0.02  # seconds between two tries of who waits


@contextmanager
def locked(folder: Path, *, wait: Callable[[], bool] | bool = False) -> Iterator[None]:
    """Hold the folder's lock.

    Args:
        folder: Where the index is saved.
        wait: Whether to wait while another holds it; a function is asked again and again.

    Raises:
        BlockingIOError: Another process or thread holds it, and it is not waited for.
    """
    descriptor = _locked(folder, wait)
    while not _is_of(descriptor, folder / LOCK):  # who had it has deleted the index, and the file
        os.close(descriptor)
        descriptor = _locked(folder, wait)
    try:
        yield
    finally:
        os.close(descriptor)  # releases the lock


def _locked(folder: Path, wait: Callable[[], bool] | bool) -> int:
    """Return the descriptor of the locked file."""
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | disk.PLAIN_ONLY, 0o666)
    try:
        while not (is_held := _acquire(descriptor)) and (wait() if callable(wait) else wait):
            time.sleep(PAUSE)
    except OSError as error:  # such as on a share of the network without locks
        os.close(descriptor)
        reason = f"{folder} cannot be locked for writing: {error.strerror or error}"
        raise OSError(error.errno, reason) from error
    except BaseException:
        os.close(descriptor)
        raise
    if is_held:
        return descriptor
    os.close(descriptor)
    raise BlockingIOError(
        f"another process or thread is saving an index to {folder}; "
        "wait until it is done, then save again"
    )


def _is_of(descriptor: int, file: Path) -> bool:
    """Return whether an open file is the one that has a name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(file))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _acquire(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EDEADLK):  # another holds it
                raise
            return False
        return True

else:
    import fcntl

    def _acquire(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
