"""LangChain documents become documents, met by what they offer; the framework is never imported.

Its splitters write nothing about a piece but, when asked, where it begins (`start_index`); `source` says in what.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clew.document import Document
from clew.read.formats.table import format_of


def is_chunk(source: Any) -> bool:
    """Whether this is a LangChain document, by its looks."""
    return (
        not isinstance(source, type)
        and isinstance(getattr(source, "page_content", None), str)
        and hasattr(source, "metadata")
    )


def from_chunk(chunk: Any) -> Document:
    """Return the document of a LangChain document; its id is empty where it has none."""
    text, metadata = chunk.page_content, dict(chunk.metadata)
    start, source = metadata.get("start_index"), metadata.get("source")
    known = isinstance(source, str) and source != "" and type(start) is int and start >= 0
    return Document(
        id=str(getattr(chunk, "id", None) or ""),
        text=text,
        metadata=metadata,
        original=chunk,
        source=_page(str(source), metadata) if known else None,
        span=(start, start + len(text)) if known and start is not None else None,
        format=format_of(metadata),
    )


def agreeing(documents: list[Document]) -> list[Document]:
    """Return the documents, without the places of those whose texts cannot all be cut from their one source.

    `source` may be no more than a label that many texts share; then pieces with the same place have different texts.
    """
    by_source: dict[str, list[Document]] = {}
    for document in documents:
        if is_chunk(document.original) and document.source is not None:
            by_source.setdefault(document.source, []).append(document)
    labels = {source for source, pieces in by_source.items() if not _of_one_text(pieces)}
    return [
        replace(d, source=None, span=None) if is_chunk(d.original) and d.source in labels else d
        for d in documents
    ]


def _page(source: str, metadata: Mapping[str, Any]) -> str:
    """A loader gives each page a text of its own: offsets count from where the page begins."""
    return source if metadata.get("page") is None else f"{source}#page={metadata['page']}"


def _of_one_text(pieces: list[Document]) -> bool:
    """Whether the pieces say the same wherever they overlap."""
    placed = sorted((piece.span, piece.text) for piece in pieces if piece.span is not None)
    (_, reach), longest = placed[0]
    for (start, end), text in placed[1:]:
        shared = min(reach, end) - start
        if shared > 0 and longest[len(longest) - (reach - start) :][:shared] != text[:shared]:
            return False
        if end > reach:
            reach, longest = end, text
    return True
