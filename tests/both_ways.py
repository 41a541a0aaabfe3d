"""A plugin: every call of a compiled loop is made twice, as plain Python and as machine code, and both must agree bit by bit.

    python -m pytest -n 0 -p tests.both_ways tests/algorithms

It waits for the compiler before every call. The loops that were called are printed at the end.
Tests of the clock, of files and of what is refused are left out: there the two must differ.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from clew.algorithms.kernels import compiled, compiler
from clew.deadline import Deadline

CALLS: Counter[str] = Counter()
LEFT_OUT = (
    "algorithms/test_kernels.py",  # it looks at the clock and at files
    "::test_two_threads_give_what_one_gives",  # what another thread changes meanwhile is not copied
    "::test_an_iteration_is_the_same_whether_the_second_thread_comes",  # likewise
    "test_second_thread.py",  # likewise
    "test_truss.py::test_one_way_edges_and_loops_are_refused",  # what is refused is not filled in
)


def copied(value):
    """The value with copies of its arrays, which are as writeable and as contiguous."""
    if isinstance(value, np.ndarray):
        copy = np.empty_like(value)
        copy[...] = value
        copy.flags.writeable = value.flags.writeable
        return copy
    if isinstance(value, tuple):
        return (
            type(value)(*map(copied, value))
            if hasattr(value, "_fields")
            else tuple(map(copied, value))
        )
    return value


def bits(value):
    """What tells two values apart, to the last bit and to the type."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, tuple):
        return tuple(map(bits, value))
    return type(value).__name__, np.float64(value).tobytes() if isinstance(value, float) else value


def call_both(kernel, *arguments):
    """Call a loop both ways; return what its machine code returns."""
    CALLS[f"{kernel.__module__}.{kernel.__name__}"] += 1
    plainly, by_machine = copied(arguments), copied(arguments)
    request = compiler.request(kernel, arguments)
    compiler.wait(request, Deadline())
    assert request.is_ready, f"{kernel.__name__} is not compiled"
    try:
        expected = kernel.dispatcher(*by_machine)
    except Exception as error:  # noqa: BLE001 - compared with the other
        expected = error
    try:
        with np.errstate(over="ignore"):
            found = compiled._unboxed(kernel.plain(*plainly))
    except Exception as error:  # noqa: BLE001 - likewise
        found = error
    if isinstance(expected, Exception) or isinstance(found, Exception):
        assert (type(found), str(found)) == (type(expected), str(expected)), kernel.__name__
        raise expected
    assert bits(found) == bits(expected), f"{kernel.__name__}: {found} != {expected}"
    assert bits(plainly) == bits(by_machine), f"{kernel.__name__} changes its arguments otherwise"
    return kernel.dispatcher(*arguments)


def pytest_configure():
    compiled.Kernel.__call__ = call_both


def pytest_collection_modifyitems(config, items):
    left_out = [item for item in items if any(name in item.nodeid for name in LEFT_OUT)]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


def pytest_terminal_summary(terminalreporter):
    for name, count in sorted(CALLS.items()):
        terminalreporter.write_line(f"{count:8} calls of {name}, both ways")
