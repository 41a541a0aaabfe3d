"""The caller's language model, of whatever kind: a prompt goes in, a text comes out.

A text that cannot be read is asked for once more. Answers can be cached, so that nothing is paid
for twice.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from clew.forking import renew_after_fork

Value = TypeVar("Value")

ACCEPTED = (
    "a function prompt -> text, a LangChain model (`invoke`) or a LlamaIndex one (`complete`)"
)
RETRY = (
    "\n\nAn earlier answer to this could not be used: {error}. "
    "Answer again, in the form that is asked for and nothing else."
)


class CompletingModel(Protocol):
    """A LlamaIndex LLM: `complete` takes a prompt and returns an object with a `text`."""

    @property
    def metadata(self) -> object: ...
    def complete(self, prompt: str, /) -> object: ...


class InvokableModel(Protocol):
    """A LangChain chat model, LLM or other runnable: `invoke` takes a prompt."""

    def invoke(self, prompt: str, /) -> object: ...


class AnswerCache:
    """Answers by model and prompt, in one SQLite file, so that nothing is paid for twice.

    Args:
        path: the file; it and its folder are created where they are missing. None keeps the
            answers in memory, for as long as this object lives.

    Example:
        >>> cache = AnswerCache()
        >>> cache.put("model", "Who?", "Anna.")
        >>> cache.get("model", "Who?"), cache.get("other model", "Who?")
        ('Anna.', None)
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = None if path is None else Path(path)
        self.renew_locks()
        renew_after_fork(self)
        self._in_memory: dict[str, str] = {}
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._open()) as file, file:
                file.execute(
                    "CREATE TABLE IF NOT EXISTS answers "
                    "(key TEXT PRIMARY KEY, answer TEXT NOT NULL)"
                )

    def renew_locks(self) -> None:
        """Release the lock: after a fork, no other thread is there to do so."""
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"AnswerCache({'' if self._path is None else repr(str(self._path))})"

    def get(self, name: str, prompt: str) -> str | None:
        """Return the answer of the model of this name to this prompt, or None."""
        key = _key(name, prompt)
        if self._path is None:
            return self._in_memory.get(key)
        with self._lock, closing(self._open()) as file:
            row = file.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put(self, name: str, prompt: str, answer: str) -> None:
        """Store an answer; it is on the disk when this returns."""
        key = _key(name, prompt)
        if self._path is None:
            self._in_memory[key] = answer
            return
        with self._lock, closing(self._open()) as file, file:
            file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, answer))

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(str(self._path), timeout=60)


def _key(name: str, prompt: str) -> str:
    return hashlib.sha256(f"{name}\0{prompt}".encode()).hexdigest()


@dataclass(frozen=True)
class ModelAnswer(Generic[Value]):
    """The answer to one prompt.

    Attributes:
        value: what was read of it, or None.
        error: why there is no value.
        calls: how often the model was called; 0 for an answer out of the cache.
    """

    value: Value | None
    error: str = ""
    calls: int = 0


