"""Compile a loop with numba, and store the machine code for the next process."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event


def compiled(function: Callable[..., object], **options: Any) -> Any:
    """Return the function as one that is compiled at its first call.

    Args:
        function: a function in the subset of Python that numba compiles.
        options: passed on to `numba.njit`.

    Returns:
        numba's dispatcher, which is called like the function.
    """
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither the source's folder nor the user's cache can be written
        return numba.njit(**options)(function)


class _CompilationNotice(event.Listener):  # type: ignore[misc,unused-ignore]  # numba has no types
    """Logs once per process that loops of clew are being compiled.

    Code loaded from the cache is not logged.
    """

    logged = False

    def on_start(self, compiling: Any) -> None:
        module = compiling.data["dispatcher"].py_func.__module__
        if not self.logged and module.startswith("clew."):
            self.logged = True
            logging.getLogger("clew").info(
                "compiling loops of %s and others, which can take half a minute;"
                " the result is stored for later (`clew warm` compiles all of it in advance)",
                module,
            )

    def on_end(self, compiling: Any) -> None:
        pass


event.register("numba:compile", _CompilationNotice())
