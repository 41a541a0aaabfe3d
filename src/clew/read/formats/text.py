"""A file of text. Unknown suffixes are plain text, whose outline `plain_text` finds.

A file named .txt may be written in reStructuredText, as Django's documentation is, or in Markdown.
It is read as such where it has headings of that markup and what no plain text has by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clew.document import Document
from clew.read.formats import markdown, rst
from clew.read.formats.front_matter import header_title
from clew.read.formats.not_text import why_no_text
from clew.read.formats.source_file import SourceFile, UnreadableFileError

_DIRECTIVE = re.compile(
    r"^(?:\.\. [a-z][\w-]*(?::[a-z][\w-]*)?::(?:[ \t]|$)|\.\. _[^:\n]+:(?:[ \t]|$))"
    r"|:(?:[a-z]+:)?[a-z]+:`[^`\n]+`",
    re.MULTILINE,
)
# Escape sequences: of colours and the cursor, of titles and links, and of two signs.
_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-~])"
)
_STRUCK_OVER = re.compile(r"[^\n\x08]\x08")
_HASHES = re.compile(r"^#.*", re.MULTILINE)
_ATX_HEADING = re.compile(r"#{1,6} \S")
_MARKDOWN_MARK = re.compile(r"^```|\]\([^()\s]+\)", re.MULTILINE)
_RTF = "{\\rtf"
_PROSE = (".txt", ".text", "")  # suffixes of texts to read
MIN_HEADINGS = 2  # of a text in Markdown; one line may begin with "#" by chance


def read(file: SourceFile) -> Iterator[Document]:
    """Yield the file as one document, in the markup that it is written in."""
    text = without_escapes(file.text())
    if not text.strip():
        raise UnreadableFileError("empty")
    if text.startswith(_RTF):  # signs of ASCII, of which most are no words
        raise UnreadableFileError(why_no_text(file.path.with_suffix(".rtf").name))
    suffix = file.path.suffix.lower()
    format = find_markup(text) if suffix == ".txt" else "text"
    if format == "markdown":
        yield markdown.read_text(file, text)
    else:
        find_title = rst.find_title if format == "rst" else header_title
        title = find_title(text) if suffix in _PROSE else None  # settings have fields, too
        yield file.document(text, format, title=title)


def without_escapes(text: str) -> str:
    r"""Return a text without what colours it in a terminal, as logs and printed pages have it.

    These are escape sequences, and signs that are struck over to be bold or underlined. Lines stay
    where they are.

    Example:
        >>> without_escapes("\x1b[31mERROR\x1b[0m N\bNA\bAM\bME\bE _\bx")
        'ERROR NAME x'
    """
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    return _STRUCK_OVER.sub("", text) if "\b" in text else text


def find_markup(text: str) -> str:
    r"""Return the format that a text without a telling name is written in.

    It is "rst" for a text with a title that is underlined, and a directive, a label or a role;
    "markdown" for one with several headings of "#", on two levels or more, each between empty
    lines, no other line that begins so, and a link or a fence; else "text".

    Example:
        >>> find_markup("Tides\n=====\n\n.. note:: See :ref:`moon`.")
        'rst'
        >>> find_markup("# a comment\nname = 1\n"), find_markup("Tides\n=====\n\nHigh.")
        ('text', 'text')
    """
    if _DIRECTIVE.search(text) and rst.has_heading(text):
        return "rst"
    if _MARKDOWN_MARK.search(text) and _has_hash_headings(text):
        return "markdown"
    return "text"


def _has_hash_headings(text: str) -> bool:
    """Return whether every line that begins with "#" is a heading by itself, on several levels."""
    levels = list[int]()
    for line in _HASHES.finditer(text):
        above = text[max(0, line.start() - 2) : line.start()]
        below = text[line.end() : line.end() + 2]
        alone = above in ("", "\n", "\n\n") and below in ("", "\n", "\n\n")
        if not alone or not _ATX_HEADING.match(line[0]):
            return False
        levels.append(len(line[0]) - len(line[0].lstrip("#")))
    return len(levels) >= MIN_HEADINGS and len(set(levels)) > 1
