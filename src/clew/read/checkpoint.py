"""What files gave, handed on as they are read, so that a program that is ended need not lose it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, Protocol

from clew.read.file_reading import FileReading
from clew.read.pieces import Piece


class CheckpointFile(NamedTuple):
    """A file that was read.

    Attributes:
        reading: What it gave.
        cutting: How its documents were cut, `CutAsRead.record`; "" where they were not.
        pieces: What each document was cut into; None where that was left for later.
    """

    reading: FileReading
    cutting: str = ""
    pieces: Sequence[Sequence[Piece] | None] = ()


class Checkpoint(Protocol):
    """Keeps what is read, and has what an earlier run kept."""

    def earlier(self) -> Mapping[str, CheckpointFile]:
        """Return the files of an earlier run, by path. They may have changed since."""
        ...

    def resume(self, count: int) -> None:
        """Learn that so many files of the earlier run are not read again."""
        ...

    def add(self, files: Sequence[CheckpointFile]) -> None:
        """Keep files that were just read. Any thread calls this."""
        ...

    def step(self) -> None:
        """Write what was added, if it is time. The thread that asked for the files calls this."""
        ...


@contextmanager
def checkpointing(checkpoint: Checkpoint) -> Iterator[None]:
    """Have files that are read within this block handed on.

    Args:
        checkpoint: What keeps them.
    """
    token = _CURRENT.set(checkpoint)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_checkpoint() -> Checkpoint | None:
    """Return what keeps the files that are read here; None for nothing.

    Example:
        >>> current_checkpoint() is None
        True
    """
    return _CURRENT.get()


_CURRENT: ContextVar[Checkpoint | None] = ContextVar("checkpoint", default=None)
