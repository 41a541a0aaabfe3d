"""The table of formats: one row for each, and the look-ups that everything else goes through.

A new format is one module beside this one, which declares a `Format`, and one line in `FORMATS`. A
caller adds a format of their own to the same table, for the running process:

    from clew.read.formats import FORMATS, Format
    FORMATS["toy"] = Format("toy", read_toy, (".toy",), outline_toy)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from clew.read.formats.code_languages import FILE_NAME_KEYS
from clew.read.formats.file_format import Format
from clew.read.formats.heading_lines import ASCIIDOC, LATEX, ORG
from clew.read.formats.html import HTML
from clew.read.formats.mail import MAIL
from clew.read.formats.manual_page import MANUAL_PAGE
from clew.read.formats.markdown import MARKDOWN
from clew.read.formats.notebook import NOTEBOOK
from clew.read.formats.outline import Outline, Share
from clew.read.formats.pdf import PDF
from clew.read.formats.python import PYTHON
from clew.read.formats.rows import RECORD
from clew.read.formats.rst import RST
from clew.read.formats.source_code import SOURCE_CODE
from clew.read.formats.text import TEXT
from clew.read.formats.word import WORD

FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        TEXT,
        MARKDOWN,
        RST,
        ASCIIDOC,
        ORG,
        LATEX,
        PYTHON,
        RECORD,
        *SOURCE_CODE,
        HTML,
        NOTEBOOK,
        PDF,
        WORD,
        MANUAL_PAGE,
        MAIL,
    )
}


def format_of_file(name: str) -> Format:
    """Return the format of a file by the suffix of its name; plain text where no format has it.

    Of several formats with one suffix the last in the table counts. The last two suffixes together,
    as in `tar.1.gz`, come before the last one.

    Example:
        >>> format_of_file("docs/README.MD").name, format_of_file("LICENSE").name
        ('markdown', 'text')
    """
    suffixes = PurePosixPath(name.lower()).suffixes
    for suffix in ("".join(suffixes[-2:]), "".join(suffixes[-1:])):
        for format in reversed(FORMATS.values()):
            if suffix in format.suffixes:
                return format
    return FORMATS["text"]


def format_of_piece(metadata: Mapping[str, Any]) -> str:
    """Return the name of the format of a framework's text, by the file that its metadata names.

    Only formats that can outline a piece of a file count; any other text is "text".

    Example:
        >>> format_of_piece({"source": "guide/moon.md"}), format_of_piece({"source": "a.js"})
        ('markdown', 'text')
    """
    for key in FILE_NAME_KEYS if metadata else ():
        name = metadata.get(key)
        if name and (format := format_of_file(str(name))).outlines_pieces:
            return format.name
    return "text"


def text_format(name: str) -> Format:
    """Return the format that a text is written in.

    Args:
        name: The `format` of a document.

    Raises:
        ValueError: No format of this name outlines texts.
    """
    format = FORMATS.get(name)
    if format is None or format.outline is None:
        known = ", ".join(format.name for format in FORMATS.values() if format.outline)
        raise ValueError(f"unknown format {name!r} of a document; known: {known}")
    return format


def outline_text(text: str, format: str, share: Share) -> Outline:
    """Return the headings, blocks and links of a text.

    Args:
        text: The text.
        format: The name of its format.
        share: (start, end) -> the share of a passage that text[start:end] fills. A function or
            class that fills at most 1 is kept whole.

    Example:
        >>> [part.text for part in outline_text("# Moon", "markdown", lambda a, b: 0.0).parts]
        ['Moon']
    """
    outline = text_format(format).outline
    assert outline is not None  # `text_format` returns no other
    return outline(text, share)


def find_links(text: str, format: str) -> tuple[str, ...]:
    """Return the link targets that are written in a text, each once.

    Args:
        text: The text.
        format: The name of its format.

    Example:
        >>> find_links("See [the sea](sea.md).", "markdown")
        ('sea.md',)
    """
    known = text_format(format)
    if known.links is not None:
        return known.links(text)
    links = outline_text(text, format, _any_text_fits).links
    return tuple(dict.fromkeys(target for _, target in links))


def find_declared_title(text: str, format: str) -> str | None:
    """Return the title that a text declares beside its headings, such as front matter does."""
    known = FORMATS.get(format)
    return known.declared_title(text) if known and known.declared_title else None


def _any_text_fits(_start: int, _end: int) -> float:
    return 0.0
