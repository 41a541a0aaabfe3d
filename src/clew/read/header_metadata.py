"""The headings that a framework's splitter wrote into the metadata of its pieces: containers that it does not give as objects.

LangChain's header splitters write one value per level ("Header 1", "Header 2"; the names are the caller's, a number at the end the
level); LlamaIndex's Markdown parser writes the headings above a piece as "/A/B/" under `header_path`, its own being the piece's first line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

LEVEL = re.compile(r"(?:header|heading|h)[ _-]?([1-6])", re.IGNORECASE)
FIRST_LINE = re.compile(r"\s*#{1,6}[ \t]+(.+?)[ \t#]*(?:\n|$)")


def headers_of(text: str, metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the headings that a piece stands under, outermost first; none where its metadata says nothing of the kind."""
    path = metadata.get("header_path")
    if isinstance(path, str) and path.startswith("/"):
        own = FIRST_LINE.match(text)
        return (
            *(part.strip() for part in path.split("/") if part.strip()),
            *([own[1].strip()] if own else []),
        )
    levels = {
        int(match[1]): key
        for key in metadata
        if isinstance(key, str) and (match := LEVEL.fullmatch(key.strip()))
    }
    titles = (metadata[levels[level]] for level in sorted(levels))
    return tuple(
        " ".join(title.split()) for title in titles if isinstance(title, str) and title.strip()
    )
