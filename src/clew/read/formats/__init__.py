"""How a text is written: one module for each format, and one table of all.

Example:
    >>> ", ".join(list(FORMATS)[:3])
    'text, markdown, rst'
"""

from clew.read.formats.file_format import Format, SourceFile, UnreadableFileError
from clew.read.formats.outline import Block, Close, Heading, Outline
from clew.read.formats.table import FORMATS

__all__ = [
    "FORMATS",
    "Block",
    "Close",
    "Format",
    "Heading",
    "Outline",
    "SourceFile",
    "UnreadableFileError",
]
