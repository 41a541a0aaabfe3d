"""The answer of a caller's model piece by piece, as it is written."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
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
