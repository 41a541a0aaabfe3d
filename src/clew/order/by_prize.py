"""Best first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.algorithms.ranking import top_k
from clew.graph import Floats, Graph, Rows
from clew.types import Query, Reading, Subgraph


@dataclass(frozen=True)
class ByPrize:
    """The content by falling prize, after the facts that the chosen edges state."""

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        def read(query: Query, prizes: Floats, chosen: Subgraph) -> Reading:
            return Reading.of(ranked(content_of(graph, chosen), prizes), facts_of(graph, chosen))

        return read


def content_of(graph: Graph, chosen: Subgraph) -> Rows:
    """Return the chosen nodes that are read, by row, so that ties go to the lower one; connectors are passed through."""
    return np.sort(chosen.nodes[graph.content[chosen.nodes]])


def ranked(rows: Rows, prizes: Floats) -> Rows:
    """Return some rows (ascending) by falling prize; equal prizes, as those of all nodes tell, go by the lower row."""
    found: Rows = rows[top_k(prizes[rows], largest=float(np.abs(prizes).max(initial=0)))]
    return found


def facts_of(graph: Graph, chosen: Subgraph) -> Rows:
    """Return the facts that the chosen edges state, each once, in the edges' order."""
    facts = graph.edges.facts[chosen.edges] if len(chosen.edges) else chosen.edges
    return np.array(list(dict.fromkeys(facts[facts >= 0].tolist())), np.int32)
