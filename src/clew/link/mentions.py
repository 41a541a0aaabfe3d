"""Passages and the entities that they mention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from clew.graph import Edges, Graph, Ragged, freeze


@dataclass(frozen=True)
class Mentions:
    """From every passage to each entity that was read from it.

    Example:
        >>> graph = Graph.of(
        ...     ["Anna left.", "Anna"],
        ...     kinds=["passage", "entity"],
        ...     read_from=Ragged.of([[], [0]]),
        ... )
        >>> edges = Mentions().on(graph)
        >>> edges.tails, edges.heads
        (array([0], dtype=int32), array([1], dtype=int32))
    """

    kind: ClassVar[str] = "mentions"
    corpus_wide: ClassVar[bool] = False

    def on(self, graph: Graph) -> Edges:
        is_entity = graph.kinds.mask("entity")
        owners, passages = graph.read_from.owners, graph.read_from.values
        of_entity = is_entity[owners] if len(owners) else np.zeros(0, np.bool_)
        tails = passages[of_entity]
        read_from = Ragged(freeze(np.arange(len(tails) + 1), np.int64), freeze(tails, np.int32))
        return Edges.of(self.kind, tails, owners[of_entity], read_from=read_from)
