"""Ctrl-C ends the command `clew` at once, with one line and exit code 130, also while it is loaded.

Importing this does nothing in other programs: there Ctrl-C raises KeyboardInterrupt as ever. The
command need not clean up, since what it saves is complete or is not there, whenever it is ended.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
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


def end_at_once(code: int) -> None:
    """End this process with what it has printed, and wait for no thread."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _end(*_: object) -> None:
    os.write(2, b"clew: interrupted\n")
    os._exit(EXIT_CODE)


if is_command(sys.orig_argv):
    end_on_interrupt()
