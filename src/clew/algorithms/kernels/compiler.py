"""The thread that makes machine code of loops, one at a time, while these run as plain Python.

A loop is requested with the types of its arguments. The thread starts work when somebody waits,
when the machine code only has to be loaded and all loops have taken `LOAD_AFTER` seconds as plain
Python, or when the first request is `START_DELAY` seconds old: a process that answers one small
question and ends compiles nothing, and does not even import numba. What somebody waits for comes
first, then what has taken the longest as plain Python. The thread ends when nothing is left.

It is a daemon: it keeps no process alive. At the end of the process it stops at the next step of
the compiler. numba is imported by it alone, which takes most of a second.
"""

from __future__ import annotations

import atexit
import importlib
import logging
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import Any

import numpy as np

from clew.algorithms.kernels.plain import Loop, with_replaced
from clew.deadline import Deadline
from clew.forking import renew_after_fork

START_DELAY = 4.0
"""Seconds from the first request to the start of the compiler where nobody waits for it."""

LOAD_AFTER = 0.1
"""Seconds of the processor that loops take as plain Python, all together, before stored machine
code is loaded where nobody waits for it: to import numba takes about three times as long."""

IMPORT_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Seconds between two attempts to import numba while another thread is importing it."""

MAX_STOP = 1.0
"""Seconds that the end of the process waits at most for the compiler to stop."""

Types = tuple[Any, ...]


PAUSE_STEP = 0.005  # seconds between two looks whether the fork is over


class _Stopped(BaseException):
    """The process ends, or forks."""


@dataclass(eq=False)
class Request:
    """A loop and the types of its arguments.

    Attributes:
        kernel: the loop.
        example: arguments of these types, with hardly anything in them.
        plain_seconds: what it has taken as plain Python so far.
        waiting: how many threads wait for it.
        is_ready: whether there is machine code.
        failed: whether there will be none.
    """

    kernel: Loop
    example: tuple[Any, ...]
    plain_seconds: float = 0.0
    waiting: int = 0
    is_ready: bool = False
    failed: bool = False

    @cached_property
    def is_stored(self) -> bool:
        """Whether an earlier process has stored machine code of the loop."""
        from clew.algorithms.kernels import machine_code

        return machine_code.has_some(self.kernel)


class _Compiler:
    """All requests of the process."""

    def __init__(self) -> None:
        self.requests: dict[tuple[Loop, Types], Request] = {}
        self.pending: list[Request] = []
        self.comes_first = 0  # how many want to wait before every call
        self.stopping = self.pausing = False
        self.begin = 0.0  # when the thread may start work that nobody waits for
        self.plain_seconds = 0.0  # of all requests together
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Make the locks anew, and forget the thread, which is not in a forked child."""
        self.changed = threading.Condition()
        self.pausing = False
        self.thread: threading.Thread | None = None
        for request in list(self.requests.values()):
            request.waiting, request.plain_seconds = 0, 0.0
        self.plain_seconds = 0.0
        self.pending = [
            one for one in list(self.requests.values()) if not (one.is_ready or one.failed)
        ]

    def pause(self) -> None:
        """Have the thread stop at the next step of the compiler, so that it holds no lock."""
        self.pausing = True

    def resume(self) -> None:
        """Have the thread go on."""
        self.pausing = False

    def start(self) -> None:
        """Start the thread unless it runs; the lock is held."""
        if self.thread is None and not self.stopping:
            self.thread = threading.Thread(target=self.work, name="clew compiler", daemon=True)
            self.thread.start()

    def work(self) -> None:
        """Compile what is pending until nothing is left."""
        try:
            while (request := self.take()) is not None:
                try:
                    _compile(request)
                    request.is_ready = True
                except _Stopped:
                    with self.changed:
                        self.pending.append(request)
                except BaseException as error:  # noqa: BLE001 - it is logged, and the loop runs on
                    request.failed = True
                    _warn(request, error)
                with self.changed:
                    self.changed.notify_all()
        finally:  # also where it ends by an error: whoever waits starts another
            with self.changed:
                if self.thread is threading.current_thread():
                    self.thread = None
                self.changed.notify_all()

    def take(self) -> Request | None:
        """Return the most urgent request; None, and forget the thread, if there is none."""
        with self.changed:
            while self.pending and not self.stopping:
                request = max(self.pending, key=lambda one: (one.waiting, one.plain_seconds))
                delay = self.begin - time.monotonic()
                if self.pausing:
                    self.changed.wait(PAUSE_STEP)
                    continue
                is_worth_it = self.plain_seconds > LOAD_AFTER and request.is_stored
                if request.waiting or is_worth_it or delay <= 0:
                    self.pending.remove(request)
                    return request
                self.changed.wait(min(delay, threading.TIMEOUT_MAX))
            self.thread = None
            self.changed.notify_all()
            return None


_COMPILER = _Compiler()


def request(kernel: Loop, arguments: tuple[Any, ...]) -> Request:
    """Return the request for a loop with arguments of these types, made now or earlier."""
    key = (kernel, _types(arguments))
    found = _COMPILER.requests.get(key)
    if found is not None:
        return found
    with _COMPILER.changed:
        found = _COMPILER.requests.get(key)
        if found is None:
            found = _COMPILER.requests[key] = Request(kernel, _example(arguments))
            _COMPILER.pending.append(found)
            if _COMPILER.thread is None:
                _COMPILER.begin = time.monotonic() + START_DELAY
            _COMPILER.start()
            _COMPILER.changed.notify_all()
        return found


