"""The vectors of a graph: one for every text that is compared with a question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from clew.document import Document
from clew.embedding.embedder import Embedder, embed_texts, fit_latent_semantic
from clew.graph import Graph, Vectors, canonical_text, freeze, text_with_heading


def attach_vectors(
    graph: Graph,
    embedder: Any = None,
    *,
    instead: Mapping[str, str] | None = None,
    known: Mapping[str, Vectors] | None = None,
    progress: bool = False,
) -> tuple[Embedder, Graph]:
    """Return the embedder, and the graph with a vector for every content node, entity and fact.

    Args:
        embedder: as `Embedder.of` takes it; None fits the embedded default on the passages, and then vectors that the graph has already
            are made again, since no question could be compared with them.
        instead: texts to embed in the place of a node's own, by id. known: vectors that are known already, by text.
    """
    if embedder is None:
        graph = replace(graph, vectors=freeze(np.zeros((len(graph), 0)), np.float32))
    made = (
        fit_latent_semantic(
            [text_with_heading(graph, row) for row in graph.rows("passage").tolist()]
        )
        if embedder is None
        else Embedder.of(embedder)
    )
    known = known or {}
    rows = rows_to_embed(graph)
    texts = [text_to_embed(graph, row, instead or {}) for row in rows.tolist()]
    own = graph.vectors[rows].any(axis=1)
    wanted = [text for text, has in zip(texts, own.tolist(), strict=True) if not has] + list(
        graph.facts.texts
    )
    missing = [text for text in dict.fromkeys(wanted) if text not in known]
    width = (
        graph.vectors.shape[1] if own.any() else len(next(iter(known.values()))) if known else None
    )
    fresh = embed_texts(made, missing, width=width, progress=progress)
    of = dict(known) | dict(zip(missing, fresh, strict=True))
    width = fresh.shape[1] if len(fresh) else width or 0
    vectors = np.zeros((len(graph), width), np.float32)
    for row, text, has in zip(rows.tolist(), texts, own.tolist(), strict=True):
        vectors[row] = graph.vectors[row] if has else of[text]
    said = np.array([of[text] for text in graph.facts.texts], np.float32).reshape(
        len(graph.facts), width
    )
    return made, replace(
        graph,
        vectors=freeze(vectors, np.float32),
        facts=replace(graph.facts, vectors=freeze(said, np.float32)),
    )


def rows_to_embed(graph: Graph) -> Any:
    """Return the rows that have vectors: content, made texts and entities."""
    return np.flatnonzero(graph.content | graph.generated | graph.kinds.mask("entity"))


def text_to_embed(graph: Graph, row: int, instead: Mapping[str, str]) -> str:
    """Return the text by which a node is embedded: the one given in its place, or its own under its containers' titles; canonical."""
    given = instead.get(graph.ids[row])
    return canonical_text(graph, given) if given else text_with_heading(graph, row)


def texts_embedded_as(documents: Iterable[Document]) -> dict[str, str]:
    """Return the texts that are embedded in the place of the documents' own, by id."""
    return {
        document.id: document.embedded_as
        for document in documents
        if document.embedded_as is not None
    }