@dataclass(frozen=True)
class Model:
    """A language model. `Model.of` makes one of a function or of a framework's model.

    Attributes:
        name: answers are cached by it.
        complete: takes a prompt and returns a text.
        answers: the cache, or None.
        timeout: seconds after which a call is given up, or None.

    Example:
        >>> model = Model.of(lambda prompt: prompt.upper())
        >>> model.ask("who?", str)
        ModelAnswer(value='WHO?', error='', calls=1)
    """

    name: str
    complete: Callable[[str], str]
    answers: AnswerCache | None = field(default=None, compare=False)
    timeout: float | None = None

    @classmethod
    def of(
        cls,
        source: object,
        *,
        answers: AnswerSource | None = None,
        timeout: float | None = None,
    ) -> Model:
        """Return `source` as a model.

        Args:
            source: a function prompt -> text, a LangChain chat model or LLM, a LlamaIndex LLM, or
                a `Model`.
            answers: the cache of answers, or the path of its file. None keeps that of a `Model`.
            timeout: seconds for one call. None keeps that of a `Model`.

        Raises:
            TypeError: `source` is none of these, a class, or an async function.
        """
        cache = (
            answers if answers is None or isinstance(answers, AnswerCache) else AnswerCache(answers)
        )
        if isinstance(source, Model):
            return replace(
                source, answers=cache or source.answers, timeout=timeout or source.timeout
            )
        if inspect.isclass(source):
            raise TypeError(f"the model is the class {source.__name__}; give an object of it")
        name = _name_of(source)
        if hasattr(source, "complete") and hasattr(source, "metadata"):
            return cls(name, _Call(source, "complete"), cache, timeout)
        if hasattr(source, "invoke"):
            return cls(name, _Call(source, "invoke"), cache, timeout)
        if not callable(source):
            raise TypeError(f"cannot ask a {type(source).__name__}: wanted {ACCEPTED}")
        if inspect.iscoroutinefunction(source) or inspect.iscoroutinefunction(
            type(source).__call__
        ):
            raise TypeError(f"the model {name} is async: wanted {ACCEPTED}")
        return cls(name, _Call(source, "__call__"), cache, timeout)

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

    def ask(self, prompt: str, read: Callable[[str], Value]) -> ModelAnswer[Value]:
        """Return what `read` makes of the model's answer.

        The model is asked a second time where the answer cannot be read or the call fails.

        Args:
            prompt: the whole prompt.
            read: text -> value; raises ValueError, which says what is wrong, for a text that is
                no answer.
        """
        error, asked = "", prompt
        if self.answers is not None and (known := self.answers.get(self.name, prompt)) is not None:
            try:
                return ModelAnswer(read(known))
            except ValueError as problem:  # it is read otherwise than when it was stored: ask again
                error = f"it could not be read: {problem}"
        for calls in (1, 2):
            try:
                text = _call_within(self.timeout, self.complete, asked)
            except Exception as problem:  # noqa: BLE001  # whatever the caller's model raises is recorded, with its kind
                error = f"the model {self.name} failed: {type(problem).__name__}: {problem}"
                continue
            try:
                value = read(text)
            except ValueError as problem:
                error = f"it could not be read: {problem}"
                asked = prompt + RETRY.format(error=problem)
                continue
            if self.answers is not None:
                self.answers.put(self.name, prompt, text)
            return ModelAnswer(value, calls=calls)
        return ModelAnswer(None, error, 2)

    def ask_all(
        self,
        prompts: Sequence[str],
        read: Callable[[str], Value],
        *,
        workers: int = 4,
        progress: bool = False,
        label: str = "asking",
    ) -> list[ModelAnswer[Value]]:
        """Return the answers to all prompts, in their order.

        Args:
            prompts: whole prompts.
            read: as in `ask`.
            workers: how many prompts are asked at the same time; the failure of one stops no other.
            progress: show a bar on stderr.
            label: the label of the bar.
        """
        from tqdm import tqdm

        if workers < 1:
            raise ValueError(f"workers is a whole number of at least 1; got {workers!r}")
        waiting = SimpleQueue[tuple[int, str]]()
        done = SimpleQueue[tuple[int, ModelAnswer[Value] | BaseException]]()
        for pair in enumerate(prompts):
            waiting.put(pair)
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set() and not waiting.empty():
                try:
                    at, prompt = waiting.get_nowait()
                except Empty:  # another worker took the last one
                    return
                try:
                    done.put((at, self.ask(prompt, read)))
                except BaseException as problem:  # noqa: BLE001  # a mistake in `read`, raised below, in the caller's thread
                    done.put((at, problem))

        for _ in range(min(workers, len(prompts))):
            threading.Thread(target=work, daemon=True).start()
        answers: list[Any] = [None] * len(prompts)
        try:
            for _ in tqdm(range(len(prompts)), desc=label, unit="prompt", disable=not progress):
                at, answer = done.get()
                if isinstance(answer, BaseException):
                    raise answer
                answers[at] = answer
        finally:
            stop.set()
        return answers


ModelSource: TypeAlias = Model | CompletingModel | InvokableModel | Callable[[str], object]
AnswerSource: TypeAlias = AnswerCache | str | os.PathLike[str]


@dataclass(frozen=True)
class _Call:
    """Calls a model by the method of its kind, and takes the text out of what it returns."""

    source: object
    method: str

    def __call__(self, prompt: str) -> str:
        source: Any = self.source
        call = source if self.method == "__call__" else getattr(source, self.method)
        return _text_of(call(prompt))


def _text_of(response: object) -> str:
    """Return the text of a string, a LangChain message or a LlamaIndex response."""
    if isinstance(response, str):
        return response
    if inspect.isawaitable(response):
        if hasattr(response, "close"):
            response.close()
        raise TypeError(f"the model returned an awaitable: wanted {ACCEPTED}")
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


def _call_within(timeout: float | None, call: Callable[[str], str], prompt: str) -> str:
    """Call, and wait no longer than `timeout` seconds.

    The call itself cannot be ended, so its thread is left behind.
    """
    if timeout is None:
        return call(prompt)
    box = SimpleQueue[tuple[bool, Any]]()

    def run() -> None:
        try:
            box.put((True, call(prompt)))
        except BaseException as problem:  # noqa: BLE001  # raised again in the thread that waits
            box.put((False, problem))

    threading.Thread(target=run, daemon=True).start()
    try:
        succeeded, result = box.get(timeout=timeout)
    except Empty as problem:
        raise TimeoutError(f"no answer within {timeout:g} seconds") from problem
    if not succeeded:
        raise result
    return str(result)


def parse_json(text: str) -> dict[str, Any] | list[Any]:
    """Return the first JSON object or list in a text, whatever prose or fence stands around it.

    Raises:
        ValueError: there is none.

    Example:
        >>> parse_json('Here it is: {"score": 7}. I hope that helps.')
        {'score': 7}
    """
    decoder = json.JSONDecoder()
    for bracket in re.finditer(r"[{\[]", text):
        try:
            value: dict[str, Any] | list[Any] = decoder.raw_decode(text, bracket.start())[0]
        except json.JSONDecodeError:
            continue
        except RecursionError as error:
            raise ValueError("JSON that is nested too deeply to be read") from error
        return value
    shown = " ".join(text.split())[:80]
    raise ValueError(f"no JSON in {shown!r}" if shown else "the answer is empty")


def _name_of(source: object) -> str:
    """Return what a model calls itself, else the name of its function or class."""
    names = [getattr(source, attribute, None) for attribute in ("model_name", "model", "model_id")]
    own = getattr(source, "__qualname__", type(source).__qualname__)
    return next((name for name in names if isinstance(name, str) and name), str(own))
