"""numba's compiler in a thread: what it says of its work, and how it is stopped.

Importing this loads numba.
"""

from __future__ import annotations

import itertools
import logging
import secrets
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numba.core.compiler
from numba.core import errors, event
from numba.core.bytecode import FunctionIdentity

# To colour a message, numba has colorama replace sys.stdout for a moment. In a thread that would
# lose what others print at that moment. Messages have no colours by default.
if hasattr(errors, "ColorShell"):
    setattr(errors, "ColorShell", nullcontext)  # noqa: B010 - it may be missing, for mypy


THREAD_NAME = "clew compiler"
NUMBER_BITS = 48  # of the number of a function


class _WarningsOfNumba:
    """What numba takes for the module `warnings`.

    Filters of warnings belong to the whole process. numba changes them for a moment, again and
    again; in the compiler's thread they stay as they are, lest another thread lose its own.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(warnings, name)

    @contextmanager
    def catch_warnings(self, **options: Any) -> Iterator[Any]:
        if threading.current_thread().name == THREAD_NAME:
            yield []
            return
        with warnings.catch_warnings(**options) as caught:
            yield caught

    def simplefilter(self, *arguments: Any, **options: Any) -> None:
        if threading.current_thread().name != THREAD_NAME:
            warnings.simplefilter(*arguments, **options)


for module in (errors, numba.core.compiler):
    if getattr(module, "warnings", None) is warnings:
        setattr(module, "warnings", _WarningsOfNumba())  # noqa: B010 - as above


def number_apart() -> None:
    """Have numba give what it compiles next numbers that it gives in no other process.

    A number tells functions of one name apart, such as the parts of numba's own sorts, by value and
    by place. numba counts from 1 in every process. Where machine code of two processes is loaded
    into a third one, the first function of a name and a number takes the place of the others
    (numba's issue 10486).
    """
    FunctionIdentity._unique_ids = itertools.count(secrets.randbits(NUMBER_BITS))


class Notice(event.Listener):  # type: ignore[misc,unused-ignore]  # numba has no types
    """Logs once per process that loops of clew are being compiled.

    Code loaded from a file is not logged.
    """

    is_logged = False

    def on_start(self, compiling: Any) -> None:
        module = compiling.data["dispatcher"].py_func.__module__
        if not Notice.is_logged and module.startswith("clew."):
            Notice.is_logged = True
            logging.getLogger("clew").info(
                "compiling loops of %s and others, which can take half a minute; small questions"
                " are answered meanwhile, and the result is stored for later (`clew warm` compiles"
                " all of it in advance)",
                module,
            )

    def on_end(self, compiling: Any) -> None:
        pass


class StopBetweenSteps(event.Listener):  # type: ignore[misc,unused-ignore]  # likewise
    """Calls a function before every step of the compiler, which may raise to end it."""

    def __init__(self, check: Callable[[], None]) -> None:
        self.check = check

    def on_start(self, step: Any) -> None:
        self.check()

    def on_end(self, step: Any) -> None:
        pass
