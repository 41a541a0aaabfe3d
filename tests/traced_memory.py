"""The memory that a function takes, measured in a process of its own.

Tracing must not end while another thread allocates without holding Python's lock, as the compiler's
thread does within `os.getcwd`: before Python 3.12.9 that crashes the process (python/cpython#128679).
A forked process has one thread, and ends without ending what it traces.
"""

from __future__ import annotations

import os
import pickle
import tracemalloc
from collections.abc import Callable

import pytest


def traced_memory(function: Callable[[], object]) -> tuple[int, int]:
    """Return the bytes that are held while the function's result is kept, and the peak before."""
    if not hasattr(os, "fork"):
        pytest.skip("there is no fork here")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover
        code = 1
        try:
            tracemalloc.start()
            kept = function()
            os.write(write, pickle.dumps(tracemalloc.get_traced_memory()))
            code = int(kept is None)
        finally:
            os._exit(code)  # nothing of pytest may run here
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        content = pipe.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return pickle.loads(content)
