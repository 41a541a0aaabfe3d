"""Locks in a process that was forked: what another thread held there, nobody holds here.

A fork copies the memory and one thread. A lock that another thread held at that moment stays held
in the child, and whoever waits for it waits for ever. So

- every object of clew's that has locks makes them anew in the child. What a lock guards is whole:
  results are stored when they are complete, and a result that another thread was computing is
  computed again;
- a fork waits until no other thread compiles or imports what questions need, since half a module
  and half a compilation cannot be mended in the child. The wait is bounded by `MAX_WAIT`. An object
  with methods `pause` and `resume`, as the compiler has, is asked to let go before.

OpenBLAS ends its threads before a fork by itself. The threads of faiss (OpenMP) do not live on in a
child, which searches with one.
"""

from __future__ import annotations

import _imp
import concurrent.futures.thread  # noqa: F401  # before ours, see the end of this module
import importlib
import logging
import os
import random  # noqa: F401  # as above
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any, Protocol

MAX_WAIT = 30.0
"""Seconds that a fork waits at most for what other threads compile and import."""

WAIT_STEP = 0.002


class HasLocks(Protocol):
    """An object with locks of its own."""

    def renew_locks(self) -> None:
        """Replace the locks by new ones, which nobody holds."""
        ...


_OWNERS: set[weakref.ref[HasLocks]] = set()
"""The objects whose locks are renewed. A `WeakSet` cannot be read while other threads add to it."""

_ENDLESS: set[str] = set()
"""Modules whose import did not end while a fork waited, as of a program that serves at import."""

_HELD: list[Callable[[], None]] = []
"""What releases the locks that are held across a fork, so that no other thread holds them."""


def renew_after_fork(owner: HasLocks) -> None:
    """Have an object renew its locks in every process that is forked while it lives.

    Example:
        >>> class Box:
        ...     def __init__(self):
        ...         self.renew_locks()
        ...         renew_after_fork(self)
        ...
        ...     def renew_locks(self):
        ...         self.lock = threading.Lock()
        >>> Box().lock.locked()
        False
    """
    _OWNERS.add(weakref.ref(owner, _OWNERS.discard))


def _owners() -> list[HasLocks]:
    """Return the objects that live: other threads go on making some, so it reads a copy."""
    alive = (reference() for reference in _OWNERS.copy())
    return [owner for owner in alive if owner is not None]


def _before() -> None:
    """Wait for other threads' imports and compilations, and keep new ones out."""
    until = time.monotonic() + MAX_WAIT
    _call_owners("pause")
    while True:
        locks = (*_compiler_locks(), *_logging_locks())  # the compiler logs while it holds its own
        _HELD.extend(
            lock.release
            for lock in locks
            if lock is not None and lock.acquire(timeout=max(0.0, until - time.monotonic()))
        )
        _imp.acquire_lock()  # no import begins, from here to the fork
        _HELD.append(_imp.release_lock)
        importing = _imported_elsewhere() - _ENDLESS
        if not importing:
            return
        if time.monotonic() > until:
            _ENDLESS.update(importing)
            return
        _release()  # an import may compile, import and log
        time.sleep(WAIT_STEP)


def _in_parent() -> None:
    _release()
    _call_owners("resume")


def _call_owners(method: str) -> None:
    for owner in _owners():
        getattr(owner, method, lambda: None)()


def _release() -> None:
    while _HELD:
        with suppress(RuntimeError):  # logging has renewed its lock in the child
            _HELD.pop()()


def _in_child() -> None:
    _release()
    for owner in _owners():
        owner.renew_locks()
    if "faiss" in sys.modules:
        sys.modules["faiss"].omp_set_num_threads(1)
    if sys.version_info < (3, 12):
        _renew_cached_properties()


def _logging_locks() -> list[Any]:
    """Return the locks of logging: who logs holds the lock of a file, which nothing can renew."""
    handlers = [reference() for reference in getattr(logging, "_handlerList", ())]
    return [getattr(logging, "_lock", None), *(getattr(one, "lock", None) for one in handlers)]


def _compiler_locks() -> list[Any]:
    """Return the locks of numba and of llvmlite, where these are loaded."""
    of_numba = getattr(sys.modules.get("numba.core.compiler_lock"), "global_compiler_lock", None)
    library = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
    owners = (of_numba, getattr(library, "_lock", None))
    locks = [getattr(owner, "_lock", None) for owner in owners]
    return [lock for lock in locks if hasattr(lock, "acquire")]


def _imported_elsewhere() -> set[str]:
    """Return the names of the modules that other threads import at this moment."""
    locks = getattr(importlib._bootstrap, "_module_locks", {})
    free = (None, threading.get_ident())
    return {
        name
        for name, reference in locks.copy().items()  # at once, while other threads import
        if getattr(reference(), "owner", None) not in free
    }


def _renew_cached_properties() -> None:
    """Renew the locks of cached properties: one for those of all objects, before Python 3.12."""
    modules = [module for name, module in sys.modules.copy().items() if name.startswith("clew.")]
    classes = {c for m in modules for c in list(vars(m).values()) if isinstance(c, type)}
    for member in [member for cls in classes for member in list(vars(cls).values())]:
        if isinstance(member, cached_property) and hasattr(member, "lock"):
            member.lock = threading.RLock()


# What is registered last is called first before a fork. So the modules imported above take their
# locks after this one has waited for other threads, which may need these locks to get on.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
