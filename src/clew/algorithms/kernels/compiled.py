"""A loop that runs at once, as plain Python, and as machine code as soon as there is some.

`@compiled` declares a loop. Nobody waits for the compiler before a first answer: a call runs the
function as Python has it, while a thread loads or makes the machine code (`compiler.py`). Both give
the same answers, bit by bit; the rules for writing such a loop are below. A call that goes on for
longer than `PATIENCE` seconds is begun anew once its machine code is there. At the question's
deadline it raises `OutOfTime`. Machine code does not look at the deadline, but it leaves Python's
lock to other threads, so that whoever waits for the answer goes on.

A loop is written so that both have the same arithmetic:
- floats are added in the order of a loop, or by `kernels.sums`; `numpy` sums in another order;
- products in the place of powers, and `math.exp` in the place of `np.exp`;
- float32 meets float64, never a literal, which Python takes for a float32 there;
- an array that is made of a list says its type, since an empty list has none.
A loop that takes long as plain Python is declared with `lists`. It reads single numbers and slices
of rows, copies with `one[:] = other`, and makes arrays by `np.zeros`, `np.empty` and `np.full`
alone: lists do all that as well, and faster. It changes none of its arguments.
`tests/algorithms/test_kernels.py` runs every loop both ways.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, update_wrapper
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from clew.algorithms.kernels import compiler
from clew.algorithms.kernels.plain import build_plain, on_lists
from clew.deadline import Deadline, current

PATIENCE = 2.0
"""Seconds of the processor for a loop as plain Python, in all calls together, before one waits.

That is about what the machine code of a loop takes to make, once numba is loaded.
"""

PATIENCE_IF_STORED = 0.5
"""The same for a loop whose machine code only has to be loaded.

That is about what loading takes beside the calls. Until then short calls go on as plain Python, so
that no question waits for what would hardly speed it up."""

CALL_IF_STORED = 0.1
"""Seconds of the processor for one call as plain Python, before it waits for machine code that only
has to be loaded."""

LOOK_STEP = 0.005  # seconds between two looks at the clock by a loop that runs as plain Python


class _Abandoned(Exception):  # noqa: N818 - it never leaves this module
    """A run as plain Python ends, because machine code is there or is worth waiting for."""


class _Looks(threading.local):
    """When a thread's loop looks up from its work next, and what it does then."""

    next_look = float("inf")
    look: Callable[[], None]


_LOOKS = _Looks()


def tick() -> None:
    """Look up from the work if it is time to; called at the head of the plain loops."""
    if time.monotonic() >= _LOOKS.next_look:
        _LOOKS.next_look = time.monotonic() + LOOK_STEP
        _LOOKS.look()


