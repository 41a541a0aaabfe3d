"""The edges of a graph after a change, made of those before it where their link can.

What nobody has asked for is not made for a change, and edges that a build makes late follow changes
once something asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np

from clew.graph import (
    DeferredEdges,
    Edges,
    Graph,
    LateEdges,
    Mask,
    NodeChange,
    row_mask,
    seal,
)
from clew.graph.filtering import edges_left, node_columns_left
from clew.index.build import checked_edges, edges_by, late_edges, with_parts
from clew.link import Similar
from clew.types import ChangingLink, ExchangingLink, Link

MAX_COMPARED = 0.25
"""The share of the nodes whose edges are found by comparing these with all others; where changes
concern more, to make all anew takes as long."""


def with_edges_after(change: NodeChange, links: Sequence[Link], *, waits: bool = False) -> Graph:
    """Return the graph after a change with its edges, of which some are made when they are wanted.

    Args:
        change: The change.
        links: What makes edges.
        waits: Whether what is left of edges that a build makes late is found late, too, where
            nothing comes.

    Raises:
        TypeError, ValueError: As `edges_by`; or an edge leads nowhere.
    """
    graph, left = (each.unchecked(edges=Edges()) for each in (change.graph, change.left))
    change = replace(
        change,
        left=left if change.takes else change.base,
        graph=graph if change.brings else left,
    )
    edges = change.base.edges.of_kinds(())
    late = _late_kinds(change.base.edges, edges, links)
    waiting = {} if waits else _edges_that_wait(change.base, edges, links)
    parts = list[Edges | LateEdges]()
    for link in links:
        changing = _as_changing(link)
        if link.kind in waiting:
            parts.append(waiting[link.kind].after(change))
        elif link.kind in late:
            parts.append(_made_anew(link, graph))
        elif changing is None:
            parts.append(edges_by(link, graph))
        else:
            own = _of_kind(edges, link.kind)
            parts.append(_followed(changing, change, own, waits=waits))
    return with_parts(graph, parts)


def follow_one_by_one(links: Sequence[Link]) -> bool:
    """Whether edges have to follow what goes before they follow what comes.

    So it is where several links make edges of one kind: each is given those of all.
    """
    kinds = [link.kind for link in links]
    return any(kinds.count(link.kind) > 1 for link in links if _as_changing(link) is not None)


def _followed(
    link: ChangingLink, change: NodeChange, edges: Edges, *, waits: bool
) -> Edges | LateEdges:
    """Return the edges of a link after a change.

    Args:
        link: The link.
        change: The change.
        edges: Its edges before.
        waits: As in `with_edges_after`.
    """
    base, stays = change.base, change.stays
    exchanges = hasattr(link, "exchange")  # to ask the protocol takes longer
    if change.takes:
        left, bereft = edges_left(base, edges, stays), _bereft(link, change, edges)
    elif exchanges:
        left, bereft = edges, np.zeros(len(base), np.bool_)
    else:
        return link.grow(change.graph, edges, len(base))
    nodes = change.left
    if waits and getattr(link, "deferred", False):
        return LateEdges(link.kind, partial(link.shrink, nodes, left, bereft))
    if exchanges:
        return cast("ExchangingLink", link).exchange(change, left, bereft)
    left = link.shrink(nodes, left, bereft)
    return link.grow(change.graph, left, len(nodes)) if change.brings else left


def _bereft(link: ChangingLink, change: NodeChange, edges: Edges) -> Mask:
    """Return which nodes that stay had an edge to one that is gone, or have lost a source.

    Args:
        link: A link.
        change: The change.
        edges: The edges of the link before.
    """
    base, stays = change.base, change.stays
    if getattr(link, "by_sources", False):
        lost: Mask = base.read_from.lengths[stays] != change.left.read_from.lengths
        return lost
    tails = edges.tails[stays[edges.tails] & ~stays[edges.heads]]
    return row_mask(tails, len(base))[stays]


def _made_anew(link: Link, graph: Graph) -> LateEdges:
    """Return the edges of a link that makes all of them anew: of several changes, the last does."""
    return late_edges(link, graph.unchecked(edges=Edges()))


def _late_kinds(all_edges: Edges, edges: Edges, links: Sequence[Link]) -> set[str]:
    """Return the kinds of which no edges follow a change, but all are made late.

    Those are what nobody has asked for, and the edges of links that go by all names.

    Args:
        all_edges: The edges before the change.
        edges: Those of them that are made.
        links: What made them.
    """
    late = {*all_edges.kind_names} - {*edges.kinds.names}
    late |= {link.kind for link in links if not getattr(link, "grows", True)}
    followed = {link.kind for link in links if _follows(link)}
    return late - (followed & {*edges.kinds.names})


@dataclass(frozen=True, eq=False)
class _WaitingEdges:
    """Edges of a link that follow changes once something asks for them, all changes together.

    Attributes:
        link: Makes them of those before.
        edges: Those before the first change; or all edges there, where those of the link might be
            made by the time that these are asked for.
        stays: bool [nodes before the first change], those that are still there. They come first.
        nodes: The graph after the last change, without edges.
        left: That without what came since the first change; None where nobody has it.
    """

    link: ChangingLink
    edges: Edges | DeferredEdges
    stays: Mask
    nodes: Graph
    left: Graph | None = None

    def __call__(self) -> Edges:
        edges, nodes, n_left = self._known(), self.nodes, int(np.count_nonzero(self.stays))
        if edges is None:
            return checked_edges(self.link, nodes)
        bereft, of_bereft = np.zeros(n_left, np.bool_), (edges.tails[:0], edges.weights[:0])
        if n_left < len(self.stays):
            stays = self.stays
            tail_stays, head_stays = stays[edges.tails], stays[edges.heads]
            is_bereft = row_mask(edges.tails[tail_stays & ~head_stays], len(stays))
            number = np.cumsum(stays, dtype=np.int32) - np.int32(1)
            had = np.flatnonzero(is_bereft[edges.tails])
            bereft, of_bereft = is_bereft[stays], (number[edges.tails[had]], edges.weights[had])
            edges = edges.take(np.flatnonzero(tail_stays & head_stays))
            edges = replace(edges, tails=seal(number[edges.tails]), heads=seal(number[edges.heads]))
        n_new = len(nodes) - n_left
        if np.count_nonzero(bereft) + n_new > MAX_COMPARED * len(nodes):
            return checked_edges(self.link, nodes)
        if n_left < len(self.stays):
            if n_new and isinstance(self.link, Similar):
                return self.link.exchange_some(nodes, edges, n_left, *of_bereft)
            left = self.left if n_new else nodes
            if left is None:
                is_left = np.arange(len(nodes)) < n_left
                left = nodes.unchecked(**node_columns_left(nodes, is_left))
            edges = self.link.shrink(left, edges, bereft)
        return self.link.grow(nodes, edges, n_left) if n_new else edges

    def _known(self) -> Edges | None:
        """Return the edges before the first change; None where they are not there, or state facts.

        Such edges go with what states them.
        """
        edges: Edges | None = self.edges
        if isinstance(edges, DeferredEdges):
            edges = edges.made_of(self.link.kind)
        return edges if edges is not None and _are_bare(edges) else None

    def after(self, change: NodeChange) -> LateEdges:
        """Return the edges of the graph after one change more."""
        nodes = change.graph.unchecked(edges=Edges())
        stays, left = self.stays, self.left
        if change.takes:
            stays, before = stays.copy(), np.flatnonzero(stays)
            stays[before] = change.stays[: len(before)]
            is_all = len(change.left) == np.count_nonzero(stays)  # nothing had come before
            left = change.left.unchecked(edges=Edges()) if is_all else None
        make = replace(self, stays=stays, nodes=nodes, left=left)
        return late_edges(self.link, nodes)._replace(make=make)


def _edges_that_wait(base: Graph, edges: Edges, links: Sequence[Link]) -> dict[str, _WaitingEdges]:
    """Return the edges that do not follow a change at once, but late, by their kind.

    Those are the edges that a build makes late, too, where none states a fact or has a source.

    Args:
        base: The graph before the change.
        edges: Those of its edges that are made.
        links: What made them.
    """
    before = base.edges if isinstance(base.edges, DeferredEdges) else None
    late = {} if before is None else before.waiting
    made = {} if before is None else before.made_apart  # as for a save
    waiting = {kind: make for kind, make in late.items() if isinstance(make, _WaitingEdges)}
    kinds = [link.kind for link in links]
    for link in links:
        changing = _as_changing(link) if getattr(link, "deferred", False) else None
        is_one = kinds.count(link.kind) == 1 and link.kind not in waiting
        if changing is None or not is_one or not _follows(link):
            continue
        own: Edges | None = made.get(link.kind)
        if link.kind in late:
            own = before  # another thread may make them until then
        elif own is None:
            own = _of_kind(edges, link.kind)
        if own is not None and (own is before or (len(own) and _are_bare(own))):
            stays = np.ones(len(base), np.bool_)
            waiting[link.kind] = _WaitingEdges(changing, own, stays, base)
    return waiting


def _are_bare(edges: Edges) -> bool:
    """Whether no edge states a fact or has a source."""
    return bool((edges.facts < 0).all()) and not len(edges.read_from.values)


def _of_kind(edges: Edges, kind: str) -> Edges:
    return edges.take(np.flatnonzero(edges.kinds.mask(kind)))


def _follows(link: Link) -> bool:
    """Whether a link makes its edges after a change of those before."""
    return _as_changing(link) is not None and getattr(link, "grows", True)


def _as_changing(link: Link) -> ChangingLink | None:
    """Return a link that makes its edges of those before; asking the protocol takes longer."""
    changes = hasattr(link, "grow") and hasattr(link, "shrink")
    return cast("ChangingLink", link) if changes else None
