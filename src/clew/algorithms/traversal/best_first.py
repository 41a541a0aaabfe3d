"""Best-first search over typed links: the row of the highest priority first, wherever it is.

    priority(v, reached over (u, v)) = relevance(v) * strength(u, v) * decay ^ depth(v)

The strength of a link is the greatest weight x factor of its edges; the factor is that of the
edge's type. The relevance is max(0, cosine with the query), and the priority of a start row. The
row of the highest priority is taken, its neighbours are offered, and so on, until enough rows are
taken or all offers are below the threshold.

This is priority-guided heterogeneous search as "Navigating the Knowledge Web" (codewarnab.in, 2026)
describes it: best-first search (Pearl, "Heuristics", 1984) with a bounded list of open rows.

A beam of `max_nodes` or wider saves memory and changes nothing else: a row that is not among the
(`max_nodes` - taken) best open rows cannot be taken any more, since at least so many go before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.algorithms.traversal.reached import LARGE, TraversalResult, relevance_arrays
from clew.graph import AnyVectors, Floats, Graph, Links, Rows, Vectors, freeze


@dataclass(frozen=True, eq=False)
class TypedLinks:
    """Links whose edges have types.

    A type is a kind of edge; for an edge that states a fact, it is the fact's relation.

    Attributes:
        links: the adjacency, of m slots.
        edge_starts: int64 [m + 1], where each slot's edges begin in `codes` and `weights`.
        codes: int32, the type of each edge: a place in `kinds`, or len(kinds) + a place in
            `relations`.
        weights: float32, the weight of each edge.
        kinds: names of the kinds of edge.
        relations: names of the relations; a name comes once for each kind of edge that states it.
        kind_of: int32, for each of `relations`, its place in `kinds`.
    """

    links: Links
    edge_starts: NDArray[np.int64]
    codes: Rows
    weights: Vectors
    kinds: tuple[str, ...]
    relations: tuple[str, ...]
    kind_of: Rows

    @property
    def types(self) -> tuple[str, ...]:
        """The names of all types, each once, kinds of edge first."""
        return tuple(dict.fromkeys((*self.kinds, *self.relations)))

    @cached_property
    def _relation_codes(self) -> dict[str, list[int]]:
        """The codes of each relation's name."""
        codes: dict[str, list[int]] = {}
        for code, name in enumerate(self.relations, len(self.kinds)):
            codes.setdefault(name, []).append(code)
        return codes

    def factors(self, table: Mapping[str, float], default: float = 1.0) -> Floats:
        """Return the factor of every type, float64, by code.

        Args:
            table: factor by name. A relation that it does not name has the factor of its kind of
                edge.
            default: the factor of kinds that the table does not name.
        """
        of_kind = np.array([table.get(kind, default) for kind in self.kinds], np.float64)
        factors = np.concatenate([of_kind, of_kind[self.kind_of]])
        for name, factor in table.items():
            factors[self._relation_codes.get(name, [])] = factor
        return factors


@dataclass(frozen=True)
class TypedLinksPart:
    """The part of a graph that is its `TypedLinks`.

    Attributes:
        kinds: kinds of edge; None for all.
        directed: follow edges in their direction only.

    Example:
        >>> from clew.graph import Edges, Graph
        >>> graph = Graph.of(["a", "b"], edges=Edges.of("next", [0], [1]))
        >>> TypedLinksPart().compute(graph).types
        ('next',)
    """

    kinds: tuple[str, ...] | None = None
    directed: bool = False

    def compute(self, graph: Graph) -> TypedLinks:
        links = graph.links(self.kinds, directed=self.directed)
        edges, facts = graph.edges, graph.facts
        kinds, relations = edges.kinds.names, facts.relations
        codes, stated = edges.kinds.codes.astype(np.int64), np.flatnonzero(edges.facts >= 0)
        # A relation that edges of two kinds state is two types of one name.
        names = len(relations.names)
        pairs = codes[stated] * names + relations.codes[edges.facts[stated]]
        distinct, place = np.unique(pairs, return_inverse=True)
        codes[stated] = len(kinds) + place
        slot_edges = links.edges.values
        return TypedLinks(
            links,
            links.edges.starts,
            freeze(codes[slot_edges], np.int32),
            freeze(edges.weights[slot_edges], np.float32),
            kinds,
            tuple(relations.names[code] for code in (distinct % max(1, names)).tolist()),
            freeze(distinct // max(1, names), np.int32),
        )


def search_best_first(  # noqa: PLR0913 - one for each limit of the search
    typed: TypedLinks,
    start_rows: ArrayLike,
    factors: Floats,
    *,
    vectors: AnyVectors,
    query: ArrayLike | None = None,
    priorities: Sequence[float] | None = None,
    decay: float = 1.0,
    beam: int | None = 50,
    threshold: float = 0.1,
    max_nodes: int | None = 50,
    max_depth: int | None = 4,
) -> TraversalResult:
    """Return the rows that are taken, in order, with their priorities as scores.

    Equal priorities go to the lower row. The notes count the offers, those that the beam dropped,
    and those below the threshold.

    Args:
        typed: the links.
        start_rows: the start rows.
        factors: float64, one per type, >= 0; 0 forbids the type. See `TypedLinks.factors`.
        vectors: float32 [n, d], unit rows or zeros. A row without a vector is as relevant as the
            row it is reached from.
        query: [d], the query vector; None: all rows are equally relevant.
        priorities: of the start rows, in place of their relevance.
        decay: factor for every hop, in (0, 1].
        beam: open rows, at most; None for no limit, here and below.
        threshold: lowest priority of an offer.
        max_nodes: rows that are taken, at most.
        max_depth: in hops.

    Example:
        >>> from clew.graph import Edges, Graph
        >>> graph = Graph.of(["a", "b"], edges=Edges.of("next", [0], [1]))
        >>> typed = TypedLinksPart().compute(graph)
        >>> search_best_first(typed, [0], typed.factors({}), vectors=graph.vectors).rows.tolist()
        [0, 1]
    """
    from clew.algorithms.traversal.kernels import search

    starts = freeze(start_rows, np.int64)
    own = np.full(len(starts), np.nan) if priorities is None else priorities
    nodes = LARGE if max_nodes is None else max_nodes
    depth = LARGE if max_depth is None else max_depth
    width = 0 if beam is None or beam >= nodes else beam
    rows, depths, parents, scores, slots, offered, dropped, below = search.best_first(
        search.TypedEdges(
            typed.links.starts, typed.links.targets, typed.edge_starts, typed.codes, typed.weights
        ),
        freeze(factors, np.float64),
        relevance_arrays(vectors, query),
        starts,
        freeze(own, np.float64),
        search.BestLimits(float(decay), width, float(threshold), nodes, depth),
    )
    notes = {
        "offered": int(offered),
        "dropped by the beam": int(dropped),
        "below the threshold": int(below),
    }
    return TraversalResult(freeze(rows, np.int32), depths, parents, slots, scores, notes)
