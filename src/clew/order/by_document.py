"""As the documents have it: the best document first, each one's pieces in their own order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.ranking import levels
from clew.graph import Floats, Graph
from clew.order.by_prize import content_of, facts_of
from clew.types import Query, Reading, Subgraph


@dataclass(frozen=True)
class ByDocument:
    """Documents by the prize of their best piece, pieces by their place; facts first."""

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        def read(query: Query, prizes: Floats, chosen: Subgraph) -> Reading:
            rows = content_of(graph, chosen)
            documents = np.where(graph.documents[rows] >= 0, graph.documents[rows], rows)
            first = np.full(len(graph), len(rows))  # of a document, the level of its best piece
            np.minimum.at(first, documents, levels(prizes[rows]))
            order = np.lexsort((rows, graph.spans[rows, 0], documents, first[documents]))
            return Reading.of(rows[order], facts_of(graph, chosen))

        return read
