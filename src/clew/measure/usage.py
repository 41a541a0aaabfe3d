"""What a language model was asked for: calls, tokens and seconds, counted where it is called."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from clew.model import Model
from clew.model.calls import complete_within
from clew.text.estimate import estimate_tokens


@dataclass(frozen=True)
class ModelUse:
    """What a model was asked for.

    Attributes:
        calls: How often it was called, a second try included. An answer out of a cache is no call.
        prompt_tokens: The tokens of the prompts.
        completion_tokens: The tokens of what it returned.
        seconds: The time of all calls, one after the other.

    Example:
        >>> ModelUse(3, 90, 30, 1.5) - ModelUse(1, 40, 10, 0.5)
        ModelUse(calls=2, prompt_tokens=50, completion_tokens=20, seconds=1.0)
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """The tokens of prompts and answers."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: ModelUse) -> ModelUse:
        return ModelUse(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.seconds + other.seconds,
        )

    def __sub__(self, other: ModelUse) -> ModelUse:
        return ModelUse(
            self.calls - other.calls,
            self.prompt_tokens - other.prompt_tokens,
            self.completion_tokens - other.completion_tokens,
            self.seconds - other.seconds,
        )


class ModelMeter:
    """Counts what passes through a model.

    Args:
        source: Whatever `clew.Model.of` takes.
        count: A text -> its number of tokens; clew's own estimate by default.

    Attributes:
        model: The same model, metered: give this one to what shall be measured.

    Example:
        >>> meter = ModelMeter(lambda prompt: "Of ash.")
        >>> meter.model.ask("Of what are oars?", str).value, meter.use.calls
        ('Of ash.', 1)
    """

    def __init__(self, source: object, count: Callable[[str], int] = estimate_tokens) -> None:
        original = Model.of(source)
        complete, self._count = original.complete, count
        self._lock, self._use = threading.Lock(), ModelUse()

        def metered(prompt: str) -> str:
            begin, answer = time.perf_counter(), ""
            try:
                answer = complete_within(math.inf, complete, prompt).text  # `Model` ends it in time
            finally:  # a call that fails is a call, too
                seconds = time.perf_counter() - begin
                with self._lock:
                    self._use += ModelUse(1, count(prompt), count(answer), seconds)
            return answer

        self.model = replace(original, complete=metered)

    @property
    def use(self) -> ModelUse:
        """What it was asked for so far."""
        with self._lock:
            return self._use
