"""How the graph of an index is made of its documents: read, embedded, linked, and written about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from clew.document import Document
from clew.embed import Embedder
from clew.graph import NOTHING, Edges, Graph, extended
from clew.link import Contains, Facts, Hyperlink, Mentions, Next, Shared, Similar, Synonym
from clew.read import Remembering, Split, Triple, read
from clew.stage import Link, Write
from clew.vectors import embedded_instead, with_vectors

LINKS: tuple[Link, ...] = (Contains(), Next(), Mentions(), Facts(), Hyperlink(), Shared(), Similar(), Synonym())
Failed = tuple[tuple[str, str], ...]


def graph_of(
    documents: tuple[Document, ...],
    facts: Mapping[str, Sequence[Triple]],
    splitter: Split | None,
    count: Callable[[str], int],
    embedder: Any,
    links: tuple[Link, ...],
    known: Mapping[str, Any],
    progress: bool,
    extractor: Any,
    said: Mapping[str, Sequence[Triple]] = NOTHING,
    before: Mapping[str, str] | None = None,
    canonical: Callable[[str], str] | None = None,
) -> tuple[Embedder, Graph, Remembering]:
    """Return the embedder and the graph of the documents, and what was read in them; see `Index.from_documents`.

    `known` are vectors by text, `said` what the extractor read before; see `Remembering` for `before`.
    """
    from tqdm import tqdm

    if splitter is not None and not callable(splitter):
        kind = type(splitter).__name__
        raise TypeError(f"a splitter is `clew.Splitter()` or a function of a document; got a {kind}: split the documents with it first")
    for document in documents:
        if not document.heading and not document.text.strip():
            raise ValueError(f"the document {document.id!r} has no text")
    reads = Remembering(extractor, said, before, progress)
    reader = None if extractor is None else reads
    graph = read(documents, splitter=splitter, facts=facts, extractor=reader, count=count, embedder=embedder, progress=progress)
    graph = replace(graph, canonical=canonical)
    made, graph = with_vectors(graph, embedder, instead=embedded_instead(documents), known=known, progress=progress)
    bar = tqdm(links, desc="linking", unit="kind", disable=not progress)
    return made, graph.linked(Edges.join([link.on(graph) for link in bar])), reads


def told(documents: Sequence[Document], facts: Mapping[str, Iterable[Triple]] | None) -> dict[str, list[Triple]]:
    """Return the facts that were given, by document id, with those that the documents brought along."""
    if facts is not None and not isinstance(facts, Mapping):
        raise TypeError(f"facts are triples by document id, {{id: [(subject, relation, object)]}}; got a {type(facts).__name__}")
    given = {id: list(said) for id, said in (facts or {}).items()}
    for document in documents:
        if document.facts:
            given[document.id] = [*given.get(document.id, ()), *document.facts]
    return given


def written_about(
    graph: Graph, embedder: Embedder, writers: Sequence[Write], known: Mapping[str, Any], progress: bool = False
) -> tuple[Graph, Failed]:
    """Return the graph with what each writer makes of it, embedded, and what could not be made, with the reasons."""
    failed: list[tuple[str, str]] = []
    for writer in writers:
        if not callable(getattr(writer, "on", None)):
            raise TypeError(f"a writer has on(graph), as clew.write.Reports() does; got {type(writer).__name__}")
        written = writer.on(graph)
        failed += written.failed
        if len(written):
            _, graph = with_vectors(extended(graph, written), embedder, known=known, progress=progress)
    return graph, tuple(failed)
