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


def text_with_heading(graph: Graph, node: int) -> str:
    """Return the text by which a node is found: under its containers' titles, since a piece seldom repeats what it is about."""
    titles = titles_of(graph, node)
    return canonical_text(
        graph, "\n".join([" > ".join(titles), graph.texts[node]]) if titles else graph.texts[node]
    )


def canonical_text(graph: Graph, text: str) -> str:
    """Return the canonical form of a text, by which it is found or finds; the text itself where the graph has none or nothing is left.

    Raises:
        TypeError: the graph's `canonical` returned something else than a text.
    """
    if graph.canonical is None:
        return text
    found = graph.canonical(text)
    if not isinstance(found, str):
        raise TypeError(
            f"canonical is a function text -> text; for {text[:40]!r} it returned a {type(found).__name__}"
        )
    return found if found.strip() else text
