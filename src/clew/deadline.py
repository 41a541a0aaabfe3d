"""Deadlines: the moment by which a question must be answered, for all that works on its answer.

`ask` opens a deadline with `within`. Whatever takes time looks at `current()`: a loop at its head,
a stage at its end, a wait for as long as it may last. Where the time is over, `OutOfTime` is
raised, and `pipeline.py` makes a page of what there is by then.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


class OutOfTime(TimeoutError):  # noqa: N818 - no error of the caller's, and caught before it gets there
    """The deadline of the question has passed."""

    def __init__(self) -> None:
        super().__init__("the deadline of the question has passed")


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
        seconds: None leaves it as it is; infinity lifts the deadline.
    """
    if seconds is None:
        yield current()
        return
    new = Deadline() if seconds == math.inf else Deadline.after(seconds)
    if seconds != math.inf and current().end < new.end:
        new = current()
    before = _CURRENT.set(new)
    try:
        yield new
    finally:
        _CURRENT.reset(before)
