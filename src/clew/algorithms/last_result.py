"""A result that is asked for several times in turn, with the same arrays, is computed once."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def remember_last(compute: Callable[..., T]) -> Callable[..., T]:
    """Return the function with the result for its last arguments, which are compared as objects.

    A page is fitted to its budget by selecting with less and less room. So what does not depend on
    the room is asked for several times in turn. The arguments are not kept by this: a question
    holds the index that it was asked of.

    Example:
        >>> calls = []
        >>> remembered = remember_last(calls.append)
        >>> everything = range(9)
        >>> remembered(everything), remembered(everything), len(calls)
        (None, None, 1)
    """
    last: tuple[tuple[Callable[[], object], ...], T] | None = None

    def remembered(*arguments: object) -> T:
        nonlocal last
        found = last  # another thread may ask another question meanwhile
        if found is None or any(a is not b() for a, b in zip(arguments, found[0], strict=True)):
            found = last = tuple(map(_reference_to, arguments)), compute(*arguments)
        return found[1]

    return remembered


def _reference_to(argument: object) -> Callable[[], object]:
    """Return what gives an argument for as long as somebody else has it."""
    try:
        return weakref.ref(argument)
    except TypeError:  # such as a tuple
        return lambda: argument
