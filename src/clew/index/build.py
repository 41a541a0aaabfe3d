"""How the graph of an index is made of its documents: read, embedded, linked, and written about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clew.document import Document
from clew.embedding.attach import attach_vectors, texts_embedded_as
from clew.embedding.embedder import Embedder
from clew.graph import EMPTY, Edges, Graph, add_generated
from clew.link import Contains, Fact, Hyperlink, Mentions, Next, Shared, Similar, Synonym
from clew.read import CachedExtractor, Split, Triple, read_nodes
from clew.types import Generate, Link

LINKS: tuple[Link, ...] = (
    Contains(),
    Next(),
    Mentions(),
    Fact(),
    Hyperlink(),
    Shared(),
    Similar(),
    Synonym(),
)
Failed = tuple[tuple[str, str], ...]


def build_graph(
    documents: tuple[Document, ...],
    facts: Mapping[str, Sequence[Triple]],
    splitter: Split | None,
    count: Callable[[str], int],
    embedder: Any,
    links: tuple[Link, ...],
    known: Mapping[str, Any],
    progress: bool,
    extractor: Any,
    said: Mapping[str, Sequence[Triple]] = EMPTY,
    before: Mapping[str, str] | None = None,
    canonical: Callable[[str], str] | None = None,
) -> tuple[Embedder, Graph, CachedExtractor]:
    """Return the embedder and the graph of the documents, and what was read in them; see `Index.from_documents`.

    `known` are vectors by text, `said` what the extractor read before; see `Remembering` for `before`.
    """
    from tqdm import tqdm

    if splitter is not None and not callable(splitter):
        kind = type(splitter).__name__
        raise TypeError(
            f"a splitter is `clew.Splitter()` or a function of a document; got a {kind}: split the documents with it first"
        )
    for document in documents:
        if not document.heading and not document.text.strip():
            raise ValueError(f"the document {document.id!r} has no text")
    reads = CachedExtractor(extractor, said, before, progress)
    reader = None if extractor is None else reads
    graph = read_nodes(
        documents,
        splitter=splitter,
        facts=facts,
        extractor=reader,
        count=count,
        embedder=embedder,
        progress=progress,
    )
    graph = replace(graph, canonical=canonical)
    made, graph = attach_vectors(
        graph, embedder, instead=texts_embedded_as(documents), known=known, progress=progress
    )
    bar = tqdm(links, desc="linking", unit="kind", disable=not progress)
    return made, graph.with_edges(Edges.join([edges_by(link, graph) for link in bar])), reads


def edges_by(link: Link, graph: Graph) -> Edges:
    """Return the edges that a link makes.

    Raises:
        TypeError: a link that does not say its kind. ValueError: edges of another kind, which a filter would not find again.
    """
    edges, kind, name = link.on(graph), getattr(link, "kind", None), type(link).__name__
    if not isinstance(kind, str):
        raise TypeError(
            f"a link says the kind of its edges, kind: ClassVar[str] = 'similar'; {name} has {kind!r}"
        )
    if other := sorted({edges.kinds.names[code] for code in np.unique(edges.kinds.codes)} - {kind}):
        raise ValueError(
            f"a link makes edges of one kind, its own: {name} has kind {kind!r} and made edges of {', '.join(other)}"
        )
    return edges


def collect_facts(
    documents: Sequence[Document], facts: Mapping[str, Iterable[Triple]] | None
) -> dict[str, list[Triple]]:
    """Return the facts that were given, by document id, with those that the documents brought along."""
    if facts is not None and not isinstance(facts, Mapping):
        raise TypeError(
            f"facts are triples by document id, {{id: [(subject, relation, object)]}}; got a {type(facts).__name__}"
        )
    given = {id: list(said) for id, said in (facts or {}).items()}
    for document in documents:
        if document.facts:
            given[document.id] = [*given.get(document.id, ()), *document.facts]
    return given


def generate_texts(
    graph: Graph,
    embedder: Embedder,
    writers: Sequence[Generate],
    known: Mapping[str, Any],
    progress: bool = False,
) -> tuple[Graph, Failed]:
    """Return the graph with what each writer makes of it, embedded, and what could not be made, with the reasons."""
    failed: list[tuple[str, str]] = []
    for writer in writers:
        if not callable(getattr(writer, "on", None)):
            raise TypeError(
                f"a writer has on(graph), as clew.generate.Reports() does; got {type(writer).__name__}"
            )
        written = writer.on(graph)
        failed += written.failed
        if len(written):
            _, graph = attach_vectors(
                add_generated(graph, written), embedder, known=known, progress=progress
            )
    return graph, tuple(failed)
