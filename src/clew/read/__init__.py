"""What is in the documents?  documents -> nodes, and the facts said of them"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from clew.document import Document
from clew.graph import Graph
from clew.read.assemble import Piece, Split, assemble
from clew.read.extract import Extractor, Passage, Triple
from clew.read.formats import links_of
from clew.read.names import Names
from clew.read.rows import rows_of
from clew.read.sources import Found, documents_of, text_id
from clew.read.split import Splitter
from clew.read.tagged import Tagged

__all__ = [
    "Extractor",
    "Found",
    "Names",
    "Passage",
    "Piece",
    "Split",
    "Splitter",
    "Tagged",
    "Triple",
    "assemble",
    "documents_of",
    "read",
    "rows_of",
    "text_id",
    "whole",
]


def whole(document: Document) -> Sequence[Piece]:
    """Return the document as one passage."""
    return [Piece("passage", document.text, 0, len(document.text), None, links_of(document.text, document.format))]


def read(
    documents: Sequence[Document],
    *,
    splitter: Split | None = None,
    facts: Mapping[str, Iterable[Triple]] | None = None,
    extractor: Any = None,
    count: Callable[[str], int],
    embedder: Any = None,
    progress: bool = False,
) -> Graph:
    """Return the nodes and facts of the documents, without vectors and edges.

    Args:
        documents: as `documents_of` gives them. splitter: cuts them into sections, passages and sentences; None keeps each whole.
        facts: triples (subject, relation, object) by document id. extractor: reads more of them out of the passages, see
            `Extractor`. count: the tokenizer. embedder: what a semantic splitter goes by.
        progress: show a bar.
    """
    from tqdm import tqdm

    cut: Split = splitter or whole
    if isinstance(cut, Splitter):
        cut = replace(cut, count=cut.count or count, semantic=embedder if cut.semantic is True and embedder is not None else cut.semantic)
    bar = tqdm(documents, desc="reading", unit="document", disable=not progress)
    return assemble(documents, [whole(d) if d.heading else cut(d) for d in bar], facts, count, extractor)
