"""What an item is joined to in its context: other items, and names that lead to further ones."""

from __future__ import annotations

from dataclasses import dataclass

from clew.show.drawable import Drawable
from clew.show.network import PathEdge, path_edges
from clew.show.wording import link_in_words

QUESTION = "\0question"  # no document has this id


@dataclass(frozen=True)
class Neighbour:
    """A node that an item is joined to.

    Attributes:
        id: Its id.
        words: What joins them, read from the item.
        beyond: The numbers of the other items that it is joined to, where it is no item itself.
    """

    id: str
    words: str
    beyond: tuple[int, ...] = ()


def neighbours_of(context: Drawable) -> dict[str, list[Neighbour]]:
    """Return the neighbours of each item, by its id: what it shares most links with comes first.

    Args:
        context: Its edges and the paths of its items are followed; the question is no neighbour.
    """
    words: dict[str, dict[str, dict[str, float]]] = {}
    edges = [edge for item in context for edge in path_edges(item, QUESTION)]
    edges += [
        PathEdge(edge.tail, edge.head, edge.kind, edge.text, edge.weight) for edge in context.edges
    ]
    for tail, head, kind, text, weight, forward in edges:
        for one, other, along in ((tail, head, forward), (head, tail, not forward)):
            link = link_in_words(kind, text, weight, forward=along)
            words.setdefault(one, {}).setdefault(other, {}).setdefault(link, weight)
    rank_of = {item.id: rank for rank, item in enumerate(context, 1)}
    found: dict[str, list[Neighbour]] = {}
    for id in rank_of:
        others = {
            other: links
            for other, links in words.get(id, {}).items()
            if other not in (id, QUESTION)
        }
        ordered = sorted(others, key=lambda other: (-sum(others[other].values()), other))
        found[id] = [
            Neighbour(other, "; ".join(others[other]), _beyond(words, rank_of, other, id))
            for other in ordered
        ]
    return found


def _beyond(
    words: dict[str, dict[str, dict[str, float]]], rank_of: dict[str, int], other: str, id: str
) -> tuple[int, ...]:
    if other in rank_of:
        return ()
    return tuple(sorted(rank_of[end] for end in words[other] if end in rank_of and end != id))
