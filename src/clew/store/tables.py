"""The columns of an index as arrays, and back: every distinct text once, and small numbers in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Labels, Ragged, Rows, freeze

Arrays = dict[str, NDArray[Any]]


class ColumnWriter:
    """Arrays under construction."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}
        self._codes: dict[str, int] = {}

    def numbers(self, name: str, array: Any, dtype: type[np.generic] | None = None) -> None:
        self.arrays[name] = np.asarray(array, dtype)

    def texts(self, name: str, texts: Iterable[str | None]) -> None:
        """Keep a column of texts, or None."""
        self.arrays[name] = np.array([self._code(name, text) for text in texts], np.int32)

    def lists(self, name: str, lists: Sequence[Sequence[str]]) -> None:
        """Keep a column of lists of texts."""
        self.numbers(f"{name}.starts", np.cumsum([0, *map(len, lists)]), np.int64)
        self.texts(f"{name}.values", (text for some in lists for text in some))

    def labels(self, name: str, labels: Labels) -> None:
        self.texts(f"{name}.names", labels.names)
        self.numbers(f"{name}.codes", labels.codes, np.int32)

    def ragged(self, name: str, ragged: Ragged) -> None:
        self.numbers(f"{name}.starts", ragged.starts, np.int64)
        self.numbers(f"{name}.values", ragged.values, np.int32)

    def done(self) -> Arrays:
        """Return all arrays, with the texts as one run of UTF-8 and where each begins."""
        words = [text.encode("utf-8", "surrogatepass") for text in self._codes]
        strings: Arrays = {
            "strings.starts": np.cumsum([0, *map(len, words)], dtype=np.int64),
            "strings.bytes": np.frombuffer(b"".join(words), np.uint8),
        }
        return self.arrays | strings

    def _code(self, name: str, text: str | None) -> int:
        if text is None:
            return -1
        if not isinstance(text, str):
            raise TypeError(
                f"{name} has {text!r}, a {type(text).__name__}; only texts can be saved there"
            )
        return self._codes.setdefault(text, len(self._codes))


class ColumnReader:
    """Arrays as they were saved; what does not fit together is a ValueError that names the column."""

    def __init__(self, array: Callable[[str], NDArray[Any]]) -> None:
        self._array = array
        starts, raw = (
            self.starts("strings.starts", array("strings.bytes")),
            array("strings.bytes").tobytes(),
        )
        bounds = starts.tolist()
        self._strings = [raw[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]

    def numbers(self, name: str) -> NDArray[Any]:
        return self._array(name)

    def texts(self, name: str) -> tuple[str, ...]:
        found = self.perhaps(name)
        if None in found:
            raise ValueError(f"{name} lacks a text")
        return found  # type: ignore[return-value]  # none is None

    def perhaps(self, name: str) -> tuple[str | None, ...]:
        """Return a column of texts, or None."""
        codes = _within(name, self._array(name), len(self._strings), -1)
        return tuple(self._strings[code] if code >= 0 else None for code in codes.tolist())

    def lists(self, name: str) -> tuple[tuple[str, ...], ...]:
        values = self.texts(f"{name}.values")
        bounds = self.starts(f"{name}.starts", values).tolist()
        return tuple(values[a:b] for a, b in pairwise(bounds))

    def labels(self, name: str) -> Labels:
        names = self.texts(f"{name}.names")
        return Labels(
            names, freeze(_within(name, self._array(f"{name}.codes"), len(names), 0), np.int32)
        )

    def ragged(self, name: str) -> Ragged:
        values = self._array(f"{name}.values")
        return Ragged(
            freeze(self.starts(f"{name}.starts", values), np.int64), freeze(values, np.int32)
        )

    def starts(self, name: str, values: Any) -> NDArray[np.int64]:
        starts = self._array(name)
        if (
            starts.ndim != 1
            or not len(starts)
            or starts[0] != 0
            or starts[-1] != len(values)
            or (np.diff(starts) < 0).any()
        ):
            raise ValueError(f"{name} does not divide its {len(values)} values into lists")
        return starts


def _within(name: str, codes: Rows, n: int, least: int) -> Rows:
    if codes.ndim != 1 or (len(codes) and (codes.min() < least or codes.max() >= n)):
        raise ValueError(f"{name} points outside the {n} texts it chooses from")
    return codes
