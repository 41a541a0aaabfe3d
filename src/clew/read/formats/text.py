"""Plain text has no markup; a blank line ends a paragraph. Unknown suffixes are plain text."""

from __future__ import annotations

from collections.abc import Iterator

from clew.document import Document
from clew.read.formats.file_format import Format, SourceFile
from clew.read.formats.outline import Block, Outline, Share
from clew.text.spans import paragraphs


def read(file: SourceFile) -> Iterator[Document]:
    """Yield the file as one document."""
    yield file.document(file.text())


def outline(text: str, share: Share | None = None) -> Outline:  # noqa: ARG001  # sizes do not matter
    """Return the paragraphs of a text."""
    return Outline(tuple(Block(start, end) for start, end in paragraphs(text)))


TEXT = Format("text", read, outline=outline)
