"""What the documents themselves say: what contains what, and what follows what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from clew.graph import Edges, Graph


@dataclass(frozen=True)
class Contains:
    """From every container to what it directly contains."""

    kind: ClassVar[str] = "contains"
    corpus_wide: ClassVar[bool] = False

    def on(self, graph: Graph) -> Edges:
        rows = np.flatnonzero(graph.parents >= 0)
        return Edges.of(self.kind, graph.parents[rows], rows)


@dataclass(frozen=True)
class Next:
    """From every piece to the one that follows it in its document."""

    kind: ClassVar[str] = "next"
    corpus_wide: ClassVar[bool] = False

    def on(self, graph: Graph) -> Edges:
        rows = np.flatnonzero(graph.previous >= 0)
        return Edges.of(self.kind, graph.previous[rows], rows)
