"""Vectors of the embedded default as bags of words, which take a tenth of the bytes.

A graph of a few nodes has none: it is read as quickly with its vectors as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from clew.embedding.bag_making import Source, as_bags
from clew.embedding.bag_segment import BagSegment, MadeBags
from clew.embedding.embedded_texts import rows_to_embed, texts_to_embed
from clew.embedding.embedder import FittedEmbedder
from clew.embedding.late_bags import LateBagSegment
from clew.embedding.static import StaticEmbedding
from clew.graph import EMPTY, AnyVectors, Graph, VectorColumn

MIN_ROWS = 10_000
"""Nodes and facts together, from which on it takes long to read a graph."""

MIN_COMPACT = 1_000
"""Nodes and facts together, from which on an index is held and saved in few bytes."""


def is_large(graph: Graph) -> bool:
    """Return whether a graph is large: several processes read it, given vectors are rounded.

    Example:
        >>> is_large(Graph.of(["Anna", "Ben"]))
        False
    """
    return len(graph) + len(graph.facts) >= MIN_ROWS


def is_compact(graph: Graph) -> bool:
    """Return whether a graph is held and saved in few bytes, as vectors of the default are bags.

    Example:
        >>> is_compact(Graph.of(["Anna", "Ben"]))
        False
    """
    return len(graph) + len(graph.facts) >= MIN_COMPACT


def can_compact(graph: Graph, embedder: FittedEmbedder | None) -> bool:
    """Return whether the vectors of a graph become bags.

    Args:
        graph: the graph.
        embedder: what its vectors are made by; None for what the caller brought.
    """
    return isinstance(embedder, StaticEmbedding) and is_compact(graph)


def without_made(graph: Graph) -> Graph:
    """Return a graph without the vectors that are there beside its bags, once they have served."""
    facts = replace(graph.facts, vectors=_bags_alone(graph.facts.vectors))
    return graph.unchecked(vectors=_bags_alone(graph.vectors), facts=facts)


def _bags_alone(vectors: AnyVectors) -> AnyVectors:
    if not isinstance(vectors, VectorColumn):
        return vectors
    return VectorColumn(
        [one.bags() if isinstance(one, MadeBags) else one for one in vectors.segments]
    )


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
    of_nodes = Source(
        _with_late_bags(graph.vectors), rows, _TextsToEmbed(graph, rows, replacement_texts)
    )
    of_facts = Source(_with_late_bags(facts.vectors), np.arange(len(facts)), facts.texts)
    return as_bags(embedder, [of_nodes, of_facts])


class _TextsToEmbed(Sequence[str]):
    """The texts of rows, which are made when some are asked for: rows that are bags have no need.

    Args:
        graph: as in `bag_segments`.
        rows: int64 [n], the rows.
        replacement_texts: as in `bag_segments`.
    """

    def __init__(
        self, graph: Graph, rows: NDArray[np.int64], replacement_texts: Mapping[str, str]
    ) -> None:
        self._graph, self._rows, self._replacement_texts = graph, rows, replacement_texts

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, int):
            return self[place : place + 1][0]
        return texts_to_embed(self._graph, self._rows[place].tolist(), self._replacement_texts)


def _with_late_bags(vectors: AnyVectors) -> AnyVectors:
    """Return vectors of which all late bags are made."""
    if not isinstance(vectors, VectorColumn):
        return vectors
    return VectorColumn(
        [one.bags if isinstance(one, LateBagSegment) else one for one in vectors.segments]
    )
