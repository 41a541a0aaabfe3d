"""The graph: nodes, facts and edges in columns, and what is computed once per graph."""

from clew.graph.adjacency import Adjacency, Kinds, Links, kinds_without
from clew.graph.columns import (
    EMPTY,
    Floats,
    Labels,
    Mask,
    Ragged,
    Rows,
    Vectors,
    expand_ranges,
    freeze,
    in_blocks,
    offsets_of,
    release_pages,
    row_mask,
    seal,
    unit_rows,
    vectors_of,
)
from clew.graph.core import CONNECTORS, GraphColumns
from clew.graph.edges import Edges, Facts
from clew.graph.generated import (
    ExtendablePart,
    Generated,
    Overlay,
    add_generated,
    overlay_generated,
)
from clew.graph.graph import Graph, Part
from clew.graph.growth import (
    GrowingPart,
    ShrinkingPart,
    carry_grown_parts,
    carry_shrunk_parts,
    with_nodes,
)
from clew.graph.headings import (
    canonical_text,
    heading_of,
    text_with_heading,
    texts_with_headings,
    titles_of,
    titles_of_all,
)
from clew.graph.mentioned import MentionedEntitiesPart
from clew.graph.sources import Sources, SourcesPart

__all__ = [
    "CONNECTORS",
    "EMPTY",
    "Adjacency",
    "Edges",
    "ExtendablePart",
    "Facts",
    "Floats",
    "Generated",
    "Graph",
    "GraphColumns",
    "GrowingPart",
    "Kinds",
    "Labels",
    "Links",
    "Mask",
    "MentionedEntitiesPart",
    "Overlay",
    "Part",
    "Ragged",
    "Rows",
    "ShrinkingPart",
    "Sources",
    "SourcesPart",
    "Vectors",
    "add_generated",
    "canonical_text",
    "carry_grown_parts",
    "carry_shrunk_parts",
    "expand_ranges",
    "freeze",
    "heading_of",
    "in_blocks",
    "kinds_without",
    "offsets_of",
    "overlay_generated",
    "release_pages",
    "row_mask",
    "seal",
    "text_with_heading",
    "texts_with_headings",
    "titles_of",
    "titles_of_all",
    "unit_rows",
    "vectors_of",
    "with_nodes",
]
