"""Searches outward from start rows: breadth first (Moore 1959) and best first (Pearl 1984)."""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.algorithms.traversal.best_first import TypedLinks, TypedLinksPart, search_best_first
    from clew.algorithms.traversal.breadth_first import search_breadth_first, shortest_paths
    from clew.algorithms.traversal.reached import TraversalResult, induced_links
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "best_first": "TypedLinks TypedLinksPart search_best_first",
            "breadth_first": "search_breadth_first shortest_paths",
            "reached": "TraversalResult induced_links",
        },
    )

__all__ = [
    "TraversalResult",
    "TypedLinks",
    "TypedLinksPart",
    "induced_links",
    "search_best_first",
    "search_breadth_first",
    "shortest_paths",
]
