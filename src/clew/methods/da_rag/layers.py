"""The layers of DA-RAG's index, computed from any graph that has passages and entities.

    chunk layer       (i, j), i != j: some relation has one end in what was read from chunk i, and
                      the other end in what was read from chunk j
    knowledge graph   (u, v): some relation joins both; these are the graph's own facts
    similarity layer  (u, v): v is among the k entities nearest to u by cosine, or u among those
                      nearest to v

DA-RAG, arXiv 2602.08545, section 3. An entity in very many chunks would make each of these layers a
clique. So the relations of an entity in more than `hub_cap` chunks join nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clew.algorithms.community_search.q_peel import Trusses, nested_trusses
from clew.algorithms.nearest.exact import nearest_pairs
from clew.graph import Edges, Graph, Links, Rows, freeze
from clew.link.alike import MIN_SIMILARITY, alike_edges
from clew.link.related import related_edges, related_links


@dataclass(frozen=True, eq=False)
class Layer:
    """Links among some nodes of a graph.

    Attributes:
        rows: all nodes of the layer, linked or not.
        links: over all rows of the graph.
    """

    rows: Rows
    links: Links

    def links_among(self, rows: Rows) -> Links:
        """Return links over all rows of the graph that hold those among some rows.

        Args:
            rows: nodes of the layer, ascending.
        """
        return self.links


@dataclass(frozen=True, eq=False)
class LateChunkLayer:
    """The chunk layer, of which those links are made that a question follows.

    The whole layer of a large graph takes more memory than all else of a question, which searches
    among some tens of chunks.

    Attributes:
        graph: the graph.
        layer: what joins two chunks.

    Example:
        >>> graph = Graph.from_triples([("Anna", "knows", "Ben")])
        >>> len(LateChunkLayer(graph, ChunkLayer()).rows)  # there are no chunks
        0
    """

    graph: Graph
    layer: ChunkLayer

    @property
    def rows(self) -> Rows:
        """All chunks, linked or not."""
        return self.graph.rows("passage")

    def links_among(self, rows: Rows) -> Links:
        """Return the links among some chunks; see `Layer.links_among`."""
        own = self.layer
        return related_links(self.graph, rows, own.hub_cap, own.min_support, shared=own.shared)


@dataclass(frozen=True)
class ChunkLayer:
    """The part that is the chunk layer: edges of kind "related", or those of `related_edges`.

    Attributes:
        hub_cap: entities in more chunks join none; None for no such limit.
        min_support: so many relations must join two chunks.
        shared: an entity in both chunks joins them too.

    Example:
        >>> graph = Graph.from_triples([("Anna", "knows", "Ben")])
        >>> len(graph.part(ChunkLayer()).rows)  # there are no chunks
        0
    """

    hub_cap: int | None = 50
    min_support: int = 1
    shared: bool = False

    def compute(self, graph: Graph) -> Layer:
        edges = (
            None
            if self.has_edges(graph)
            else related_edges(graph, self.hub_cap, self.min_support, self.shared)
        )
        return _layer(graph, graph.rows("passage"), "related", edges)

    def has_edges(self, graph: Graph) -> bool:
        """Return whether the graph has the edges of the layer already."""
        return "related" in graph.edges.kind_names

    def near(self, graph: Graph) -> Layer | LateChunkLayer:
        """Return the layer for questions that search among few chunks each."""
        return graph.part(self) if self.has_edges(graph) else LateChunkLayer(graph, self)


@dataclass(frozen=True)
class ChunkTrusses:
    """The part that is every truss of all chunks of a layer, to be peeled for any question.

    Attributes:
        layer: the chunk layer.

    Example:
        >>> graph = Graph.from_triples([("Anna", "knows", "Ben")])
        >>> graph.part(ChunkTrusses(ChunkLayer())).last  # there are no chunks
        2
    """

    layer: ChunkLayer

    def compute(self, graph: Graph) -> Trusses:
        layer = graph.part(self.layer)
        return nested_trusses(layer.links, layer.rows, slots=False)


@dataclass(frozen=True)
class SimilarityLayer:
    """The part that is the similarity layer: edges of kind "alike", or those of `alike_edges`.

    Attributes:
        k: how many nearest entities each entity is linked to.
        described: entities are compared by their descriptions, see `EntityVectorsPart`. Edges of
            kind "alike" that the graph has are of names, and are then made anew.

    Example:
        >>> graph = Graph.of(["Anna", "Ben"], kinds="entity", vectors=[[1, 0], [0.6, 0.8]])
        >>> graph.part(SimilarityLayer()).links.neighbours(0).tolist()
        [1]
    """

    k: int = 5
    described: bool = False

    def compute(self, graph: Graph) -> Layer:
        rows = graph.rows("entity")
        if self.described:
            vectors = graph.vectors[graph.part(EntityVectorsPart())[rows]]
            tails, heads, cosines = nearest_pairs(vectors, self.k, MIN_SIMILARITY)
            return _layer(
                graph, rows, "alike", Edges.of("alike", rows[tails], rows[heads], cosines)
            )
        edges = alike_edges(graph, self.k) if "alike" not in graph.edges.kind_names else None
        return _layer(graph, rows, "alike", edges)


@dataclass(frozen=True)
class KnowledgeLayer:
    """The part that is the knowledge graph: entities, and the facts that join them.

    Example:
        >>> graph = Graph.from_triples([("Anna", "knows", "Ben")])
        >>> graph.part(KnowledgeLayer()).links.neighbours(0).tolist()
        [1]
    """

    def compute(self, graph: Graph) -> Layer:
        return _layer(graph, graph.rows("entity"), "fact", None)


@dataclass(frozen=True)
class DescribedPart:
    """The part that knows by which node's vector each node is compared with the question.

    It is the node's description, where one was generated and embedded, else the node itself.

    Example:
        >>> from clew.graph import Ragged
        >>> graph = Graph.of(["Anna left.", "A departure"], kinds=["passage", "description"],
        ...                  vectors=[[1, 0], [0, 1]], read_from=Ragged.of([[], [0]]))
        >>> graph.part(DescribedPart()).tolist()
        [1, 1]
    """

    def compute(self, graph: Graph) -> Rows:
        compared = np.arange(len(graph))
        rows = graph.rows("description")
        rows = rows[(graph.read_from.lengths[rows] == 1) & graph.vectors[rows].any(axis=1)]
        compared[graph.read_from.values[graph.read_from.starts[rows]]] = rows
        return freeze(compared, np.int32)


@dataclass(frozen=True)
class EntityVectorsPart:
    """The part that knows by which node's vector each entity is compared, where descriptions count.

    It is the entity's summary (`clew.generate.Summaries`), where one was generated and embedded,
    else the entity itself.

    Example:
        >>> graph = Graph.of(["Anna", "Anna lives in Rome."], kinds=["entity", "summary"],
        ...                  vectors=[[1, 0], [0, 1]], edges=Edges.of("about", [1], [0]))
        >>> graph.part(EntityVectorsPart()).tolist()
        [1, 1]
    """

    def compute(self, graph: Graph) -> Rows:
        compared = np.arange(len(graph))
        about = np.flatnonzero(graph.edges.kinds.mask("about"))
        summaries, entities = graph.edges.tails[about], graph.edges.heads[about]
        usable = graph.kinds.mask("summary")[summaries] & graph.vectors[summaries].any(axis=1)
        compared[entities[usable]] = summaries[usable]
        return freeze(compared, np.int32)


def _layer(graph: Graph, rows: Rows, kind: str, edges: Edges | None) -> Layer:
    """Return a layer over the graph's own edges of a kind, or over others in their place."""
    return Layer(rows, graph.links((kind,)) if edges is None else graph.with_edges(edges).links())
