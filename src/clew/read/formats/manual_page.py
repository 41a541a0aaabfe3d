"""A manual page in man(7) or mdoc(7) becomes a Markdown text, read as any other Markdown.

The words are those that a terminal shows. Fonts leave no mark, since nothing reads them.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from clew.document import Document
from clew.read.formats.source_file import SourceFile, UnreadableFileError
from clew.source_map import LineStart, SourceMap

if TYPE_CHECKING:
    from clew.read.formats.roff import Roff

MAX_BYTES = 20_000_000  # of a compressed page, when it is unpacked
BEGINNING = 30_000  # characters in which a page declares what it is
PACKED = ".gz"
_DECLARATION = re.compile(r"^[.'][ \t]*(?:TH|Dt|Dd|SH|Sh)(?=[ \t]+\S|[ \t]*$)", re.MULTILINE)
_TITLE = re.compile(r"^[.'][ \t]*(?:TH|Dt)[ \t]+([^\n]+)", re.MULTILINE)
_MARGIN = re.compile(r"(?:[.'][ \t]*(?:\\[\"#][^\n]*)?)?\n|[.'][ \t]*\\[\"#][^\n]*\Z")
_OTHER_PAGE = re.compile(r"[.']so[ \t]+(\S+)[ \t]*\n?")
_FOLDER = re.compile(r"man\w{1,8}")


class ManualPage(NamedTuple):
    """What is read of a manual page.

    Attributes:
        title: Its name and section, such as "tar(1)", or None.
        text: The page in Markdown.
        lines: Where the lines of the source begin in `text`.
    """

    title: str | None
    text: str
    lines: list[LineStart]


def read(file: SourceFile) -> Iterator[Document]:
    """Yield the page as one Markdown document; what is no manual page is read as plain text."""
    is_packed = file.path.name.lower().endswith(PACKED)
    file = replace(file, raw=_unpack(file.raw)) if is_packed else file
    text = file.text()
    if other := _other_page(text):
        raise UnreadableFileError(f"a link to another manual page, {other}")
    if not _DECLARATION.search(text, 0, BEGINNING):
        if is_packed:
            raise UnreadableFileError("compressed, and no manual page")
        yield file.document(text)
        return
    stem = file.path.name[: -len(PACKED)] if is_packed else file.path.name
    in_section = _FOLDER.fullmatch(file.path.parent.name) is not None
    page = parse_page(text, stem.rpartition(".")[0], stem.rpartition(".")[2] if in_section else "")
    if not page.text:
        raise UnreadableFileError("a manual page without text")
    document = file.document(page.text, "markdown", title=page.title, read_as="manual page")
    yield replace(document, source_map=SourceMap.of(file.id, page.lines))


def parse_page(source: str, name: str = "", section: str = "") -> ManualPage:
    r"""Return what is read of a manual page.

    Args:
        source: The source of the page.
        name: The name of its file, without the section; it tells how the title is written.
        section: The section of the folder that the file is in, where each section has a folder of
            its own; links to other sections then lead to their folders.

    Example:
        >>> page = parse_page(".TH TIDES 1\n.SH OPTIONS\n.TP\n.BR \\-h , \\-\\-high\nHigh only.")
        >>> page.title, page.text
        ('tides(1)', '# OPTIONS\n\n- -h,--high\n  High only.')
    """
    from clew.read.formats.manual_macros import KNOWN, ManualMacros  # few folders have pages
    from clew.read.formats.roff import Roff

    roff = Roff(source, KNOWN)
    text, lines = ManualMacros(roff, _target_from(section)).convert()
    return ManualPage(_title(roff, source, name), text, lines)


def _title(roff: Roff, source: str, name: str) -> str | None:
    match = _TITLE.search(source, 0, BEGINNING)
    words = [word for word in roff.words(match[1]) if word.strip()] if match else []
    if not words:
        return None
    written = words[0]
    if written.lower() == name.lower():
        written = name
    elif written.isupper():
        written = written.lower()
    return f"{written}({words[1].lower()})" if len(words) > 1 else written


def _target_from(own: str) -> Callable[[str, str], str]:
    """Return the function that tells where a link to a page leads."""

    def target(name: str, section: str) -> str:
        file = f"{name}.{section}"
        return file if not own or section == own else f"../man{section}/{file}"

    return target


def _other_page(text: str) -> str | None:
    """Return the file whose content a page has instead of its own, or None."""
    place = 0
    while margin := _MARGIN.match(text, place):
        place = margin.end()
    other = _OTHER_PAGE.match(text, place)
    if other is None or text[other.end() :].strip():
        return None
    return other[1]


def _unpack(raw: bytes) -> bytes:
    """Return the content of a compressed file.

    Raises:
        UnreadableFileError: It is damaged or too large.
    """
    import gzip

    try:
        with gzip.GzipFile(fileobj=BytesIO(raw)) as packed:
            content = packed.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableFileError(f"not readable as gzip: {error}") from error
    if len(content) > MAX_BYTES:
        raise UnreadableFileError(f"more than {MAX_BYTES / 1e6:,.0f} MB when unpacked")
    return content
