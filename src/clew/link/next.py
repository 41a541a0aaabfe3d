"""Passages and the passages that follow them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from clew.graph import Edges, Graph


@dataclass(frozen=True)
class Next:
    """From every node to the one that follows it in its document.

    Example:
        >>> edges = Next().on(Graph.of(["one", "two"], previous=[-1, 0]))
        >>> edges.tails, edges.heads
        (array([0], dtype=int32), array([1], dtype=int32))
    """

    kind: ClassVar[str] = "next"
    corpus_wide: ClassVar[bool] = False

    def on(self, graph: Graph) -> Edges:
        rows = np.flatnonzero(graph.previous >= 0)
        return Edges.of(self.kind, graph.previous[rows], rows)
