"""A file of Word becomes a page of HTML by mammoth (the extra `word`), and is read as any other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from typing import Any

from clew.document import Document
from clew.read.formats.html import parse_page
from clew.read.formats.source_file import DAMAGE, SourceFile, UnreadableFileError
from clew.source_map import SourceMap

MAX_UNPACKED = 200_000_000  # bytes of the parts that are read, which may be packed very small
STYLES = "p[style-name='Title'] => h1:fresh"  # beside those of headings, which mammoth knows
_OLD_OR_LOCKED = b"\xd0\xcf\x11\xe0"  # how files begin that are written by an old Word, or locked


def read(file: SourceFile) -> Iterator[Document]:
    """Yield the file as one Markdown document, without its pictures, headers and comments.

    Raises:
        UnreadableFileError: The file is damaged, locked by a password, or has no text.
    """
    page = parse_page(_as_html(file.raw))
    if not page.text:
        raise UnreadableFileError("a document of Word without text")
    document = file.document(page.text, "markdown", title=page.title, read_as="word")
    yield replace(document, source_map=SourceMap(file.id))


def _as_html(raw: bytes) -> str:
    # Most folders have no such file: what reads it is loaded where there is one.
    from xml.parsers.expat import ExpatError
    from zipfile import BadZipFile, ZipFile

    import mammoth

    if raw.startswith(_OLD_OR_LOCKED):
        raise UnreadableFileError("locked by a password, or written by Word 2003: save it anew")
    try:
        with ZipFile(BytesIO(raw)) as parts:
            size = sum(part.file_size for part in parts.infolist() if _is_read(part.filename))
        if size > MAX_UNPACKED:
            raise UnreadableFileError(
                f"unpacked it has {size:,} bytes, of at most {MAX_UNPACKED:,}"
            )
        pictures = mammoth.images.img_element(_without_source)
        made = mammoth.convert_to_html(BytesIO(raw), style_map=STYLES, convert_image=pictures)
    except (BadZipFile, ExpatError, ValueError, *DAMAGE) as error:
        raise UnreadableFileError(f"not readable as a document of Word: {error}") from error
    html: str = made.value
    return html


def _is_read(name: str) -> bool:
    return name.endswith((".xml", ".rels"))


def _without_source(_image: Any) -> dict[str, str]:  # noqa: ANN401  # mammoth has no types
    """Return no attributes: a picture keeps its description, and none of its bytes."""
    return {}
