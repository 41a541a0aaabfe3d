"""One call of the caller's model, of whatever kind, within its time: its text and its tokens."""

from __future__ import annotations

import contextvars
import inspect
import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

ACCEPTED = (
    "a function prompt -> text, async or not, a LangChain model (`invoke`), a LlamaIndex one "
    "(`complete`), or ADDRESS#MODEL of a server that speaks as OpenAI's does"
)
RETRIED_STATUSES = (408, 409, 425, 429)  # of the 4xx, those that may pass
PERMANENT = (TypeError, NameError, AttributeError, ImportError, NotImplementedError)

# Under which names models tell their tokens, and where in their responses.
TOLD_IN = ("usage_metadata", "usage", "additional_kwargs")
PROMPT_NAMES = ("input_tokens", "prompt_tokens", "prompt_token_count", "prompt_eval_count")
COMPLETION_NAMES = ("output_tokens", "completion_tokens", "candidates_token_count", "eval_count")


class Completion(NamedTuple):
    """The text of an answer, and its tokens as the model tells them: prompt's and answer's."""

    text: str
    told: tuple[int, int] | None


@dataclass(frozen=True)
class ModelCall:
    """Calls a model by the method of its kind.

    Attributes:
        source: the model.
        method: the name of the method.
    """

    source: object
    method: str

    def __repr__(self) -> str:  # part of the name under which a saved index knows a generator
        return f"_Call(source={self.source!r}, method={self.method!r})"

    def __call__(self, prompt: str) -> object:
        source: Any = self.source
        call = source if self.method == "__call__" else getattr(source, self.method)
        return call(prompt)


def method_of(source: object) -> str | None:
    """Return the name of the method by which a model is called, or None for what is no model.

    Example:
        >>> method_of(print), method_of(3)
        ('__call__', None)
    """
    if hasattr(source, "complete") and hasattr(source, "metadata"):
        return "complete"
    for method in ("invoke", "ainvoke", "acomplete"):
        if hasattr(source, method):
            return method
    return "__call__" if callable(source) else None


def complete_within(timeout: float, call: Callable[[str], object], prompt: str) -> Completion:
    """Call a model, and wait no longer than `timeout` seconds.

    An async call is cancelled then. Any other cannot be ended, so its thread is left behind.

    Raises:
        TimeoutError: there is no answer within that time.
        Exception: whatever the model raises.
    """
    if math.isinf(timeout):
        return _completion_of(_result_of(call(prompt), None))
    box = SimpleQueue[tuple[Any, BaseException | None]]()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            box.put((context.run(lambda: _result_of(call(prompt), timeout)), None))
        except BaseException as problem:  # noqa: BLE001  # raised again in the thread that waits
            box.put((None, problem))

    threading.Thread(target=run, daemon=True).start()
    try:
        response, problem = box.get(timeout=timeout)
    except Empty:
        raise TimeoutError(f"no answer within {timeout:g} seconds") from None
    if problem is not None:
        raise problem
    return _completion_of(response)


def may_pass(problem: BaseException) -> bool:
    """Return whether a call that failed so may succeed a little later.

    A refusal that names the request itself as its reason (HTTP 400, 401, 404, ...) will not pass,
    nor will a mistake in the program.

    Example:
        >>> may_pass(ConnectionError("reset")), may_pass(TypeError("one argument too many"))
        (True, False)
    """
    if not isinstance(problem, Exception) or isinstance(problem, PERMANENT):
        return False
    response = getattr(problem, "response", None)
    status = getattr(problem, "status_code", None) or getattr(response, "status_code", None)
    if not isinstance(status, int):
        return True
    return status in RETRIED_STATUSES or not 400 <= status < 500


def _completion_of(response: object) -> Completion:
    return Completion(text_of(response), _told_tokens(response))


def text_of(response: object) -> str:
    """Return the text of a string, a LangChain message or a LlamaIndex response."""
    if isinstance(response, str):
        return response
    content = getattr(response, "content", None)
    if isinstance(content, list):  # a message in blocks
        return "".join(
            block if isinstance(block, str) else str(block.get("text", "")) for block in content
        )
    text = content if isinstance(content, str) else getattr(response, "text", None)
    if not isinstance(text, str):
        raise TypeError(
            f"the model returned a {type(response).__name__}; "
            "wanted a text, or an object with `text` or `content`"
        )
    return text


def _told_tokens(response: object) -> tuple[int, int] | None:
    """Return the tokens of prompt and answer that a response tells, or None where it tells none.

    LangChain has them in `usage_metadata`; LlamaIndex in what the provider sent, `raw`, or in
    `additional_kwargs`.
    """
    if isinstance(response, str):
        return None
    for holder in (response, getattr(response, "raw", None)):
        for place in (*(_entry(holder, name) for name in TOLD_IN), holder):
            told = (_number(place, PROMPT_NAMES), _number(place, COMPLETION_NAMES))
            if told[0] is not None and told[1] is not None:
                return told[0], told[1]
    return None


def _entry(holder: object, name: str) -> object:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


def _number(holder: object, names: tuple[str, ...]) -> int | None:
    for name in names:
        value = _entry(holder, name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None


def _result_of(response: object, timeout: float | None) -> object:
    """Return the response, waited for where it is awaitable."""
    if not inspect.isawaitable(response):
        return response
    from clew.model.async_calls import wait_for  # few models are async, and asyncio loads slowly

    return wait_for(response, timeout)
