"""What a run that is ended has read is kept, and the next run of the command goes on from there.

The answers of a language model have a file of their own (`clew.model.AnswerCache`). All else is
in the user's cache directory until an index of the files is saved: written when Ctrl-C or SIGTERM
ends the run, and now and then before, since SIGKILL gives nobody time.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from clew.cli.terminal import counted, print_remark
from clew.embedding.cached_embedder import VectorFile
from clew.embedding.embedder import Embedder
from clew.graph import Vectors
from clew.interruption import before_the_end
from clew.read.checkpoint import CheckpointFile, checkpointing, current_checkpoint
from clew.store.checkpoint_files import read_checkpoint, write_checkpoint
from clew.user_cache import INTERRUPTED, cache_root, let_old_ones_go, make_place

INTERVAL = 5.0  # seconds of reading that SIGKILL may cost
MAX_SHARE = 0.02  # of the time that writing takes
VECTORS = "vectors"  # the file of those that a model has made


class KeptReading:
    """What is read of a folder or file, kept until the index of it is saved.

    Args:
        source: The folder or file.
        place: Where it is kept.
    """

    def __init__(self, source: Path, place: Path) -> None:
        self._source, self._place = source, place
        self._waiting = list[CheckpointFile]()
        self._count, self._resumed = 0, 0
        self._start = time.monotonic()
        self._next = self._start + INTERVAL

    def earlier(self) -> Mapping[str, CheckpointFile]:
        """Return the files of an earlier run, by path."""
        return read_checkpoint(self._place)

    def resume(self, count: int) -> None:
        """Say how many files are not read again."""
        self._resumed = count
        print_remark(
            f"{counted(count, 'file')} that an interrupted run has read "
            f"{'is' if count == 1 else 'are'} not read again"
        )

    def add(self, files: Sequence[CheckpointFile]) -> None:
        """Keep files that were just read, in memory until they are written."""
        self._waiting += files

    def step(self) -> None:
        """Write what was added, if it is time."""
        if (begin := time.monotonic()) < self._next:
            return
        problem = self.write()
        took = time.monotonic() - begin
        self._next = begin + took + max(INTERVAL, took / MAX_SHARE)
        if problem:
            print_remark(problem)
            self._next = float("inf")  # the problem is printed once

    def write(self) -> str:
        """Write what was added, and return why it could not be; "" where it could.

        A signal may call this while it is at work: then what waits is written twice, which does no
        harm.
        """
        files = self._waiting[:]
        if not files:
            return ""
        try:
            self._make_place()
            self._count += write_checkpoint(self._place, files)
            let_old_ones_go(self._place)
        except (OSError, ValueError, TypeError) as error:
            return f"what is read is not kept in case of an interruption: {error}"
        del self._waiting[: len(files)]
        return ""

    def vectors(self) -> VectorFile:
        """Return the file of the vectors that a model makes of what is read.

        Raises:
            OSError: The cache cannot be written to.
        """
        self._make_place()
        return _VectorsIfPossible(self._place / VECTORS)

    def _make_place(self) -> None:
        make_place(self._place, str(self._source.resolve()))
        (self._place / INTERRUPTED).touch()

    def last_words(self) -> str:
        """Write what was added, as the run ends, and return what is kept; "" for nothing."""
        problem, count = self.write(), self._count + self._resumed
        if problem or not count:
            return problem
        return f"{counted(count, 'file')} read until now: the same command goes on from there"

    def discard(self) -> None:
        """Delete what is kept: the index is saved."""
        self._waiting.clear()
        shutil.rmtree(self._place, ignore_errors=True)

    @property
    def is_long(self) -> bool:
        """Whether there is something to lose."""
        return time.monotonic() - self._start > INTERVAL


@dataclass(frozen=True)
class _VectorsIfPossible(VectorFile):
    """A file of vectors without which the work goes on: those that it does not take are in memory.

    Attributes:
        others: These, by their texts.
    """

    others: dict[str, Vectors] = field(default_factory=dict)

    def missing(self, name: str, texts: Sequence[str]) -> list[str]:
        """Return the texts that have no vector, in their order."""
        try:
            return super().missing(name, texts)
        except (OSError, ValueError) as error:
            _say_not_kept(error)
            return [*texts]

    def put(self, name: str, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep the vectors of texts."""
        try:
            super().put(name, texts, vectors)
        except (OSError, ValueError) as error:
            if not self.others:
                _say_not_kept(error)
            self.others.update(zip(texts, vectors, strict=True))

    def vectors(self, name: str, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts: float32 [texts, d]."""
        filed = [text for text in texts if text not in self.others]
        if len(filed) == len(texts):
            return super().vectors(name, texts)
        found = dict(zip(filed, super().vectors(name, filed), strict=True)) if filed else {}
        return np.array([(self.others | found)[text] for text in texts], np.float32)


def _say_not_kept(error: Exception) -> None:
    print_remark(f"vectors are not kept in case of an interruption: {error}")


def with_vectors_kept(embedder: Embedder | None) -> Embedder | None:
    """Return an embedder whose vectors are kept until the index is saved, where what is read is.

    Args:
        embedder: A model; None stands for the embedded default, which takes no longer than reading.
    """
    kept = current_checkpoint()
    if not isinstance(kept, KeptReading) or embedder is None or embedder.kept is not None:
        return embedder
    try:
        return replace(embedder, kept=kept.vectors(), kept_as=embedder.name)
    except OSError as error:
        _say_not_kept(error)
        return embedder


@contextmanager
def keeping_what_is_read(source: Path) -> Iterator[Callable[[], None]]:
    """Keep what is read within this block, where the block does not come to its end.

    Args:
        source: The folder or file that is read.

    Yields:
        What deletes all that is kept, to be called once the index is saved.
    """
    kept = KeptReading(source, _place_of(source))
    with before_the_end(kept.last_words), checkpointing(kept):
        try:
            yield kept.discard
        except BaseException as error:
            if (isinstance(error, KeyboardInterrupt) or kept.is_long) and (
                words := kept.last_words()
            ):
                print_remark(words)
            raise


def _place_of(source: Path) -> Path:
    key = f"reading {source.resolve()}".encode("utf-8", "replace")
    return cache_root() / blake2b(key, digest_size=12).hexdigest()
