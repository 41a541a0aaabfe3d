"""Answers of language models, kept by model and prompt."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from clew.forking import renew_after_fork


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
        key = prompt_key(name, prompt)
        if self._path is None:
            return self._in_memory.get(key)
        with self._lock, closing(self._open()) as file:
            row = file.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put(self, name: str, prompt: str, answer: str) -> None:
        """Store an answer; it is on the disk when this returns."""
        key, answer = prompt_key(name, prompt), answer.encode("utf-8", "replace").decode()
        if self._path is None:
            self._in_memory[key] = answer
            return
        with self._lock, closing(self._open()) as file, file:
            file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, answer))

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(str(self._path), timeout=60)


def prompt_key(name: str, prompt: str) -> str:
    """Return what a prompt to the model of this name is known by: a digest of both."""
    return hashlib.sha256(f"{name}\0{prompt}".encode("utf-8", "replace")).hexdigest()
