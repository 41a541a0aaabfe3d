"""Ctrl-C ends the command `clew` at once, with one line and exit code 130, also while it is loaded.

Importing this does nothing in other programs: there Ctrl-C raises KeyboardInterrupt as ever. The
command need not clean up, since what it saves is complete or is not there, whenever it is ended.
What it has not saved yet may be kept first, see `before_the_end`; a second Ctrl-C does not wait.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

EXIT_CODE = 130  # of a process that ends by SIGINT, as shells count


def is_command(arguments: Sequence[str]) -> bool:
    """Return whether these are the arguments, the interpreter included, of the command `clew`.

    Example:
        >>> is_command(["python", "-m", "clew", "ask"]), is_command(["python", "server.py"])
        (True, False)
    """
    given = list(arguments[1:])
    return given[:2] == ["-m", "clew"] or (bool(given) and Path(given[0]).stem == "clew")


def end_on_interrupt() -> None:
    """Have SIGINT end this process, unless it is ignored, as in the background of a script."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


@contextmanager
def interruptible() -> Iterator[None]:
    """Have Ctrl-C within the block raise KeyboardInterrupt, and not end the command."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is not _end:
        yield  # where it is not the command, Ctrl-C raises anyway
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def before_the_end(keep: Callable[[], str]) -> Iterator[None]:
    """Have something done where Ctrl-C or SIGTERM ends this process within the block.

    In another program than the command, and in another thread than the main one, nothing is done.

    Args:
        keep: Called between any two steps of the main thread. It returns what is to be printed.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not (is_main and is_command(sys.orig_argv)):
        yield
        return
    is_plain = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    _KEEPING.append(keep)
    if is_plain:
        signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        _KEEPING.remove(keep)
        if is_plain:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def end_at_once(code: int) -> None:
    """End this process with what it has printed, and wait for no thread."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _end(number: int, _: object) -> None:
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)  # the second one does not wait
    words = "".join(f"; {line}" for keep in reversed(_KEEPING) if (line := _kept_by(keep)))
    os.write(2, f"clew: interrupted{words}\n".encode("utf-8", "replace"))
    if number == signal.SIGTERM:
        signal.raise_signal(number)  # so that who sent it sees what has ended this process
    os._exit(EXIT_CODE)


def _kept_by(keep: Callable[[], str]) -> str:
    try:
        return keep()
    except Exception as error:  # noqa: BLE001  # whatever is half done at this moment
        return f"nothing is kept: {type(error).__name__}: {error}"


_KEEPING: list[Callable[[], str]] = []

if is_command(sys.orig_argv):
    end_on_interrupt()
