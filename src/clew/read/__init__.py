"""What is in the documents?  documents -> nodes, and the facts said of them"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from clew.document import Document
from clew.graph import Graph
from clew.read.assemble import Piece, Splitter, Triple, assemble
from clew.read.sources import documents_of

__all__ = ["Piece", "Splitter", "Triple", "assemble", "documents_of", "read", "whole"]


def whole(document: Document) -> Sequence[Piece]:
    """Return the document as one passage."""
    return [Piece("passage", document.text, 0, len(document.text))]


def read(
    documents: Sequence[Document],
    *,
    splitter: Splitter | None = None,
    facts: Mapping[str, Iterable[Triple]] | None = None,
    count: Callable[[str], int],
    progress: bool = False,
) -> Graph:
    """Return the nodes and facts of the documents, without vectors and edges.

    Args:
        documents: as `documents_of` gives them. splitter: cuts them into sections, passages and sentences; None keeps each whole.
        facts: triples (subject, relation, object) by document id. count: the tokenizer. progress: show a bar.
    """
    from tqdm import tqdm

    cut = splitter or whole
    bar = tqdm(documents, desc="reading", unit="document", disable=not progress)
    return assemble(documents, [whole(d) if d.heading else cut(d) for d in bar], facts, count)
