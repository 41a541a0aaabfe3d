"""What is in the documents?  documents -> nodes, and the facts said of them"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from clew.document import Document
from clew.graph import Graph
from clew.read.assemble import Piece, Split, assemble, passages_in
from clew.read.canonical import Plain, make_canonical
from clew.read.extract.extractor import (
    CachedExtractor,
    Extractor,
    Incomplete,
    Passage,
    Triple,
    is_corpus_wide,
)
from clew.read.extract.model import ExtractionEstimate, Triples
from clew.read.extract.names import Names
from clew.read.extract.tagger import Tagged
from clew.read.formats.rows import rows_of
from clew.read.formats.table import links_of
from clew.read.graph_documents import relation_words
from clew.read.sources import LoadedDocuments, load_documents, text_id
from clew.read.split.splitter import Splitter
from clew.text.tokens import make_counter

__all__ = [
    "CachedExtractor",
    "ExtractionEstimate",
    "Extractor",
    "Incomplete",
    "LoadedDocuments",
    "Names",
    "Passage",
    "Piece",
    "Plain",
    "Split",
    "Splitter",
    "Tagged",
    "Triple",
    "Triples",
    "assemble",
    "estimate_extraction",
    "is_corpus_wide",
    "load_documents",
    "make_canonical",
    "passages_of",
    "read_nodes",
    "relation_words",
    "rows_of",
    "text_id",
    "whole",
]


def whole(document: Document) -> Sequence[Piece]:
    """Return the document as one passage."""
    return [
        Piece(
            "passage",
            document.text,
            0,
            len(document.text),
            None,
            links_of(document.text, document.format),
        )
    ]


def read_nodes(
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

    bar = tqdm(documents, desc="reading", unit="document", disable=not progress)
    return assemble(documents, _cut(bar, splitter, count, embedder), facts, count, extractor)


def passages_of(sources: Any, *, splitter: Split | None = None, count: Any = None) -> list[Passage]:
    """Return the passages that an extractor is shown; `sources`, `splitter` and `count` as in `Index.from_documents`."""
    documents = load_documents(sources).documents
    return passages_in(documents, _cut(documents, splitter, make_counter(count)))


def estimate_extraction(
    sources: Any, extractor: Triples, *, splitter: Split | None = None, count: Any = None
) -> ExtractionEstimate:
    """Return how often `Index.from_documents` would call the extractor's model for these documents, and with how many tokens.

    Nothing is asked. Answers that are remembered already are not counted.
    """
    return extractor.estimate(passages_of(sources, splitter=splitter, count=count))


def _cut(
    documents: Iterable[Document],
    splitter: Split | None,
    count: Callable[[str], int],
    embedder: Any = None,
) -> list[Sequence[Piece]]:
    cut: Split = splitter or whole
    if isinstance(cut, Splitter):
        cut = replace(
            cut,
            count=cut.count or count,
            semantic=embedder if cut.semantic is True and embedder is not None else cut.semantic,
        )
    return [whole(d) if d.heading else cut(d) for d in documents]
