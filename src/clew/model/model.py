"""The caller's language model, of whatever kind: a prompt goes in, a text comes out.

No prompt is above the model's ceiling of tokens. A call that fails is tried again after a pause,
and a text that cannot be read is asked for once more. Answers can be cached, so that nothing is
paid for twice. What is used is counted, by the model itself where it tells its tokens.
"""

from __future__ import annotations

import contextvars
import inspect
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from queue import Empty, SimpleQueue
from time import sleep
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from clew.model.cache import AnswerCache
from clew.model.calls import ACCEPTED, Completion, ModelCall, complete_within, may_pass, method_of
from clew.model.openai_compatible import OpenAICompatible
from clew.model.prompts import FittedPrompt, fit_prompt
from clew.model.streaming import pieces_of, pieces_within, streaming_method
from clew.model.thoughts import pieces_without_thoughts, without_thoughts
from clew.progress import progress_bar
from clew.text.estimate import estimate_tokens
from clew.usage import NO_USAGE, Usage, current_counter, record_usage

Value = TypeVar("Value")

MAX_PROMPT_TOKENS = 16_000  # a prompt's, unless the caller says otherwise
TIMEOUT = 300.0  # seconds of one call, likewise
RETRIES = 2  # further calls where one fails, likewise
FIRST_PAUSE, MAX_PAUSE = 1.0, 60.0  # seconds before these; each pause is twice the one before
MAX_REASON = 300  # characters of what was wrong with an answer, for the model
RETRY = (
    "\n\nAn earlier answer to this could not be used: {error}. "
    "Answer again, in the form that is asked for and nothing else."
)


class ModelError(RuntimeError):
    """A language model gave no answer."""


class CompletingModel(Protocol):
    """A LlamaIndex LLM: `complete` takes a prompt and returns an object with a `text`."""

    @property
    def metadata(self) -> object: ...
    def complete(self, prompt: str, /) -> object: ...


class InvokableModel(Protocol):
    """A LangChain chat model, LLM or other runnable: `invoke` takes a prompt."""

    def invoke(self, prompt: str, /) -> object: ...


@dataclass(frozen=True)
class ModelAnswer(Generic[Value]):
    """The answer to one prompt.

    Attributes:
        value: what was read of it, or None.
        error: why there is no value.
        usage: what the model was asked for.
    """

    value: Value | None
    error: str = ""
    usage: Usage = NO_USAGE

    @property
    def calls(self) -> int:
        """How often the model was called; 0 for an answer out of the cache."""
        return self.usage.calls


