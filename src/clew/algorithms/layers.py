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

from clew.algorithms.nearest import nearest_pairs
from clew.graph import Edges, Floats, Graph, Links, Ragged, Rows, frozen

LEAST = 1e-6  # a cosine of 0 joins nothing


def related(read_from: Ragged, subjects: Rows, objects: Rows, hub_cap: int, min_support: int, shared: bool) -> tuple[Rows, Rows, Floats]:
    """Return the pairs of chunks that relations join, the lower first and ascending, and by how many different ones each is joined.

    Args:
        read_from: the chunks that each entity was read from. subjects, objects: the ends of the relations; what joins the same two
            entities is one. hub_cap: an entity of more chunks joins none. min_support: a pair needs so many relations.
        shared: an entity that is in both chunks joins them too.
    """
    ends = np.stack([np.minimum(subjects, objects), np.maximum(subjects, objects)], axis=1).astype(np.int64)
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    lengths = read_from.lengths
    if shared:
        own = np.flatnonzero(lengths > 1)
        ends = np.concatenate([ends, np.stack([own, own], axis=1)])
    ends = ends[(lengths[ends] <= hub_cap).all(axis=1)] if len(ends) else ends
    one, other = ends[:, 0], ends[:, 1]
    times = lengths[one] * lengths[other]
    relation = np.repeat(np.arange(len(ends)), times)
    inside = np.arange(len(relation)) - np.repeat(np.cumsum(times) - times, times)
    across = lengths[other][relation]
    tails = read_from.values[read_from.starts[one][relation] + inside // np.maximum(across, 1)].astype(np.int64)
    heads = read_from.values[read_from.starts[other][relation] + inside % np.maximum(across, 1)].astype(np.int64)
    apart = np.flatnonzero(tails != heads)
    n = int(max(tails.max(initial=0), heads.max(initial=0))) + 1
    pairs = np.minimum(tails, heads)[apart] * n + np.maximum(tails, heads)[apart]
    pairs = np.unique(np.stack([pairs, relation[apart]], axis=1), axis=0)[:, 0]  # a relation joins the same two once
    pairs, support = np.unique(pairs, return_counts=True)
    kept = support >= min_support
    pairs = pairs[kept]
    return frozen(pairs // n, np.int32), frozen(pairs % n, np.int32), frozen(support[kept], np.float64)


def related_edges(graph: Graph, hub_cap: int = 50, min_support: int = 1, shared: bool = False) -> Edges:
    """Return the edges of the chunk layer, of kind "related"; the weight of one with support s is s / (s + 1)."""
    entities = graph.kinds.mask("entity")
    lists = graph.read_from.take(np.flatnonzero(entities))
    place = np.cumsum(entities) - 1
    tails, heads, support = related(lists, place[graph.facts.subjects], place[graph.facts.objects], hub_cap, min_support, shared)
    return Edges.of("related", tails, heads, support / (support + 1))


def alike_edges(graph: Graph, k: int = 5) -> Edges:
    """Return the edges of the similarity layer, of kind "alike", from each entity to its `k` nearest; the weight is the cosine."""
    rows = graph.rows("entity")
    near, other, cosine = nearest_pairs(graph.vectors[rows], k, LEAST)
    return Edges.of("alike", rows[near], rows[other], cosine)


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

    def of(self, graph: Graph) -> Layer:
        made = "related" not in graph.edges.kinds.names
        edges = related_edges(graph, self.hub_cap, self.min_support, self.shared) if made else None
        return _layer(graph, graph.rows("passage"), "related", edges)


@dataclass(frozen=True)
class SimilarityLayer:
    """The part that keeps the similarity layer: the graph's own edges of kind "alike", or else made as `alike_edges` does."""

    k: int = 5

    def of(self, graph: Graph) -> Layer:
        edges = alike_edges(graph, self.k) if "alike" not in graph.edges.kinds.names else None
        return _layer(graph, graph.rows("entity"), "alike", edges)


@dataclass(frozen=True)
class KnowledgeLayer:
    """The part that keeps the knowledge graph: entities, and the facts that join them."""

    def of(self, graph: Graph) -> Layer:
        return _layer(graph, graph.rows("entity"), "fact", None)


@dataclass(frozen=True)
class Mentioned:
    """The part that keeps the links between the layers: for every node, the entities that were read from it."""

    def of(self, graph: Graph) -> Ragged:
        entities: NDArray[Any] = graph.kinds.mask("entity")
        kept = entities[graph.read_from.owners] if len(graph.read_from.values) else np.zeros(0, np.bool_)
        passages, owners = graph.read_from.values[kept], graph.read_from.owners[kept]
        order = np.lexsort((owners, passages))
        starts = np.zeros(len(graph) + 1, np.int64)
        np.cumsum(np.bincount(passages, minlength=len(graph)), out=starts[1:])
        return Ragged(frozen(starts, np.int64), frozen(owners[order], np.int32))


@dataclass(frozen=True)
class Described:
    """The part that knows whose vector speaks for each node: that of its description, where one was written and embedded, else its own."""

    def of(self, graph: Graph) -> Rows:
        speaker = np.arange(len(graph))
        told = graph.rows("description")
        told = told[(graph.read_from.lengths[told] == 1) & graph.vectors[told].any(axis=1)]
        speaker[graph.read_from.values[graph.read_from.starts[told]]] = told
        return frozen(speaker, np.int32)


def _layer(graph: Graph, rows: Rows, kind: str, edges: Edges | None) -> Layer:
    return Layer(rows, graph.links((kind,)) if edges is None else graph.linked(edges).links())
