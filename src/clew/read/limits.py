"""How large a document may be: what is larger is refused, or read more simply and named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.document import Document
from clew.read.sources import LoadedDocuments

KEPT_FORMATS = ("text", "record")  # that are not parsed


def enforce_limits(
    loaded: LoadedDocuments, max_document: int, max_line: int, max_depth: int
) -> LoadedDocuments:
    """Return the documents that are within the limits.

    A document with markup or code and a longer line is read as plain text, and reported: parsers
    take long over such a line, and a person never wrote it.

    Args:
        loaded: What was loaded. No document is inside itself.
        max_document: Characters that a document may have.
        max_line: Characters that a line of a document that is parsed may have.
        max_depth: Containers that a document may be in, one in another.

    Raises:
        ValueError: A document is too long, or too deep.

    Example:
        >>> page = Document("page", "*" * 90, format="markdown")
        >>> enforce_limits(LoadedDocuments([page], []), 100, 80, 9).documents[0].format
        'text'
    """
    _check_depths(loaded.documents, max_depth)
    documents, skipped = list[Document](), list(loaded.skipped)
    for document in loaded.documents:
        if len(document.text) > max_document:
            raise ValueError(
                f"a document has at most {max_document:,} characters (max_document); "
                f"{document.id!r} has {len(document.text):,}: cut it into several"
            )
        longest = _longest_line(document, max_line)
        if longest > max_line:
            reason = f"read as text: a line has {longest:,} characters, more than {max_line:,}"
            skipped.append((document.id, reason))
        documents.append(replace(document, format="text") if longest > max_line else document)
    return LoadedDocuments(documents, skipped, loaded.files)


def is_within_limits(document: Document, max_document: int, max_line: int) -> bool:
    """Return whether `enforce_limits` leaves a document as it is.

    Args:
        document: The document.
        max_document: Characters that a document may have.
        max_line: Characters that a line of a document that is parsed may have.

    Example:
        >>> is_within_limits(Document("page", "*" * 90, format="markdown"), 100, 80)
        False
    """
    return len(document.text) <= max_document and _longest_line(document, max_line) <= max_line


def _longest_line(document: Document, max_line: int) -> int:
    """Return the length of the longest line, or 0 where no line can be too long."""
    if document.format in KEPT_FORMATS or len(document.text) <= max_line:
        return 0
    return max(map(len, document.text.split("\n")))


def _check_depths(documents: Sequence[Document], max_depth: int) -> None:
    above = {document.id: document.parent for document in documents}
    depths: dict[str, int] = {}
    for id in above:
        path = list[str]()
        here: str | None = id
        while here is not None and here in above and here not in depths:
            path.append(here)
            here = above[here]
        depth = -1 if here is None else depths.get(here, -1)
        for one in reversed(path):
            depth += 1
            depths[one] = depth
        if depth > max_depth:
            raise ValueError(
                f"a document is in at most {max_depth} containers, one in another (max_depth); "
                f"{id!r} is in {depth}"
            )
