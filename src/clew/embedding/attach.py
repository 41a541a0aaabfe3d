"""The vectors of a graph: one for every text that is compared with a question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from clew.document import Document
from clew.embedding.embedder import Embedder, EmbedderSource, embed_batches, fit_default
from clew.graph import EMPTY, Graph, Vectors, canonical_text, freeze, seal, texts_with_headings


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
        attached, known = fit_default(texts_with_headings(graph, graph.rows("passage").tolist()))
    else:
        attached = Embedder.of(embedder)
    known = known or {}
    rows = rows_to_embed(graph)
    texts = texts_to_embed(graph, rows.tolist(), replacement_texts or EMPTY)
    has_vector = graph.vectors[rows].any(axis=1)
    bare = np.flatnonzero(~has_vector)
    needed = [*(texts[i] for i in bare.tolist()), *graph.facts.texts]
    missing = [text for text in dict.fromkeys(needed) if text not in known]
    width = graph.vectors.shape[1] if has_vector.any() else _width_of(known)
    place_of = {text: place for place, text in enumerate(missing)}
    # Batches go where they belong at once: all of them beside the results would take twice as much.
    of_nodes = _Gathered([texts[i] for i in bare.tolist()], rows[bare], place_of)
    of_facts = _Gathered(graph.facts.texts, np.arange(len(graph.facts)), place_of)
    vectors, fact_vectors = (
        np.zeros((n, width or 0), np.float32) for n in (len(graph), len(graph.facts))
    )
    for start, batch in embed_batches(attached, missing, width=width, progress=progress):
        if not start:
            vectors = np.zeros((len(graph), batch.shape[1]), np.float32)
            fact_vectors = np.zeros((len(graph.facts), batch.shape[1]), np.float32)
        of_nodes.fill(vectors, start, batch)
        of_facts.fill(fact_vectors, start, batch)
    if has_vector.any():
        vectors[rows[has_vector]] = graph.vectors[rows[has_vector]]
    of_nodes.fill_known(vectors, known)
    of_facts.fill_known(fact_vectors, known)
    facts = replace(graph.facts, vectors=seal(fact_vectors))
    return attached, replace(graph, vectors=seal(vectors), facts=facts)


def rows_to_embed(graph: Graph) -> NDArray[np.int64]:
    """Return the rows that have vectors: content, generated texts and entities.

    Example:
        >>> rows_to_embed(Graph.of(["Moon", "Dry."], kinds=["document", "passage"]))
        array([1])
    """
    return np.flatnonzero(graph.content | graph.generated | graph.kinds.mask("entity"))


def texts_to_embed(
    graph: Graph, rows: Sequence[int], replacement_texts: Mapping[str, str]
) -> list[str]:
    """Return the texts by which nodes are embedded, in their canonical form.

    A node without a replacement is embedded as its own text under its containers' titles.

    Args:
        graph: the graph.
        rows: the nodes.
        replacement_texts: id -> the text to embed in place of the node's own.

    Example:
        >>> texts_to_embed(Graph.of(["Anna", "Ben"]), [0, 1], {"1": "Benjamin"})
        ['Anna', 'Benjamin']
    """
    texts = texts_with_headings(graph, rows)
    if replacement_texts:
        for i, row in enumerate(rows):
            if text := replacement_texts.get(graph.ids[row]):
                texts[i] = canonical_text(graph, text)
    return texts


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


class _Gathered:
    """Rows of an array that are the vectors of texts.

    Args:
        texts: the text of each row.
        rows: the rows of the array.
        place_of: the place of a text among those that are embedded; the others are known.
    """

    def __init__(
        self, texts: Sequence[str], rows: NDArray[np.integer], place_of: Mapping[str, int]
    ) -> None:
        places = np.array([place_of.get(text, -1) for text in texts], np.int64)
        order = np.argsort(places, kind="stable")
        self._rows, self._places = rows[order], places[order]
        n_known = int(np.searchsorted(self._places, 0))
        self._known = [(rows[i], texts[i]) for i in order[:n_known].tolist()]

    def fill(self, array: Vectors, start: int, batch: Vectors) -> None:
        """Put the vectors of the texts from a place on into their rows."""
        first, behind = np.searchsorted(self._places, [start, start + len(batch)])
        some = slice(int(first), int(behind))
        array[self._rows[some]] = batch[self._places[some] - start]

    def fill_known(self, array: Vectors, known: Mapping[str, Vectors]) -> None:
        """Put the vectors that are known already into their rows."""
        for row, text in self._known:
            array[row] = known[text]
