"""Passages that relations join: the chunk layer of DA-RAG's index.

The recipe `da_rag` computes this layer itself where a graph has no edges of this kind. Edges of
this kind are saved with the index, and other methods can follow them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from clew.graph import (
    Edges,
    Floats,
    Graph,
    Links,
    MentionedEntitiesPart,
    Ragged,
    Rows,
    distinct,
    freeze,
    offsets_of,
)

MAX_JOINED = 1 << 22  # pairs of chunks that are held at once, some 170 MB
NUMBERS = 1 << 63  # of a relation and a pair, in one whole number


def related_pairs(
    read_from: Ragged,
    subjects: Rows,
    objects: Rows,
    hub_cap: int | None,
    min_support: int,
    shared: bool,
) -> tuple[Rows, Rows, Floats]:
    """Return the pairs of chunks that relations join, with the number of these relations.

    Args:
        read_from: the chunks that each entity was read from.
        subjects: the first end of each relation, an entity.
        objects: the other end of each relation. Relations between the same two entities, in either
            direction, count as one.
        hub_cap: an entity of more chunks joins none; None for no such limit.
        min_support: the number of relations that a pair needs.
        shared: whether an entity that is in both chunks counts as a relation.

    Returns:
        The lower chunk, the higher chunk and the number of relations, ascending by pair.

    Example:
        >>> read_from = Ragged.of([[0], [1, 2]])
        >>> subjects, objects = np.array([0]), np.array([1])
        >>> related_pairs(read_from, subjects, objects, 50, 1, shared=False)[:2]
        (array([0, 0], dtype=int32), array([1, 2], dtype=int32))
    """
    relations = _distinct_relations(read_from, subjects, objects, hub_cap, shared)
    n = int(read_from.values.max(initial=0)) + 1
    parts = [_pairs_of(read_from, some, n) for some in _in_parts(read_from, relations, n)]
    every = np.concatenate([np.zeros(0, np.int64), *parts])
    pairs, support = np.unique(every, return_counts=True)
    supported = support >= min_support
    pairs = pairs[supported]
    return (
        freeze(pairs // n, np.int32),
        freeze(pairs % n, np.int32),
        freeze(support[supported], np.float64),
    )


def _in_parts(
    read_from: Ragged, relations: NDArray[np.int64], n: int
) -> Iterator[NDArray[np.int64]]:
    """Yield the relations in parts that join few enough pairs to be held, and to be numbered."""
    joined = np.cumsum(read_from.lengths[relations].prod(axis=1))
    most, first = NUMBERS // (n * n), 0
    while first < len(relations):
        before = int(joined[first - 1]) if first else 0
        last = int(np.searchsorted(joined, before + MAX_JOINED, side="right"))
        last = min(max(last, first + 1), first + most)
        yield relations[first:last]
        first = last


def _pairs_of(read_from: Ragged, relations: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return the pairs of chunks that each relation joins, each once: lower times n plus higher."""
    tails, heads, relation = _chunks_of_ends(read_from, relations)
    pairs = np.minimum(tails, heads) * n + np.maximum(tails, heads)
    # A pair and its relation in one number are sorted in a tenth of the time.
    once: NDArray[np.int64] = distinct((relation * (n * n) + pairs)[tails != heads])
    once %= n * n
    return once


