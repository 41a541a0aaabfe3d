"""The texts by which the nodes of a graph are embedded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from clew.document import Document
from clew.graph import Graph, canonical_text, texts_with_headings


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
