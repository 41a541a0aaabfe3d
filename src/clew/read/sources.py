"""Whatever the caller has becomes documents: texts, paths, and the objects of the two frameworks."""

from __future__ import annotations

from typing import Any, NamedTuple

from clew.document import Document


class Found(NamedTuple):
    """The documents that were read, and the files that were not, each with the reason."""

    documents: list[Document]
    skipped: list[tuple[str, str]]


def documents_of(sources: Any) -> Found:
    """Return the documents behind texts, paths, `clew.Document`s, LlamaIndex nodes and LangChain documents."""
    if isinstance(sources, (str, Document)):
        sources = [sources]
    return Found([_document(i, source) for i, source in enumerate(sources)], [])


def _document(i: int, source: Any) -> Document:
    if isinstance(source, Document):
        return source
    if isinstance(source, str):
        return Document(f"text-{i}", source)
    raise TypeError(f"cannot read a {type(source).__name__}")
