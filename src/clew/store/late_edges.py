"""Edges that a change leaves out, since a link of clew's own makes all of them anew after a change.

Names that are alike by their words are such: with one more name all weights change. Who loads the
change has a link make them, of the names, when something asks for them. A generation that is
written whole has them as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import TypeVar, cast

import numpy as np

from clew.graph import DeferredEdges, Edges, Graph, GraphColumns, LateEdges
from clew.link import Synonym
from clew.store.saved_index import SavedIndex
from clew.store.tables import Arrays, ColumnReader, ColumnWriter

Columns = TypeVar("Columns", bound=GraphColumns)

LATE_KINDS, LATE_PLACES = "edges.late", "edges.late.places"


def late_kinds(index: SavedIndex) -> frozenset[str]:
    """Return the kinds of edges that a change to an index may leave out.

    A link of the caller's, or one that looks at names by a function of the caller's, might not make
    the same edges again, nor does one after which something was learnt of questions.
    """
    edges = index.graph.edges
    if not isinstance(edges, DeferredEdges) or index.strengths or index.graph.canonical is not None:
        return frozenset()
    links = _links_by_kind(index.config)
    return frozenset(kind for kind in edges.late_kinds if kind in links)


def _links_by_kind(config: Mapping[str, object]) -> dict[str, Synonym]:
    """Return the links that make all their edges anew, where no other link makes such edges."""
    links = cast("Sequence[object]", config.get("links", ()))
    kinds = [getattr(link, "kind", None) for link in links]
    return {
        link.kind: link
        for link in links
        if type(link) is Synonym and not link.grows and kinds.count(link.kind) == 1
    }


def without_late_edges(
    graph: Columns, kinds: frozenset[str]
) -> tuple[GraphColumns, dict[str, int]]:
    """Return the columns of a graph without edges of some kinds, and where those belong.

    Args:
        graph: The graph, of which nothing is made for this.
        kinds: What `late_kinds` returned for it, or for one that came of it.
    """
    edges, places = graph.edges, dict[str, int]()
    if isinstance(edges, DeferredEdges) and kinds <= {*edges.late_kinds}:
        edges, places = edges.apart_from(kinds)
    elif not kinds.isdisjoint(edges.kinds.names):
        edges = edges.take(np.flatnonzero(~edges.kinds.mask(*kinds)))
    columns = {each.name: getattr(graph, each.name) for each in fields(GraphColumns)}
    return GraphColumns(**columns | {"edges": edges}), places


def write_late_edges(writer: ColumnWriter, places: Mapping[str, int]) -> None:
    """Write which edges are left out, and before which row of the others they belong."""
    if places:
        writer.texts(LATE_KINDS, places)
        writer.numbers(LATE_PLACES, [*places.values()], np.int64)


def read_late_edges(reader: ColumnReader, arrays: Arrays) -> dict[str, int]:
    """Return what `write_late_edges` has written."""
    if LATE_PLACES not in arrays:
        return {}
    places = reader.numbers(LATE_PLACES).tolist()
    return dict(zip(reader.texts(LATE_KINDS), places, strict=True))


def with_late_edges(
    graph: Graph, places: Mapping[str, int], config: Mapping[str, object] | None
) -> Graph:
    """Return a graph whose other edges are made when something asks for them.

    Args:
        graph: The graph.
        places: What `read_late_edges` returned.
        config: What the index is made with; None where nobody will ask for them.

    Raises:
        ValueError: No link makes such edges, or they belong nowhere.
    """
    if not places or config is None:
        return graph
    links, nodes, edges = _links_by_kind(config), graph.unchecked(edges=Edges()), graph.edges
    if unknown := sorted(places.keys() - links.keys()):
        raise ValueError(f"no link makes the edges of kind {unknown[0]!r} that a change leaves out")
    bounds = [0, *places.values(), len(edges)]
    if bounds != sorted(bounds):
        raise ValueError(f"{LATE_PLACES} are not among the {len(edges)} edges that there are")
    parts: list[Edges | LateEdges] = [edges.take(np.arange(*bounds[:2]))]
    for i, kind in enumerate(places, 1):
        link = links[kind]
        parts.append(LateEdges(kind, partial(link.on, nodes), partial(link.among, nodes)))
        parts.append(edges.take(np.arange(bounds[i], bounds[i + 1])))
    return graph.unchecked(edges=DeferredEdges(parts))
