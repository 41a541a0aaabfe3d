"""One writer at a time: a lock that the system takes back when the process ends, however it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clew.store import disk

LOCK = "LOCK"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock.

    Raises:
        BlockingIOError: at once, when another process or thread holds it.
    """
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | disk.PLAIN_ONLY, 0o666)
    try:
        if not _taken(descriptor):
            raise BlockingIOError(
                f"another process or thread is saving an index to {folder}; wait until it is done, then save again"
            )
        yield
    finally:
        os.close(descriptor)  # gives the lock back


if sys.platform == "win32":
    import msvcrt

    def _taken(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _taken(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
