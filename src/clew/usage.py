"""What language models were asked for: calls, and the tokens of prompts and of answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Usage:
    """Calls of language models, and their tokens. Usages can be added.

    Tokens are those that the model tells, where it tells them; the others are counted by the
    index's counter. A call that failed counts with the tokens of its prompt, since that was sent.

    Attributes:
        calls: how often a model was called, failed calls and second attempts included.
        prompt_tokens: of all prompts that were sent.
        completion_tokens: of all answers that came back, of those that could not be read too.
        counted: of the calls, how many have tokens that were counted, not told by the model.
        failed: of the calls, how many brought no answer.
        remembered: how many prompts were answered without a call, out of a cache or by the answer
            to an equal prompt.

    Example:
        >>> Usage(calls=1, prompt_tokens=40) + Usage(calls=2, completion_tokens=7)
        Usage(calls=3, prompt_tokens=40, completion_tokens=7, counted=0, failed=0, remembered=0)
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    counted: int = 0
    failed: int = 0
    remembered: int = 0

    def __add__(self, other: Usage) -> Usage:
        names = (field.name for field in fields(Usage))
        return Usage(*(getattr(self, name) + getattr(other, name) for name in names))

    def __bool__(self) -> bool:
        return bool(self.calls or self.remembered)

    def __str__(self) -> str:
        counted = f" ({self.counted:,} calls counted, not told by the model)" * bool(self.counted)
        failed = f", {self.failed:,} failed" * bool(self.failed)
        remembered = f", {self.remembered:,} answers known already" * bool(self.remembered)
        return (
            f"{self.calls:,} calls{failed}: {self.prompt_tokens:,} tokens in, "
            f"{self.completion_tokens:,} out{counted}{remembered}"
        )


NO_USAGE = Usage()


def total_usage(usages: Iterable[Usage]) -> Usage:
    """Return the sum of usages.

    Example:
        >>> total_usage([Usage(calls=1), Usage(calls=2)]).calls
        3
    """
    return sum(usages, NO_USAGE)


class UsageMeter:
    """Adds up usage from any number of threads; see `metered`."""

    def __init__(self) -> None:
        self._lock, self._usage = threading.Lock(), NO_USAGE

    @property
    def usage(self) -> Usage:
        """What was used so far."""
        return self._usage

    def add(self, usage: Usage) -> None:
        """Add what was used."""
        with self._lock:
            self._usage += usage


_meters: ContextVar[tuple[UsageMeter, ...]] = ContextVar("meters", default=())
_counter: ContextVar[Callable[[str], int] | None] = ContextVar("counter", default=None)


@contextmanager
def metered(count: Callable[[str], int] | None = None) -> Iterator[UsageMeter]:
    """Measure what models (`clew.Model`) are asked for within a block, whoever asks them.

    Args:
        count: The tokenizer, text -> number of tokens, for models without one of their own. None
            stands for that of the block around this one, or clew's own.

    Example:
        >>> from clew.model import Model
        >>> with metered() as meter:
        ...     answer = Model.of(lambda prompt: "Anna.").ask("Who paints?", str)
        >>> meter.usage.calls, meter.usage.prompt_tokens, meter.usage.completion_tokens
        (1, 3, 2)
    """
    meter = UsageMeter()
    token = _meters.set((*_meters.get(), meter))
    counter_token = _counter.set(count or _counter.get())
    try:
        yield meter
    finally:
        _meters.reset(token)
        _counter.reset(counter_token)


def current_counter() -> Callable[[str], int] | None:
    """Return the tokenizer of the innermost `metered` block that has one, or None."""
    return _counter.get()


def record_usage(usage: Usage) -> None:
    """Add what was used to all meters of the blocks around this call."""
    for meter in _meters.get():
        meter.add(usage)
