"""A Jupyter notebook is read as Markdown: text as it is written, code in fences, no output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from clew.document import Document
from clew.read.formats.markdown import find_title, leave_out_comments
from clew.read.formats.source_file import (
    SourceFile,
    UnreadableFileError,
    with_plain_line_ends,
)
from clew.source_map import LineStart, SourceMap, starts_of_lines

CELL_DEPTH = 3  # brackets around the keys of a cell
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}:]', re.DOTALL)


def read(file: SourceFile) -> Iterator[Document]:
    """Yield the notebook as one Markdown document; a file that is no notebook is read as text."""
    text = file.text()
    try:
        markdown, lines = _convert(text)
    except (ValueError, RecursionError) as error:
        file.report(f"read as text: {error}")
        yield file.document(text)
        return
    if not markdown:
        raise UnreadableFileError("a notebook without text")
    title = find_title(markdown)
    document = file.document(markdown, "markdown", title=title, read_as="notebook")
    yield replace(document, source_map=SourceMap.of(file.id, lines))


def _convert(text: str) -> tuple[str, list[LineStart]]:
    """Return a notebook as one Markdown text, and where the lines of its cells begin there.

    Code is fenced with the language of its kernel.

    Args:
        text: The JSON of a notebook.

    Raises:
        ValueError: It is no notebook of format 4.
    """
    notebook = json.loads(text)
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise ValueError("no notebook of format 4: it has no list of cells")
    metadata = notebook.get("metadata")
    language = (metadata.get("language_info") if isinstance(metadata, dict) else None) or {}
    name = str(language.get("name", "python")) if isinstance(language, dict) else "python"
    lines_of = _source_lines(text)
    if len(lines_of) != len(cells):  # a cell with a key twice, or the like
        lines_of = [[] for _ in cells]
    parts, starts, place = list[str](), list[LineStart](), 0
    for cell, lines in zip(cells, lines_of, strict=True):
        source = cell.get("source", "")
        words = map(str, source) if isinstance(source, list) else [str(source)]
        source = "".join(map(with_plain_line_ends, words))
        if cell.get("cell_type") == "markdown":
            source, shown = leave_out_comments(source)
            lines = [lines[number - 1] for number in shown if number <= len(lines)]
        code = source.strip("\n")
        if not code.strip():
            continue
        lines = lines[len(source) - len(source.lstrip("\n")) :]
        fence = ("```" if "```" not in code else "~~~~") if cell.get("cell_type") == "code" else ""
        before = f"{fence}{name}\n" if fence else ""
        starts += [LineStart(place, line) for line in lines[:1]]
        starts += starts_of_lines(code, lines, place + len(before))
        parts.append(f"{before}{code}\n{fence}" if fence else code)
        place += len(parts[-1]) + len("\n\n")
    return "\n\n".join(parts), starts


def _source_lines(text: str) -> list[list[int]]:
    """Return for each cell the lines of the file that the lines of its source begin in.

    The parser tells no places, so brackets, colons and strings are gone through once more.
    """
    cells: list[list[int]] = []
    keys, depth, last, is_value = ["", "", "", ""], 0, "", False
    line, counted, begins = 1, 0, True
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in "[{":
            depth += 1
            if depth == CELL_DEPTH and sign == "{" and keys[1] == '"cells"':
                cells.append([])
        elif sign in "]}":
            depth -= 1
        elif sign == ":":
            if depth <= CELL_DEPTH:
                keys[depth] = last
            is_value, begins = True, True
            continue
        else:
            last = sign
            is_element = depth == CELL_DEPTH + 1 or (depth == CELL_DEPTH and is_value)
            if is_element and cells and (keys[1], keys[CELL_DEPTH]) == ('"cells"', '"source"'):
                line, counted = line + text.count("\n", counted, token.start()), token.start()
                words = with_plain_line_ends(json.loads(sign))
                cells[-1] += [line] * (words.count("\n") - words.endswith("\n") + begins)
                begins = words.endswith("\n") or (begins and not words)
        is_value = False
    return cells
