"""What the subgraph's edges state, then the passages that support it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clew.graph import Floats, Graph
from clew.order._shared import content_by_prize, stated_facts
from clew.types import Query, Reading, Subgraph


@dataclass(frozen=True)
class FactsFirst:
    """Read the facts in the order of the edges, each once, then the content by falling prize.

    A question with a limit counts passages, and gets only these: a passage states its facts.

    Attributes:
        repeat: read a fact also where a passage that it was read from is read.

    Example:
        >>> import clew
        >>> documents = [clew.Document("ben", "Ben lives on Corfu."), "Cats sleep."]
        >>> facts = {"ben": [("Ben", "lives on", "Corfu")]}
        >>> index = clew.Index.from_documents(documents, facts=facts)
        >>> context = index.ask("Where does Ben live?", recipe="agrag")
        >>> [item.text for item in context][:2]
        ['Ben lives on Corfu', 'Ben lives on Corfu.']
    """

    repeat: bool = True

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]:
        read_from, by_prize = graph.facts.read_from, content_by_prize(graph)

        def arrange(query: Query, prizes: Floats, subgraph: Subgraph) -> Reading:
            content = by_prize(subgraph, prizes)
            if query.limit is not None:
                return Reading.of(content)
            facts = stated_facts(graph, subgraph).tolist()
            if not self.repeat:
                read = set(content.tolist())
                facts = [fact for fact in facts if read.isdisjoint(read_from[fact].tolist())]
            return Reading.of(content, facts)

        return arrange
