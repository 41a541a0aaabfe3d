"""The layers of DA-RAG's index, which a graph has without being told: chunks that a relation joins, and entities that are alike.

    chunk layer       (i, j): some relation has one end in what was read from chunk i and the other in what was read from chunk j, i != j
    knowledge graph   (u, v): a relation says something of both; these are the graph's own facts
    similarity layer  (u, v): v is among the k entities nearest to u by cosine, or u among those nearest to v

DA-RAG, arXiv 2602.08545, section 3. Entities in very many chunks would make each of these a clique, so relations of one that is in more
than `hub_cap` chunks join none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph import Edges, Graph, Links, Ragged, Rows, freeze
from clew.link.layers import alike_edges, related_edges


@dataclass(frozen=True, eq=False)
class Layer:
    """Links among some nodes of a graph; `rows` are all nodes of the layer, joined or not."""

    rows: Rows
    links: Links


@dataclass(frozen=True)
class ChunkLayer:
    """The part that keeps the chunk layer: the graph's own edges of kind "related", or else made as `related_edges` does."""

    hub_cap: int = 50
    min_support: int = 1
    shared: bool = False

    def compute(self, graph: Graph) -> Layer:
        made = "related" not in graph.edges.kinds.names
        edges = related_edges(graph, self.hub_cap, self.min_support, self.shared) if made else None
        return _layer(graph, graph.rows("passage"), "related", edges)


@dataclass(frozen=True)
class SimilarityLayer:
    """The part that keeps the similarity layer: the graph's own edges of kind "alike", or else made as `alike_edges` does."""

    k: int = 5

    def compute(self, graph: Graph) -> Layer:
        edges = alike_edges(graph, self.k) if "alike" not in graph.edges.kinds.names else None
        return _layer(graph, graph.rows("entity"), "alike", edges)


@dataclass(frozen=True)
class KnowledgeLayer:
    """The part that keeps the knowledge graph: entities, and the facts that join them."""

    def compute(self, graph: Graph) -> Layer:
        return _layer(graph, graph.rows("entity"), "fact", None)


@dataclass(frozen=True)
class MentionedEntitiesPart:
    """The part that keeps the links between the layers: for every node, the entities that were read from it."""

    def compute(self, graph: Graph) -> Ragged:
        entities: NDArray[Any] = graph.kinds.mask("entity")
        kept = (
            entities[graph.read_from.owners]
            if len(graph.read_from.values)
            else np.zeros(0, np.bool_)
        )
        passages, owners = graph.read_from.values[kept], graph.read_from.owners[kept]
        order = np.lexsort((owners, passages))
        starts = np.zeros(len(graph) + 1, np.int64)
        np.cumsum(np.bincount(passages, minlength=len(graph)), out=starts[1:])
        return Ragged(freeze(starts, np.int64), freeze(owners[order], np.int32))


@dataclass(frozen=True)
class DescribedPart:
    """The part that knows whose vector speaks for each node: that of its description, where one was written and embedded, else its own."""

    def compute(self, graph: Graph) -> Rows:
        speaker = np.arange(len(graph))
        told = graph.rows("description")
        told = told[(graph.read_from.lengths[told] == 1) & graph.vectors[told].any(axis=1)]
        speaker[graph.read_from.values[graph.read_from.starts[told]]] = told
        return freeze(speaker, np.int32)


def _layer(graph: Graph, rows: Rows, kind: str, edges: Edges | None) -> Layer:
    return Layer(rows, graph.links((kind,)) if edges is None else graph.with_edges(edges).links())
