"""numba's compiler in a thread: what it says of its work, and how it is stopped.

Importing this loads numba.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from numba.core import errors, event

# To colour a message, numba has colorama replace sys.stdout for a moment. In a thread that would
# lose what others print at that moment. Messages have no colours by default.
if hasattr(errors, "ColorShell"):
    setattr(errors, "ColorShell", nullcontext)  # noqa: B010 - it may be missing, for mypy


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
