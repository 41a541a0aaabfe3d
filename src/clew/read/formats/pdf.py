"""A PDF file is read page by page, by pypdf (the extra `pdf`)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from clew.document import Document
from clew.read.formats.source_file import DAMAGE, SourceFile, UnreadableFileError
from clew.source_map import SourceMap

if TYPE_CHECKING:
    from pypdf import PageObject

_CUT_WORD = re.compile(
    r"(?<![^\W\d_])([^\W\d_]++)[-\u2010][ \t]*+\n[ \t]*+([^\W\d_]++)"  # from a word's first letter
)
_HYPHENATED = re.compile(r"(?<![^\W\d_])[^\W\d_]++-[^\W\d_]++")
_SOFT_HYPHEN = "\u00ad"


def read(file: SourceFile) -> Iterator[Document]:
    """Yield the heading of the file, then its pages that have text.

    A page is named `{id}#page=3` and has its number in the metadata under `page`. How many pages
    are pictures alone, as those that were scanned, is reported.

    Raises:
        UnreadableFileError: The file is damaged, locked by a password, or has no text.
    """
    title, texts, n_pictures = _pages_of(file)
    if not any(texts):
        raise UnreadableFileError("a PDF without text, perhaps of scanned pages")
    if n_pictures:
        pages = "1 page that has" if n_pictures == 1 else f"{n_pictures:,} pages that have"
        file.report(f"read, but for {pages} no text, perhaps scanned")
    metadata = {**file.metadata, "title": title or file.path.stem}
    yield Document(file.id, metadata["title"], metadata, heading=True)
    previous = None
    for number, text in enumerate(texts, 1):
        if text:
            id = f"{file.id}#page={number}"
            page = {**metadata, "page": number}
            source = SourceMap(file.id, number)
            yield Document(id, text, page, parent=file.id, previous=previous, source_map=source)
            previous = id


class _Pages(NamedTuple):
    """The title of a file, the texts of its pages, and how many of these are pictures alone."""

    title: str
    texts: list[str]
    n_pictures: int


def _pages_of(file: SourceFile) -> _Pages:
    logging.getLogger("pypdf").addHandler(logging.NullHandler())  # it warns of every odd file
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(BytesIO(file.raw))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableFileError("locked by a password")
        pages = list(reader.pages)
        texts = [join_cut_words(page.extract_text()) for page in pages]
        title = str((reader.metadata and reader.metadata.title) or "").strip()
    except (PyPdfError, ImportError, *DAMAGE) as error:
        raise UnreadableFileError(f"not readable as PDF: {error}") from error
    except ValueError as error:
        raise UnreadableFileError(str(error)) from error
    n_pictures = sum(
        not text and _has_pictures(page) for page, text in zip(pages, texts, strict=True)
    )
    return _Pages(title, texts, n_pictures)


def _has_pictures(page: PageObject) -> bool:
    from pypdf.errors import PyPdfError

    try:
        return len(page.images) > 0
    except (PyPdfError, ValueError, *DAMAGE):  # it is not known
        return False


def join_cut_words(text: str) -> str:
    r"""Return the text of a page with the words joined that its line ends cut.

    A word keeps its hyphen if the page writes it with one elsewhere, or if its second part starts
    with a capital.

    Example:
        >>> join_cut_words("the har-\nbour")
        'the harbour'
    """
    text = text.replace("\r\n", "\n").replace("\0", "")
    hyphenated = {word.lower() for word in _HYPHENATED.findall(text)}

    def join(cut: re.Match[str]) -> str:
        keep = f"{cut[1]}-{cut[2]}".lower() in hyphenated or cut[2][0].isupper()
        return cut[1] + ("-" if keep else "") + cut[2]

    text = _CUT_WORD.sub(join, text).replace(_SOFT_HYPHEN + "\n", "").replace(_SOFT_HYPHEN, "")
    return "\n".join(line.rstrip() for line in text.split("\n")).strip()
