"""A context's items as LangChain documents: the caller's own text and metadata in fresh objects."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from langchain_core.documents import Document

import clew
from clew.adapters import HEADING, reasons_of, source_metadata


def documents_of(
    context: clew.Context, *, ids_as_given: bool = False, explain: bool = False
) -> list[Document]:
    """Return one document for each item, in reading order.

    Nothing in them is shared with the context or the caller's objects. The metadata say where the
    item is from, as far as that is known, under the names of LangChain's loaders: `source`,
    `start_index`, `heading`, `line`, `page` and `anchor`; see `clew.adapters.source_metadata`. A
    key that the caller's metadata have keeps the caller's value. Of an item under a heading they
    gain `clew_heading`. All this is the same for every question.

    Args:
        context: What to read.
        ids_as_given: Whether a document that came without an id goes without one, too.
        explain: Whether the metadata also gain what the question decides: `clew_rank` (place in
            the reading, from 1), `clew_role`, `clew_score`, `clew_relevance` and `clew_why` (the
            path from the question).
    """
    return [_document(item, rank, ids_as_given, explain) for rank, item in enumerate(context, 1)]


def _document(item: clew.Item, rank: int, ids_as_given: bool, explain: bool) -> Document:
    metadata: dict[str, Any] = {name: deepcopy(value) for name, value in item.metadata.items()}
    metadata |= source_metadata(item) | (reasons_of(item, rank) if explain else {})
    metadata |= {HEADING: item.heading} if item.heading else {}
    is_document = isinstance(item.original, Document)
    id = item.original.id if ids_as_given and is_document else item.id
    return Document(page_content=item.text, id=id, metadata=metadata)
