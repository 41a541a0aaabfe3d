"""Jupyter notebooks: text as it is written, code fenced with the language of its kernel; what cells put out is left aside."""

from __future__ import annotations

import json
from typing import Any

SUFFIXES = (".ipynb",)


def markdown_of(text: str) -> str:
    """Return a notebook as one Markdown text.

    Raises:
        ValueError: it is no notebook of format 4.
    """
    book = json.loads(text)
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise ValueError("no notebook of format 4: it has no list of cells")
    told = book.get("metadata")
    language = (told.get("language_info") if isinstance(told, dict) else None) or {}
    name = str(language.get("name", "python")) if isinstance(language, dict) else "python"
    return "\n\n".join(part for cell in cells if (part := _cell(cell, name)))


def _cell(cell: dict[str, Any], language: str) -> str:
    source = cell.get("source", "")
    said = ("".join(map(str, source)) if isinstance(source, list) else str(source)).strip("\n")
    if not said.strip():
        return ""
    if cell.get("cell_type") != "code":
        return said
    fence = "```" if "```" not in said else "~~~~"
    return f"{fence}{language}\n{said}\n{fence}"