def _distinct_relations(
    read_from: Ragged, subjects: Rows, objects: Rows, hub_cap: int | None, shared: bool
) -> NDArray[np.int64]:
    """Pairs of entities [m, 2], each once; an entity with itself stands for its own chunks."""
    n = max(int(subjects.max(initial=0)), int(objects.max(initial=0))) + 1
    first, second = subjects.astype(np.int64), objects.astype(np.int64)
    pairs = np.minimum(first, second) * n + np.maximum(first, second)
    pairs = distinct(pairs[first != second])
    ends = np.stack([pairs // n, pairs % n], axis=1)
    chunks = read_from.lengths
    if shared:
        repeated = np.flatnonzero(chunks > 1)
        ends = np.concatenate([ends, np.stack([repeated, repeated], axis=1)])
    if hub_cap is not None and len(ends):
        ends = ends[(chunks[ends] <= hub_cap).all(axis=1)]
    return ends


def _chunks_of_ends(
    read_from: Ragged, relations: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Every chunk of one end with every chunk of the other, and the relation they come from."""
    first, second = relations[:, 0], relations[:, 1]
    chunks = read_from.lengths
    pairs = chunks[first] * chunks[second]
    relation = np.repeat(np.arange(len(relations)), pairs)
    number = np.arange(len(relation)) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    columns = np.maximum(chunks[second][relation], 1)
    tails = read_from.values[read_from.starts[first][relation] + number // columns]
    heads = read_from.values[read_from.starts[second][relation] + number % columns]
    return tails.astype(np.int64), heads.astype(np.int64), relation


def related_edges(
    graph: Graph, hub_cap: int | None = 50, min_support: int = 1, shared: bool = False
) -> Edges:
    """Return the edges of the chunk layer; see `Related`.

    Example:
        >>> from clew.graph import Facts, Labels
        >>> facts = Facts(
        ...     ("Anna knows Ben",),
        ...     freeze(np.zeros((1, 0)), np.float32),
        ...     freeze([2], np.int32),
        ...     freeze([3], np.int32),
        ...     Labels.of(["knows"]),
        ...     Ragged.of([[0]]),
        ... )
        >>> graph = Graph.of(
        ...     ["Anna knows Ben.", "Ben left.", "Anna", "Ben"],
        ...     kinds=["passage", "passage", "entity", "entity"],
        ...     read_from=Ragged.of([[], [], [0], [0, 1]]),
        ...     facts=facts,
        ... )
        >>> edges = related_edges(graph)
        >>> edges.tails, edges.heads, edges.weights
        (array([0], dtype=int32), array([1], dtype=int32), array([0.5], dtype=float32))
    """
    is_entity = graph.kinds.mask("entity")
    read_from = graph.read_from.take(np.flatnonzero(is_entity))
    number = np.cumsum(is_entity) - 1  # of each entity among the entities
    subjects, objects = number[graph.facts.subjects], number[graph.facts.objects]
    pairs = related_pairs(read_from, subjects, objects, hub_cap, min_support, shared)
    tails, heads, support = pairs
    return Edges.of("related", tails, heads, support / (support + 1))


def related_links(
    graph: Graph, rows: Rows, hub_cap: int | None, min_support: int, *, shared: bool
) -> Links:
    """Return the links of the chunk layer among some chunks, in time that these take.

    They are those that the edges of `related_edges` make, but know no edges.

    Args:
        graph: the graph.
        rows: the chunks, ascending.
        hub_cap: as in `related_pairs`.
        min_support: as in `related_pairs`.
        shared: as in `related_pairs`.

    Example:
        >>> graph = Graph.from_triples([("Anna", "knows", "Ben")])
        >>> len(related_links(graph, graph.rows("passage"), 50, 1, shared=False).targets)
        0
    """
    mentioned = graph.part(MentionedEntitiesPart()).take(rows)
    places, entities = mentioned.owners, mentioned.values
    if hub_cap is not None:
        few = graph.read_from.lengths[entities] <= hub_cap
        places, entities = places[few], entities[few]
    order = np.argsort(entities, kind="stable")
    chosen, counts = np.unique(entities, return_counts=True)
    number = np.full(len(graph), -1, np.int32)  # of each entity among the chosen ones
    number[chosen] = np.arange(len(chosen))
    ends = number[graph.facts.subjects]
    facts = np.flatnonzero(ends >= 0)
    subjects, objects = ends[facts], number[graph.facts.objects[facts]]
    both = objects >= 0
    read_from = Ragged(freeze(offsets_of(counts), np.int64), freeze(places[order], np.int32))
    tails, heads, support = related_pairs(
        read_from, subjects[both], objects[both], None, min_support, shared
    )
    first, second = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    order = np.lexsort((second, first))
    own = np.zeros(len(graph), np.int64)
    own[rows] = np.bincount(first, minlength=len(rows))
    return Links(
        freeze(offsets_of(own), np.int64),
        freeze(rows[second[order]], np.int32),
        freeze(np.tile(support / (support + 1), 2)[order], np.float32),
        Ragged.empty(len(order)),
    )


@dataclass(frozen=True)
class Related:
    """Between passages where a fact joins an entity of the one to an entity of the other.

    The weight of an edge with s different facts is s / (s + 1).

    Attributes:
        hub_cap: an entity of more passages joins none; None for no such limit.
        min_support: the number of different facts that an edge needs.
        shared: whether an entity of both passages counts as a fact.

    Example:
        >>> len(Related().on(Graph.of(["one", "two"])))
        0
    """

    hub_cap: int | None = 50
    min_support: int = 1
    shared: bool = False

    kind: ClassVar[str] = "related"
    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        return related_edges(graph, self.hub_cap, self.min_support, self.shared)
