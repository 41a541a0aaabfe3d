"""Two layers of DA-RAG's index as edges of the graph: chunks that a relation joins, and entities that are alike.

The recipe `da_rag` makes both by itself where a graph has neither; as edges they are saved with the index, and others may follow them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from clew.algorithms.layers import alike_edges, related_edges
from clew.graph import Edges, Graph


@dataclass(frozen=True)
class Related:
    """Between passages where a fact joins what is mentioned in the one to what is mentioned in the other.

    Attributes:
        hub_cap: entities in more passages join none. min_support: so many different facts must join two passages; the weight of s is
            s / (s + 1). shared: an entity that both mention joins them too.
    """

    hub_cap: int = 50
    min_support: int = 1
    shared: bool = False

    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        return related_edges(graph, self.hub_cap, self.min_support, self.shared)


@dataclass(frozen=True)
class Alike:
    """From each entity to the `k` others whose names are nearest by cosine, however far; the weight is the cosine."""

    k: int = 5

    corpus_wide: ClassVar[bool] = True

    def on(self, graph: Graph) -> Edges:
        return alike_edges(graph, self.k)
