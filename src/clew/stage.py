"""The kinds of stage. Each is a frozen dataclass whose fields are its parameters; `on(graph)` binds it and returns a plain function.

documents -link-> graph; question -seed-> seeds -spread-> prizes -select-> subgraph -order-> reading -render-> context
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from clew.graph import Edges, Floats, Graph, Prizes, Query, Reading, Seeds, Subgraph, Written

if TYPE_CHECKING:
    from clew.context import Context


class Link(Protocol):
    """What is connected to what?  nodes -> edges, once, when the graph is built.

    `corpus_wide` says whether the edge between two nodes depends on other nodes too (nearest neighbours, rarity), so that it must be
    made again when nodes come or go.
    """

    @property
    def corpus_wide(self) -> bool: ...
    def on(self, graph: Graph) -> Edges: ...


class Write(Protocol):
    """What can be made of what the graph holds?  passages -> texts that are kept in it, once, after it is linked.

    One that asks a language model has it as its `model`; where that is None, it has a way without.
    """

    def on(self, graph: Graph) -> Written: ...


class Seed(Protocol):
    """Where does the question touch the graph?"""

    def on(self, graph: Graph) -> Callable[[Query], Seeds]: ...


class Spread(Protocol):
    """What else is worth reading, given the links?  prizes -> prizes; `Prizes` where there is something to say of them in the trace."""

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats], Floats | Prizes]: ...


class Select(Protocol):
    """Which part of the graph is worth the budget?  prizes, candidates, budget -> subgraph"""

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]: ...


class Order(Protocol):
    """In what order should it be read?  subgraph -> reading"""

    def on(self, graph: Graph) -> Callable[[Query, Floats, Subgraph], Reading]: ...


class Method(Protocol):
    """Anything that can be asked: question, budget in tokens -> context. A pipeline is one."""

    def on(self, graph: Graph) -> Callable[[Query, int], Context]: ...


@dataclass(frozen=True)
class Bound:
    """The part that is a method bound to a graph."""

    method: Method

    def of(self, graph: Graph) -> Callable[[Query, int], Context]:
        return self.method.on(graph)
