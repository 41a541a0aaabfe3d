"""So much runs at once, so much waits, and what comes beyond is refused at once.

The threads are daemons, which a process that ends does not wait for. The queues of the standard
library's executors have no end, and their threads are waited for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")
STOPPING = "the server is stopping"
Job = tuple[Future[Any], Callable[[], Any]]


class QueueFullError(RuntimeError):
    """As many are waiting as may wait."""


class WorkQueue:
    """Runs work in a few threads, and lets a bounded number of it wait.

    Args:
        workers: How much runs at once, at least 1.
        max_waiting: How much may wait beside that, from 0.
        name: Of the threads.

    Example:
        >>> queue = WorkQueue(workers=2, max_waiting=10, name="sums")
        >>> queue.submit(lambda: 1 + 1).result()
        2
    """

    def __init__(self, workers: int, max_waiting: int, name: str) -> None:
        for what, value, least in (("workers", workers, 1), ("max_waiting", max_waiting, 0)):
            if value < least:
                raise ValueError(f"{what} is a whole number of at least {least}; got {value!r}")
        self.workers, self.max_waiting, self.name = workers, max_waiting, name
        self._jobs = SimpleQueue[Job | None]()
        self._lock = threading.Lock()
        self._open = self._threads = 0
        self._is_closed = False

    @property
    def running(self) -> int:
        """How much runs now."""
        return min(self._open, self.workers)

    @property
    def waiting(self) -> int:
        """How much waits now."""
        return max(0, self._open - self.workers)

    def submit(self, work: Callable[[], Result]) -> Future[Result]:
        """Return the future of what a function returns; it can be cancelled while it waits.

        Raises:
            QueueFullError: As much waits as may wait, or the queue is closed.
        """
        with self._lock:
            if self._is_closed:
                raise QueueFullError(STOPPING)
            if self._open >= self.workers + self.max_waiting:
                raise QueueFullError(
                    f"{self.workers} {self.name} at once and {self.max_waiting} that wait are the "
                    "most, and there are as many: ask again in a moment"
                )
            self._open += 1
            if self._threads < min(self._open, self.workers):
                self._threads += 1
                threading.Thread(target=self._run, name=f"clew {self.name}", daemon=True).start()
        future = Future[Result]()
        future.add_done_callback(self._note_end)
        self._jobs.put((future, work))
        return future

    def close(self, seconds: float = 0.0) -> bool:
        """Take nothing more, give up what waits, and return whether what runs ended in time.

        Args:
            seconds: How long what runs is waited for.
        """
        with self._lock:
            self._is_closed = True
            threads, self._threads = self._threads, 0
        end = time.monotonic() + seconds
        while not self._jobs.empty():
            job = self._jobs.get()
            if job is not None:
                job[0].cancel()
        for _ in range(threads):
            self._jobs.put(None)
        while self._open and time.monotonic() < end:
            time.sleep(0.01)
        return not self._open

    def _note_end(self, _: object) -> None:
        with self._lock:
            self._open -= 1

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, work = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 - raised by the future, where somebody waits
                future.set_exception(error)
            else:
                future.set_result(result)
                del result
            del job, future, work  # nothing is kept of it while the next is waited for
