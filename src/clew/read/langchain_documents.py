"""LangChain documents become documents, by their attributes; the framework is never imported.

LangChain's splitters write nothing about a piece except, on request, where it starts
(`start_index`); `source` says in what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Protocol, TypeGuard

from clew.document import Document
from clew.read.formats.table import format_of_piece


class LangChainDocument(Protocol):
    """What is read of a `langchain_core.documents.Document`."""

    page_content: str
    metadata: dict[str, Any]


def is_langchain_document(source: object) -> TypeGuard[LangChainDocument]:
    """Return whether an object has the attributes of a LangChain document."""
    kind: Any = type(source)  # which mypy does not know to be hashable
    return (
        may_have_page_content(kind)
        and not isinstance(source, type)
        and isinstance(getattr(source, "page_content", None), str)
        and hasattr(source, "metadata")
    )


@lru_cache(256)
def may_have_page_content(kind: type) -> bool:
    """Return False for LlamaIndex's nodes, which take long to say what they do not have.

    Example:
        >>> may_have_page_content(str)
        True
    """
    fields = getattr(kind, "model_fields", None)  # of a model of pydantic's
    if not isinstance(fields, dict) or "page_content" in fields or hasattr(kind, "page_content"):
        return True
    return getattr(kind, "model_config", {}).get("extra") == "allow"


def from_langchain_document(chunk: LangChainDocument) -> Document:
    """Return the document of a LangChain document; its id is empty where that has none."""
    text, metadata = chunk.page_content, dict(chunk.metadata)
    start, source = metadata.get("start_index"), metadata.get("source")
    document = Document.unchecked(
        {
            "id": str(getattr(chunk, "id", None) or ""),
            "text": text,
            "metadata": metadata,
            "original": chunk,
            "format": format_of_piece(metadata),
        }
    )
    if isinstance(source, str) and source != "" and type(start) is int and start >= 0:
        return replace(
            document, source=_source_name(source, metadata), span=(start, start + len(text))
        )
    return document


def without_shared_sources(documents: list[Document]) -> list[Document]:
    """Return the documents, without the places of pieces that cannot be cut from one text.

    `source` may be no more than a label that many texts share. Then pieces at the same place have
    different texts.

    Args:
        documents: Documents of any origin; only those of LangChain change.
    """
    by_source: dict[str, list[Document]] = {}
    for document in documents:
        if document.source is not None and is_langchain_document(document.original):
            by_source.setdefault(document.source, []).append(document)
    labels = {source for source, pieces in by_source.items() if not _agree(pieces)}
    if not labels:
        return documents
    return [
        replace(document, source=None, span=None)
        if is_langchain_document(document.original) and document.source in labels
        else document
        for document in documents
    ]


def _source_name(source: str, metadata: Mapping[str, Any]) -> str:
    """Return the name of the text that offsets count in: a loader gives each page its own."""
    return source if metadata.get("page") is None else f"{source}#page={metadata['page']}"


def _agree(pieces: Sequence[Document]) -> bool:
    """Return whether pieces of one source have the same text wherever they overlap."""
    placed = sorted((piece.span, piece.text) for piece in pieces if piece.span is not None)
    (_, reach), last_text = placed[0]
    for (start, end), text in placed[1:]:
        shared = min(reach, end) - start
        if shared > 0 and last_text[len(last_text) - (reach - start) :][:shared] != text[:shared]:
            return False
        if end > reach:
            reach, last_text = end, text
    return True
