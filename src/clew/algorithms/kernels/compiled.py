"""Compile a loop with numba, and keep the machine code beside the source where that can be written."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """Return the function, to be compiled at its first call; modules that use this are imported when they are first needed."""
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither the source's folder nor the user's cache can be written
        return numba.njit(**options)(function)


class _Announcement(event.Listener):  # type: ignore[misc,unused-ignore]  # numba has no types
    """Says once a process what a first question after the installation waits for; what was kept is loaded without a word."""

    said = False

    def on_start(self, compiling: Any) -> None:
        if not self.said and compiling.data["dispatcher"].py_func.__module__.startswith("clew."):
            self.said = True
            logging.getLogger("clew").info(
                "compiling loops of %s and others, which can take half a minute; kept for later (`clew warm` does all of it in advance)",
                compiling.data["dispatcher"].py_func.__module__,
            )

    def on_end(self, compiling: Any) -> None:
        pass


event.register("numba:compile", _Announcement())
