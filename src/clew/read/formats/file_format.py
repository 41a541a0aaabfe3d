"""A format says how one kind of file is read into documents, and how its text is outlined."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from clew.document import Document
from clew.read.formats.outline import Outline, Share

UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class UnreadableFileError(Exception):
    """A file is not read; the message is the reason that the caller sees in `skipped`."""


@dataclass(frozen=True)
class SourceFile:
    """A file whose bytes are loaded, on its way to becoming documents.

    Attributes:
        path: Where the file is.
        id: The id of the document that the file becomes: its path below the folder that is read.
        raw: The bytes of the file.
        skipped: Receives (path, reason) for everything that is not read, or is read otherwise than
            its name says.

    Example:
        >>> file = SourceFile(Path("sea.txt"), "sea.txt", b"The sea is salt.")
        >>> file.document(file.text()).metadata["title"]
        'sea'
    """

    path: Path
    id: str
    raw: bytes
    skipped: list[tuple[str, str]] = field(default_factory=list)

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata of every document of the file."""
        return {
            "path": self.path.as_posix(),
            "title": self.path.stem,
            "file_name": self.path.name,
        }

    def text(self) -> str:
        r"""Return the text of the file, in UTF-8 or marked UTF-16, with line ends as "\n".

        Raises:
            UnreadableFileError: The file is empty or is not text.
        """
        marked = self.raw[:2] in UTF_16_MARKS
        try:
            text = self.raw.decode("utf-16" if marked else "utf-8-sig")
        except UnicodeDecodeError as error:
            raise UnreadableFileError("not text in UTF-8, or in UTF-16 with its mark") from error
        if "\0" in text:
            raise UnreadableFileError("binary")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if not text.strip():
            raise UnreadableFileError("empty")
        return text

    def document(
        self, text: str, format: str = "text", *, title: str | None = None, **metadata: object
    ) -> Document:
        """Return the document of the whole file.

        Args:
            text: The text of the document.
            format: The name of the format that `text` is written in.
            title: The title; None for the file's name without its suffix.
            metadata: Further metadata, beside path, title and file name.
        """
        heading = {"title": title or self.path.stem}
        return Document(self.id, text, {**self.metadata, **metadata, **heading}, format=format)

    def report(self, reason: str) -> None:
        """Report to the caller how the file is read, or what of it is not."""
        self.skipped.append((self.path.as_posix(), reason))


@dataclass(frozen=True)
class Format:
    """A kind of file: how it is read, and how the text that it holds is outlined.

    Attributes:
        name: What `Document.format` and error messages call it.
        read: Turns a file into documents. It raises `UnreadableFileError` for a file that it
            cannot read at all, and calls `SourceFile.report` for what it reads only in part.
        suffixes: The suffixes of its files, in lower case, with the dot.
        outline: (text, share) -> the headings, blocks and links of a text. `share(start, end)` is
            the share of a passage that text[start:end] fills; at most 1 means that it fits. None
            for files whose documents are written in another format.
        links: text -> its link targets, each once, for a format where that is cheaper than
            `outline`. None takes them from the outline.
        declared_title: text -> the title that the text declares beside its headings, or None.
        outlines_pieces: Whether a piece of such a file, cut by a framework's splitter, is outlined
            in this format too. False reads such a piece as plain text.
        requires: Modules that `read` or `outline` needs beside the dependencies of clew.
        hint: How to install them.
    """

    name: str
    read: Callable[[SourceFile], Iterable[Document]]
    suffixes: tuple[str, ...] = ()
    outline: Callable[[str, Share], Outline] | None = None
    links: Callable[[str], tuple[str, ...]] | None = None
    declared_title: Callable[[str], str | None] | None = None
    outlines_pieces: bool = False
    requires: tuple[str, ...] = ()
    hint: str = ""

    def is_installed(self) -> bool:
        """Whether all modules that the format requires are there."""
        return all(find_spec(module) is not None for module in self.requires)
