"""What files gave when they were read, so that those that have not changed are not read again.

A file counts as unchanged while its size, its times and its place on the disk are what they were,
and it would be read in the same way, also by what is around it: a module of Python has the name of
its package, which an `__init__.py` beside it makes. One that changed within the last seconds is
read again the next time: a clock that ticks seldom gives two writes one time.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clew.document import Document
from clew.graph import EMPTY
from clew.processes import map_items
from clew.read.checkpoint import CheckpointFile, current_checkpoint
from clew.read.file_reading import FileReading, FileToRead, Look
from clew.read.files import FileContents, read_file
from clew.read.formats.table import format_of_file
from clew.read.pieces import CutAtOnce, CutDocument, Piece
from clew.version import __version__

if TYPE_CHECKING:
    from clew.read.extract.code.python_scopes import Module

READING = 9  # of how files are read; another number reads all of them again
SAFE_NANOSECONDS = 2 * 10**9  # a file that is younger may change again within one tick of its clock
MAX_NUMBER = 2**63 - 1  # what is kept of a look: inodes of some file systems are larger


class ReadFiles(NamedTuple):
    """What files gave, and what their documents were cut into, where that was done at once.

    Attributes:
        readings: What each file gave.
        cut: What documents were cut into, by their ids.
    """

    readings: list[FileReading]
    cut: dict[str, CutDocument]


def read_files(
    files: Sequence[FileToRead],
    known: Mapping[str, FileReading],
    cut: CutAtOnce | None = None,
    update: Callable[[int], object] = lambda _: None,
) -> ReadFiles:
    """Return what the files give; those that are known and have not changed are not opened.

    Args:
        files: The files.
        known: What files gave before, by path.
        cut: What cuts the documents of each file that is opened, at once and by the same process:
            what a parser has found then serves twice. None cuts nothing. Documents of files that
            only this process can read are left for later.
        update: Called with numbers of files that are read.
    """
    readers, around, now = cache(reader_of), cache(_around), time.time_ns()
    readings = [_look_at(file, readers, around) for file in files]
    changed = list[int]()
    for place, reading in enumerate(readings):
        before = known.get(reading.path)
        if before is not None and _is_same(before, reading):
            readings[place] = before
        else:
            changed.append(place)
    resuming = _Resuming(cut, now)
    changed, done = resuming.take_earlier(readings, changed)
    resuming.follow([readings[place] for place in changed])
    contents = map_items(
        partial(_read_if_same, cut),
        [(files[place], readings[place].reader, readings[place].look[:2]) for place in changed],
        sizes=[sum(readings[place].look[:1]) for place in changed],
        update=lambda count: resuming.step(update, count),
        done=resuming.add,
    )
    for place, found in zip(changed, contents, strict=True):
        content = read_file(files[place]) if found is None else found
        for document, own in zip(content.documents, content.cut, strict=False):
            if own is not None:
                done[document.id] = own
        readings[place] = _as_read(readings[place], content, now)
    return ReadFiles(readings, done)


class _Resuming:
    """What an earlier run, which was ended, has read of the files, and what this one reads.

    Args:
        cut: What cuts documents as they are read.
        now: The time before the files were looked at, in nanoseconds.
    """

    def __init__(self, cut: CutAtOnce | None, now: int) -> None:
        self._now, self._checkpoint = now, current_checkpoint()
        self._cut, self._cutting = cut, "" if cut is None else cut.record
        self._readings = dict[str, FileReading]()

    def take_earlier(
        self, readings: list[FileReading], wanted: Sequence[int]
    ) -> tuple[list[int], dict[str, CutDocument]]:
        """Put in place what files gave that have not changed since the run that was ended.

        Args:
            readings: The readings of all files, of which some are replaced.
            wanted: The places of those that are to be read.

        Returns:
            The places that are left, and what the documents of the others were cut into.
        """
        earlier = EMPTY if self._checkpoint is None else self._checkpoint.earlier()
        if self._checkpoint is None or not earlier:
            return [*wanted], {}
        left, cut = list[int](), list[tuple[Document, Sequence[Piece]]]()
        for place in wanted:
            file = earlier.get(readings[place].path)
            if file is None or not _is_same(file.reading, readings[place]):
                left.append(place)
                continue
            readings[place] = file.reading
            if file.cutting == self._cutting:
                pairs = zip(file.reading.documents, file.pieces, strict=False)
                cut += [(document, own) for document, own in pairs if own is not None]
        if len(left) < len(wanted):
            self._checkpoint.resume(len(wanted) - len(left))
        modules: Sequence[Module | None] = [None] * len(cut)
        if self._cut is not None:  # they are not kept
            modules = self._cut.modules_of([document for document, _ in cut])
        pairs = zip(cut, modules, strict=True)
        return left, {one.id: CutDocument(own, module) for (one, own), module in pairs}

    def follow(self, readings: Sequence[FileReading]) -> None:
        """Learn which files are read now."""
        if self._checkpoint is not None:
            self._readings = {reading.path: reading for reading in readings}

    def add(
        self, named: Sequence[tuple[FileToRead, str, Look]], contents: Sequence[FileContents | None]
    ) -> None:
        """Hand on what files gave whose looks will tell whether they would give the same again."""
        if self._checkpoint is None:
            return
        files = list[CheckpointFile]()
        for (file, _, _), content in zip(named, contents, strict=True):
            if content is None:
                continue
            reading = _as_read(self._readings[file.path.as_posix()], content, self._now)
            if reading.look:  # without the scopes of modules, which take the most room
                pieces = [None if own is None else own.pieces for own in content.cut]
                files.append(CheckpointFile(reading, self._cutting, pieces))
        self._checkpoint.add(files)

    def step(self, update: Callable[[int], object], count: int) -> None:
        """Show how many files were read, and write what is to be kept, if it is time."""
        update(count)
        if self._checkpoint is not None:
            self._checkpoint.step()


def _as_read(reading: FileReading, content: FileContents, now: int) -> FileReading:
    """Return the reading of a file with what it gave."""
    is_lasting = content.is_lasting and reading.reader and is_settled(reading.look, now)
    return replace(
        reading,
        look=reading.look if is_lasting else (),
        documents=tuple(content.documents),
        skipped=tuple(content.skipped),
    )


def look_of(file: Path) -> Look:
    """Return how a file looks from outside; empty where it cannot be seen."""
    try:
        status = file.stat()
    except OSError:
        return ()
    numbers = status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
    return tuple(number & MAX_NUMBER for number in numbers)


def is_settled(look: Look, now: int) -> bool:
    """Return whether a file is so old that nobody could change it again without another look.

    Args:
        look: How it looks from outside.
        now: The time of the look, in nanoseconds.

    Example:
        >>> is_settled((), 0), is_settled((12, 0, 0, 7), 60 * 10**9)
        (False, True)
    """
    return bool(look) and max(look[1:3]) < now - SAFE_NANOSECONDS


def reader_of(name: str, encoding: str | None) -> str:
    """Return what reads a file of this name; another text for what may read it otherwise.

    It is empty for a format that is not clew's own, whose reader may be another one tomorrow.

    Args:
        name: The name of the file, of which the suffix counts.
        encoding: The encoding of its text; None to find it out.

    Example:
        >>> reader_of("quay.md", "cp1252").endswith("markdown in cp1252")
        True
    """
    format = format_of_file(name)
    if not format.read.__module__.startswith("clew."):
        return ""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"  # whose parser reads Python
    missing = "" if format.is_installed() else ", without its modules"
    return f"clew {__version__} ({READING}, Python {python}): {format.name} in {encoding}{missing}"


def _around(name: str, folder: str, below: str) -> str:
    """Return what is around a file that decides what it gives; see `Format.around`."""
    around = format_of_file(name).around
    return "" if around is None else around(folder, below)


def _reader_of(
    file: FileToRead,
    readers: Callable[[str, str | None], str] = reader_of,
    around: Callable[[str, str, str], str] = _around,
) -> str:
    """Return what reads a file, and what around it decides what it gives; "" as in `reader_of`."""
    name = f"file{''.join(file.path.suffixes[-2:])}"
    reader = readers(name, file.encoding)
    folder = os.path.dirname(file.path)  # noqa: PTH120  # a tenth of the time
    beside = around(name, folder, file.id.rpartition("/")[0])
    return f"{reader} in {beside}" if reader and beside else reader


def _look_at(
    file: FileToRead,
    readers: Callable[[str, str | None], str] = reader_of,
    around: Callable[[str, str, str], str] = _around,
) -> FileReading:
    """Return the reading of a file that is still to be read.

    Args:
        file: The file.
        readers: `reader_of`, which may remember what it returned.
        around: `_around`, likewise.
    """
    return FileReading(
        file.path.as_posix(), file.id, _reader_of(file, readers, around), look_of(file.path)
    )


def _read_if_same(
    cut: CutAtOnce | None, named: tuple[FileToRead, str, Look]
) -> FileContents | None:
    """Return what a file gives; None where this process would read another file, or otherwise.

    Args:
        cut: As in `read_files`.
        named: The file, what is to read it, and its size and the time of its last write.
    """
    file, reader, look = named
    if not reader or _reader_of(file) != reader or look_of(file.path)[:2] != look:
        return None
    contents = read_file(file, cut)
    return contents if contents.is_lasting else None


def _is_same(before: FileReading, now: FileReading) -> bool:
    is_known = bool(now.look) and before.look == now.look
    return is_known and (before.id, before.reader) == (now.id, now.reader)
