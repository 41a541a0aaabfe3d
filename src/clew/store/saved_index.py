"""What the store saves and loads: one record of values, of which an index is made again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import cast

from clew.document import Document
from clew.embedding.embedder import Embedder
from clew.graph import EMPTY, AnyVectors, Graph, GraphColumns
from clew.read import FileReading, Knowledge, Triple
from clew.store.manifest import Manifest
from clew.store.verified import Look

Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class SavedIndex:
    """An index, as values that the store keeps.

    Attributes:
        graph: Nodes, facts and edges, with vectors.
        config: The values that the index is made with, by name, but for the embedder.
        embedder: What the vectors were made with.
        fitted: Whether the embedder was fitted on this very graph, or on most of it.
        changed: Passages that were added and deleted since the graph was built whole.
        documents: What was indexed.
        facts: Triples that came with the documents, by document id.
        extracted: Triples that were read, by the key of the passage.
        knowledge: What all passages have taught the extractor; None where it cannot say.
        skipped: What was not indexed, each with the reason.
        files: What each file gave when it was read, by its path; all their documents are in
            `documents`.
        failed: What could not be read or generated, each with the reason.
        strengths: Learnt strengths of edges, by the ids of tail and head.
        built_strengths: Strengths of the same edges as they were built.
        attachments: Texts that are saved and opened with the index as one, by name: what an
            adapter of a framework keeps of its own, and answers of language models.
        saved_as: Where an earlier form of it is saved, of which most still holds; None for nowhere.
    """

    graph: Graph
    config: Mapping[str, object]
    embedder: Embedder
    fitted: bool = False
    changed: int = 0
    documents: tuple[Document, ...] = ()
    facts: Mapping[str, Sequence[Triple]] = field(default_factory=lambda: EMPTY)
    extracted: Mapping[str, Sequence[Triple]] = field(default_factory=lambda: EMPTY)
    knowledge: Knowledge | None = None
    skipped: tuple[tuple[str, str], ...] = ()
    files: Mapping[str, FileReading] = field(default_factory=lambda: EMPTY)
    failed: tuple[tuple[str, str], ...] = ()
    strengths: Mapping[Pair, float] = field(default_factory=dict)
    built_strengths: Mapping[Pair, float] = field(default_factory=dict)
    attachments: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    saved_as: SavedAs | None = None


@dataclass(frozen=True, eq=False, repr=False)
class SavedAs:
    """A generation in a folder, and what it holds: what the next save compares an index with.

    It holds no part of the graph, and no object of a framework. A copy of it, also a pickled one,
    is None.

    Attributes:
        folder: The folder, as an absolute path without links.
        manifest: The generation's.
        looks: How its files and the manifest looked when it was saved or loaded, by path.
        index: What it holds.
        address: The storage that the folder is a copy of; "" for none.
        newest: The newest generation there when this one was loaded by its number; 0 where it was
            not. Whoever names an earlier one knows that there are later ones.
    """

    folder: Path
    manifest: Manifest
    looks: Mapping[str, Look]
    index: SavedIndex
    address: str = ""
    newest: int = 0

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return _nothing, ()


def without_parts(
    index: SavedIndex, vectors: AnyVectors | None = None, fact_vectors: AnyVectors | None = None
) -> SavedIndex:
    """Return a record to be compared with, whose graph has columns alone.

    Args:
        index: What was saved.
        vectors: Those of the nodes, where they are mapped from the disk.
        fact_vectors: Those of the facts, likewise.
    """
    columns = {each.name: getattr(index.graph, each.name) for each in fields(index.graph)}
    if vectors is not None:
        columns["vectors"] = vectors
    if fact_vectors is not None:
        columns["facts"] = replace(index.graph.facts, vectors=fact_vectors)
    graph = GraphColumns(**columns | {"originals": ()})
    return replace(index, graph=cast("Graph", graph), saved_as=None)


def _nothing() -> None:
    return None
