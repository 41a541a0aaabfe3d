"""Compile a loop with numba, and keep the machine code beside the source where that can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """Return the function, to be compiled at its first call; modules that use this are imported when they are first needed."""
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither the source's folder nor the user's cache can be written
        return numba.njit(**options)(function)
