"""The caller's language model, whatever it is: a prompt goes in, a text comes out, which is read, asked for once more, and remembered."""

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
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")

WANTED = "a function prompt -> text, a LangChain model (`invoke`) or a LlamaIndex one (`complete`)"
AGAIN = "\n\nAn earlier answer to this could not be used: {error}. Answer again, in the form that is asked for and nothing else."


class AnswerCache:
    """Answers that were paid for, in one SQLite file, by model and prompt, so that nothing is paid for twice.

    Args:
        path: the file; it and its folder are made when they are missing. None keeps them in memory, for as long as this object lives.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path, self._lock, self._kept = (
            None if path is None else Path(path),
            threading.Lock(),
            dict[str, str](),
        )
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._open()) as file, file:
                file.execute(
                    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL)"
                )

    def __repr__(self) -> str:
        return f"Answers({'' if self._path is None else repr(str(self._path))})"

    def get(self, name: str, prompt: str) -> str | None:
        """Return the answer of the model of this name to this prompt, if it is known."""
        key = _key(name, prompt)
        if self._path is None:
            return self._kept.get(key)
        with self._lock, closing(self._open()) as file:
            found = file.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return None if found is None else str(found[0])

    def put(self, name: str, prompt: str, answer: str) -> None:
        """Keep an answer; it is on the disk when this returns."""
        key = _key(name, prompt)
        if self._path is None:
            self._kept[key] = answer
            return
        with self._lock, closing(self._open()) as file, file:
            file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, answer))

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(str(self._path), timeout=60)


def _key(name: str, prompt: str) -> str:
    return hashlib.sha256(f"{name}\0{prompt}".encode()).hexdigest()


@dataclass(frozen=True)
class ModelAnswer(Generic[Value]):
    """What came of one prompt: the value that was read, or None and the error; how often the model was called; 0: it was remembered."""

    value: Value | None
    error: str = ""
    calls: int = 0


@dataclass(frozen=True)
class Model:
    """A language model: `complete` takes a prompt and returns a text. Make one of a function or a framework's model with `Model.of`.

    `name` is what it is called: answers are remembered by it. `answers` is where they are kept, or None. `timeout` is the seconds after
    which a call is given up, or None.
    """

    name: str
    complete: Callable[[str], str]
    answers: AnswerCache | None = field(default=None, compare=False)
    timeout: float | None = None

    @classmethod
    def of(
        cls,
        source: Any,
        *,
        answers: AnswerCache | str | os.PathLike[str] | None = None,
        timeout: float | None = None,
    ) -> Model:
        """Return `source` as a model.

        Args:
            source: a function prompt -> text, a LangChain chat model or LLM, a LlamaIndex LLM, or a `Model`.
            answers: where answers are remembered, an `Answers` or the path of its file. timeout: seconds for one call.

        Raises:
            TypeError: it is none of these, a class, or an async function.
        """
        kept = (
            answers if answers is None or isinstance(answers, AnswerCache) else AnswerCache(answers)
        )
        if isinstance(source, Model):
            return replace(
                source, answers=kept or source.answers, timeout=timeout or source.timeout
            )
        if inspect.isclass(source):
            raise TypeError(f"the model is the class {source.__name__}; give an object of it")
        name = _name_of(source)
        if hasattr(source, "complete") and hasattr(source, "metadata"):  # LlamaIndex LLM
            return cls(name, _Calls(source, "complete"), kept, timeout)
        if hasattr(source, "invoke"):  # LangChain chat model, LLM or any runnable
            return cls(name, _Calls(source, "invoke"), kept, timeout)
        if not callable(source):
            raise TypeError(f"cannot ask a {type(source).__name__}: wanted {WANTED}")
        if inspect.iscoroutinefunction(source) or inspect.iscoroutinefunction(
            type(source).__call__
        ):
            raise TypeError(f"the model {name} is async: wanted {WANTED}")
        return cls(name, _Calls(source, "__call__"), kept, timeout)

    @classmethod
    def remembering(
        cls,
        source: Any,
        answers: AnswerCache | str | os.PathLike[str] | None = None,
        timeout: float | None = None,
    ) -> Model:
        """Return `source` as a model that remembers: in `answers`, else where it does so already, else for as long as it lives."""
        made = cls.of(source, answers=answers, timeout=timeout)
        return replace(made, answers=AnswerCache()) if made.answers is None else made

    def ask(self, prompt: str, read: Callable[[str], Value]) -> ModelAnswer[Value]:
        """Return what `read` makes of the model's answer, which is asked for a second time where it cannot be read or the call fails.

        Args:
            prompt: the whole prompt. read: text -> value; raises ValueError, saying what is wrong, for a text that is no answer.
        """
        error, calls, said = "", 0, prompt
        if self.answers is not None and (known := self.answers.get(self.name, prompt)) is not None:
            try:
                return ModelAnswer(read(known))
            except ValueError as problem:  # read otherwise than when it was kept: ask again
                error = f"it could not be read: {problem}"
        for _ in range(2):
            calls += 1
            try:
                text = _within(self.timeout, self.complete, said)
            except Exception as problem:  # noqa: BLE001  # whatever the caller's model raises is recorded, with its kind
                error = f"the model {self.name} failed: {type(problem).__name__}: {problem}"
                continue
            try:
                value = read(text)
            except ValueError as problem:
                error = f"it could not be read: {problem}"
                said = prompt + AGAIN.format(error=problem)
                continue
            if self.answers is not None:
                self.answers.put(self.name, prompt, text)
            return ModelAnswer(value, calls=calls)
        return ModelAnswer(None, error, calls)

    def ask_all(
        self,
        prompts: Sequence[str],
        read: Callable[[str], Value],
        *,
        workers: int = 4,
        progress: bool = False,
        what: str = "asking",
    ) -> list[ModelAnswer[Value]]:
        """Return the answers to all prompts, in their order; `workers` are asked at the same time, and none stops the others."""
        from tqdm import tqdm

        if workers < 1:
            raise ValueError(f"workers is a whole number of at least 1; got {workers!r}")
        left, done = (
            SimpleQueue[tuple[int, str]](),
            SimpleQueue[tuple[int, ModelAnswer[Value] | BaseException]](),
        )
        for pair in enumerate(prompts):
            left.put(pair)
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set() and not left.empty():
                try:
                    at, prompt = left.get_nowait()
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
            for _ in tqdm(range(len(prompts)), desc=what, unit="prompt", disable=not progress):
                at, answer = done.get()
                if isinstance(answer, BaseException):
                    raise answer
                answers[at] = answer
        finally:
            stop.set()
        return answers


@dataclass(frozen=True)
class _Calls:
    """Calls a model by the method of its kind and takes the text out of what it returns."""

    source: Any
    method: str

    def __call__(self, prompt: str) -> str:
        came = (
            self.source(prompt)
            if self.method == "__call__"
            else getattr(self.source, self.method)(prompt)
        )
        return _text_of(came)


def _text_of(came: Any) -> str:
    """The text of a string, a LangChain message or a LlamaIndex response."""
    if isinstance(came, str):
        return came
    if inspect.isawaitable(came):
        if hasattr(came, "close"):
            came.close()
        raise TypeError(f"the model returned an awaitable: wanted {WANTED}")
    content = getattr(came, "content", None)
    if isinstance(content, list):  # a message in blocks
        return "".join(
            block if isinstance(block, str) else str(block.get("text", "")) for block in content
        )
    text = content if isinstance(content, str) else getattr(came, "text", None)
    if not isinstance(text, str):
        raise TypeError(
            f"the model returned a {type(came).__name__}; wanted a text, or an object with `text` or `content`"
        )
    return text


def _within(timeout: float | None, call: Callable[[str], str], prompt: str) -> str:
    """Call, and wait no longer than `timeout` seconds; the call itself cannot be ended, so its thread is left behind."""
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
        fine, came = box.get(timeout=timeout)
    except Empty as problem:
        raise TimeoutError(f"no answer within {timeout:g} seconds") from problem
    if not fine:
        raise came
    return str(came)


def parse_json(text: str) -> Any:
    """Return the first JSON object or list in a model's answer, whatever prose or code fence stands around it.

    Raises:
        ValueError: there is none.
    """
    decoder = json.JSONDecoder()
    for found in re.finditer(r"[{\[]", text):
        try:
            return decoder.raw_decode(text, found.start())[0]
        except json.JSONDecodeError:
            continue
    shown = " ".join(text.split())[:80]
    raise ValueError(f"no JSON in {shown!r}" if shown else "the answer is empty")


def _name_of(source: Any) -> str:
    """What a model calls itself, else the name of its function or class."""
    said = [getattr(source, attribute, None) for attribute in ("model_name", "model", "model_id")]
    own = getattr(source, "__qualname__", type(source).__qualname__)
    return next((name for name in said if isinstance(name, str) and name), str(own))
