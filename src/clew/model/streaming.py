"""The answer of a caller's model piece by piece, as it is written."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import Any

from clew.model.calls import ModelCall, text_of

STREAMS = ("stream_complete", "stream")  # LlamaIndex's and LangChain's


def stream_from(complete: object, prompt: str) -> Iterator[str]:
    """Yield the pieces of a model's answer; of a model that does not stream, the whole.

    Args:
        complete: What `Model.complete` is: a call of a framework's model, or a function that
            returns a text, or yields pieces of one.
        prompt: The whole prompt.

    Example:
        >>> list(stream_from(lambda prompt: (word for word in prompt.split()), "one two"))
        ['one', 'two']
    """
    source: Any = complete.source if isinstance(complete, ModelCall) else complete
    for name in STREAMS:
        if hasattr(source, name):
            yield from _pieces(getattr(source, name)(prompt))
            return
    if not callable(complete):
        raise TypeError(f"cannot ask a {type(complete).__name__}")
    answer = complete(prompt)
    if inspect.isawaitable(answer):
        from clew.model.async_calls import wait_for  # as few models are async

        answer = wait_for(answer, None)
    is_row = isinstance(answer, Iterator) or inspect.isgenerator(answer)
    yield from _pieces(answer) if is_row else [text_of(answer)]


def _pieces(responses: Iterable[object]) -> Iterator[str]:
    """Yield the text that each response adds: LlamaIndex's have it as `delta` beside the whole."""
    for response in responses:
        delta = getattr(response, "delta", None)
        piece = delta if isinstance(delta, str) else text_of(response)
        if piece:
            yield piece
