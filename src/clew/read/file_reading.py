"""A file that is to be read, and what it gave when it was."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from clew.document import Document

Look = tuple[int, ...]
"""Size, times of the last write and change in nanoseconds, and inode of a file."""


class FileToRead(NamedTuple):
    """A file that is to become documents.

    Attributes:
        path: Where it is.
        id: The id of the document that it becomes.
        encoding: The encoding of its text; None to find it out.
    """

    path: Path
    id: str
    encoding: str | None = None


@dataclass(frozen=True)
class ListedFiles:
    """Files that were found and are to be read, a source like a folder.

    Attributes:
        files: The files, each under an id of its own.
        skipped: (path, reason) for what was left out when they were found.
    """

    files: tuple[FileToRead, ...]
    skipped: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class FileReading:
    """What a file gave when it was read.

    Attributes:
        path: Where the file is, with forward slashes.
        id: The id that its document was given.
        reader: What read it; see `reader_of`.
        look: How it looked from outside before it was read. Empty where that does not tell whether
            the file would give the same again.
        documents: The documents that it gave.
        skipped: (path, reason) for what of it was not read, or not as its name says.
    """

    path: str
    id: str
    reader: str
    look: Look
    documents: tuple[Document, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
