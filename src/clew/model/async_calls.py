"""Waiting for an async model, from any thread, and from within a running event loop too.

It runs in an event loop of clew's own, in a thread of its own.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Awaitable

from clew.forking import renew_after_fork


def wait_for(response: Awaitable[object], timeout: float | None) -> object:
    """Return what an async model answers.

    Args:
        response: What the model returned.
        timeout: The seconds that it may take; None for any time.

    Raises:
        RuntimeError: An async model asked this one and waits for it.
        TimeoutError: The time has passed.
    """
    loop = _background.get()
    if threading.current_thread() is _background.thread:
        if hasattr(response, "close"):
            response.close()
        raise RuntimeError(
            "an async model asked another one and waits for it in the loop that would run it: "
            "await asyncio.to_thread(...) around the inner question"
        )
    future = asyncio.run_coroutine_threadsafe(_awaited(response), loop)
    try:
        return future.result(timeout)
    except concurrent.futures.TimeoutError:
        if future.done():  # the model's own TimeoutError
            raise
        future.cancel()
        raise TimeoutError(f"no answer within {timeout:g} seconds") from None


async def _awaited(response: Awaitable[object]) -> object:
    return await response


class _BackgroundLoop:
    """The loop that runs async models, in a thread: the connections of a client belong to one loop.

    A forked process has none of its parent's threads, so it begins a loop of its own.
    """

    def __init__(self) -> None:
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Forget the loop, whose thread does not live on in a forked process."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.thread: threading.Thread | None = None

    def get(self) -> asyncio.AbstractEventLoop:
        """Return the loop, which runs."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self.thread = threading.Thread(
                    target=self._loop.run_forever, name="clew async models", daemon=True
                )
                self.thread.start()
            return self._loop


_background = _BackgroundLoop()
