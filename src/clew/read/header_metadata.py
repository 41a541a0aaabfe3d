"""The headings that a framework's splitter writes into the metadata of its pieces.

They are containers that the framework does not give as objects. LangChain's header splitters write
one value for each level: "Header 1", "Header 2". The caller names them; the number at the end is
the level. LlamaIndex's Markdown parser writes the headings above a piece as "/A/B/" under
`header_path`; the piece's own heading is its first line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_LEVEL = re.compile(r"(?:header|heading|h)[ _-]?([1-6])", re.IGNORECASE)
_FIRST_LINE = re.compile(r"\s*#{1,6}[ \t]+([^\n]+)")


def headings_above(text: str, metadata: Mapping[str, Any]) -> tuple[str, ...]:
    r"""Return the headings that a piece is under, outermost first.

    Args:
        text: The text of the piece.
        metadata: Its metadata.

    Example:
        >>> headings_above("They are dry.", {"Header 1": "Moon", "Header 2": "Seas"})
        ('Moon', 'Seas')
        >>> headings_above("# Seas\nThey are dry.", {"header_path": "/Moon/"})
        ('Moon', 'Seas')
    """
    if not metadata:  # as that of many candidates
        return ()
    path = metadata.get("header_path")
    if isinstance(path, str) and path.startswith("/"):
        above = [part.strip() for part in path.split("/") if part.strip()]
        first_line = _FIRST_LINE.match(text)
        own = first_line[1].rstrip(" \t#").strip() if first_line else ""
        return (*above, own) if own else tuple(above)
    levels = {
        int(match[1]): key
        for key in metadata
        if isinstance(key, str) and (match := _LEVEL.fullmatch(key.strip()))
    }
    titles = (metadata[levels[level]] for level in sorted(levels))
    return tuple(
        " ".join(title.split()) for title in titles if isinstance(title, str) and title.strip()
    )
