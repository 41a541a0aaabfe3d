"""Best-first search over typed links: the most promising row first, wherever it lies.

    priority(v, reached over (u, v)) = relevance(v) * strength(u, v) * decay ^ depth(v)

The strength of a link is the greatest weight x factor of its edges, the factor that of the edge's type; relevance is max(0, cosine with the
question), and of a source alone its priority. The row of the highest priority is taken, its neighbours offered, and so on until enough are
taken or what is left is worth too little. Priority-guided heterogeneous search, as "Navigating the Knowledge Web" (codewarnab.in, 2026)
has it: best-first search (Pearl, "Heuristics", 1984) with a bounded list of open rows.

A row that is not among the `max_nodes` - taken best of the open ones cannot be taken any more, since at least so many go before it: a beam
of `max_nodes` or wider changes nothing but the memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.algorithms.traversal.reached import LARGE, Reached, kernel_question
from clew.graph import Floats, Graph, Links, Rows, Vectors, freeze


@dataclass(frozen=True, eq=False)
class TypedLinks:
    """Links whose edges have types: `held` [m + 1] is where each slot's edges begin, in `codes` (of the type) and `weights`.

    A type is a kind of edge, of an edge that states a fact its relation. Codes count the `kinds` first, then the `relations`, which belong
    to the kinds `kind_of`.
    """

    links: Links
    held: NDArray[np.int64]
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
    def _places(self) -> dict[str, list[int]]:
        """Where in the factors each name stands."""
        places: dict[str, list[int]] = {}
        for place, name in enumerate((*self.kinds, *self.relations)):
            places.setdefault(name, []).append(place)
        return places

    def factors(self, table: Mapping[str, float], default: float = 1.0) -> Floats:
        """Return what every type counts for: as the table has it, a relation else as its kind of edge, else `default`."""
        of_kind = np.array([table.get(kind, default) for kind in self.kinds], np.float64)
        found = np.concatenate([of_kind, of_kind[self.kind_of]])
        for name in table:
            found[[place for place in self._places.get(name, ()) if place >= len(self.kinds)]] = (
                table[name]
            )
        return found


@dataclass(frozen=True)
class TypedLinksPart:
    """The part that makes `Typed` links of a graph, over all kinds of edge or some of them."""

    kinds: tuple[str, ...] | None = None
    directed: bool = False

    def compute(self, graph: Graph) -> TypedLinks:
        links, edges, facts = (
            graph.links(self.kinds, directed=self.directed),
            graph.edges,
            graph.facts,
        )
        kinds, relations = edges.kinds.names, facts.relations
        codes, stated = edges.kinds.codes.astype(np.int64), np.flatnonzero(edges.facts >= 0)
        # a relation that edges of two kinds state is two types of one name
        both = codes[stated] * len(relations.names) + relations.codes[edges.facts[stated]]
        own, place = np.unique(both, return_inverse=True)
        codes[stated] = len(kinds) + place
        held = links.edges.values
        return TypedLinks(
            links,
            links.edges.starts,
            freeze(codes[held], np.int32),
            freeze(edges.weights[held], np.float32),
            kinds,
            tuple(relations.names[at] for at in (own % max(1, len(relations.names))).tolist()),
            freeze(own // max(1, len(relations.names)), np.int32),
        )


def best_first(
    typed: TypedLinks,
    sources: Any,
    factors: Floats,
    *,
    vectors: Vectors,
    question: Any = None,
    priorities: Sequence[float] | None = None,
    decay: float = 1.0,
    beam: int | None = 50,
    threshold: float = 0.1,
    max_nodes: int | None = 50,
    max_depth: int | None = 4,
) -> Reached:
    """Return the rows that are taken, in turn; `scores` are their priorities. Equal priorities go to the lower row.

    `notes` count the rows that were offered, those that the beam dropped, and those that were worth less than the threshold.

    Args:
        typed: the links. sources: rows. factors: float64, one per type, >= 0; 0 forbids the type.
        vectors: float32 [n, d], unit rows or zeros, and the `question`, [d] or None, to which all rows are equally relevant. A row without
            a vector is as relevant as the one it is reached from.
        priorities: of the sources, in the place of their relevance. decay: factor for every hop, in (0, 1].
        beam: keep at most so many open rows. threshold: offer nothing of a lower priority. max_nodes: take at most so many.
        max_depth: in hops. None is no limit.
    """
    from clew.algorithms.traversal.kernels.search import best_first as compiled

    begun = freeze(sources, np.int64)
    given = freeze(np.full(len(begun), np.nan) if priorities is None else priorities, np.float64)
    most, deep = (
        LARGE if max_nodes is None else max_nodes,
        LARGE if max_depth is None else max_depth,
    )
    wide = 0 if beam is None or beam >= most else beam
    links = typed.links
    rows, depths, parents, scores, slots, offered, dropped, below = compiled(
        links.starts,
        links.targets,
        typed.held,
        typed.codes,
        typed.weights,
        freeze(factors, np.float64),
        *kernel_question(vectors, question),
        begun,
        given,
        float(decay),
        wide,
        float(threshold),
        most,
        deep,
    )
    notes = {
        "offered": int(offered),
        "dropped by the beam": int(dropped),
        "below the threshold": int(below),
    }
    return Reached(freeze(rows, np.int32), depths, parents, slots, scores, notes)
