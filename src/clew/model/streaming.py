"""The answer of a caller's model piece by piece, as it is written."""

from __future__ import annotations

import contextvars
import inspect
import math
import threading
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

from clew.model.calls import ModelCall, text_of

STREAMING = {"complete": "stream_complete", "invoke": "stream"}
"""By the method that answers whole, the one that answers in pieces: LlamaIndex and LangChain."""


def streaming_method(complete: object) -> Callable[[str], Iterable[object]] | None:
    """Return what answers a prompt in pieces; None for a model that answers whole.

    Args:
        complete: What `Model.complete` is: a call of a framework's model or of a function. One that
            is a generator yields pieces.

    Example:
        >>> streaming_method(print) is None
        True
    """
    if not isinstance(complete, ModelCall):
        return None
    source: Any = complete.source
    if complete.method == "__call__":
        return source if inspect.isgeneratorfunction(source) else None
    found: Callable[[str], Iterable[object]] | None
    found = getattr(source, STREAMING.get(complete.method, ""), None)
    return found


def pieces_of(responses: Iterable[object]) -> Iterator[str]:
    """Yield the text that each response adds: LlamaIndex's have it as `delta` beside the whole.

    Example:
        >>> list(pieces_of(["Ben ", "", "lives."]))
        ['Ben ', 'lives.']
    """
    for response in responses:
        delta = getattr(response, "delta", None)
        piece = delta if isinstance(delta, str) else text_of(response)
        if piece:
            yield piece


def pieces_within(timeout: float, make: Callable[[], Iterable[str]]) -> Iterator[str]:
    """Yield the pieces that come, and wait no longer than `timeout` seconds for each.

    They are made in another thread. It cannot be ended, so one that waits is left behind; where the
    reader goes, it stops at the next piece.

    Args:
        timeout: The seconds; `math.inf` for no end, which needs no thread.
        make: Returns what yields the pieces.

    Raises:
        TimeoutError: No piece came within that time.
        Exception: Whatever the model raises.

    Example:
        >>> list(pieces_within(5.0, lambda: ["Ben ", "lives."]))
        ['Ben ', 'lives.']
    """
    if math.isinf(timeout):
        yield from make()
        return
    box = SimpleQueue[str | BaseException | None]()
    gone, context = threading.Event(), contextvars.copy_context()

    def run() -> None:
        try:
            for piece in make():
                if gone.is_set():
                    return
                box.put(piece)
        except BaseException as problem:  # noqa: BLE001  # raised again in the thread that waits
            box.put(problem)
        else:
            box.put(None)

    threading.Thread(target=context.run, args=(run,), daemon=True).start()
    try:
        while (arrived := _next_of(box, timeout)) is not None:
            if isinstance(arrived, BaseException):
                raise arrived
            yield arrived
    finally:
        gone.set()


def _next_of(
    box: SimpleQueue[str | BaseException | None], timeout: float
) -> str | BaseException | None:
    try:
        return box.get(timeout=timeout)
    except Empty:
        raise TimeoutError(f"nothing came within {timeout:g} seconds") from None
