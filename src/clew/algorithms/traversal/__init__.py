"""Searches outward from start rows: breadth first (Moore 1959) and best first (Pearl 1984)."""

from clew.algorithms.traversal.best_first import TypedLinks, TypedLinksPart, best_first
from clew.algorithms.traversal.breadth_first import breadth_first, shortest_paths
from clew.algorithms.traversal.reached import Reached, induced_links

__all__ = [
    "Reached",
    "TypedLinks",
    "TypedLinksPart",
    "best_first",
    "breadth_first",
    "induced_links",
    "shortest_paths",
]
