"""How many cores there are for this process."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Return the number of cores that this process may use, at least 1.

    Example:
        >>> usable_cores() >= 1
        True
    """
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
