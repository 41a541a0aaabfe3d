"""Ways to come from where a question touches the graph to what lies around: in waves, or the most promising first.

Both are values for `Nearby`, which says where they start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clew.algorithms.traversal.best_first import TypedLinksPart, best_first
from clew.algorithms.traversal.breadth_first import breadth_first
from clew.algorithms.traversal.reached import Reached
from clew.graph import Graph, Rows, kinds_without
from clew.types import Query

Reach = Callable[[Query, Rows], Reached]
Intent = Callable[[Query, tuple[str, ...]], tuple[Mapping[str, float], Mapping[str, Any]]]


@dataclass(frozen=True)
class BreadthFirst:
    """Breadth-first: all that is near, wave by wave; see `clew.algorithms.traversal.breadth_first`.

    Attributes:
        max_depth: how many hops. max_degree: of every node follow only so many links, by weight x relevance to the question.
        max_nodes: stop at so many. tokens: stop before the content costs more than so many. None is no limit.
        kinds: the kinds of edge, or pairs of a kind and the factor on its weights; None for all. directed: from tail to head only.
        without: kinds of edge that are not followed.
    """

    max_depth: int | None = 2
    max_degree: int | None = 50
    max_nodes: int | None = None
    max_tokens: int | None = None
    kinds: tuple[str | tuple[str, float], ...] | None = None
    directed: bool = False
    excluded_kinds: tuple[str, ...] = ()

    def over(self, graph: Graph) -> Reach:
        """Bind to a graph; return (question, rows to start from) -> what is reached."""
        links = graph.links(
            kinds_without(graph, self.kinds, self.excluded_kinds), directed=self.directed
        )
        costs = (
            np.where(graph.content, graph.tokens, 0).astype(np.int32)
            if self.max_tokens is not None
            else None
        )

        def reach(query: Query, starts: Rows) -> Reached:
            return breadth_first(
                links,
                starts,
                vectors=graph.vectors,
                question=query.vector,
                tokens=costs,
                max_depth=self.max_depth,
                max_degree=self.max_degree,
                max_nodes=self.max_nodes,
                most_tokens=self.max_tokens,
            )

        return reach


@dataclass(frozen=True)
class BestFirst:
    """Best-first over typed edges: what promises most, wherever it lies; see `clew.algorithms.traversal.best_first`.

    Attributes:
        types: what a type of edge counts for: pairs of its name, a kind of edge or a fact's relation, and a factor; 0 forbids it.
        default: of types without a name there. decay: for every hop, in (0, 1].
        beam: keep so many open nodes. threshold: go nowhere of a lower priority. max_nodes: take so many. max_depth: in hops.
        intent: what this question makes of the types: (query, names of the types) -> (factors by name, notes for the trace). What it
            does not name counts as in `types`. See `Cues` and `AskModel`.
        directed: from tail to head only.
    """

    types: tuple[tuple[str, float], ...] = ()
    default: float = 1.0
    decay: float = 1.0
    beam: int | None = 50
    threshold: float = 0.1
    max_nodes: int | None = 50
    max_depth: int | None = 4
    intent: Intent | None = None
    directed: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.decay <= 1:
            raise ValueError(f"decay is in (0, 1]; got {self.decay}")
        if any(not factor >= 0 for _, factor in (*self.types, ("default", self.default))):
            raise ValueError(
                f"the factors of types are numbers from 0 on; got {self.types} and default={self.default}"
            )

    def over(self, graph: Graph) -> Reach:
        """Bind to a graph; return (question, rows to start from) -> what is reached."""
        typed = graph.part(TypedLinksPart(None, self.directed))
        table = dict(self.types)
        usual = typed.factors(table, self.default)

        def reach(query: Query, starts: Rows) -> Reached:
            own, notes = ({}, {}) if self.intent is None else self.intent(query, typed.types)
            found = best_first(
                typed,
                starts,
                typed.factors({**table, **own}, self.default) if own else usual,
                vectors=graph.vectors,
                question=query.vector,
                decay=self.decay,
                beam=self.beam,
                threshold=self.threshold,
                max_nodes=self.max_nodes,
                max_depth=self.max_depth,
            )
            return replace(found, notes={**found.notes, **notes})

        return reach
