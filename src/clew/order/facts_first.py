"""What the subgraph's edges say, then the passages that bear it out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clew.graph import Floats, Graph
from clew.order.by_prize import content_of, facts_of, ranked
from clew.types import Query, Reading, Subgraph


@dataclass(frozen=True)
class FactsFirst:
    """Facts in the order of the chosen edges, each once, then passages by falling prize.

    A question with a limit counts passages, and gets only these: a fact is said by its passage.

    Attributes:
        repeat: say a fact also where a passage that it was read from is read.
    """

    repeat: bool = True

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        def read(query: Query, prizes: Floats, chosen: Subgraph) -> Reading:
            rows = content_of(graph, chosen)
            facts = facts_of(graph, chosen).tolist() if query.limit is None else []
            read_too = set() if self.repeat else set(rows.tolist())
            said = [
                fact for fact in facts if read_too.isdisjoint(graph.facts.read_from[fact].tolist())
            ]
            return Reading.of(ranked(rows, prizes), said)

        return read
