"""Fewer collections of garbage while much is built.

Python's collector starts whenever 700 more objects have come than gone, and looks at all objects
again when a quarter more have stayed. An index is made of millions that stay, hardly any of them in
a cycle: a twelfth of the time to build one went into looking for garbage that was not there. Nor is
what was built looked at once more as soon as it is there. Since the collector forgets by that how
much has come, whether all should be looked at is decided here, by the memory that is in use.
"""

from __future__ import annotations

import atexit
import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from clew.forking import renew_after_fork

MIN_NEW = 500_000
"""Objects that come before the collector starts, while something is built: more than are in the
syntax tree of most files, which would be looked at while it is there."""


MAX_GROWTH = 1.25
"""By how much the objects in use may grow until all are looked at, as the collector itself has it;
`MIN_NEW` more are allowed besides."""


class _Own(threading.local):
    """The blocks that a thread runs, one within the other.

    Attributes:
        count: How many.
        at_first: Blocks of memory in use when the outermost began.
    """

    count = at_first = 0


class _Builders:
    """How many blocks are being run, and what was set before the first.

    Attributes:
        count: How many are being run.
        of_thread: Those of the thread.
        looked_at: Blocks of memory in use when all objects were looked at last; 0 for never.
        spared: Whether what was built since then is taken for what stays.
    """

    def __init__(self) -> None:
        self.count = self.looked_at = 0
        self.spared, self.of_thread = False, _Own()
        self.before = self.own = gc.get_threshold()
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Release the lock, and end the blocks of threads that a fork has not taken along."""
        self.lock = threading.Lock()
        if self.count:
            self.count = 0
            self._restore()

    def enter(self) -> None:
        if self.of_thread.count == 0:
            self.of_thread.at_first = sys.getallocatedblocks()
        self.of_thread.count += 1
        with self.lock:
            self.count += 1
            if self.count == 1:
                self.before = gc.get_threshold()
                least = self.before[0]
                self.own = (max(least, MIN_NEW) if least else 0, *self.before[1:])
                gc.set_threshold(*self.own)

    def leave(self) -> None:
        self.of_thread.count -= 1
        with self.lock:
            self.count = max(0, self.count - 1)  # a block in which the process was forked is ended
            is_due = self.of_thread.count == 0 and self._is_due()
            if self.count == 0:
                if not is_due:
                    _count_as_old()
                self._restore()
        if is_due:  # without the lock: what is collected may have a last word
            gc.collect()
            with self.lock:
                self.looked_at, self.spared = sys.getallocatedblocks(), False

    def _is_due(self) -> bool:
        """Return whether so much has come since all objects were looked at that it is time again.

        What a block leaves behind that builds much is taken for what stays, but not twice. It is
        time until somebody has looked: a thread may have to wait between the two.
        """
        now = sys.getallocatedblocks()
        before = self.looked_at = min(self.looked_at or now, now)
        if now <= before * MAX_GROWTH + MIN_NEW:
            return False
        if not self.spared and now - self.of_thread.at_first > MIN_NEW:
            self.looked_at, self.spared = now, True
            return False
        return gc.isenabled() and self.own[0] > 0

    def _restore(self) -> None:
        if gc.get_threshold() == self.own:  # nobody else has set it
            gc.set_threshold(*self.before)


def _count_as_old() -> None:
    """Have the collector take all objects for old, as if it had just looked at the young ones.

    A process that has frozen objects, which looks at those no more, keeps them so.
    """
    if gc.isenabled() and not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()


_BUILDERS = _Builders()


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Let the collector look for garbage less often within this block, in all threads.

    What was set before is set again, unless it was set by others meanwhile.

    Example:
        >>> import gc
        >>> before = gc.get_threshold()
        >>> with collecting_rarely():
        ...     gc.get_threshold()[0] >= MIN_NEW
        True
        >>> gc.get_threshold() == before
        True
    """
    _BUILDERS.enter()
    try:
        yield
    finally:
        _BUILDERS.leave()


def end_without_collecting() -> None:
    """Have this process end without a last look for garbage, which looks at all objects.

    Their memory goes with the process.
    """
    atexit.register(gc.freeze)
