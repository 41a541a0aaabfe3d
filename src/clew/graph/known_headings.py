"""The headings of containers that were asked for last.

A page that is fitted to its budget is tried many times, and what it leaves out is named with its
headings: most of these passages stand in a few sections.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.graph.headings import heading_of, titles_of
from clew.text.kept import Kept

if TYPE_CHECKING:
    from clew.graph.graph import Graph

MAX_KEPT = 4096  # containers


@dataclass(frozen=True)
class KnownHeadingsPart:
    """The part that keeps the headings of what stands directly in a container, by its row."""

    def compute(self, graph: Graph) -> Kept[int, str]:
        return Kept(MAX_KEPT)


def known_heading_of(graph: Graph, node: int) -> str:
    """Return what `heading_of` returns; that of a container is put together once.

    Example:
        >>> from clew.graph import Graph
        >>> graph = Graph.of(["Moon", "Dry."], kinds=["document", "passage"], parents=[-1, 0])
        >>> known_heading_of(graph, 1)
        'Moon'
    """
    container = graph.parents.item(node)
    if container < 0:
        return heading_of(graph, node)
    known = graph.part(KnownHeadingsPart())
    heading = known.get(container)
    if heading is None:
        heading = known.put(container, " > ".join(titles_of(graph, node)))
    return heading or heading_of(graph, node)  # without titles it is the node's own
