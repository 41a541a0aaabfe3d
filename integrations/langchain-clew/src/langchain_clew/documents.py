"""A context's items as LangChain documents: the caller's own text and metadata in fresh objects, and why each is read."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from langchain_core.documents import Document

import clew


def documents_of(context: clew.Context, *, as_they_came: bool = False) -> list[Document]:
    """Return one document for each item, in reading order; nothing in them is shared with the context or the caller's objects.

    The metadata gains `clew_rank` (place in the reading, from 1), `clew_role`, `clew_score` and `clew_why`, the way from the question;
    and `clew_heading`, what it stands under, where there is something.

    Args:
        as_they_came: a document that came without an id goes without one, too.
    """
    return [_document(item, rank, as_they_came) for rank, item in enumerate(context, 1)]


def _document(item: clew.Item, rank: int, as_it_came: bool) -> Document:
    own = {name: deepcopy(value) for name, value in item.metadata.items()}
    added: dict[str, Any] = {
        "clew_rank": rank,
        "clew_role": str(item.role),
        "clew_score": float(item.score),
        "clew_why": _way(item),
    }
    added |= {"clew_heading": item.heading} if item.heading else {}
    id = item.original.id if as_it_came and isinstance(item.original, Document) else item.id
    return Document(page_content=item.text, id=id, metadata=own | added)


def _way(item: clew.Item) -> str:
    """For instance `question -touches-> a -mentions-> entity:corfu`."""
    steps = [f" -{hop.kind}-> {hop.target}" for hop in item.why]
    return "".join([item.why[0].source, *steps]) if item.why else ""