def count(request: Request, seconds: float) -> None:
    """Count the seconds of the processor that a loop has taken as plain Python."""
    request.plain_seconds += seconds
    before, _COMPILER.plain_seconds = _COMPILER.plain_seconds, _COMPILER.plain_seconds + seconds
    if before <= LOAD_AFTER < _COMPILER.plain_seconds:
        with _COMPILER.changed:
            _COMPILER.changed.notify_all()


def wait(request: Request, deadline: Deadline) -> None:
    """Wait until the request is ready or has failed.

    Raises:
        OutOfTime: the deadline has passed.
    """
    _wait_for([request], deadline)


def finish(deadline: Deadline) -> None:
    """Wait until no request is pending; see `wait`."""
    _wait_for([one for one in list(_COMPILER.requests.values()) if not one.failed], deadline)


def comes_first() -> bool:
    """Return whether calls wait for machine code before they run."""
    return _COMPILER.comes_first > 0


@contextmanager
def first() -> Iterator[None]:
    """Have calls of the whole process wait for machine code before they run."""
    _COMPILER.comes_first += 1
    try:
        yield
    finally:
        _COMPILER.comes_first -= 1


def _wait_for(requests: list[Request], deadline: Deadline) -> None:
    changed = _COMPILER.changed
    with changed:
        for one in requests:
            one.waiting += 1
        try:
            changed.notify_all()
            while not all(one.is_ready or one.failed for one in requests):
                _COMPILER.start()
                deadline.check()
                changed.wait(None if deadline.end == math.inf else deadline.remaining())
        finally:
            for one in requests:
                one.waiting -= 1


def _compile(request: Request) -> None:
    """Load or make the machine code of a request."""
    _import_numba()
    import numba
    from numba.core import event

    from clew.algorithms.kernels.compiler_events import (
        Notice,
        StopBetweenSteps,
        number_apart,
    )

    with (
        event.install_listener("numba:compile", Notice()),
        event.install_listener("numba:run_pass", StopBetweenSteps(_stop_if_asked)),
    ):
        dispatcher = _dispatcher(request.kernel)
        number_apart()
        dispatcher.compile(tuple(numba.typeof(value) for value in request.example))
    request.kernel.dispatcher = dispatcher


def _import_numba() -> None:
    """Import numba; again where another thread is importing it, of which this one sees a part.

    Its modules import each other. Python lets a thread see a module that is not ready rather than
    have two threads wait for each other.
    """
    for seconds in IMPORT_PAUSES:
        try:
            importlib.import_module("numba.core.compiler")
        except ImportError as error:
            if "partially initialized" not in str(error):
                raise
            time.sleep(seconds)
        else:
            return
    importlib.import_module("numba.core.compiler")


_DISPATCHERS: dict[Loop, Any] = {}


def _dispatcher(kernel: Loop) -> Any:
    """Return numba's dispatcher of a loop, which calls the dispatchers of other loops.

    For types without machine code it asks the kernel again.
    """
    import numba

    from clew.algorithms.kernels import machine_code

    if kernel not in _DISPATCHERS and kernel.build is not None:
        _DISPATCHERS[kernel] = kernel.build()
    if kernel not in _DISPATCHERS:
        function = kernel.function
        namespace = with_replaced(function, _dispatcher, type(kernel))
        copy = FunctionType(function.__code__, namespace, function.__name__)
        dispatcher = numba.njit(**kernel.options)(copy)
        dispatcher._cache = machine_code.Store(kernel)
        dispatcher._compile_for_args = lambda *_: kernel.call_unprepared  # it is called instead
        _DISPATCHERS[kernel] = dispatcher
    return _DISPATCHERS[kernel]


def _stop_if_asked() -> None:
    if (_COMPILER.stopping or _COMPILER.pausing) and threading.current_thread() is _COMPILER.thread:
        raise _Stopped


def _warn(request: Request, error: BaseException) -> None:
    logging.getLogger("clew").warning(
        "%s.%s stays uncompiled, and slow on large inputs: %s: %s",
        request.kernel.__module__,
        request.kernel.__name__,
        type(error).__name__,
        error,
    )


def _types(arguments: tuple[Any, ...]) -> Types:
    """Return what tells the types of arguments apart."""
    return tuple(
        (argument.dtype, argument.ndim, _layout(argument), argument.flags.writeable)
        if isinstance(argument, np.ndarray)
        else (type(argument), *_types(argument))
        if isinstance(argument, tuple)
        else type(argument)
        for argument in arguments
    )


def _layout(array: np.ndarray[Any, Any]) -> str:
    return "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "A"


def _example(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments of the same types that keep no large array alive."""
    return tuple(
        _example_array(argument)
        if isinstance(argument, np.ndarray)
        else _example_tuple(argument)
        if isinstance(argument, tuple)
        else argument
        for argument in arguments
    )


def _example_tuple(argument: tuple[Any, ...]) -> tuple[Any, ...]:
    values = _example(argument)
    return type(argument)(*values) if hasattr(argument, "_fields") else values


def _example_array(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    layout = _layout(array)
    example = np.zeros((4,) * array.ndim, array.dtype, order="F" if layout == "F" else "C")
    if layout == "A":
        example = example[(slice(None, None, 2),) * array.ndim]
    example.flags.writeable = array.flags.writeable
    return example


@atexit.register
def _stop() -> None:
    """Stop the thread before the libraries that it works in are unloaded."""
    _COMPILER.stopping = True
    thread = _COMPILER.thread
    if thread is not None:
        with _COMPILER.changed:
            _COMPILER.changed.notify_all()
        thread.join(MAX_STOP)