class Kernel:
    """A loop that is called like the function it was declared by.

    Attributes:
        function: the function as it was written.
        options: of `numba.njit`.
        dispatcher: numba's own, once it has machine code.
        build: makes what machine code calls in the place of the function, such as an intrinsic of
            numba; None where the function is compiled.
        patience: seconds of the processor as plain Python, in all calls together, before one waits
            for machine code that has to be made; None for `PATIENCE`.
        changes: the names of the parameters that it changes; None for any.
    """

    __name__: str
    patience: float | None = None
    changes: tuple[str, ...] | None = None

    def __init__(
        self,
        function: Callable[..., Any],
        at_once: Callable[..., Any] | None,
        options: dict[str, Any],
        lists: tuple[DTypeLike | None, ...] | None = None,
        build: Callable[[], Any] | None = None,
    ) -> None:
        update_wrapper(self, function)
        self.function, self.options = function, options
        self._at_once, self._lists, self.build = at_once, lists, build
        self.dispatcher: Any = None

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """The function as Python runs it, with the kernels that it calls likewise."""
        if self._at_once is not None:
            return self._at_once
        if self._lists is not None:
            return on_lists(build_plain(self.function, tick, Kernel, lists=True), self._lists)
        return build_plain(self.function, tick, Kernel)

    def __call__(self, *arguments: Any) -> Any:
        if self.dispatcher is None:
            return self.call_unprepared(*arguments)
        try:
            return self.dispatcher(*arguments)
        except SystemError as error:  # what numba makes of Ctrl-C while it looks at the arguments
            cause: BaseException | None = error
            while cause is not None and not isinstance(cause, KeyboardInterrupt):
                cause = cause.__cause__ or cause.__context__
            raise (cause or error) from None

    def _changed_of(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return those of the arguments that the loop may change."""
        if self.changes is None:
            return arguments
        names = self.function.__code__.co_varnames
        return tuple(arguments[names.index(name)] for name in self.changes)

    def is_ready(self, *arguments: Any) -> bool:
        """Return whether there is machine code for these arguments; there will be some."""
        return compiler.request(self, arguments).is_ready

    def call_unprepared(self, *arguments: Any) -> Any:
        """Answer a call for whose types there is no machine code yet."""
        request = compiler.request(self, arguments)
        if not request.failed:
            if compiler.comes_first() or self._is_worth_waiting(request, 0.0):
                return self._call_compiled(request, arguments)
            try:
                return _unboxed(self._run_plain(request, arguments))
            except _Abandoned:
                return self._call_compiled(request, arguments)
        return _unboxed(self._run_plain(request, arguments))

    def _is_worth_waiting(self, request: compiler.Request, own_seconds: float) -> bool:
        """Whether to wait for machine code after so many seconds of a call as plain Python.

        Whether there is some on the disk is looked up when it matters, for that takes a while, too.
        """
        patience = PATIENCE if self.patience is None else self.patience
        taken = request.plain_seconds + own_seconds
        if taken > patience:
            return True
        is_long = taken > PATIENCE_IF_STORED or own_seconds > CALL_IF_STORED
        return is_long and request.is_stored

    def _call_compiled(self, request: compiler.Request, arguments: tuple[Any, ...]) -> Any:
        compiler.wait(request, current())
        if request.failed:
            return _unboxed(self._run_plain(request, arguments))
        return self.dispatcher(*arguments)

    def _run_plain(self, request: compiler.Request, arguments: tuple[Any, ...]) -> Any:
        """Run as plain Python; leave the arguments as they were if that is given up."""
        deadline, begin = current(), time.thread_time()
        before = list(_writeable(self._changed_of(arguments)))
        copies = [array.copy() for array in before]

        def look() -> None:
            deadline.check()
            if request.failed:
                return
            if request.is_ready or self._is_worth_waiting(request, time.thread_time() - begin):
                raise _Abandoned

        outer = _LOOKS.next_look, getattr(_LOOKS, "look", None)
        _LOOKS.next_look, _LOOKS.look = time.monotonic() + LOOK_STEP, look
        try:
            with np.errstate(over="ignore"):  # hashes wrap around
                return self.plain(*arguments)
        except BaseException:
            for array, copy in zip(before, copies, strict=True):
                np.copyto(array, copy)
            raise
        finally:
            _LOOKS.next_look, _LOOKS.look = outer  # type: ignore[assignment]  # None is never called
            compiler.count(request, time.thread_time() - begin)


def compiled(
    function: Callable[..., Any] | None = None,
    *,
    at_once: Callable[..., Any] | None = None,
    lists: tuple[DTypeLike | None, ...] | None = None,
    patience: float | None = None,
    changes: tuple[str, ...] | None = None,
    **options: Any,
) -> Any:
    """Declare a loop: in the subset of Python that numba compiles, by the rules of this module.

    Args:
        function: the loop, which calls other loops and numpy.
        at_once: a function of the same results, bit by bit, which plain Python runs faster.
        lists: the types of the arrays that the loop returns, None for what is no array. Plain
            Python then runs it on lists.
        patience: of the `Kernel`, for a loop whose machine code takes much longer to make than that
            of others.
        changes: the names of the parameters whose arrays the loop changes. Those of a call that is
            given up are as they were, and so they are copied before; None for any.
        options: of `numba.njit`. None that lets the compiler change what is computed.

    Returns:
        A `Kernel`, which is called like the function.
    """
    options = {"nogil": True, **options}
    if function is None:
        return lambda function: compiled(
            function,
            at_once=at_once,
            lists=lists,
            patience=patience,
            changes=changes,
            **options,
        )
    kernel = Kernel(function, at_once, options, lists)
    kernel.patience, kernel.changes = patience, changes
    return kernel


@contextmanager
def compile_first() -> Iterator[None]:
    """Wait for machine code before every call, in the whole process: for measuring speed."""
    with compiler.first():
        yield


def finish_compiling() -> None:
    """Wait until there is machine code for all loops that were called."""
    compiler.finish(Deadline())


def _writeable(arguments: tuple[Any, ...]) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the arrays that a loop may change."""
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            if argument.flags.writeable:
                yield argument
        elif isinstance(argument, tuple):
            yield from _writeable(argument)


def _unboxed(result: Any) -> Any:
    """Return a result with Python's own numbers, as machine code returns them."""
    if isinstance(result, np.generic):
        return result.item()
    if isinstance(result, tuple):
        fields = map(_unboxed, result)
        return type(result)(*fields) if hasattr(result, "_fields") else tuple(fields)
    return result
