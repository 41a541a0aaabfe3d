"""What a passage stands under: the titles of the containers around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.graph.core import CONNECTORS

if TYPE_CHECKING:
    from clew.graph.core import Graph


def titles_of(graph: Graph, node: int) -> list[str]:
    """Return the titles of the containers around a node, outermost first; equal ones once, empty ones not at all.

    The passage around a sentence is no title.
    """
    titles: list[str] = []
    above = int(graph.parents[node])
    while above >= 0:
        if graph.kinds[above] in CONNECTORS:
            titles.append(" ".join(graph.texts[above].split()))
        above = int(graph.parents[above])
    return [title for title in dict.fromkeys(reversed(titles)) if title]


def heading_of(graph: Graph, node: int) -> str:
    """Return the line that a node is read under: its containers' titles, or its metadata's `title` where it stands alone."""
    alone = " ".join(str(graph.metadata[node].get("title") or "").split())
    return " > ".join(titles_of(graph, node) or ([alone] if alone else []))


def headed(graph: Graph, node: int) -> str:
    """Return the text by which a node is found: under its containers' titles, since a piece seldom repeats what it is about."""
    titles = titles_of(graph, node)
    return "\n".join([" > ".join(titles), graph.texts[node]]) if titles else graph.texts[node]
