"""What the store saves and loads: one record of values, of which an index is made again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clew.document import Document
from clew.embedding.embedder import Embedder
from clew.graph import EMPTY, Graph
from clew.read import Triple

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
        skipped: What was not indexed, each with the reason.
        failed: What could not be read or generated, each with the reason.
        strengths: Learnt strengths of edges, by the ids of tail and head.
        built_strengths: Strengths of the same edges as they were built.
        attachments: Texts that are saved and opened with the index as one, by name: what an
            adapter of a framework keeps of its own, and answers of language models.
    """

    graph: Graph
    config: Mapping[str, object]
    embedder: Embedder
    fitted: bool = False
    changed: int = 0
    documents: tuple[Document, ...] = ()
    facts: Mapping[str, Sequence[Triple]] = field(default_factory=lambda: EMPTY)
    extracted: Mapping[str, Sequence[Triple]] = field(default_factory=lambda: EMPTY)
    skipped: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    strengths: Mapping[Pair, float] = field(default_factory=dict)
    built_strengths: Mapping[Pair, float] = field(default_factory=dict)
    attachments: Mapping[str, str] = field(default_factory=lambda: EMPTY)
