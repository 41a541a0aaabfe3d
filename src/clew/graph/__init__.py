"""The graph, and what travels through the stages over it."""

from clew.graph.adjacency import Adjacency, Kinds, Links, kinds_without
from clew.graph.columns import EMPTY, Floats, Labels, Mask, Ragged, Rows, Vectors, freeze
from clew.graph.core import CONNECTORS, Graph, Part
from clew.graph.edges import Edges, Facts
from clew.graph.generated import Generated, Overlay, add_generated, overlaid
from clew.graph.headings import canonical_text, heading_of, text_with_heading

__all__ = [
    "CONNECTORS",
    "EMPTY",
    "Adjacency",
    "Edges",
    "Facts",
    "Floats",
    "Generated",
    "Graph",
    "Kinds",
    "Labels",
    "Links",
    "Mask",
    "Overlay",
    "Part",
    "Ragged",
    "Rows",
    "Vectors",
    "add_generated",
    "canonical_text",
    "freeze",
    "heading_of",
    "kinds_without",
    "overlaid",
    "text_with_heading",
]
