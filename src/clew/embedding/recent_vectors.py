"""Vectors that an embedder made lately, in memory, so that the next question finds them."""

from __future__ import annotations

import sys
import weakref
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Any

from numpy.typing import NDArray

from clew.forking import renew_after_fork

MAX_BYTES = 64 * 2**20
"""Bytes of texts and their vectors that are kept of one embedder: 1,000 characters with 768 numbers
take 4.4 kB."""

MAX_QUESTION_BYTES = 4 * 2**20
"""Bytes of questions and their vectors that are kept of one embedder."""

ENTRY_BYTES = 256  # the array's and the dictionary's own, besides text and numbers


class RecentVectors:
    """Vectors by text, within a number of bytes; what was not asked for longest goes first.

    Any thread may use it. A copy, pickled or not, starts empty.

    Attributes:
        max_bytes: How many bytes the texts, their vectors and what holds them take at most. What
            is larger by itself is not kept.
        bytes: How many they take.

    Example:
        >>> import numpy as np
        >>> recent = RecentVectors(800)
        >>> recent.put((text, np.ones(3)) for text in ("sea", "moon", "earth"))
        >>> sorted(recent.find(["sea", "moon", "earth"])), recent.bytes <= 800
        (['earth', 'moon'], True)
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes, self.bytes = max_bytes, 0
        self._vectors = OrderedDict[str, NDArray[Any]]()  # what was asked for last is at the end
        self.renew_locks()
        renew_after_fork(self)

    def __reduce__(self) -> tuple[type[RecentVectors], tuple[int]]:
        return type(self), (self.max_bytes,)

    def renew_locks(self) -> None:
        """Replace the lock by a new one, which nobody holds."""
        self._lock = Lock()

    def find(self, texts: Iterable[str]) -> dict[str, NDArray[Any]]:
        """Return the vectors of the texts that have one, by text. They are not to be written to."""
        found: dict[str, NDArray[Any]] = {}
        with self._lock:
            for text in texts:
                if text in self._vectors:
                    self._vectors.move_to_end(text)
                    found[text] = self._vectors[text]
        return found

    def put(self, vectors: Iterable[tuple[str, NDArray[Any]]]) -> None:
        """Keep copies of the vectors of texts."""
        for text, vector in vectors:
            own = vector.copy()  # a row would keep its whole batch
            own.flags.writeable = False
            size = _size(text, own)
            if size > self.max_bytes:
                continue
            with self._lock:
                self._remove(text)
                self._vectors[text] = own
                self.bytes += size
                while self.bytes > self.max_bytes:
                    self._remove(next(iter(self._vectors)))

    def _remove(self, text: str) -> None:
        if (vector := self._vectors.pop(text, None)) is not None:
            self.bytes -= _size(text, vector)


def _size(text: str, vector: NDArray[Any]) -> int:
    return sys.getsizeof(text) + vector.nbytes + ENTRY_BYTES


_RECENT: dict[tuple[int, str, str], RecentVectors] = {}  # by the id of what made them


def recent_vectors(owner: object, purpose: str, name: str, max_bytes: int) -> RecentVectors:
    """Return the vectors that an object made lately: the same whenever they are asked for.

    They go when the object goes. An object that takes no weak references has none that last.

    Args:
        owner: What makes the vectors.
        purpose: Which of its methods does.
        name: The name of its model. Under another name it makes others.
        max_bytes: As in `RecentVectors`.

    Example:
        >>> def embed(texts): ...
        >>> recent_vectors(embed, "", "a", 99) is recent_vectors(embed, "", "a", 99)
        True
        >>> recent_vectors(embed, "", "a", 99) is recent_vectors(embed, "", "b", 99)
        False
    """
    key = id(owner), purpose, name
    if (known := _RECENT.get(key)) is not None:
        return known
    recent = RecentVectors(max_bytes)
    try:
        end = weakref.finalize(owner, _RECENT.pop, key, None)  # before another has its id
    except TypeError:
        return recent
    end.atexit = False
    return _RECENT.setdefault(key, recent)
