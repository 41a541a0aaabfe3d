"""A format says how one kind of file is read into documents, and how its text is outlined."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew.document import Document
    from clew.read.formats.outline import Outline, Share
    from clew.read.formats.source_file import SourceFile


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
        around: (path of a folder, its path below the folder that is read) -> what is there beside
            a file that decides what the file gives, as a text. None where nothing does.
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
    around: Callable[[str, str], str] | None = None

    def is_installed(self) -> bool:
        """Whether all modules that the format requires are there."""
        return all(find_spec(module) is not None for module in self.requires)
