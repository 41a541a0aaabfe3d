"""What is said in the passages: the entities they mention, and the facts that join these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from clew.graph import Edges, Graph, Ragged, freeze


@dataclass(frozen=True)
class Mentions:
    """From every passage to the entities read from it."""

    kind: ClassVar[str] = "mentions"
    corpus_wide: ClassVar[bool] = False

    def on(self, graph: Graph) -> Edges:
        entity = graph.kinds.mask("entity")
        owners, passages = graph.read_from.owners, graph.read_from.values
        of_entity = entity[owners] if len(owners) else np.zeros(0, np.bool_)
        tails = passages[of_entity]
        read_from = Ragged(freeze(np.arange(len(tails) + 1), np.int64), freeze(tails, np.int32))
        return Edges.of(self.kind, tails, owners[of_entity], read_from=read_from)


@dataclass(frozen=True)
class Fact:
    """From subject to object, one edge for every passage that a fact was read from, so that what is said twice counts twice."""

    kind: ClassVar[str] = "fact"
    corpus_wide: ClassVar[bool] = False

    def on(self, graph: Graph) -> Edges:
        facts = graph.facts
        times = np.maximum(facts.read_from.lengths, 1)
        row = np.repeat(np.arange(len(facts)), times)
        one = np.repeat(np.minimum(facts.read_from.lengths, 1), times)
        starts = np.zeros(len(row) + 1, np.int64)
        np.cumsum(one, out=starts[1:])
        read_from = Ragged(freeze(starts, np.int64), facts.read_from.values)
        return Edges.of(
            self.kind, facts.subjects[row], facts.objects[row], facts=row, read_from=read_from
        )
