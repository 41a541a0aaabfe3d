"""Files and folders become documents, by the table of formats; everything left out is reported."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from clew.document import Document
from clew.read.file_reading import FileToRead
from clew.read.formats.source_file import SourceFile, UnreadableFileError
from clew.read.formats.table import FORMATS, format_of_file
from clew.read.generated import is_built_site, is_saved_index, why_generated, why_of_a_site
from clew.read.patterns import FileChoice
from clew.read.pieces import CutAtOnce, CutDocument

MAX_BYTES = 20_000_000  # a larger file is hardly meant to be read
TOOL_FOLDERS = ("__pycache__", "node_modules")


def files_at(
    path: Path, skipped: list[tuple[str, str]], choice: FileChoice | None = None
) -> list[tuple[Path, str]]:
    """Return a file, or the files below a folder in the order of their paths, each with its id.

    The id of a file is its path below the folder with forward slashes, or its name. Left out below
    a folder are links to folders and to files outside of it, and everything that is hidden,
    belongs to a tool or was made by one (`clew.read.generated`). No `.gitignore` is read.

    Args:
        path: A file or folder.
        skipped: Receives (path, reason) for what is left out, unless patterns leave it out.
        choice: Which files below a folder are read; None for all. It counts the others.

    Raises:
        FileNotFoundError: There is nothing at `path`.
    """
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {str(path)!r}")
    return files_below(path, skipped, choice) if path.is_dir() else [(path, path.name)]


class FileContents(NamedTuple):
    """What a file gives.

    Attributes:
        documents: Its documents.
        skipped: (path, reason) for what is not read, or not as its name says.
        is_lasting: Whether the same file gives the same again. False for one that could not be
            opened, which may be possible later.
        cut: What each of its documents was cut into; None where that was left for later.
    """

    documents: list[Document]
    skipped: list[tuple[str, str]]
    is_lasting: bool = True
    cut: Sequence[CutDocument | None] = ()


class _UnopenedFileError(UnreadableFileError):
    """A file could not be opened."""


def read_file(file: FileToRead, cut: CutAtOnce | None = None) -> FileContents:
    """Return the documents of a file. Binary, empty and very large files are not read.

    Args:
        file: The file.
        cut: What cuts the documents at once; None leaves that for later.
    """
    skipped: list[tuple[str, str]] = []
    try:
        source = SourceFile(file.path, file.id, _load(file.path), skipped, file.encoding)
        documents, done = list[Document](), list[CutDocument | None]()
        for document in _documents_of(source):
            documents.append(document)
            if cut is not None:  # while its reader still has what it parsed
                done.append(cut(document))
        return FileContents(documents, skipped, cut=done)
    except UnreadableFileError as reason:
        skipped.append((file.path.as_posix(), str(reason)))
        return FileContents([], skipped, not isinstance(reason, _UnopenedFileError))


def files_below(
    folder: Path, skipped: list[tuple[str, str]], choice: FileChoice | None = None
) -> list[tuple[Path, str]]:
    """Return the files below a folder that would be read, each with its id, by path.

    Args:
        folder: The folder.
        skipped: As in `files_at`.
        choice: As in `files_at`.
    """
    files, sites = list[Path](), list[Path]()
    sorting = _Sorting(choice or FileChoice(), skipped, folder.resolve())

    def report(error: OSError) -> None:
        skipped.append((Path(error.filename).as_posix(), f"cannot be opened: {error.strerror}"))

    # `os.walk` follows no links, so it cannot go round in circles.
    for root, folder_names, file_names in os.walk(folder, onerror=report):
        here = Path(root)
        if is_saved_index({*folder_names, *file_names}):
            skipped.append((here.as_posix(), "a saved index"))
            folder_names.clear()
            continue
        if is_built_site(here, {*folder_names, *file_names}):
            sites.append(here)
        in_site = any(here.is_relative_to(site) for site in sites)
        path = "" if here == folder else f"{here.relative_to(folder).as_posix()}/"
        folder_names[:] = sorting.folders(here, path, sorted(folder_names), in_site)
        files += sorting.files(here, path, sorted(file_names), in_site)
    below = sorted(file.relative_to(folder) for file in files)
    return [(folder / path, path.as_posix()) for path in below]


class _Sorting(NamedTuple):
    """What is in a folder is sorted into what is read and what is left out.

    Attributes:
        choice: Which files are read; it counts the others.
        skipped: Receives (path, reason) for all else that is left out.
        inside: The folder that is read, resolved.
    """

    choice: FileChoice
    skipped: list[tuple[str, str]]
    inside: Path

    def folders(self, here: Path, path: str, names: Sequence[str], in_site: bool) -> list[str]:
        """Return the folders that are gone through, of a folder and its path below `inside`."""
        staying = []
        for name in names:
            if self.choice.excludes_folder(f"{path}{name}"):
                for file in _named_below(here / name):
                    self.choice.leave_out(f"{path}{file}")
            elif reason := _why_no_folder(here / name, in_site):
                self.skipped.append(((here / name).as_posix(), reason))
            else:
                staying.append(name)
        return staying

    def files(self, here: Path, path: str, names: Sequence[str], in_site: bool) -> Iterator[Path]:
        """Yield the files that are read."""
        for name in names:
            reason = _why_by_name(here / name)
            if reason is None and not self.choice.takes(f"{path}{name}"):
                continue
            if reason := reason or _why_no_file(here / name, self.inside, in_site):
                self.skipped.append(((here / name).as_posix(), reason))
            else:
                yield here / name


def _named_below(folder: Path) -> Iterator[str]:
    """Yield the files of a folder and below, by its name and on, that are not left out by name."""
    if _why_by_name(folder) or folder.is_symlink():
        return
    for root, folder_names, file_names in os.walk(folder):
        here = Path(root)
        folder_names[:] = [name for name in folder_names if not _why_by_name(here / name)]
        for name in file_names:
            if not _why_by_name(here / name):
                yield (here / name).relative_to(folder.parent).as_posix()


def _why_no_folder(folder: Path, in_site: bool) -> str | None:
    """Return why a folder is left out, or None."""
    if reason := _why_by_name(folder):
        return reason
    if folder.is_symlink():
        return "a link to a folder: give it as a source of its own"
    return why_of_a_site(folder) if in_site else None


def _why_no_file(file: Path, inside: Path, in_site: bool) -> str | None:
    """Return why a file below a folder is left out, but for its name, or None."""
    if _leads_outside(file, inside):
        return "a link to a file outside the folder: give it as a source of its own"
    return why_generated(file) or (why_of_a_site(file) if in_site else None)


def _why_by_name(path: Path) -> str | None:
    if path.name.startswith("."):
        return "hidden"
    return "belongs to a tool" if path.name in TOOL_FOLDERS else None


def _leads_outside(path: Path, folder: Path) -> bool:
    """Return whether a path is a link to a file that is not below a resolved folder."""
    if not path.is_symlink():
        return False
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):  # broken, or in a circle: reported where it is opened
        return False
    return not target.is_relative_to(folder)


def _documents_of(file: SourceFile) -> Iterator[Document]:
    """Yield the documents of a file.

    Where the module that its format requires is missing, the file is read as text, if that is what
    it holds.
    """
    format = format_of_file(file.path.name)
    if format.is_installed():
        yield from format.read(file)
        return
    if format.outline is None:
        raise UnreadableFileError(format.hint)
    yield from FORMATS["text"].read(file)
    file.report(f"read as text, not by its syntax ({format.hint})")


def _load(file: Path) -> bytes:
    try:
        if not file.is_file():  # reading a pipe or a device would never end
            raise UnreadableFileError(
                "a broken link" if file.is_symlink() else "not a regular file"
            )
        if (size := file.stat().st_size) > MAX_BYTES:
            raise UnreadableFileError(f"{size / 1e6:,.0f} MB, more than {MAX_BYTES / 1e6:,.0f}")
        return file.read_bytes()
    except OSError as error:
        raise _UnopenedFileError(f"cannot be opened: {error.strerror}") from error
