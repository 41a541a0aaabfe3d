"""The bridges between the places where a question touches the graph: a Steiner tree over the seeds.

The nodes that the tree needs beside the seeds are what connects them, and no later stage may drop them: without one of them the tree falls
apart. Every step of it is an edge of the graph, and where no way joins two seeds, or none over edges that have to do with the question, it
is said that there is none. Lengths are by the question and measured only where the search comes by: see `clew.algorithms.steiner.forest.Lazy`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clew.algorithms.ranking import top_k
from clew.algorithms.steiner.forest import LazyLengths, SteinerForest, slot_sources, steiner_forest
from clew.graph import Floats, Graph, Kinds, Links, Ragged, Rows, freeze, kinds_without
from clew.select._shared import tokens_spent
from clew.types import Query, Seeds, Subgraph, start_rows


@dataclass(frozen=True)
class Bridges:
    """Pass on the candidates that are worth anything, with the tree that joins the seeds, which is kept for good.

    The best seeds are joined as far as there is room for what holds them together: where there is not, one seed less is, and it is said.
    A question with a limit counts passages: the facts of the tree are not printed then, since a fact is said by its passage.

    Attributes:
        terminals: so many seeds are joined: those that the seed names as such, or else its best touches.
        max_edge: go over no edge longer than this. A length is (1 - similarity to the question) / 2, of the fact that an edge states, or
            of its ends and the less the weaker it is; it lies from 0 to 1, and 0.4 asks for a similarity of 0.2. None: any edge.
        share: the share of the budget that the tree may cost, the seeds in it included.
        kinds: the kinds of edge; None for all. without: kinds of edge that no bridge goes over.
    """

    max_terminals: int = 3
    max_edge: float | None = None
    budget_share: float = 0.5
    kinds: tuple[str, ...] | None = None
    excluded_kinds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.max_edge is not None and not self.max_edge > 0:
            raise ValueError(f"max_edge is a length above 0, or None; got {self.max_edge}")
        if not 0 <= self.budget_share <= 1 or self.max_terminals < 1:
            raise ValueError(
                f"share is from 0 to 1 and terminals at least 1; got {self.budget_share} and {self.max_terminals}"
            )

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        kinds = kinds_without(graph, self.kinds, self.excluded_kinds)
        links, stated = graph.links(kinds), graph.part(_Stated(kinds))
        most_edge = np.inf if self.max_edge is None else self.max_edge

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            lengths = _lengths(graph, links, stated, query, candidates)
            wanted = start_rows(seeds, seeds.scores, self.max_terminals)
            if len(candidates.nodes) < len(graph):
                wanted = wanted[np.isin(wanted, candidates.nodes)]
            worth = np.union1d(np.flatnonzero(prizes > 0), candidates.required).astype(np.int32)
            if len(candidates.nodes) < len(graph):
                worth = worth[np.isin(worth, candidates.nodes)]
            room, before = int(self.budget_share * budget), tokens_spent(graph, candidates)
            for most in range(len(wanted), 1, -1):
                tree = steiner_forest(links, lengths, wanted[:most], most_edge=most_edge)
                chosen = _with(graph, query, links, candidates, worth, tree)
                content = int(graph.content[chosen.required].sum())
                if tokens_spent(graph, chosen) - before <= room and (
                    query.limit is None or content <= query.limit
                ):
                    return _that_fit(
                        graph,
                        replace(chosen, notes=_told(graph, links, wanted, most, tree)),
                        budget,
                    )
            alone = _told(graph, links, wanted, min(1, len(wanted)), None)
            return _that_fit(
                graph, replace(candidates, nodes=freeze(worth, np.int32), notes=alone), budget
            )

        return select


def _lengths(
    graph: Graph, links: Links, stated: Ragged, query: Query, candidates: Subgraph
) -> Floats | LazyLengths:
    """This question's lengths: measured on the way where all of the graph is offered, or else all at once."""
    nothing = np.zeros(1, np.float32)
    wide = graph.vectors.shape[1] and query.vector is not None
    nodes = (
        (graph.vectors, query.vector) if wide else (np.zeros((len(graph), 1), np.float32), nothing)
    )
    asked = query.vector if query.fact_vector is None else query.fact_vector
    facts = (
        (graph.facts.vectors, asked)
        if len(graph.facts) and asked is not None
        else (np.zeros((len(graph.facts), 1), np.float32), nothing)
    )
    lazy = LazyLengths(
        stated, facts[0], facts[1], nodes=nodes[0], weights=links.weights, asked=nodes[1]
    )
    if len(candidates.nodes) == len(graph):
        return lazy
    offered = np.zeros(len(graph), np.bool_)
    offered[candidates.nodes] = True
    return np.where(offered[links.sources] & offered[links.targets], lazy.all(links), np.inf)


