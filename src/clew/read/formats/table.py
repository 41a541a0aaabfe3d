"""The table of formats: one row for each, and the look-ups that everything else goes through.

A new format is one module beside this one and one row in `FORMATS`, which names its functions: a
process loads the modules of those formats alone that it reads. A caller adds a format of their own
to the same table, for the running process:

    from clew.read.formats import FORMATS, Format
    FORMATS["toy"] = Format("toy", read_toy, (".toy",), outline_toy)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from clew.on_demand import FunctionOnDemand
from clew.read.formats.file_format import Format
from clew.text.code_languages import FILE_NAME_KEYS, HINT, LANGUAGES, PYTHON_SUFFIXES
from clew.text.metadata_text import text_under

if TYPE_CHECKING:
    from clew.read.formats.outline import Outline, Share

_SECTIONS = (*(f".{number}" for number in range(1, 10)), ".1p", ".3pm", ".n")  # of manual pages


def _of(place: str, **keywords: str) -> FunctionOnDemand:
    """Return a function of a module of formats, such as `html.read`.

    Args:
        place: The names of the module and of the function.
        keywords: What it is given by name.
    """
    module, _, name = place.partition(".")
    return FunctionOnDemand(f"{__package__}.{module}", name, **keywords)


def _of_headings(name: str, *suffixes: str) -> Format:
    read, outline = (_of(f"heading_lines.{one}", markup=name) for one in ("read", "outline"))
    return Format(name, read, suffixes, outline)


FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        Format(
            "text",
            _of("text.read"),
            outline=_of("plain_text.outline"),
            links=_of("plain_text.find_links"),
        ),
        Format(
            "markdown",
            _of("markdown.read"),
            (".md", ".markdown", ".mdown", ".mkd", ".mdx"),
            _of("markdown.outline"),
            links=_of("markdown.find_links"),
            declared_title=_of("front_matter.front_matter_title"),
            outlines_pieces=True,
        ),
        Format("rst", _of("rst.read"), (".rst", ".rest"), _of("rst.outline"), outlines_pieces=True),
        _of_headings("asciidoc", ".adoc", ".asciidoc"),
        _of_headings("org", ".org"),
        _of_headings("latex", ".tex"),
        Format(
            "python",
            _of("python.read"),
            PYTHON_SUFFIXES,
            _of("python.outline"),
            outlines_pieces=True,
            around=_of("packages.shown_package"),
        ),
        Format(
            "record",
            _of("rows.read"),
            (".csv", ".tsv", ".jsonl", ".ndjson", ".json"),
            _of("rows.outline"),
        ),
        *(
            Format(
                name,
                _of("source_code.read", language=name),
                language.suffixes,
                _of("source_code.outline", language=name),
                requires=("tree_sitter", language.module),
                hint=HINT,
            )
            for name, language in LANGUAGES.items()
        ),
        Format("html", _of("html.read"), (".html", ".htm", ".xhtml")),
        Format("notebook", _of("notebook.read"), (".ipynb",)),
        Format(
            "pdf",
            _of("pdf.read"),
            (".pdf",),
            requires=("pypdf",),
            hint="PDF is read by pypdf: pip install 'clew[pdf]'",
        ),
        Format(
            "word",
            _of("word.read"),
            (".docx",),
            requires=("mammoth",),
            hint="files of Word are read by mammoth: pip install 'clew[word]'",
        ),
        Format(
            "manual page",
            _of("manual_page.read"),
            (*_SECTIONS, *(f"{section}.gz" for section in _SECTIONS)),
        ),
        Format("mail", _of("mail.read"), (".eml", ".mbox")),
        Format("subtitles", _of("subtitles.read"), (".srt", ".vtt")),
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
        name = text_under(metadata, key)
        if name and (format := format_of_file(name)).outlines_pieces:
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
