"""Files that reach the disk while the next ones are written.

A sync mostly waits, and a disk takes many files in hardly more time than one: a hundred files,
synced one after the other, take ten times as long.
"""

from __future__ import annotations

import os
import threading
from queue import SimpleQueue
from types import TracebackType
from typing import Self

from clew.store import disk

THREADS = 8
MAX_OPEN = 64  # files that wait for their sync; some systems allow a process 256 in all


def sync_and_close(descriptor: int) -> None:
    """Wait until a file has reached the disk, and close it."""
    try:
        disk.sync(descriptor)
    finally:
        os.close(descriptor)


class Syncing:
    """Has files synced and closed by threads, all of them by the end of the block.

    Where Python ends and starts no more threads, each is synced at once.

    Raises:
        BaseException: A file has not reached the disk. It is raised at the end of the block, or by
            the next file.

    Example:
        >>> import tempfile
        >>> with Syncing() as sync, tempfile.TemporaryFile() as file:
        ...     sync(os.dup(file.fileno()))
    """

    def __init__(self) -> None:
        self._inbox = SimpleQueue[int | None]()
        self._errors = list[BaseException]()
        self._free = threading.Semaphore(MAX_OPEN)
        self._threads = list[threading.Thread]()

    def __enter__(self) -> Self:
        for _ in range(THREADS):
            thread = threading.Thread(target=self._work, name="clew sync", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                break
            self._threads.append(thread)
        return self

    def __call__(self, descriptor: int) -> None:
        """Have the file behind a descriptor synced and closed."""
        if not self._threads:
            sync_and_close(descriptor)
            return
        try:
            self._free.acquire()  # a thread gives it back
        except BaseException:  # such as Ctrl-C
            os.close(descriptor)
            raise
        self._inbox.put(descriptor)
        self._raise_first()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for _ in self._threads:
            self._inbox.put(None)
        for thread in self._threads:
            thread.join()
        if kind is None:
            self._raise_first()

    def _raise_first(self) -> None:
        if self._errors:
            raise self._errors[0]

    def _work(self) -> None:
        while (descriptor := self._inbox.get()) is not None:
            try:
                sync_and_close(descriptor)
            except BaseException as error:  # noqa: BLE001  # raised where files are written
                self._errors.append(error)
            self._free.release()
