"""What every engine of the comparison can be asked for, and the rows that all of them are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

Hits = list[tuple[int, float]]
"""Ids and scores, the best first; a higher score is better."""


CALLERS_OWN = "callers-own.json"
"""A file of the comparison itself beside those of an engine, of which nothing is tried."""


class UnsupportedError(Exception):
    """An engine has no such function; the message says what its users do in its place."""


@dataclass(frozen=True)
class Row:
    """A passage.

    Attributes:
        id: a number.
        text: of the passage, with its headings.
        vector: float32 [384], of length 1.
        group: what filters ask for.
    """

    id: int
    text: str
    vector: Any
    group: int = 0


@dataclass(frozen=True)
class Question:
    """A question: of its parts every engine takes its own.

    Attributes:
        text: what is asked, in words.
        vector: float32 [384], of length 1.
        id: a passage that is read by its id.
    """

    text: str
    vector: Any
    id: int


class Engine:
    """An index in a folder.

    Whatever changes is durable when the method returns, as far as the library does that: files are
    written as its documentation shows it, and nothing is added to make them safe.

    Attributes:
        name: as the tables have it.
        part: "words", "vectors" or "columns".
        modules: what is imported, in the form of `tests.benchmarks.rivals.require`.
        packages: what `pip install` gets.
    """

    name: ClassVar[str]
    part: ClassVar[str]
    modules: ClassVar[tuple[str, ...]] = ()
    packages: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def prepare(cls, rows: Sequence[Row]) -> None:
        """Take what the caller's own part of the work is, before the clock runs."""

    def build(self, folder: Path, rows: Sequence[Row]) -> None:
        """Make an index of the rows in an empty folder, and leave it open."""
        raise NotImplementedError

    def open(self, folder: Path) -> None:
        """Open the index in a folder."""
        raise NotImplementedError

    def ask(self, question: Question, k: int, group: int | None = None) -> Hits:
        """Return the best k rows, of one group where that is given."""
        raise NotImplementedError

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows in one commit."""
        raise NotImplementedError

    def delete(self, ids: Sequence[int]) -> None:
        """Delete rows in one commit."""
        raise NotImplementedError

    def settle(self) -> None:
        """Wait for what goes on beside the questions of a new process, such as compiling."""

    def check(self) -> None:
        """Raise an error if the engine's own check of its files finds damage."""
        raise UnsupportedError("it has no check of its files")


def stacked(rows: Sequence[Row]) -> Any:
    """Return the vectors of rows as one array."""
    return np.ascontiguousarray([row.vector for row in rows], np.float32)
