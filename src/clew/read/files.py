"""Files and folders become documents; what is not text is passed over and said."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from clew.document import Document
from clew.read.markdown import title_of

LARGEST = 20_000_000  # bytes; a larger file is hardly meant to be read
MARKDOWN = (".md", ".markdown", ".mdown", ".mkd", ".mdx")
FOREIGN = ("__pycache__", "node_modules")


def read_path(path: Path, documents: list[Document], skipped: list[tuple[str, str]]) -> None:
    """Append the document of a file, or those of the files under a folder in the order of their paths.

    The id is the path below the folder with forward slashes, or the file's name. What is not read is appended to `skipped` with the
    reason: binary, empty and very large files, links to folders, and below a folder whatever is hidden or belongs to a tool.
    """
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {str(path)!r}")
    for file, id in _files(path, skipped) if path.is_dir() else [(path, path.name)]:
        text = _text_of(file)
        if isinstance(text, _Unread):
            skipped.append((file.as_posix(), text))
        else:
            documents.append(_document(file, id, text))


def format_of(metadata: Mapping[str, Any]) -> str:
    """Return how a text is written, "markdown" or "text", by the name of the file that its metadata says it comes from."""
    names = (str(metadata.get(name) or "") for name in ("file_name", "file_path", "path", "source"))
    return "markdown" if any(PurePosixPath(name.lower()).suffix in MARKDOWN for name in names) else "text"


class _Unread(str):
    """The reason why a file is not read."""

    __slots__ = ()


def _files(folder: Path, skipped: list[tuple[str, str]]) -> list[tuple[Path, str]]:
    found: list[Path] = []

    def unread(error: OSError) -> None:
        skipped.append((Path(error.filename).as_posix(), f"cannot be opened: {error.strerror}"))

    for root, folders, files in os.walk(folder, onerror=unread):  # does not go through links, so it cannot go round
        here = Path(root)
        folders.sort()
        for name in tuple(folders):
            reason = _foreign(name) or ("a link to a folder: give it as a source of its own" if (here / name).is_symlink() else None)
            if reason:
                skipped.append(((here / name).as_posix(), reason))
                folders.remove(name)
        for name in sorted(files):
            if reason := _foreign(name):
                skipped.append(((here / name).as_posix(), reason))
            else:
                found.append(here / name)
    return [(folder / below, below.as_posix()) for below in sorted(file.relative_to(folder) for file in found)]


def _foreign(name: str) -> str | None:
    if name.startswith("."):
        return "hidden"
    return "belongs to a tool" if name in FOREIGN else None


def _text_of(file: Path) -> str:
    try:
        if not file.is_file():  # a pipe or a device would never end
            return _Unread("a broken link" if file.is_symlink() else "not a regular file")
        if (size := file.stat().st_size) > LARGEST:
            return _Unread(f"{size / 1e6:,.0f} MB, more than {LARGEST / 1e6:,.0f}")
        raw = file.read_bytes()
    except OSError as error:
        return _Unread(f"cannot be opened: {error.strerror}")
    try:
        text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        return _Unread("not text in UTF-8, or in UTF-16 with its mark")
    if "\0" in text:
        return _Unread("binary")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.strip() else _Unread("empty")


def _document(file: Path, id: str, text: str) -> Document:
    format = format_of({"file_name": file.name})
    title = title_of(text) if format == "markdown" else None
    return Document(id, text, {"path": file.as_posix(), "title": title or file.stem, "file_name": file.name}, format=format)
