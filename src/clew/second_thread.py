"""A second thread for what a question computes at once: two cores do it in half the time.

Compiled loops and many of numpy leave Python's lock to other threads, so a second one can compare
facts while the first looks words up. To hand work over takes some 50 microseconds, so only work
of some tenths of a millisecond is worth it. `begin` says what could be done beside, and whoever
needs the result either finds it, waits for it, or does the work itself where nobody has begun.
So the result is the same, and comes at the latest when one thread would have it, but for what
the processor does otherwise.

There is one such thread in a process, which ends when it has had nothing to do for a while. It
does no work

- while several questions are being answered, which keep the cores busy by themselves,
- where there is one core only, or `CLEW_THREADS` is "1" in the environment,
- while as many threads of all programs run as there are cores, where the system says so,
- for a while after nothing was gained by it, since other programs need the cores then.
"""

from __future__ import annotations

import atexit
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, Generic, TypeVar

from clew.cores import is_core_free, usable_cores
from clew.forking import renew_after_fork

Result = TypeVar("Result")
Other = TypeVar("Other")

VARIABLE = "CLEW_THREADS"
IDLE_SECONDS = 10.0  # without work, after which the thread ends
MIN_GAIN = 0.1
"""The share of the work that has to be gained. Where another program has the second core, both
threads take turns on the first, and what one works the other waits."""

FIRST_REST, LONGEST_REST = 0.05, 4.0  # seconds; each rest is twice as long as the one before
ALL_BY_TWO = 2  # cores, which two threads keep busy
MAX_STOP = 1.0  # seconds that the end of the process waits at most for work under way


class Begun(Generic[Result]):
    """Work whose result somebody will ask for.

    Args:
        work: Computes the result from what does not change meanwhile.
    """

    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._run: Callable[[Callable[[], Result]], Result] | None = None
        self._second: _SecondThread | None = None
        self._generation = 0
        self._offered = self._spent = 0.0  # when it was offered, by the clock and of the processor
        self._claim, self._done = threading.Lock(), threading.Lock()
        self._value: Result
        self._error: BaseException | None = None
        self._worked = 0.0  # seconds of the processor

    @property
    def is_offered(self) -> bool:
        """Whether the second thread may do it."""
        return self._second is not None

    def offer(self, second: _SecondThread) -> None:
        """Let the second thread do it."""
        self._run, self._generation = copy_context().run, second.generation
        self._second = second
        self._done.acquire()
        self._offered, self._spent = time.perf_counter(), time.thread_time()

    def do_beside(self) -> None:
        """Do it in the second thread, unless the first has begun."""
        if self._run is None or not self._claim.acquire(blocking=False):
            return
        before = time.thread_time()
        try:
            self._value = self._run(self._work)
        except BaseException as error:  # noqa: BLE001  # raised where the result is wanted
            self._error = error
        self._worked = time.thread_time() - before
        self._done.release()

    def result(self) -> Result:
        """Return the result, as soon as there is one; it is asked for once.

        Raises:
            Exception: what the work raises.
        """
        second = self._second
        if second is None or self._claim.acquire(blocking=False):
            return self._work()
        if second.generation != self._generation:  # a forked child does not have the thread
            return self._work()
        self._done.acquire()
        second.note(self._worked, self._waited())
        if self._error is not None:
            raise self._error
        return self._value

    def drop(self, worked: float) -> None:
        """Say that no result is wanted any more, since what it was for is done.

        Args:
            worked: seconds that the thread has worked for it.
        """
        self._claim.acquire(blocking=False)
        if self._second is not None:
            self._second.note(worked, self._waited())

    def _waited(self) -> float:
        """Return the seconds since it was offered in which who offered it did not run."""
        spent = time.thread_time() - self._spent
        return time.perf_counter() - self._offered - spent


