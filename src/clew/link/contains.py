"""Containers and their contents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from clew.graph import Edges, Graph


@dataclass(frozen=True)
class Contains:
    """From every container to each node that is directly in it.

    Example:
        >>> graph = Graph.of(["Moon", "It is dry."], kinds=["document", "passage"], parents=[-1, 0])
        >>> edges = Contains().on(graph)
        >>> edges.tails, edges.heads
        (array([0], dtype=int32), array([1], dtype=int32))
    """

    kind: ClassVar[str] = "contains"
    corpus_wide: ClassVar[bool] = False

    def on(self, graph: Graph) -> Edges:
        rows = np.flatnonzero(graph.parents >= 0)
        return Edges.of(self.kind, graph.parents[rows], rows)
