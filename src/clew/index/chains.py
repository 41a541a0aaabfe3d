"""What has to be put in its place again with a document: what follows it and what it is a piece of.

A page of a PDF is the one before the next. Where one page changes in place, the others of its file
come with it, as they are: then none of them is left with a page before it that is gone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from clew.document import Document
from clew.index.contents import IndexContents


def with_whole_chains(
    index: IndexContents, gone: Collection[str], fresh: Sequence[Document]
) -> tuple[set[str], Sequence[Document]]:
    """Return what goes and what comes, with all that has to do with it; see `clew.Document`.

    That is what a document follows, is a piece of or is inside, and the other way round. What is
    around others and has no text of its own, as the file around pages, stays. What came with what
    changes has the place between it that it had.

    Args:
        index: The index before.
        gone: The ids of the documents that go.
        fresh: The documents that come.
    """
    coming = {one.id: one for one in fresh}
    reached = _reached(index, {*gone, *coming}, fresh)
    more = [one for one in index.documents if one.id in reached and one.id not in coming]
    more = [one for one in more if one.id not in gone]
    if not more:
        return set(gone), fresh
    place_of = {document.id: place for place, document in enumerate(index.documents)}
    together = sorted((*fresh, *more), key=lambda one: place_of.get(one.id, len(place_of)))
    return {*gone, *(one.id for one in more)}, together


def _reached(index: IndexContents, ids: Collection[str], fresh: Sequence[Document]) -> set[str]:
    """Return the ids that relations lead to from some ids, these among them."""
    leads_to = defaultdict[str, list[str]](list)
    for one in (*index.related_documents, *fresh):
        for other in {one.previous, one.source, one.parent} - {one.id}:
            if other is None:
                continue
            leads_to[other].append(one.id)
            if not (other == one.parent and is_container(index, other)):
                leads_to[one.id].append(other)
    reached, ahead = set(ids), list(ids)
    while ahead:
        new = [id for id in leads_to.get(ahead.pop(), ()) if id not in reached]
        reached.update(new)
        ahead += new
    return reached


def is_container(index: IndexContents, id: str | None) -> bool:
    """Return whether a document is nothing but what is around others; no fact is given for it."""
    document = index.document_of.get(id or "")
    return document is not None and document.heading and document.id not in index.facts
