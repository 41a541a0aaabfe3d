"""The vectors of a graph: one for every text that is compared with a question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from clew.document import Document
from clew.embedding.embedder import Embedder, EmbedderSource, embed_texts, fit_default
from clew.graph import EMPTY, Graph, Vectors, canonical_text, freeze, text_with_heading


def attach_vectors(
    graph: Graph,
    embedder: EmbedderSource | None = None,
    *,
    replacement_texts: Mapping[str, str] | None = None,
    known: Mapping[str, Vectors] | None = None,
    progress: bool = False,
) -> tuple[Embedder, Graph]:
    """Return the embedder, and the graph with a vector for every content node, entity and fact.

    A node that has a vector keeps it.

    Args:
        graph: the graph.
        embedder: what `Embedder.of` takes. None fits the embedded default on the passages; then
            every vector is computed anew, since a question can be compared with no others.
        replacement_texts: id -> the text to embed in place of the node's own.
        known: text -> its vector, which is not computed again.
        progress: whether to show a progress bar.

    Example:
        >>> graph = Graph.of(["Anna", "Ben"])
        >>> attach_vectors(graph, lambda texts: [[3, 4] for _ in texts])[1].vectors
        array([[0.6, 0.8],
               [0.6, 0.8]], dtype=float32)
    """
    if embedder is None:
        graph = replace(graph, vectors=freeze(np.zeros((len(graph), 0)), np.float32))
        passages = graph.rows("passage").tolist()
        attached, known = fit_default([text_with_heading(graph, row) for row in passages])
    else:
        attached = Embedder.of(embedder)
    known = known or {}
    rows = rows_to_embed(graph)
    texts = [text_to_embed(graph, row, replacement_texts or EMPTY) for row in rows.tolist()]
    has_vector = graph.vectors[rows].any(axis=1)
    bare = np.flatnonzero(~has_vector)
    needed = [*(texts[i] for i in bare.tolist()), *graph.facts.texts]
    missing = [text for text in dict.fromkeys(needed) if text not in known]
    width = graph.vectors.shape[1] if has_vector.any() else _width_of(known)
    computed = embed_texts(attached, missing, width=width, progress=progress)
    vector_of = dict(known) | dict(zip(missing, computed, strict=True))
    width = computed.shape[1] if len(computed) else width or 0

    vectors = np.zeros((len(graph), width), np.float32)
    if has_vector.any():
        vectors[rows[has_vector]] = graph.vectors[rows[has_vector]]
    for i in bare.tolist():
        vectors[rows[i]] = vector_of[texts[i]]
    fact_vectors = np.array([vector_of[text] for text in graph.facts.texts], np.float32)
    fact_vectors = fact_vectors.reshape(len(graph.facts), width)
    return attached, replace(
        graph,
        vectors=freeze(vectors, np.float32),
        facts=replace(graph.facts, vectors=freeze(fact_vectors, np.float32)),
    )


def rows_to_embed(graph: Graph) -> NDArray[np.int64]:
    """Return the rows that have vectors: content, generated texts and entities.

    Example:
        >>> rows_to_embed(Graph.of(["Moon", "Dry."], kinds=["document", "passage"]))
        array([1])
    """
    return np.flatnonzero(graph.content | graph.generated | graph.kinds.mask("entity"))


def text_to_embed(graph: Graph, row: int, replacement_texts: Mapping[str, str]) -> str:
    """Return the text by which a node is embedded, in its canonical form.

    A node without a replacement is embedded as its own text under its containers' titles.

    Args:
        graph: the graph.
        row: the node.
        replacement_texts: id -> the text to embed in place of the node's own.

    Example:
        >>> text_to_embed(Graph.of(["Anna", "Ben"]), 1, {"1": "Benjamin"})
        'Benjamin'
    """
    text = replacement_texts.get(graph.ids[row])
    return canonical_text(graph, text) if text else text_with_heading(graph, row)


def texts_embedded_as(documents: Iterable[Document]) -> dict[str, str]:
    """Return the texts that are embedded in place of the documents' own, by id.

    Example:
        >>> texts_embedded_as([Document("a", "Anna"), Document("b", "Ben", embedded_as="B.")])
        {'b': 'B.'}
    """
    return {
        document.id: document.embedded_as
        for document in documents
        if document.embedded_as is not None
    }


def _width_of(vectors: Mapping[str, Vectors]) -> int | None:
    return len(next(iter(vectors.values()))) if vectors else None
