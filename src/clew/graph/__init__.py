"""The graph, and what travels through the stages over it."""

from clew.graph.adjacency import Adjacency, Kinds, Links, kinds_without
from clew.graph.columns import EMPTY, Floats, Labels, Mask, Ragged, Rows, Vectors, freeze
from clew.graph.core import CONNECTORS, Graph, Part
from clew.graph.edges import Edges, Facts
from clew.graph.generated import Generated, add_generated
from clew.graph.headings import canonical_text, heading_of, text_with_heading

__all__ = [
    "CONNECTORS",
    "EMPTY",
    "Adjacency",
    "Edges",
    "Facts",
    "Floats",
    "Graph",
    "Kinds",
    "Labels",
    "Links",
    "Mask",
    "Part",
    "Ragged",
    "Rows",
    "Vectors",
    "Generated",
    "add_generated",
    "freeze",
    "text_with_heading",
    "heading_of",
    "kinds_without",
    "canonical_text",
]