class _SecondThread:
    """The thread, and who may use it."""

    def __init__(self) -> None:
        self.generation = 0
        self.is_wanted = os.environ.get(VARIABLE, "").strip() != "1" and usable_cores() > 1
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Forget the thread and the questions of other threads, which a forked child has not."""
        self.generation += 1
        self.is_free, self.changing = threading.Lock(), threading.Lock()
        self.inbox: queue.SimpleQueue[Begun[Any]] = queue.SimpleQueue()
        self.thread: threading.Thread | None = None
        self.questions = 0
        self.rest, self.rests_until = FIRST_REST, 0.0

    def offer(self, begun: Begun[Any]) -> None:
        """Have the thread do some work, if it is free and may."""
        if not self.is_wanted or self.questions > 1 or time.monotonic() < self.rests_until:
            return
        if not is_core_free() or not self.is_free.acquire(blocking=False):
            return
        if self.thread is None:
            name, arguments = "clew second", (self.inbox, self.is_free)
            self.thread = threading.Thread(
                target=self._work, args=arguments, name=name, daemon=True
            )
            self.thread.start()
        begun.offer(self)
        self.inbox.put(begun)

    def _work(self, inbox: queue.SimpleQueue[Begun[Any]], is_free: threading.Lock) -> None:
        while True:
            try:
                begun = inbox.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                if is_free.acquire(blocking=False):  # else there is work in this moment
                    self.thread = None
                    is_free.release()
                    return
                continue
            begun.do_beside()
            del begun
            is_free.release()

    def note(self, worked: float, waited: float) -> None:
        """Rest for a while where nothing was gained, for longer each time.

        Args:
            worked: the seconds that the thread has worked.
            waited: the seconds that who wanted the work has waited meanwhile, for whatever.
        """
        if worked - waited >= MIN_GAIN * worked:
            self.rest = FIRST_REST
            return
        self.rests_until = time.monotonic() + self.rest
        self.rest = min(2 * self.rest, LONGEST_REST)

    def stop(self) -> None:
        """Take no more work, and wait for what is under way."""
        self.is_wanted = False
        if self.thread is not None and self.is_free.acquire(timeout=MAX_STOP):
            self.is_free.release()


_SECOND = _SecondThread()
atexit.register(_SECOND.stop)  # before the machine code that it may run is gone


def begin(work: Callable[[], Result]) -> Begun[Result]:
    """Have work done beside what follows, if there is a core for it.

    Args:
        work: What takes some tenths of a millisecond at least, mostly in compiled loops. It changes
            nothing that others read, and has the deadline of whoever begins it.

    Example:
        >>> begun = begin(lambda: 1 + 1)
        >>> begun.result()
        2
    """
    begun = Begun(work)
    _SECOND.offer(begun)
    return begun


def both(first: Callable[[], Result], second: Callable[[], Other]) -> tuple[Result, Other]:
    """Return the results of two functions, which are run at once, if there is a core for it.

    Args:
        first: As `begin` takes it.
        second: Likewise.

    Example:
        >>> both(lambda: 1, lambda: 2)
        (1, 2)
    """
    begun = begin(second)
    own = first()
    return own, begun.result()


class _ProductThreads:
    """How many threads compute a product of matrices, which all blocks of `one_thread_each` set."""

    def __init__(self) -> None:
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Forget the blocks of other threads, which a forked child has not."""
        self.changing, self.blocks = threading.Lock(), 0
        self.limits: Any = None  # of a package without types

    def limit(self) -> None:
        """Begin a block: the first one limits them."""
        from threadpoolctl import threadpool_limits

        with self.changing:
            self.blocks += 1
            if self.blocks == 1:
                self.limits = threadpool_limits(1, user_api="blas")

    def restore(self) -> None:
        """End a block: the last one leaves them as they were."""
        with self.changing:
            self.blocks = max(self.blocks - 1, 0)
            if not self.blocks and self.limits is not None:
                self.limits.restore_original_limits()
                self.limits = None


_PRODUCT_THREADS = _ProductThreads()


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Have products of matrices computed by the thread that wants them, where there are two cores.

    Of two cores, a second thread has the other one. The threads of a product would wait for each
    other, busily, while another thread or program has their core. Of more cores, they have others.
    """
    if usable_cores() != ALL_BY_TWO:
        yield
        return
    _PRODUCT_THREADS.limit()
    try:
        yield
    finally:
        _PRODUCT_THREADS.restore()


@contextmanager
def asking() -> Iterator[None]:
    """Say that a question is being answered in this block: several have no second thread.

    Example:
        >>> with asking():
        ...     begin(lambda: 3).result()
        3
    """
    with _SECOND.changing:
        _SECOND.questions += 1
    generation = _SECOND.generation
    try:
        yield
    finally:
        with _SECOND.changing:
            if _SECOND.generation == generation:  # not in a child that was forked meanwhile
                _SECOND.questions -= 1
