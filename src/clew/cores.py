"""How many cores there are for this process, and whether one of the machine's has nothing to do."""

from __future__ import annotations

import os

RUNNING = "/proc/loadavg"  # its fourth field begins with the threads that run, this one included


def usable_cores() -> int:
    """Return the number of cores that this process may use, at least 1.

    Example:
        >>> usable_cores() >= 1
        True
    """
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def is_core_free() -> bool:
    """Return whether fewer threads run in this moment than the machine has cores.

    Linux says so within 10 microseconds. True where a system does not say.

    Example:
        >>> isinstance(is_core_free(), bool)
        True
    """
    try:
        file = os.open(RUNNING, os.O_RDONLY)
        try:
            running = int(os.read(file, 128).split()[3].partition(b"/")[0])
        finally:
            os.close(file)
    except (OSError, ValueError, IndexError):
        return True
    return running < (os.cpu_count() or 1)
