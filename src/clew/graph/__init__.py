"""The graph: nodes, facts and edges in columns, and what is computed once per graph."""

from typing import TYPE_CHECKING

from clew.on_demand import load_on_demand

if TYPE_CHECKING:
    from clew.graph.adjacency import Adjacency, Kinds, Links, kinds_without, names_of
    from clew.graph.bare_segment import (
        BareSegment,
        bare_rows,
        runs_of,
        with_bare_rows,
        with_bare_runs,
    )
    from clew.graph.columns import (
        EMPTY,
        Floats,
        Labels,
        Mask,
        Ragged,
        Rows,
        Vectors,
        are_consecutive,
        distinct,
        expand_ranges,
        first_places,
        freeze,
        in_blocks,
        offsets_of,
        release_pages,
        row_blocks,
        row_mask,
        seal,
        unit_rows,
    )
    from clew.graph.copied_at_once import CopiedAtOnce
    from clew.graph.core import CONNECTORS, GraphColumns
    from clew.graph.deferred_edges import DeferredEdges, LateEdges, LateLists
    from clew.graph.deferred_vectors import DeferredSegment
    from clew.graph.edges import Edges, Facts
    from clew.graph.free_memory import release_free_memory
    from clew.graph.generated import (
        ExtendablePart,
        Generated,
        Overlay,
        add_generated,
        overlay_generated,
    )
    from clew.graph.graph import Graph, Part, SearchableTexts
    from clew.graph.growth import (
        GrowingPart,
        NodeChange,
        ShrinkingPart,
        carry_grown_parts,
        carry_shrunk_parts,
        with_nodes,
    )
    from clew.graph.headings import (
        canonical_text,
        heading_of,
        text_with_heading,
        texts_at,
        texts_with_headings,
        titles_of,
        titles_of_all,
    )
    from clew.graph.known_headings import KnownHeadingsPart, known_heading_of
    from clew.graph.long_tuples import common_length, places_among
    from clew.graph.mentioned import MentionedEntitiesPart
    from clew.graph.sources import Sources, SourcesPart
    from clew.graph.temporary_vectors import in_temporary_file
    from clew.graph.vector_column import (
        AnyVectors,
        DenseSegment,
        VectorColumn,
        VectorSegment,
        has_vector,
        products,
        row_addresses,
        take_vectors,
        vectors_of,
        with_rows,
    )
else:
    __getattr__, __dir__ = load_on_demand(
        __name__,
        {
            "adjacency": "Adjacency Kinds Links kinds_without names_of",
            "bare_segment": "BareSegment bare_rows runs_of with_bare_rows with_bare_runs",
            "columns": (
                "EMPTY Floats Labels Mask Ragged Rows Vectors are_consecutive distinct "
                "expand_ranges first_places freeze in_blocks offsets_of release_pages row_blocks "
                "row_mask seal unit_rows"
            ),
            "copied_at_once": "CopiedAtOnce",
            "core": "CONNECTORS GraphColumns",
            "deferred_edges": "DeferredEdges LateEdges LateLists",
            "deferred_vectors": "DeferredSegment",
            "edges": "Edges Facts",
            "free_memory": "release_free_memory",
            "generated": "ExtendablePart Generated Overlay add_generated overlay_generated",
            "graph": "Graph Part SearchableTexts",
            "growth": (
                "GrowingPart NodeChange ShrinkingPart carry_grown_parts carry_shrunk_parts "
                "with_nodes"
            ),
            "headings": (
                "canonical_text heading_of text_with_heading texts_at texts_with_headings "
                "titles_of titles_of_all"
            ),
            "known_headings": "KnownHeadingsPart known_heading_of",
            "long_tuples": "common_length places_among",
            "mentioned": "MentionedEntitiesPart",
            "sources": "Sources SourcesPart",
            "temporary_vectors": "in_temporary_file",
            "vector_column": (
                "AnyVectors DenseSegment VectorColumn VectorSegment has_vector products "
                "row_addresses take_vectors vectors_of with_rows"
            ),
        },
    )

__all__ = [
    "CONNECTORS",
    "EMPTY",
    "Adjacency",
    "AnyVectors",
    "BareSegment",
    "CopiedAtOnce",
    "DeferredEdges",
    "DeferredSegment",
    "DenseSegment",
    "Edges",
    "ExtendablePart",
    "Facts",
    "Floats",
    "Generated",
    "Graph",
    "GraphColumns",
    "GrowingPart",
    "Kinds",
    "KnownHeadingsPart",
    "Labels",
    "LateEdges",
    "LateLists",
    "Links",
    "Mask",
    "MentionedEntitiesPart",
    "NodeChange",
    "Overlay",
    "Part",
    "Ragged",
    "Rows",
    "SearchableTexts",
    "ShrinkingPart",
    "Sources",
    "SourcesPart",
    "VectorColumn",
    "VectorSegment",
    "Vectors",
    "add_generated",
    "are_consecutive",
    "bare_rows",
    "canonical_text",
    "carry_grown_parts",
    "carry_shrunk_parts",
    "common_length",
    "distinct",
    "expand_ranges",
    "first_places",
    "freeze",
    "has_vector",
    "heading_of",
    "in_blocks",
    "in_temporary_file",
    "kinds_without",
    "known_heading_of",
    "names_of",
    "offsets_of",
    "overlay_generated",
    "places_among",
    "products",
    "release_free_memory",
    "release_pages",
    "row_addresses",
    "row_blocks",
    "row_mask",
    "runs_of",
    "seal",
    "take_vectors",
    "text_with_heading",
    "texts_at",
    "texts_with_headings",
    "titles_of",
    "titles_of_all",
    "unit_rows",
    "vectors_of",
    "with_bare_rows",
    "with_bare_runs",
    "with_nodes",
    "with_rows",
]
