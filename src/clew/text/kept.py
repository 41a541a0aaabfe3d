"""What was made of a text is kept: what one question finds, the next one finds, too."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress
from itertools import islice
from typing import TypeVar

MAX_KEPT_TEXT = 4_000  # letters of a text of which something is kept

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Kept(dict[Key, Value]):
    """A dictionary of the last things that were put there; the oldest go first.

    Where there is no room left, a sixteenth of them goes at once: to find the oldest one, Python
    looks through the places of those that went before it.

    Any thread may read and put, and no lock is held, so that a fork finds none.

    Args:
        most: How many are kept.

    Example:
        >>> kept = Kept[str, int](2)
        >>> [kept.put(word, len(word)) for word in ("sea", "moon", "earth")], list(kept)
        ([3, 4, 5], ['moon', 'earth'])
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self._at_once = most // 16 + 1

    def put(self, key: Key, value: Value) -> Value:
        """Keep a value, and return it."""
        self[key] = value
        if len(self) > self._most:
            self._make_room()
        return value

    def put_all(self, keys: Iterable[Key], values: Iterable[Value]) -> None:
        """Keep several values, in the order in which they come.

        Example:
            >>> kept = Kept[str, int](2)
            >>> kept.put_all(["sea", "moon", "earth"], [3, 4, 5])
            >>> list(kept)
            ['moon', 'earth']
        """
        self.update(zip(keys, values, strict=True))
        if len(self) > self._most:
            self._make_room()

    def _make_room(self) -> None:
        while len(self) > self._most:
            with suppress(RuntimeError):  # another thread changes it, too
                for oldest in list(islice(self, self._at_once)):
                    self.pop(oldest, None)