@dataclass(frozen=True)
class Model:
    """A language model. `Model.of` makes one of a function or of a framework's model.

    Thoughts that a reasoning model writes before its answer, between `<think>` and `</think>`, are
    no part of what is read or yielded; their tokens count.

    Attributes:
        name: answers are cached by it.
        complete: takes a prompt and returns a text, a framework's response, or an awaitable of it.
        answers: the cache, or None.
        timeout: seconds after which a call is given up; None for 300, `math.inf` for no end. Of an
            answer that comes in pieces, seconds without one.
        max_prompt_tokens: no prompt has more, by `count`. What asks the model leaves out or cuts
            what does not fit, and says so.
        retries: how often a call that fails is made again, after a pause that doubles. Refusals
            that will not pass, such as a wrong key, are not tried again.
        count: the tokenizer, text -> number of tokens; None for that of the index, or clew's own.

    Example:
        >>> model = Model.of(lambda prompt: prompt.upper())
        >>> answer = model.ask("who?", str)
        >>> answer.value, answer.usage.calls
        ('WHO?', 1)
    """

    name: str
    complete: Callable[[str], object]
    answers: AnswerCache | None = field(default=None, compare=False)
    timeout: float | None = None
    # A saved index knows a generator by its `repr`: what changes no answer is no part of it.
    max_prompt_tokens: int = field(default=MAX_PROMPT_TOKENS, repr=False)
    retries: int = field(default=RETRIES, compare=False, repr=False)
    count: Callable[[str], int] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name, minimum in (("max_prompt_tokens", 1), ("retries", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
                raise ValueError(f"{name} is a whole number of at least {minimum}; got {value!r}")
        if self.timeout is not None and not self.timeout > 0:
            raise ValueError(f"timeout is a positive number of seconds; got {self.timeout!r}")

    @classmethod
    def of(
        cls,
        source: object,
        *,
        answers: AnswerSource | None = None,
        timeout: float | None = None,
        max_prompt_tokens: int | None = None,
        retries: int | None = None,
        count: Callable[[str], int] | None = None,
    ) -> Model:
        """Return `source` as a model.

        Args:
            source: a function prompt -> text, async or not, a LangChain chat model or LLM, a
                LlamaIndex LLM, "ADDRESS#MODEL" of a server that speaks as OpenAI's does, such as
                "http://localhost:11434/v1#qwen3", or a `Model`.
            answers: the cache of answers, or the path of its file. None keeps that of a `Model`.
            timeout: seconds for one call. None keeps that of a `Model`, else it is 300.
            max_prompt_tokens: the most tokens of a prompt. None keeps that of a `Model`, else it is
                16,000.
            retries: how often a call that fails is made again. None keeps that of a `Model`, else
                it is 2.
            count: the tokenizer, for a source that has none of its own.

        Raises:
            TypeError: `source` is none of these, or a class.
            ValueError: a number is out of range, or an address names no model.
            ImportError: the package that asks a server is not installed.
        """
        cache = (
            answers if answers is None or isinstance(answers, AnswerCache) else AnswerCache(answers)
        )
        source = _at_address(source) if isinstance(source, str) else source
        model = source if isinstance(source, Model) else cls(_name_of(source), _call_of(source))
        return replace(
            model,
            answers=model.answers if cache is None else cache,
            timeout=model.timeout if timeout is None else timeout,
            max_prompt_tokens=(
                model.max_prompt_tokens if max_prompt_tokens is None else max_prompt_tokens
            ),
            retries=model.retries if retries is None else retries,
            count=model.count or count,
        )

    @classmethod
    def with_cache(
        cls,
        source: object,
        answers: AnswerSource | None = None,
        timeout: float | None = None,
    ) -> Model:
        """Return `source` as a model with a cache.

        The cache is `answers`, else the one that it has, else a new one in memory.
        """
        model = cls.of(source, answers=answers, timeout=timeout)
        return replace(model, answers=AnswerCache()) if model.answers is None else model

    def __call__(self, prompt: str) -> str:
        """Return the model's answer as it is.

        Raises:
            ModelError: there is none.
        """
        answer = self.ask(prompt, str)
        if answer.value is None:
            raise ModelError(answer.error)
        return answer.value

    def stream(self, prompt: str) -> Iterator[str]:
        """Yield the model's answer as it comes; whole, where the model gives it whole.

        An answer that is known already is not asked for again, and one that came in pieces is kept,
        too. A call that fails is made again as in `ask`, unless a piece came of it, which may be
        shown already.

        Raises:
            ModelError: The model failed, no piece came within `timeout`, or the prompt is above
                `max_prompt_tokens`.

        Example:
            >>> list(Model.of(lambda prompt: "Ben lives on Corfu.").stream("Where?"))
            ['Ben lives on Corfu.']
        """
        prompt = prompt.encode("utf-8", "replace").decode()
        stream, size = streaming_method(self.complete), self.tokens(prompt)
        is_known = self.answers is not None and self.answers.get(self.name, prompt) is not None
        if stream is None or is_known or size > self.max_prompt_tokens:
            yield self(prompt)
            return
        timeout = TIMEOUT if self.timeout is None else self.timeout
        pieces, calls, is_whole = list[str](), 0, False

        def begin() -> Iterator[str]:
            nonlocal calls
            calls += 1
            rest = pieces_within(timeout, lambda: pieces_of(stream(prompt)))
            return chain(list(islice(rest, 1)), rest)

        def coming() -> Iterator[str]:
            for piece in self._retried(begin):
                pieces.append(piece)
                yield piece

        try:
            yield from pieces_without_thoughts(coming())
            is_whole = True
        except Exception as problem:
            name = type(problem).__name__
            raise ModelError(f"the model {self.name} failed: {name}: {problem}") from problem
        finally:
            written = self.tokens("".join(pieces))
            record_usage(Usage(calls, calls * size, written, calls, calls - is_whole))
        if self.answers is not None:
            self.answers.put(self.name, prompt, "".join(pieces))

    def tokens(self, text: str) -> int:
        """Return how many tokens a text has, by the model's counter."""
        return (self.count or current_counter() or estimate_tokens)(text)

    def fit(
        self,
        build: Callable[[Sequence[str]], str],
        parts: Sequence[str],
        what: str = "parts",
        *,
        order: Sequence[int] | None = None,
        max_tokens: int | None = None,
    ) -> FittedPrompt:
        """Return the prompt with as many parts as fit under the ceiling; see `fit_prompt`.

        Args:
            build: parts -> the whole prompt.
            parts: what it shows, as it stands there.
            what: the parts' name, in the plural.
            order: places in `parts`, the most important first; None for the order of the parts.
            max_tokens: a lower ceiling, or None.
        """
        ceiling = min(self.max_prompt_tokens, max_tokens or self.max_prompt_tokens)
        return fit_prompt(build, parts, ceiling, self.tokens, what, order)

    def ask(self, prompt: str, read: Callable[[str], Value]) -> ModelAnswer[Value]:
        """Return what `read` makes of the model's answer.

        A call that fails is made again, `retries` times. Where the answer cannot be read, the model
        is asked once more, and told why. A prompt above `max_prompt_tokens` is not sent.

        Args:
            prompt: the whole prompt.
            read: text -> value; raises ValueError, which says what is wrong, for a text that is
                no answer.
        """
        prompt = prompt.encode("utf-8", "replace").decode()  # half of a surrogate pair is no text
        if (size := self.tokens(prompt)) > self.max_prompt_tokens:
            return ModelAnswer(
                None,
                f"the prompt has {size:,} tokens, and the ceiling is {self.max_prompt_tokens:,} "
                "(max_prompt_tokens of clew.Model.of, --prompt-tokens): it was not sent",
            )
        if self.answers is not None and (known := self.answers.get(self.name, prompt)) is not None:
            try:
                value = read(without_thoughts(known))
                answer = ModelAnswer(value, usage=Usage(remembered=1))
            except ValueError:  # it is read otherwise than when it was stored: ask again
                pass
            else:
                record_usage(answer.usage)
                return answer
        return self._ask_anew(prompt, read)

    def _ask_anew(self, prompt: str, read: Callable[[str], Value]) -> ModelAnswer[Value]:
        error, asked, used = "", prompt, NO_USAGE
        for _ in range(2):
            call = self._complete(asked)
            used += call.usage
            record_usage(call.usage)
            if call.completion is None:
                return ModelAnswer(None, call.error, used)
            try:
                value = read(without_thoughts(call.completion.text))
            except ValueError as problem:
                error = f"it could not be read: {problem}"
                told = prompt + RETRY.format(error=str(problem)[:MAX_REASON])
                asked = told if self.tokens(told) <= self.max_prompt_tokens else prompt
                continue
            if self.answers is not None:
                self.answers.put(self.name, prompt, call.completion.text)
            return ModelAnswer(value, usage=used)
        return ModelAnswer(None, error, used)

    def _complete(self, prompt: str) -> _Call:
        """Call the model until it answers, fails for good, or has failed too often."""
        timeout, calls = TIMEOUT if self.timeout is None else self.timeout, 0
        size = self.tokens(prompt)

        def attempt() -> Completion:
            nonlocal calls
            calls += 1
            return complete_within(timeout, self.complete, prompt)

        outcome: object
        try:
            outcome = self._retried(attempt)
        except Exception as problem:  # noqa: BLE001  # whatever the caller's model raises is recorded, with its kind
            outcome = problem
        if not isinstance(outcome, Completion):
            error = f"the model {self.name} failed: {type(outcome).__name__}: {outcome}"
            return _Call(None, error, Usage(calls, calls * size, 0, calls, calls))
        failed = calls - 1
        sent, got, counted = size, 0, 0
        if outcome.told is None:
            got, counted = self.tokens(outcome.text), 1
        else:
            sent, got = outcome.told
        used = Usage(calls, failed * size + sent, got, failed + counted, failed)
        return _Call(outcome, "", used)

    def _retried(self, attempt: Callable[[], Value]) -> Value:
        """Return what an attempt returns, which is made again where it fails and that may pass.

        Raises:
            Exception: What the last attempt raised.
        """
        from tenacity import (
            Retrying,
            retry_if_exception,
            stop_after_attempt,
            wait_exponential_jitter,
        )

        retrying = Retrying(
            stop=stop_after_attempt(1 + self.retries),
            wait=wait_exponential_jitter(initial=FIRST_PAUSE, max=MAX_PAUSE),
            retry=retry_if_exception(may_pass),
            sleep=lambda seconds: sleep(seconds),
            reraise=True,
        )
        return retrying(attempt)

    def ask_all(
        self,
        prompts: Sequence[str],
        read: Callable[[str], Value],
        *,
        workers: int = 4,
        progress: bool = False,
        label: str = "asking",
    ) -> list[ModelAnswer[Value]]:
        """Return the answers to all prompts, in their order. Equal prompts are asked once.

        Args:
            prompts: whole prompts.
            read: as in `ask`.
            workers: how many prompts are asked at the same time; the failure of one stops no other.
            progress: show a bar on stderr.
            label: the label of the bar.
        """
        if workers < 1:
            raise ValueError(f"workers is a whole number of at least 1; got {workers!r}")
        distinct = list(dict.fromkeys(prompts))
        waiting = SimpleQueue[str]()
        done = SimpleQueue[tuple[str, ModelAnswer[Value] | BaseException]]()
        for prompt in distinct:
            waiting.put(prompt)
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set() and not waiting.empty():
                try:
                    prompt = waiting.get_nowait()
                except Empty:  # another worker took the last one
                    return
                try:
                    done.put((prompt, self.ask(prompt, read)))
                except BaseException as problem:  # noqa: BLE001  # a mistake in `read`, raised below, in the caller's thread
                    done.put((prompt, problem))

        for _ in range(min(workers, len(distinct))):
            context = contextvars.copy_context()  # with the meters of the blocks around this call
            threading.Thread(target=context.run, args=(work,), daemon=True).start()
        answers: dict[str, ModelAnswer[Value]] = {}
        try:
            bar = progress_bar(range(len(distinct)), shown=progress, label=label, unit="prompt")
            for _ in bar:
                prompt, answer = done.get()
                if isinstance(answer, BaseException):
                    raise answer
                answers[prompt] = answer
        finally:
            stop.set()
        return _in_order(prompts, answers)


class _Call(NamedTuple):
    """What came of the calls for one prompt."""

    completion: Completion | None
    error: str
    usage: Usage


ModelSource: TypeAlias = Model | CompletingModel | InvokableModel | Callable[[str], object] | str
AnswerSource: TypeAlias = AnswerCache | str | os.PathLike[str]


def _in_order(
    prompts: Sequence[str], answers: dict[str, ModelAnswer[Value]]
) -> list[ModelAnswer[Value]]:
    """Return the answer to every prompt; what equal prompts used is counted once."""
    seen, ordered = set[str](), list[ModelAnswer[Value]]()
    for prompt in prompts:
        answer = answers[prompt]
        if prompt in seen:
            again = Usage(remembered=1) if answer.value is not None else NO_USAGE
            record_usage(again)
            answer = replace(answer, usage=again)
        seen.add(prompt)
        ordered.append(answer)
    return ordered


def _at_address(source: str) -> object:
    """Return the model that an address with a name stands for; another text as it is."""
    if not source.startswith(("http://", "https://")):
        return source
    model = OpenAICompatible.from_spec(source)
    model.check_client()
    return model


def _call_of(source: object) -> ModelCall:
    if inspect.isclass(source):
        raise TypeError(f"the model is the class {source.__name__}; give an object of it")
    method = method_of(source)
    if method is None:
        raise TypeError(f"cannot ask a {type(source).__name__}: wanted {ACCEPTED}")
    return ModelCall(source, method)


def _name_of(source: object) -> str:
    """Return what a model calls itself, else the name of its function or class."""
    names = [getattr(source, attribute, None) for attribute in ("model_name", "model", "model_id")]
    own = getattr(source, "__qualname__", type(source).__qualname__)
    return next((name for name in names if isinstance(name, str) and name), str(own))
