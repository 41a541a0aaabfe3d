"""A context's items as LangChain documents: the caller's own text and metadata in fresh objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.documents import Document

import clew
from clew.adapters import HEADING, own_metadata, reasons_of, source_metadata

START, PARENT = "start_index", "doc_id"
"""Keys of LangChain's splitters and of its `ParentDocumentRetriever`."""


def documents_of(
    context: clew.Context, *, ids_as_given: bool = False, explain: bool = False
) -> list[Document]:
    """Return one document for each item, in reading order.

    Nothing in them is shared with the context or the caller's objects. The metadata say where the
    item is from, as far as that is known, under the names of LangChain's loaders: `source`,
    `start_index`, `heading`, `line`, `page` and `anchor`; see `clew.adapters.source_metadata`. A
    key that the caller's metadata have keeps the caller's value; only `start_index` of a document
    that clew cut becomes that of the piece. A piece that clew cut has the id of its document as
    `doc_id`, as LangChain's `ParentDocumentRetriever` has it; `get_by_ids` of the retriever returns
    that document. Of an item under a heading they gain `clew_heading`. All this is the same for
    every question.

    Args:
        context: What to read.
        ids_as_given: Whether a document that came without an id goes without one, too.
        explain: Whether the metadata also gain what the question decides: `clew_rank` (place in
            the reading, from 1), `clew_role`, `clew_score`, `clew_relevance` and `clew_why` (the
            path from the question).
    """
    return [_document(item, rank, ids_as_given, explain) for rank, item in enumerate(context, 1)]


def _document(item: clew.Item, rank: int, ids_as_given: bool, explain: bool) -> Document:
    metadata = own_metadata(item.metadata)
    metadata |= _cut_from(item, metadata)
    metadata |= source_metadata(item) | (reasons_of(item, rank) if explain else {})
    metadata |= {HEADING: item.heading} if item.heading else {}
    own = item.original if isinstance(item.original, Document) else None
    id = own.id if ids_as_given and own is not None else item.id
    return fresh_document(item.original, item.text, id, metadata)


def fresh_document(
    original: object, text: str, id: str | None, metadata: dict[str, Any]
) -> Document:
    """Return a new document; in the place of one of the caller's own class, one of that class.

    Args:
        original: What came to be indexed.
        text: What is read of it, maybe a piece alone.
        id: The id of the new document.
        metadata: Its metadata, which are not copied.
    """
    is_own_class = type(original) is not Document
    if isinstance(original, Document) and is_own_class and original.page_content == text:
        own = original.model_copy(update={"id": id, "metadata": {}})
        copy = own.model_copy(deep=True)  # with the fields of its own class
        copy.metadata = metadata
        return copy
    return Document(page_content=text, id=id, metadata=metadata)


def _cut_from(item: clew.Item, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the metadata of a piece that clew cut say otherwise than those of its document.

    Its `start_index` counts in the text that `source` names, as the document's does.
    """
    if item.span is None or item.id != f"{item.document}#{item.span[0]}-{item.span[1]}":
        return {}
    start, own = metadata.get(START), {PARENT: metadata.get(PARENT, item.document)}
    return {**own, START: start + item.span[0]} if type(start) is int else own
