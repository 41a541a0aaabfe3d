"""The graph that is left when some nodes are forbidden: what was read only from them goes with them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clew.graph.columns import Mask, Ragged, Rows, freeze

if TYPE_CHECKING:
    from clew.graph.core import Graph


def surviving_rows(graph: Graph, allowed: Mask) -> Mask:
    """Return the nodes that stay when only `allowed` ones may: bool [n]."""
    if allowed.shape != (len(graph),):
        raise ValueError(
            f"a filter has one True or False per node: wanted shape ({len(graph)},), got {allowed.shape}"
        )
    owned = graph.documents >= 0
    keep = allowed.copy()
    keep[owned] &= allowed[graph.documents[owned]]
    read = graph.read_from.lengths
    container = graph.kinds.mask("document", "section") & (
        _contents(graph, np.ones(len(graph), np.bool_)) > 0
    )
    while True:  # what goes may take others with it: as many rounds as the longest such chain
        left = _left(graph.read_from, keep)
        stay = (
            keep
            & np.where(graph.generated, left == read, (left > 0) | (read == 0))
            & (~container | (_contents(graph, keep) > 0))
        )
        if stay.sum() == keep.sum():
            return keep
        keep = stay


def filtered_graph(graph: Graph, allowed: Mask) -> Graph:
    """Return the graph of the survivors, renumbered, with the facts and edges that still have a passage and both their ends."""
    keep = surviving_rows(graph, allowed)
    if keep.all():
        return graph
    rows = np.flatnonzero(keep)
    new = np.full(len(graph), -1, np.int32)
    new[rows] = np.arange(len(rows))

    facts, edges = graph.facts, graph.edges
    stay = keep[facts.subjects] & keep[facts.objects] & _supported(facts.read_from, keep)
    new_fact = np.full(len(facts), -1, np.int32)
    new_fact[stay] = np.arange(int(stay.sum()))
    whole = keep[edges.tails] & keep[edges.heads] & _supported(edges.read_from, keep)
    whole &= np.where(edges.facts >= 0, new_fact[edges.facts] >= 0, True) if len(facts) else True
    edges = edges.take(np.flatnonzero(whole))
    return replace(
        graph,
        ids=_pick(graph.ids, rows),
        kinds=graph.kinds.take(rows),
        texts=_pick(graph.texts, rows),
        vectors=freeze(graph.vectors[rows], np.float32),
        tokens=freeze(graph.tokens[rows], np.int32),
        documents=_renumber(graph.documents[rows], new),
        parents=_renumber(graph.parents[rows], new),
        previous=_renumber(graph.previous[rows], new),
        spans=freeze(graph.spans[rows], np.int32),
        references=_pick(graph.references, rows),
        read_from=graph.read_from.take(rows).renumbered(new),
        generated=freeze(graph.generated[rows], np.bool_),
        metadata=_pick(graph.metadata, rows),
        originals=_pick(graph.originals, rows),
        facts=replace(
            facts,
            texts=_pick(facts.texts, np.flatnonzero(stay)),
            vectors=freeze(facts.vectors[stay], np.float32),
            subjects=_renumber(facts.subjects[stay], new),
            objects=_renumber(facts.objects[stay], new),
            relations=facts.relations.take(np.flatnonzero(stay)),
            read_from=facts.read_from.take(stay).renumbered(new),
        ),
        edges=replace(
            edges,
            tails=_renumber(edges.tails, new),
            heads=_renumber(edges.heads, new),
            facts=_renumber(edges.facts, new_fact),
            read_from=edges.read_from.renumbered(new),
        ),
    )


def _left(read_from: Ragged, keep: Mask) -> NDArray[np.int64]:
    """How many of the passages behind each row are left."""
    return np.bincount(read_from.owners[keep[read_from.values]], minlength=len(read_from))


def _supported(read_from: Ragged, keep: Mask) -> Mask:
    supported: Mask = (_left(read_from, keep) > 0) | (read_from.lengths == 0)
    return supported


def _contents(graph: Graph, keep: Mask) -> NDArray[np.int64]:
    """How many of the kept nodes lie in each node: directly, or in the document that it is."""
    inside, owned = (
        keep & (graph.parents >= 0),
        keep & (graph.documents >= 0) & (graph.documents != np.arange(len(graph))),
    )
    within = np.concatenate([graph.parents[inside], graph.documents[owned]])
    return np.bincount(within, minlength=len(graph))


def _renumber(rows: Rows, new: Rows) -> Rows:
    return freeze(np.where(rows >= 0, new[rows], -1) if len(new) else rows, np.int32)


def _pick(column: tuple[Any, ...], rows: NDArray[Any]) -> tuple[Any, ...]:
    return tuple(column[row] for row in rows.tolist())
