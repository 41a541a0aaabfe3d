"""Vectors of the embedded default as bags of words, which take a tenth of the bytes.

Only a large graph has them: a small one is read as quickly with its vectors as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from clew.embedding.bags import BagSegment, Source, as_bags
from clew.embedding.embedded_texts import rows_to_embed, texts_to_embed
from clew.embedding.embedder import FittedEmbedder
from clew.embedding.static import StaticEmbedding
from clew.graph import EMPTY, Graph, VectorColumn

MIN_ROWS = 10_000
"""Nodes and facts together, from which on vectors are bags."""


def can_compact(graph: Graph, embedder: FittedEmbedder | None) -> bool:
    """Return whether the vectors of a graph become bags.

    Args:
        graph: the graph.
        embedder: what its vectors are made by; None for what the caller brought.
    """
    return isinstance(embedder, StaticEmbedding) and len(graph) + len(graph.facts) >= MIN_ROWS


def bag_segments(
    graph: Graph, embedder: StaticEmbedding, replacement_texts: Mapping[str, str] = EMPTY
) -> Sequence[BagSegment]:
    """Return the vectors of nodes and those of facts as bags that share a table.

    Args:
        graph: a graph with vectors.
        embedder: what they are made by.
        replacement_texts: id -> the text that is embedded in place of the node's own.
    """
    rows, facts = rows_to_embed(graph), graph.facts
    texts = texts_to_embed(graph, rows.tolist(), replacement_texts)
    of_facts = Source(facts.vectors, np.arange(len(facts)), facts.texts)
    return as_bags(embedder, [Source(graph.vectors, rows, texts), of_facts])


def compacted(
    graph: Graph,
    embedder: FittedEmbedder | None,
    replacement_texts: Mapping[str, str] = EMPTY,
) -> Graph:
    """Return a large graph with its vectors as bags; any other graph as it is.

    Args:
        graph: a graph with vectors.
        embedder: what they are made by; None for what the caller brought.
        replacement_texts: id -> the text that is embedded in place of the node's own.

    Example:
        >>> graph = Graph.of(["Anna", "Ben"], vectors=[[1, 0], [0, 1]])
        >>> compacted(graph, None) is graph
        True
    """
    if not isinstance(embedder, StaticEmbedding) or not can_compact(graph, embedder):
        return graph
    of_nodes, of_facts = bag_segments(graph, embedder, replacement_texts)
    facts = replace(graph.facts, vectors=VectorColumn([of_facts]))
    return replace(graph, vectors=VectorColumn([of_nodes]), facts=facts)
