"""The graph, and what travels through the stages over it."""

from clew.graph.columns import Floats, Labels, Mask, Ragged, Rows, Vectors, frozen
from clew.graph.core import CONNECTORS, Graph, Part
from clew.graph.count import count_words, measured
from clew.graph.edges import Edges, Facts
from clew.graph.headings import headed, heading_of, matched
from clew.graph.links import Adjacency, Links
from clew.graph.prizes import Prizes
from clew.graph.travel import NOTHING, UNLIMITED, Query, Reading, Seeds, Subgraph
from clew.graph.written import Written, extended

__all__ = [
    "CONNECTORS",
    "NOTHING",
    "UNLIMITED",
    "Adjacency",
    "Edges",
    "Facts",
    "Floats",
    "Graph",
    "Labels",
    "Links",
    "Mask",
    "Part",
    "Prizes",
    "Query",
    "Ragged",
    "Reading",
    "Rows",
    "Seeds",
    "Subgraph",
    "Vectors",
    "Written",
    "count_words",
    "extended",
    "frozen",
    "headed",
    "heading_of",
    "matched",
    "measured",
]
