"""A Jupyter notebook is read as Markdown: text as it is written, code in fences, no output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from clew.document import Document
from clew.read.formats.file_format import Format, SourceFile, UnreadableFileError
from clew.read.formats.markdown import find_title


def read(file: SourceFile) -> Iterator[Document]:
    """Yield the notebook as one Markdown document; a file that is no notebook is read as text."""
    text = file.text()
    try:
        markdown = convert_to_markdown(text)
    except (ValueError, RecursionError) as error:
        file.report(f"read as text: {error}")
        yield file.document(text)
        return
    if not markdown:
        raise UnreadableFileError("a notebook without text")
    yield file.document(markdown, "markdown", title=find_title(markdown), read_as="notebook")


def convert_to_markdown(text: str) -> str:
    """Return a notebook as one Markdown text; code is fenced with the language of its kernel.

    Args:
        text: The JSON of a notebook.

    Raises:
        ValueError: It is no notebook of format 4.

    Example:
        >>> convert_to_markdown('{"cells": [{"cell_type": "markdown", "source": ["# Tides"]}]}')
        '# Tides'
    """
    notebook = json.loads(text)
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise ValueError("no notebook of format 4: it has no list of cells")
    metadata = notebook.get("metadata")
    language = (metadata.get("language_info") if isinstance(metadata, dict) else None) or {}
    name = str(language.get("name", "python")) if isinstance(language, dict) else "python"
    return "\n\n".join(part for cell in cells if (part := _convert_cell(cell, name)))


def _convert_cell(cell: dict[str, Any], language: str) -> str:
    source = cell.get("source", "")
    text = ("".join(map(str, source)) if isinstance(source, list) else str(source)).strip("\n")
    if not text.strip():
        return ""
    if cell.get("cell_type") != "code":
        return text
    fence = "```" if "```" not in text else "~~~~"
    return f"{fence}{language}\n{text}\n{fence}"


NOTEBOOK = Format("notebook", read, (".ipynb",))
