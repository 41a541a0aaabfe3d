"""Vectors kept on disk, so that a second run embeds nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

import clew

BATCH = 64  # texts: what an interrupted run loses at most


class KeptVectors:
    """An embedder whose vectors of texts are kept in a file.

    Args:
        embedder: What embeds a text that the file has no vector of. Its texts and questions have
            vectors of one kind.
        file: The file; one for each embedder.
    """

    def __init__(self, embedder: clew.Embedder, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self.embedder, self.kept = embedder, sqlite3.connect(file, timeout=60)
        self.kept.execute("CREATE TABLE IF NOT EXISTS vectors (text TEXT PRIMARY KEY, vector BLOB)")

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        keys = [sha256(text.encode()).hexdigest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if self._find(key) is None}
        by_length = sorted(new, key=lambda key: len(new[key]))  # a batch is padded to its longest
        for start in range(0, len(by_length), BATCH):
            batch = by_length[start : start + BATCH]
            vectors = np.asarray(self.embedder.embed_texts([new[key] for key in batch]), np.float32)
            with self.kept:
                self.kept.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                    [(key, vector.tobytes()) for key, vector in zip(batch, vectors, strict=True)],
                )
        return np.array([np.frombuffer(self._find(key), np.float32) for key in keys])

    def _find(self, key: str) -> bytes | None:
        found = self.kept.execute("SELECT vector FROM vectors WHERE text = ?", (key,)).fetchone()
        return found[0] if found else None
