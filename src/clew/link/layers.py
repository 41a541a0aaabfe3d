"""Two layers of DA-RAG's index as edges of the graph: chunks that a relation joins, and entities that are alike.

The recipe `da_rag` makes both by itself where a graph has neither; as edges they are saved with the index, and others may follow them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from clew.algorithms.nearest.exact import nearest_pairs
from clew.graph import Edges, Floats, Graph, Ragged, Rows, freeze

LEAST = 1e-6  # a cosine of 0 joins nothing


def related(
    read_from: Ragged, subjects: Rows, objects: Rows, hub_cap: int, min_support: int, shared: bool
) -> tuple[Rows, Rows, Floats]:
    """Return the pairs of chunks that relations join, the lower first and ascending, and by how many different ones each is joined.

    Args:
        read_from: the chunks that each entity was read from. subjects, objects: the ends of the relations; what joins the same two
            entities is one. hub_cap: an entity of more chunks joins none. min_support: a pair needs so many relations.
        shared: an entity that is in both chunks joins them too.
    """
    ends = np.stack([np.minimum(subjects, objects), np.maximum(subjects, objects)], axis=1).astype(
        np.int64
    )
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
    tails = read_from.values[
        read_from.starts[one][relation] + inside // np.maximum(across, 1)
    ].astype(np.int64)
    heads = read_from.values[
        read_from.starts[other][relation] + inside % np.maximum(across, 1)
    ].astype(np.int64)
    apart = np.flatnonzero(tails != heads)
    n = int(max(tails.max(initial=0), heads.max(initial=0))) + 1
    pairs = np.minimum(tails, heads)[apart] * n + np.maximum(tails, heads)[apart]
    pairs = np.unique(np.stack([pairs, relation[apart]], axis=1), axis=0)[
        :, 0
    ]  # a relation joins the same two once
    pairs, support = np.unique(pairs, return_counts=True)
    kept = support >= min_support
    pairs = pairs[kept]
    return (
        freeze(pairs // n, np.int32),
        freeze(pairs % n, np.int32),
        freeze(support[kept], np.float64),
    )


def related_edges(
    graph: Graph, hub_cap: int = 50, min_support: int = 1, shared: bool = False
) -> Edges:
    """Return the edges of the chunk layer, of kind "related"; the weight of one with support s is s / (s + 1)."""
    entities = graph.kinds.mask("entity")
    lists = graph.read_from.take(np.flatnonzero(entities))
    place = np.cumsum(entities) - 1
    tails, heads, support = related(
        lists, place[graph.facts.subjects], place[graph.facts.objects], hub_cap, min_support, shared
    )
    return Edges.of("related", tails, heads, support / (support + 1))


def alike_edges(graph: Graph, k: int = 5) -> Edges:
    """Return the edges of the similarity layer, of kind "alike", from each entity to its `k` nearest; the weight is the cosine."""
    rows = graph.rows("entity")
    near, other, cosine = nearest_pairs(graph.vectors[rows], k, LEAST)
    return Edges.of("alike", rows[near], rows[other], cosine)


@dataclass(frozen=True)
class Related:
    """Between passages where a fact joins what is mentioned in the one to what is mentioned in the other.

    Attributes:
        hub_cap: entities in more passages join none. min_support: so many different facts must join two passages; the weight of s is
            s / (s + 1). shared: an entity that both mention joins them too.
    """

    hub_cap: int = 50
    min_support: int = 1
    shared: bool = False

    kind: ClassVar[str] = "related"
    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        return related_edges(graph, self.hub_cap, self.min_support, self.shared)


@dataclass(frozen=True)
class Alike:
    """From each entity to the `k` others whose names are nearest by cosine, however far; the weight is the cosine."""

    k: int = 5

    kind: ClassVar[str] = "alike"
    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        return alike_edges(graph, self.k)
