"""Files and folders become documents; what is not read, or not as what it is, is said."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clew.document import Document
from clew.read.formats import html, markdown, notebook, pdf, python, rows, rst
from clew.read.formats import source_code as syntax
from clew.read.formats.table import format_of

LARGEST = 20_000_000  # bytes; a larger file is hardly meant to be read
FOREIGN = ("__pycache__", "node_modules")


def read_path(path: Path, documents: list[Document], skipped: list[tuple[str, str]]) -> None:
    """Append the document of a file, or those of the files under a folder in the order of their paths.

    The id is the path below the folder with forward slashes, or the file's name. What is not read is appended to `skipped` with the
    reason: binary, empty and very large files, links to folders, and below a folder whatever is hidden or belongs to a tool.
    """
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {str(path)!r}")
    for file, id in _files(path, skipped) if path.is_dir() else [(path, path.name)]:
        try:
            documents += list(_documents(file, id, skipped))
        except _Unread as reason:
            skipped.append((file.as_posix(), str(reason)))


class _Unread(Exception):  # noqa: N818  # a reason to be said, no error
    """The reason why a file is not read."""


def _files(folder: Path, skipped: list[tuple[str, str]]) -> list[tuple[Path, str]]:
    found: list[Path] = []

    def unread(error: OSError) -> None:
        skipped.append((Path(error.filename).as_posix(), f"cannot be opened: {error.strerror}"))

    for root, folders, files in os.walk(
        folder, onerror=unread
    ):  # does not go through links, so it cannot go round
        here = Path(root)
        folders.sort()
        for name in tuple(folders):
            reason = _foreign(name) or (
                "a link to a folder: give it as a source of its own"
                if (here / name).is_symlink()
                else None
            )
            if reason:
                skipped.append(((here / name).as_posix(), reason))
                folders.remove(name)
        for name in sorted(files):
            if reason := _foreign(name):
                skipped.append(((here / name).as_posix(), reason))
            else:
                found.append(here / name)
    return [
        (folder / below, below.as_posix())
        for below in sorted(file.relative_to(folder) for file in found)
    ]


def _foreign(name: str) -> str | None:
    if name.startswith("."):
        return "hidden"
    return "belongs to a tool" if name in FOREIGN else None


def _documents(file: Path, id: str, skipped: list[tuple[str, str]]) -> Iterator[Document]:
    raw = _raw(file)
    metadata = {"path": file.as_posix(), "title": file.stem, "file_name": file.name}
    suffix = file.suffix.lower()
    if suffix == ".pdf":
        if not pdf.available():
            raise _Unread(pdf.HINT)
        try:
            yield from pdf.pages_of(raw, id, metadata)
        except ValueError as error:
            raise _Unread(str(error)) from error
    elif suffix in html.SUFFIXES:
        yield _page(raw, file, id, metadata, skipped)
    elif suffix in notebook.SUFFIXES:
        yield _notebook(raw, file, id, metadata, skipped)
    else:
        text = _text(raw)
        found = _rows(file, id, skipped) if rows.is_rows(file) else []
        yield from found or [_written(text, file, id, metadata, skipped)]


def _page(
    raw: bytes, file: Path, id: str, metadata: dict[str, Any], skipped: list[tuple[str, str]]
) -> Document:
    text, encoding = html.decoded(raw)
    if "\0" in text:
        raise _Unread("binary")
    if lost := text.count("\ufffd"):
        skipped.append(
            (
                file.as_posix(),
                f"read, but for {lost} characters that are none in its encoding, {encoding}",
            )
        )
    page = html.page(text)
    if not page.text:
        raise _Unread("a page without text")
    said = {"title": page.title, "language": page.language, "url": page.url}
    return Document(
        id,
        page.text,
        {**metadata, **{key: value for key, value in said.items() if value}, "read_as": "html"},
        format="markdown",
    )


def _notebook(
    raw: bytes, file: Path, id: str, metadata: dict[str, Any], skipped: list[tuple[str, str]]
) -> Document:
    text = _text(raw)
    try:
        said = notebook.markdown_of(text)
    except (ValueError, RecursionError) as error:
        skipped.append((file.as_posix(), f"read as text: {error}"))
        return Document(id, text, metadata)
    if not said:
        raise _Unread("a notebook without text")
    return Document(
        id,
        said,
        {**metadata, "title": markdown.title_of(said) or file.stem, "read_as": "notebook"},
        format="markdown",
    )


def _rows(file: Path, id: str, skipped: list[tuple[str, str]]) -> list[Document]:
    """The rows of a file; none where it holds no rows after all, and then it is read as text."""
    amiss: list[tuple[str, str]] = []
    try:
        found = list(rows.rows_of(file, name=id, skipped=amiss))
    except (ValueError, RecursionError) as error:
        skipped.append((file.as_posix(), f"read as text: {error}"))
        return []
    skipped += amiss
    return found if len(found) > 1 else []


def _written(
    text: str, file: Path, id: str, metadata: dict[str, Any], skipped: list[tuple[str, str]]
) -> Document:
    """The document of a text, in the format that its name says, or as plain text where that does not hold."""
    format, title = format_of({"file_name": file.name}), None
    if format == "markdown":
        title = markdown.title_of(text)
    elif format == "rst":
        title = rst.title_of(text)
    elif format == "python":
        if isinstance(reason := python.parsed(text), str):
            skipped.append((file.as_posix(), f"read as text: no Python of this version ({reason})"))
            format = "text"
        else:
            module = python.module_of(file)
            title, metadata = f"module {module}", {**metadata, "module": module}
    elif file.suffix.lower() in syntax.SUFFIXES:
        format = syntax.SUFFIXES[file.suffix.lower()]
        if not syntax.available(format):
            skipped.append((file.as_posix(), f"read as text, not by its syntax ({syntax.HINT})"))
            format = "text"
    return Document(id, text, {**metadata, "title": title or file.stem}, format=format)


def _raw(file: Path) -> bytes:
    try:
        if not file.is_file():  # a pipe or a device would never end
            raise _Unread("a broken link" if file.is_symlink() else "not a regular file")
        if (size := file.stat().st_size) > LARGEST:
            raise _Unread(f"{size / 1e6:,.0f} MB, more than {LARGEST / 1e6:,.0f}")
        return file.read_bytes()
    except OSError as error:
        raise _Unread(f"cannot be opened: {error.strerror}") from error


def _text(raw: bytes) -> str:
    try:
        text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise _Unread("not text in UTF-8, or in UTF-16 with its mark") from error
    if "\0" in text:
        raise _Unread("binary")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise _Unread("empty")
    return text