def _with(
    graph: Graph, query: Query, links: Links, candidates: Subgraph, worth: Rows, tree: SteinerForest
) -> Subgraph:
    """The candidates with the tree, of whose edges one stands for each link."""
    edges = [_edge(graph, query, links.edges[slot]) for slot in tree.slots.tolist()]
    if query.limit is not None:
        edges = [edge for edge in edges if graph.edges.facts[edge] < 0]
    return replace(
        candidates,
        nodes=freeze(np.concatenate([worth, np.setdiff1d(tree.nodes, worth)]), np.int32),
        edges=freeze(np.union1d(candidates.edges, np.array(edges, np.int32)), np.int32),
        required=freeze(np.union1d(candidates.required, tree.nodes), np.int32),
        missing=(*candidates.missing, *tree.missing),
    )


def _that_fit(graph: Graph, chosen: Subgraph, budget: int) -> Subgraph:
    """Without the candidates that are too large beside what is kept, each by itself."""
    left = budget - tokens_spent(graph, chosen)
    free = ~np.isin(chosen.nodes, chosen.required) & graph.content[chosen.nodes]
    large = free & (graph.tokens[chosen.nodes] > left)
    reasons = [
        (row, f"its {int(graph.tokens[row])} tokens do not fit in the {left} left")
        for row in chosen.nodes[large].tolist()
    ]
    return replace(
        chosen, nodes=freeze(chosen.nodes[~large], np.int32), dropped=(*chosen.dropped, *reasons)
    )


def _edge(graph: Graph, query: Query, edges: Rows) -> int:
    """Of parallel edges the one that states the fact nearest to the question, or else the strongest; of equals the first."""
    facts = graph.edges.facts[edges]
    asked = query.vector if query.fact_vector is None else query.fact_vector
    worth = graph.edges.weights[edges].astype(np.float64) - 3
    if (facts >= 0).any():
        near = graph.facts.vectors[facts] @ asked if asked is not None else np.zeros(len(facts))
        worth = np.where(facts >= 0, near, worth)
    return int(edges[top_k(worth, 1)[0]])


def _told(
    graph: Graph, links: Links, wanted: Rows, joined: int, tree: SteinerForest | None
) -> dict[str, Any]:
    trace: dict[str, Any] = {"seeds": [graph.ids[row] for row in wanted[:joined].tolist()]}
    if joined < len(wanted):
        trace["not joined"] = [graph.ids[row] for row in wanted[joined:].tolist()]
    if tree is not None:
        ends = zip(
            slot_sources(links, tree.slots).tolist(),
            links.targets[tree.slots].tolist(),
            strict=True,
        )
        trace |= {
            "bridges": [graph.ids[row] for row in np.setdiff1d(tree.nodes, wanted).tolist()],
            "tree": [(graph.ids[one], graph.ids[other]) for one, other in ends],
            "length": tree.cost,
        }
    return trace


@dataclass(frozen=True)
class _Stated:
    """The part that says which facts the edges of each slot state."""

    kinds: Kinds

    def compute(self, graph: Graph) -> Ragged:
        edges = graph.links(self.kinds).edges
        return edges.renumbered(graph.edges.facts) if len(graph.edges) else edges
