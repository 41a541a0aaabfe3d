"""Sources that turn out to be labels while documents come in batches.

Pieces of LangChain's splitters say where they are in their `source`. Texts that differ at the same
place show that it is a label, which many texts share, and then no piece has a place in it. Such
texts may come in different batches, so that each batch is checked against what is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import SimpleNamespace

from clew.document import Document
from clew.read.langchain_documents import (
    LangChainDocument,
    from_langchain_document,
    is_langchain_document,
    without_shared_sources,
)


def without_label(there: Iterable[Document], came: Iterable[Document]) -> dict[str, Document]:
    """Return the documents whose source is a label, as they are without it, by their ids.

    Args:
        there: What the index holds besides. A label that was known there stays one.
        came: What is added to it.
    """
    new = [one for one in came if is_langchain_document(one.original) and _source_of(one)]
    sources = {one.metadata["source"] for one in new}
    if not sources:
        return {}
    old = [one for one in there if one.metadata.get("source") in sources and _source_of(one)]
    pieces = [*old, *new]
    checked = without_shared_sources([replace(one, original=_chunk(one)) for one in pieces])
    labels = {
        _source_of(piece)
        for piece, after in zip(pieces, checked, strict=True)
        if after.source is None
    }
    return {
        one.id: replace(one, source=None, span=None)
        for one in pieces
        if one.source is not None and one.source in labels
    }


def _source_of(document: Document) -> str | None:
    """Return the source that a loader says a piece is from, though it may be a label.

    None stands for a document that is no such piece. What a saved index holds has lost its object,
    so that its metadata tell.
    """
    original = document.original
    if original is not None and not is_langchain_document(original):
        return None
    source = from_langchain_document(_chunk(document)).source
    return source if document.source in (None, source) else None


def _chunk(document: Document) -> LangChainDocument:
    """Return an object with the attributes of a LangChain document."""
    if is_langchain_document(document.original):
        return document.original
    chunk = SimpleNamespace(page_content=document.text, metadata=dict(document.metadata))
    assert is_langchain_document(chunk), "it has the attributes"
    return chunk
