"""Free memory, which goes back to the system between the stages of building a large index."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache


def release_free_memory() -> None:
    """Give the memory that is free back to the system, where the allocator is that of glibc.

    What a stage frees lies between what it leaves. The large arrays of the next stage do not fit
    there, so that both would count: a quarter of the memory of building 100,000 passages.

    Example:
        >>> release_free_memory()
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    """Return glibc's `malloc_trim`; None where there is another allocator."""
    if sys.platform != "linux":
        return None
    function: Callable[[int], int] | None = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return function
