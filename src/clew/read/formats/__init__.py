"""How a text is written: one module for each format, and one table of all.

Example:
    >>> from clew.read.formats import FORMATS
    >>> ", ".join(list(FORMATS)[:3])
    'text, markdown, rst'
"""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.read.formats.file_format import Format
    from clew.read.formats.outline import Block, Close, Heading, Outline
    from clew.read.formats.source_file import SourceFile, UnreadableFileError
    from clew.read.formats.table import FORMATS
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "file_format": "Format",
            "outline": "Block Close Heading Outline",
            "source_file": "SourceFile UnreadableFileError",
            "table": "FORMATS",
        },
    )

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
