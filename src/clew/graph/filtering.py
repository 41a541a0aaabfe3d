"""The graph that is left when some nodes are forbidden, without what was read only from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.graph.columns import Mask, Ragged, Rows, freeze, offsets_of, seal
from clew.graph.core import GraphColumns
from clew.graph.edges import Edges, Facts
from clew.graph.long_tuples import pick
from clew.graph.vector_column import take_vectors


def surviving_rows(graph: GraphColumns, allowed: Mask) -> Mask:
    """Return the nodes that stay when only `allowed` ones may: bool [n].

    A node stays if it and its document are allowed and, further,

    - an entity: while one of the passages it was read from stays;
    - a generated text: while all of its sources stay;
    - a container that has contents: while one of them stays.

    Example:
        >>> from clew.graph import Graph, Ragged
        >>> graph = Graph.of(
        ...     ["Anna left.", "Anna"],
        ...     kinds=["passage", "entity"],
        ...     read_from=Ragged.of([[], [0]]),
        ... )
        >>> surviving_rows(graph, np.array([False, True]))
        array([False, False])
    """
    if allowed.shape != (len(graph),):
        raise ValueError(
            f"a filter has one True or False per node: wanted shape ({len(graph)},), "
            f"got {allowed.shape}"
        )
    owned = graph.documents >= 0
    left = allowed.copy()
    left[owned] &= allowed[graph.documents[owned]]
    has_contents = _count_contents(graph, np.ones(len(graph), np.bool_)) > 0
    container = graph.kinds.mask("document", "section") & has_contents
    sources = graph.read_from.lengths
    while True:  # one removal may cause others: as many rounds as the longest such chain
        sources_left = _count_sources(graph.read_from, left)
        whole = sources_left == sources
        supported = np.where(graph.generated, whole, (sources_left > 0) | (sources == 0))
        filled = ~container | (_count_contents(graph, left) > 0)
        stays = left & supported & filled
        if stays.sum() == left.sum():
            return left
        left = stays


def columns_left(graph: GraphColumns, allowed: Mask) -> dict[str, Any]:
    """Return the columns of the surviving nodes, renumbered, with the facts and edges that stay.

    A fact or an edge stays while both its ends and one of its passages stay; an edge that states a
    fact, while the fact stays too.

    Example:
        >>> from clew.graph import Graph
        >>> columns_left(Graph.of(["one", "two"]), np.array([False, True]))["ids"]
        ('1',)
        >>> columns_left(Graph.of(["one", "two"]), np.array([True, True]))
        {}
    """
    left = surviving_rows(graph, allowed)
    if left.all():
        return {}  # none is another
    return {**node_columns_left(graph, left), "edges": edges_left(graph, graph.edges, left)}


def node_columns_left(graph: GraphColumns, left: Mask) -> dict[str, Any]:
    """Return the columns of some nodes, renumbered, with the facts that stay, but no edges.

    Args:
        graph: the graph.
        left: bool [n], the nodes that stay, as `surviving_rows` returns them.
    """
    rows = np.flatnonzero(left)
    new_row = new_numbers(left)
    return {
        "ids": _pick_texts(graph.ids, rows),
        "kinds": graph.kinds.take(rows),
        "texts": _pick_texts(graph.texts, rows),
        "vectors": take_vectors(graph.vectors, rows),
        "tokens": seal(graph.tokens[rows]),
        "documents": _renumber(graph.documents[rows], new_row),
        "parents": _renumber(graph.parents[rows], new_row),
        "previous": _renumber(graph.previous[rows], new_row),
        "spans": seal(graph.spans[rows]),
        "references": pick(graph.references, rows),
        "read_from": graph.read_from.take(rows).renumbered(new_row),
        "generated": seal(graph.generated[rows]),
        "metadata": pick(graph.metadata, rows),
        "originals": pick(graph.originals, rows),
        "facts": _filter_facts(graph.facts, _facts_left(graph.facts, left), new_row),
    }


def edges_left(graph: GraphColumns, edges: Edges, left: Mask) -> Edges:
    """Return those of some edges that stay, renumbered as the nodes and facts that do.

    Args:
        graph: the graph.
        edges: some of its edges.
        left: bool [n], the nodes that stay, as `surviving_rows` returns them.
    """
    stays = left[edges.tails] & left[edges.heads] & _supported(edges.read_from, left)
    new_row, new_fact = new_numbers(left), freeze([], np.int32)
    if (edges.facts >= 0).any():
        new_fact = new_numbers(_facts_left(graph.facts, left))
        stays &= (edges.facts < 0) | (new_fact[edges.facts] >= 0)
    edges = edges.take(np.flatnonzero(stays))
    return replace(
        edges,
        tails=_renumber(edges.tails, new_row),
        heads=_renumber(edges.heads, new_row),
        facts=_renumber(edges.facts, new_fact),
        read_from=edges.read_from.renumbered(new_row),
    )


def _facts_left(facts: Facts, left: Mask) -> Mask:
    stays: Mask = left[facts.subjects] & left[facts.objects] & _supported(facts.read_from, left)
    return stays


def _filter_facts(facts: Facts, stays: Mask, new_row: Rows) -> Facts:
    rows = np.flatnonzero(stays)
    return Facts(
        texts=_pick_texts(facts.texts, rows),
        vectors=take_vectors(facts.vectors, rows),
        subjects=_renumber(facts.subjects[stays], new_row),
        objects=_renumber(facts.objects[stays], new_row),
        relations=facts.relations.take(rows),
        read_from=facts.read_from.take(stays).renumbered(new_row),
    )


def _count_sources(read_from: Ragged, left: Mask) -> NDArray[np.int64]:
    """How many of the passages behind each row are left."""
    n_left = offsets_of(left[read_from.values])[read_from.starts]  # before each list begins
    return n_left[1:] - n_left[:-1]


def _supported(read_from: Ragged, left: Mask) -> Mask:
    """Whether one of the passages behind each row is left, or the row has none."""
    if not len(read_from.values):
        return np.ones(len(read_from), np.bool_)
    supported: Mask = (_count_sources(read_from, left) > 0) | (read_from.lengths == 0)
    return supported


def _count_contents(graph: GraphColumns, left: Mask) -> NDArray[np.int64]:
    """How many of the nodes left are in each node: directly, or in the document that it is."""
    has_parent = left & (graph.parents >= 0)
    is_own_document = graph.documents == np.arange(len(graph))
    has_document = left & (graph.documents >= 0) & ~is_own_document
    around = np.concatenate([graph.parents[has_parent], graph.documents[has_document]])
    return np.bincount(around, minlength=len(graph))


def new_numbers(stays: Mask) -> Rows:
    """Return the new number of every row that stays, and -1 for the others.

    Example:
        >>> new_numbers(np.array([False, True, True]))
        array([-1,  0,  1], dtype=int32)
    """
    numbers = np.full(len(stays), -1, np.int32)
    numbers[stays] = np.arange(int(stays.sum()))
    return numbers


def _renumber(rows: Rows, new: Rows) -> Rows:
    if not len(new):
        return freeze(rows, np.int32)
    return seal(np.append(new, np.int32(-1))[rows])  # -1 is the last place


def _pick_texts(column: tuple[str, ...], rows: NDArray[np.int64]) -> tuple[str, ...]:
    """Return some texts, ascending; those that are stored are not made for it."""
    take: Callable[[NDArray[np.int64]], tuple[str, ...]] | None = getattr(column, "take", None)
    return pick(column, rows) if take is None else take(rows)
