"""Answers of language models, kept by model and prompt."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import sys
import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from clew.forking import renew_after_fork

MAX_BYTES = 256 * 2**20  # of answers in memory


class AnswerCache:
    """Answers by model and prompt, in one SQLite file, so that nothing is paid for twice.

    Args:
        path: the file; it and its folder are created where they are missing. None keeps the
            answers in memory, for as long as this object lives.
        max_bytes: what answers in memory may take, by an estimate; a warning is logged when the
            first one, that of least recent use, is forgotten. A file has no such bound.

    Example:
        >>> cache = AnswerCache()
        >>> cache.put("model", "Who?", "Anna.")
        >>> cache.get("model", "Who?"), cache.get("other model", "Who?")
        ('Anna.', None)
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, max_bytes: int = MAX_BYTES
    ) -> None:
        self._path = None if path is None else Path(path)
        self.renew_locks()
        renew_after_fork(self)
        self._in_memory: OrderedDict[str, str] = OrderedDict()
        self._bytes, self._max_bytes, self._has_warned = 0, max_bytes, False
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

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: the path of the file, or the answers in memory, and no lock."""
        with self._lock:
            return {**vars(self), "_in_memory": self._in_memory.copy(), "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.renew_locks()
        renew_after_fork(self)

    def __repr__(self) -> str:
        return f"AnswerCache({'' if self._path is None else repr(str(self._path))})"

    def get(self, name: str, prompt: str) -> str | None:
        """Return the answer of the model of this name to this prompt, or None."""
        key = prompt_key(name, prompt)
        if self._path is None:
            with self._lock:
                if key in self._in_memory:
                    self._in_memory.move_to_end(key)
                return self._in_memory.get(key)
        with self._lock, closing(self._open()) as file:
            row = file.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put(self, name: str, prompt: str, answer: str) -> None:
        """Store an answer; it is on the disk when this returns."""
        key, answer = prompt_key(name, prompt), answer.encode("utf-8", "replace").decode()
        if self._path is None:
            self._put_in_memory(key, answer)
            return
        with self._lock, closing(self._open()) as file, file:
            file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, answer))

    def _put_in_memory(self, key: str, answer: str) -> None:
        with self._lock:
            before = self._in_memory.pop(key, None)
            self._bytes += _bytes_of(key, answer)
            self._bytes -= 0 if before is None else _bytes_of(key, before)
            self._in_memory[key] = answer
            while self._bytes > self._max_bytes and len(self._in_memory) > 1:
                self._bytes -= _bytes_of(*self._in_memory.popitem(last=False))
                if not self._has_warned:
                    self._has_warned = True
                    logging.getLogger("clew").warning(
                        "answers of a language model that are kept in memory take more than %d "
                        "bytes: the oldest are forgotten, and are paid for again when they are "
                        "asked for; AnswerCache(path) keeps them all in a file",
                        self._max_bytes,
                    )

    def in_memory(self) -> dict[str, str]:
        """Return the answers that are kept in memory alone, by digest; none where there is a file.

        Example:
            >>> cache, later = AnswerCache(), AnswerCache()
            >>> cache.put("model", "Who?", "Anna.")
            >>> later.restore(cache.in_memory())
            >>> later.get("model", "Who?")
            'Anna.'
        """
        with self._lock:
            return dict(self._in_memory)

    def restore(self, answers: Mapping[str, str]) -> None:
        """Keep answers that another cache had in memory, unless this one has a file."""
        if self._path is None:
            for key in answers.keys() - self.in_memory().keys():
                self._put_in_memory(key, answers[key])

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(str(self._path), timeout=60)


def _bytes_of(key: str, answer: str) -> int:
    return sys.getsizeof(key) + sys.getsizeof(answer)


def prompt_key(name: str, prompt: str) -> str:
    """Return what a prompt to the model of this name is known by: a digest of both."""
    return hashlib.sha256(f"{name}\0{prompt}".encode("utf-8", "replace")).hexdigest()
