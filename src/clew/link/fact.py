"""Entities that a fact joins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from clew.graph import Edges, Graph, Ragged, freeze, offsets_of


@dataclass(frozen=True)
class Fact:
    """From the subject of every fact to its object.

    A fact has one edge for every passage that it was read from, so that a repeated fact counts
    repeatedly, and one edge if it was read from none.

    Example:
        >>> edges = Fact().on(Graph.from_triples([("Anna", "knows", "Ben")]))
        >>> edges.tails, edges.heads, edges.facts
        (array([0], dtype=int32), array([1], dtype=int32), array([0], dtype=int32))
    """

    kind: ClassVar[str] = "fact"
    corpus_wide: ClassVar[bool] = False

    def on(self, graph: Graph) -> Edges:
        facts = graph.facts
        passages = facts.read_from.lengths
        edges_of_fact = np.maximum(passages, 1)
        rows = np.repeat(np.arange(len(facts)), edges_of_fact)
        passages_of_edge = np.repeat(np.minimum(passages, 1), edges_of_fact)
        read_from = Ragged(freeze(offsets_of(passages_of_edge), np.int64), facts.read_from.values)
        return Edges.of(
            self.kind, facts.subjects[rows], facts.objects[rows], facts=rows, read_from=read_from
        )
