"""As the documents have it: the best document first, the pieces of each in their own order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.ranking import dense_ranks
from clew.graph import Floats, Graph
from clew.order._shared import content_rows, stated_facts
from clew.types import Query, Reading, Subgraph


@dataclass(frozen=True)
class ByDocument:
    """Read documents by the prize of their best piece, and pieces by their place; facts first.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Subgraph
        >>> graph = Graph.of(["b", "a", "c"], documents=[0, 0, 2], spans=[(5, 9), (0, 4), (0, 4)])
        >>> order = ByDocument().on(graph)
        >>> prizes = np.array([0.9, 0.1, 0.5])
        >>> order(Query("?"), prizes, Subgraph(np.arange(3))).nodes.tolist()
        [1, 0, 2]
    """

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        def arrange(query: Query, prizes: Floats, subgraph: Subgraph) -> Reading:
            rows = content_rows(graph, subgraph)
            documents = np.where(graph.documents[rows] >= 0, graph.documents[rows], rows)
            best_level = np.full(len(graph), len(rows))
            np.minimum.at(best_level, documents, dense_ranks(prizes[rows]))
            order = np.lexsort((rows, graph.spans[rows, 0], documents, best_level[documents]))
            return Reading.of(rows[order], stated_facts(graph, subgraph))

        return arrange
