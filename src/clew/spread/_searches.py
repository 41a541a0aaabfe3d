"""The searches of `LocalPageRank`: outward from the start rows, in waves or best first.

They are values, like stages, but no stages: `bind(graph)` returns a function from a question and
its start rows to what is reached.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from clew.algorithms.traversal.best_first import TypedLinksPart, search_best_first
from clew.algorithms.traversal.breadth_first import search_breadth_first
from clew.algorithms.traversal.reached import TraversalResult
from clew.graph import Graph, Kinds, Rows, kinds_without
from clew.spread._intents import Intent
from clew.types import Query


class Search(Protocol):
    """What finds a neighbourhood of some rows."""

    def bind(self, graph: Graph) -> Callable[[Query, Rows], TraversalResult]:
        """Bind to a graph; return (question, start rows) -> what is reached."""
        ...


@dataclass(frozen=True)
class BreadthFirst:
    """Breadth-first search: all that is near, in waves.

    See `clew.algorithms.traversal.breadth_first`. None is no limit.

    Attributes:
        max_depth: how many hops from the start rows.
        max_degree: how many links of a node are followed, by weight x relevance to the question.
        max_nodes: how many nodes are reached.
        max_tokens: how many tokens the content that is reached may cost.
        kinds: the kinds of edge that are followed, or pairs of a kind and the factor on its
            weights; None for all.
        directed: follow edges from tail to head only.
        excluded_kinds: kinds of edge that are not followed.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query
        >>> from clew.graph import Edges
        >>> graph = Graph.of(list("abcd"), edges=Edges.of("next", [0, 1, 2], [1, 2, 3]))
        >>> search = BreadthFirst(max_depth=2).bind(graph)
        >>> search(Query("?"), np.array([0], np.int32)).rows.tolist()
        [0, 1, 2]
    """

    max_depth: int | None = 2
    max_degree: int | None = 50
    max_nodes: int | None = None
    max_tokens: int | None = None
    kinds: Kinds = None
    directed: bool = False
    excluded_kinds: tuple[str, ...] = ()

    def bind(self, graph: Graph) -> Callable[[Query, Rows], TraversalResult]:
        """Bind to a graph; return (question, start rows) -> what is reached."""
        kinds = kinds_without(graph, self.kinds, self.excluded_kinds)
        links = graph.links(kinds, directed=self.directed)
        tokens = None
        if self.max_tokens is not None:
            tokens = np.where(graph.content, graph.tokens, 0).astype(np.int32)

        def search(query: Query, starts: Rows) -> TraversalResult:
            return search_breadth_first(
                links,
                starts,
                vectors=graph.vectors,
                query=query.vector,
                tokens=tokens,
                max_depth=self.max_depth,
                max_degree=self.max_degree,
                max_nodes=self.max_nodes,
                max_tokens=self.max_tokens,
            )

        return search


@dataclass(frozen=True)
class BestFirst:
    """Best-first search over typed edges: the highest priority first, wherever it lies.

    See `clew.algorithms.traversal.best_first`. None is no limit.

    Attributes:
        types: pairs of a type of edge (its kind, or the relation of its fact) and the factor on
            the priority of what it leads to; 0 forbids it.
        default: the factor of all other types.
        decay: the factor for every hop, in (0, 1].
        beam: how many open nodes are retained.
        threshold: nothing of a lower priority is reached.
        max_nodes: how many nodes are reached.
        max_depth: how many hops from the start rows.
        intent: what gives this question's own factors; a type that it does not name has the factor
            of `types`. See `Cues` and `ModelIntent`.
        directed: follow edges from tail to head only.
        excluded_kinds: kinds of edge that are not followed. Unlike a type of factor 0, a kind does
            not mean the facts whose relation has its name.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query
        >>> from clew.graph import Edges
        >>> edges = Edges.join([Edges.of("next", [0], [1]), Edges.of("similar", [0], [2])])
        >>> search = BestFirst(types=(("similar", 0.0),)).bind(Graph.of(list("abc"), edges=edges))
        >>> search(Query("?"), np.array([0], np.int32)).rows.tolist()
        [0, 1]
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
    excluded_kinds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.decay <= 1:
            raise ValueError(f"decay is in (0, 1]; got {self.decay}")
        if any(not factor >= 0 for _, factor in (*self.types, ("default", self.default))):
            raise ValueError(
                "the factors of types are numbers from 0 on; "
                f"got {self.types} and default={self.default}"
            )

    def bind(self, graph: Graph) -> Callable[[Query, Rows], TraversalResult]:
        """Bind to a graph; return (question, start rows) -> what is reached."""
        typed = graph.part(TypedLinksPart(self._followed(graph), self.directed))
        table = dict(self.types)
        usual_factors = typed.factors(table, self.default)

        def search(query: Query, starts: Rows) -> TraversalResult:
            own, notes = ({}, {}) if self.intent is None else self.intent(query, typed.types)
            factors = typed.factors({**table, **own}, self.default) if own else usual_factors
            result = search_best_first(
                typed,
                starts,
                factors,
                vectors=graph.vectors,
                query=query.vector,
                decay=self.decay,
                beam=self.beam,
                threshold=self.threshold,
                max_nodes=self.max_nodes,
                max_depth=self.max_depth,
            )
            return replace(result, notes={**result.notes, **notes})

        return search

    def _followed(self, graph: Graph) -> tuple[str, ...] | None:
        """Return the kinds of edge that are followed; None for all."""
        if not self.excluded_kinds:
            return None
        return tuple(kind for kind in graph.edges.kind_names if kind not in self.excluded_kinds)
