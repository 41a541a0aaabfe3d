"""Vectors that are kept in a file as they are made, so that none is paid for twice."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from clew.graph import Vectors

if TYPE_CHECKING:
    import sqlite3

AT_ONCE = 500  # keys in one statement


@dataclass(frozen=True)
class CachedEmbedder:
    """An embedder whose vectors are written to a file as they come.

    A build that is interrupted goes on where it was, and texts that come again, in this index or in
    another, are not embedded again.

    Attributes:
        embedder: What `Index` takes as its embedder, but for None.
        path: A SQLite file. It is made where it is missing, with its folder. Several processes may
            have it open.
        name: What the vectors are kept under, beside their texts; None for the embedder's own name.
            Vectors of another model, or of another version of it, need another.

    Example:
        >>> import tempfile
        >>> def embed(texts):
        ...     print(len(texts), "to embed")
        ...     return [[len(text), 1] for text in texts]
        >>> from clew import Index
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kept = CachedEmbedder(embed, f"{folder}/vectors")
        ...     first = Index.from_documents(["Anna", "Ben"], embedder=kept)
        ...     again = Index.from_documents(["Anna", "Ben", "Corfu"], embedder=kept)
        2 to embed
        1 to embed
    """

    embedder: object
    path: str | os.PathLike[str]
    name: str | None = None


@dataclass(frozen=True)
class VectorFile:
    """A file of vectors by name and text.

    Attributes:
        path: Where it is.

    Raises:
        ValueError: There is a file that is no such file, or it is damaged.
    """

    path: Path

    def missing(self, name: str, texts: Sequence[str]) -> list[str]:
        """Return the texts that have no vector under a name, in their order."""
        keys = [_key(name, text) for text in texts]
        with self._open() as file:
            there = {key for some in _parts(keys) for key, _ in _rows(file, some)}
        return [text for text, key in zip(texts, keys, strict=True) if key not in there]

    def put(self, name: str, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep the vectors of texts; they are on the disk when this returns."""
        rows = (
            (_key(name, text), np.ascontiguousarray(vector, np.float32).tobytes())
            for text, vector in zip(texts, vectors, strict=True)
        )
        with self._open() as file, file:
            file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    def vectors(self, name: str, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts that have one: float32 [texts, d]."""
        keys = [_key(name, text) for text in texts]
        with self._open() as file:
            found = dict(row for some in _parts(keys) for row in _rows(file, some))
        sizes = {len(found[key]) for key in keys}
        if len(sizes) > 1 or any(size % 4 for size in sizes):
            raise ValueError(
                f"the vectors of {name!r} in {self.path} have several lengths: two models share "
                "that name, or the file is damaged; give CachedEmbedder another name, or remove it"
            )
        joined = b"".join(found[key] for key in keys)
        return np.frombuffer(joined, np.float32).reshape(len(keys), -1)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        import sqlite3  # where there is such a file

        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with closing(sqlite3.connect(str(self.path), timeout=60)) as file:
                file.execute(
                    "CREATE TABLE IF NOT EXISTS vectors "
                    "(key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
                )
                yield file
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"{self.path} cannot be used as a file of vectors: {error}; give CachedEmbedder "
                "another path, or remove it"
            ) from error


def _parts(keys: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    return (keys[start : start + AT_ONCE] for start in range(0, len(keys), AT_ONCE))


def _rows(file: sqlite3.Connection, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    marks = ",".join("?" * len(keys))  # the keys themselves are bound
    statement = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608
    yield from file.execute(statement, keys)


def _key(name: str, text: str) -> bytes:
    return hashlib.sha256(f"{name}\0{text}".encode("utf-8", "replace")).digest()
