"""Deadlines: the moment by which a question must be answered, for all that works on its answer.

`ask` opens a deadline with `within`. Whatever takes time looks at `current()`: a loop at its head,
a stage at its end, a wait for as long as it may last. Where the time is over, `OutOfTime` is
raised, and `pipeline.py` makes a page of what there is by then.

What does not look at it, such as the caller's embedder, filter or stage, runs in a thread that is
waited for until the deadline and no longer (`finish_in_time`). What is promised is in
`clew.index.QueryOptions`. One thing can make an answer late: a single call into a library that
holds the lock of Python's interpreter, since no other thread runs meanwhile.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import TypeVar

Result = TypeVar("Result")


class OutOfTime(TimeoutError):  # noqa: N818 - no error of the caller's, and caught before it gets there
    """The deadline of the question has passed."""

    def __init__(self) -> None:
        super().__init__("the deadline of the question has passed")


class DeadlineError(TimeoutError):
    """The deadline of a question has passed before there was anything that may be answered."""


@dataclass(frozen=True)
class Deadline:
    """A moment on the clock of `time.monotonic`.

    Attributes:
        end: the moment in seconds; infinity for no deadline.

    Example:
        >>> Deadline.after(60).has_passed(), Deadline.after(None).remaining()
        (False, inf)
    """

    end: float = math.inf

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline so many seconds from now; None for none."""
        return cls() if seconds is None else cls(time.monotonic() + seconds)

    def remaining(self) -> float:
        """Return the seconds that are left, at least 0."""
        return max(0.0, self.end - time.monotonic())

    def later(self, seconds: float) -> Deadline:
        """Return the deadline so many seconds after this one, or after now if it has passed."""
        return Deadline(max(self.end, time.monotonic()) + seconds)

    def has_passed(self) -> bool:
        """Return whether no time is left."""
        return time.monotonic() >= self.end

    def check(self) -> None:
        """Raise OutOfTime if no time is left."""
        if self.has_passed():
            raise OutOfTime


_CURRENT: ContextVar[Deadline] = ContextVar("clew_deadline", default=Deadline())  # noqa: B039 - frozen


def current() -> Deadline:
    """Return the deadline of what runs in this context.

    Example:
        >>> with within(60):
        ...     current().remaining() <= 60
        True
    """
    return _CURRENT.get()


@contextmanager
def within(seconds: float | None) -> Iterator[Deadline]:
    """Give what runs in the context so many seconds at most, or fewer if it has fewer already.

    Args:
        seconds: None leaves it as it is.
    """
    if seconds is None:
        yield current()
        return
    new = Deadline.after(seconds)
    with until(new if new.end < current().end else current()) as deadline:
        yield deadline


def finish_in_time(work: Callable[[], Result], name: str, *, grace: float | None = None) -> Result:
    """Return what a function returns, which goes on in a thread where the deadline passes before.

    Where there is no deadline, it runs as any call does.

    Args:
        work: the function.
        name: of the thread.
        grace: seconds beyond the deadline that it may take to return what it has by then. None is
            for what later questions need, too: it has no deadline in its thread.

    Raises:
        OutOfTime: the deadline has passed.

    Example:
        >>> with within(60):
        ...     finish_in_time(lambda: 1 + 1, "an example")
        2
    """
    deadline = current()
    if deadline.end == math.inf:
        return work()
    result: Future[Result] = Future()
    own = Deadline() if grace is None else deadline

    def run() -> None:
        try:
            with until(own):
                result.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised by `result`, where somebody waits
            result.set_exception(error)

    run_here = copy_context().run
    threading.Thread(target=run_here, args=(run,), name=f"clew {name}", daemon=True).start()
    try:
        return result.result(Deadline(deadline.end + (grace or 0.0)).remaining())
    except FutureTimeout:
        if result.done():
            raise  # its own
        raise OutOfTime from None


@contextmanager
def until(deadline: Deadline) -> Iterator[Deadline]:
    """Have this deadline in the context, whatever it was before.

    Example:
        >>> with within(0.01), until(Deadline()):
        ...     current().remaining()
        inf
    """
    before = _CURRENT.set(deadline)
    try:
        yield deadline
    finally:
        _CURRENT.reset(before)
