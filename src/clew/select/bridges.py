"""Bridges between the places where a question touches the graph: a Steiner tree over the seeds.

The nodes that the tree needs beside the seeds connect them, so no later stage may drop them. Every
step of the tree is an edge of the graph. Where no path joins two seeds, or none over edges that
have to do with the question, the pair is named in `missing`.

Lengths are by the question, and measured only where the search comes by: see
`clew.algorithms.steiner.forest.LazyLengths`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clew.algorithms.ranking import top_k
from clew.algorithms.steiner.forest import METHODS, SteinerForest, slot_sources, steiner_forest
from clew.algorithms.steiner.lengths import LazyLengths
from clew.graph import (
    AnyVectors,
    Floats,
    Graph,
    Kinds,
    Links,
    Ragged,
    Rows,
    Vectors,
    distinct,
    freeze,
    kinds_without,
    products,
    row_mask,
)
from clew.select._shared import Offer, required_tokens
from clew.types import Query, Seeds, Subgraph

NO_VECTOR = np.zeros(1, np.float32)
BELOW_FACTS = 3  # taken off the weight of an edge, so that every edge that states a fact is better


@dataclass(frozen=True)
class Bridges:
    """Pass on the candidates with a prize, and require the tree that joins the seeds.

    The tree joins as many of the best seeds as its share of the budget allows; the trace names the
    others. A question with a limit counts passages: the facts of the tree are then not printed,
    since their passages state them.

    Attributes:
        max_terminals: join so many seeds at most: the seed's terminals, or else its best rows.
        max_edge: go over no edge longer than this; None for any edge. A length lies in [0, 1]: it
            is (1 - similarity) / 2, where the similarity is that of the question and the fact that
            the edge states, or else of its ends, times its weight. 0.4 asks for 0.2.
        max_path: seeds no farther apart than this are neighbours, and only a chain of neighbours is
            joined; None for any length.
        method: how the tree is found: "mehlhorn", "kou" (KMB), "takahashi" or "exact"; see
            `clew.algorithms.steiner.forest`. Only the first two know a `max_path`.
        budget_share: the share of the budget that the tree may cost, the seeds in it included.
        kinds: the kinds of edge; None for all.
        excluded_kinds: kinds of edge that no bridge goes over.

    Example:
        >>> import numpy as np
        >>> from clew import Graph, Query, Seeds, Subgraph
        >>> from clew.graph import Edges
        >>> graph = Graph.of(["a", "b", "c"], edges=Edges.of("next", [0, 1], [1, 2]))
        >>> seeds = Seeds(np.zeros(3), terminals=np.array([0, 2], np.int32))
        >>> select = Bridges(2).on(graph)
        >>> select(Query("?"), seeds, np.ones(3), Subgraph(np.arange(3)), 99).required.tolist()
        [0, 1, 2]
    """

    max_terminals: int = 3
    max_edge: float | None = None
    max_path: float | None = None
    method: str = "mehlhorn"
    budget_share: float = 0.5
    kinds: tuple[str, ...] | None = None
    excluded_kinds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("max_edge", "max_path"):
            if (longest := getattr(self, name)) is not None and not longest > 0:
                raise ValueError(f"{name} is a length above 0, or None; got {longest}")
        if self.method not in METHODS:
            raise ValueError(f"unknown method {self.method!r}; known: {', '.join(METHODS)}")
        if self.max_path is not None and self.method not in ("mehlhorn", "kou"):
            raise ValueError(
                f'max_path is for the methods "mehlhorn" and "kou"; got {self.method!r}'
            )
        if not 0 <= self.budget_share <= 1 or self.max_terminals < 1:
            raise ValueError(
                "budget_share is from 0 to 1 and max_terminals at least 1; "
                f"got {self.budget_share} and {self.max_terminals}"
            )

    def on(self, graph: Graph) -> Callable[[Query, Seeds, Floats, Subgraph, int], Subgraph]:
        kinds = kinds_without(graph, self.kinds, self.excluded_kinds)
        links, slot_facts = graph.links(kinds), graph.part(_SlotFactsPart(kinds))
        max_edge, max_path = (
            np.inf if longest is None else longest for longest in (self.max_edge, self.max_path)
        )

        def select(
            query: Query, seeds: Seeds, prizes: Floats, candidates: Subgraph, budget: int
        ) -> Subgraph:
            offer = Offer(graph, query, seeds, prizes, candidates, budget)
            lengths = _lengths(offer, links, slot_facts, self.method)
            terminals = seeds.start_rows(seeds.scores, self.max_terminals)
            rows = np.concatenate([np.flatnonzero(prizes > 0), candidates.required])
            rows = distinct(rows).astype(np.int32)
            if len(candidates.nodes) < len(graph):
                terminals = terminals[np.isin(terminals, candidates.nodes)]
                rows = rows[np.isin(rows, candidates.nodes)]
            room = int(self.budget_share * budget) + required_tokens(graph, candidates)
            for joined in range(len(terminals), 1, -1):
                tree = steiner_forest(
                    links,
                    lengths,
                    terminals[:joined],
                    self.method,
                    max_edge=max_edge,
                    max_path=max_path,
                )
                chosen = _with_tree(offer, links, rows, tree)
                passages = int(graph.content[chosen.required].sum())
                if required_tokens(graph, chosen) <= room and (
                    query.limit is None or passages <= query.limit
                ):
                    notes = _notes(graph, links, terminals, joined, tree)
                    return _that_fit(graph, replace(chosen, notes=notes), budget)
            notes = _notes(graph, links, terminals, min(1, len(terminals)), None)
            chosen = replace(candidates, nodes=freeze(rows, np.int32), notes=notes)
            return _that_fit(graph, chosen, budget)

        return select


def _lengths(offer: Offer, links: Links, slot_facts: Ragged, method: str) -> Floats | LazyLengths:
    """Return this question's lengths, equation 6 of AGRAG (arXiv 2511.05549).

    They are measured on the way by Mehlhorn's search of the whole graph, or else all at once.
    """
    graph, query, candidates = offer.graph, offer.query, offer.candidates
    nodes: AnyVectors
    nodes, question = graph.vectors, query.vector
    if question is None or not nodes.shape[1]:
        nodes, question = np.zeros((len(graph), 1), np.float32), NO_VECTOR
    facts: AnyVectors
    facts, question_for_facts = graph.facts.vectors, query.vector_for_facts
    if question_for_facts is None or not len(graph.facts):
        facts, question_for_facts = np.zeros((len(graph.facts), 1), np.float32), NO_VECTOR
    lazy = LazyLengths(
        slot_facts,
        facts,
        question_for_facts,
        row_vectors=nodes,
        weights=links.weights,
        row_query=question,
    )
    if len(candidates.nodes) == len(graph):
        return lazy if method == "mehlhorn" else lazy.measure_all(links)
    offered = row_mask(candidates.nodes, len(graph))
    return np.where(
        offered[links.sources] & offered[links.targets], lazy.measure_all(links), np.inf
    )


def _with_tree(offer: Offer, links: Links, rows: Rows, tree: SteinerForest) -> Subgraph:
    """Return the candidates at `rows` with the tree, one edge for each of its links."""
    graph, query, candidates = offer.graph, offer.query, offer.candidates
    edges = [_best_edge(graph, query, links.edges[slot]) for slot in tree.slots.tolist()]
    if query.limit is not None:
        edges = [edge for edge in edges if graph.edges.facts[edge] < 0]
    return replace(
        candidates,
        nodes=freeze(np.concatenate([rows, np.setdiff1d(tree.nodes, rows)]), np.int32),
        edges=freeze(np.union1d(candidates.edges, np.array(edges, np.int32)), np.int32),
        required=freeze(np.union1d(candidates.required, tree.nodes), np.int32),
        missing=(*candidates.missing, *tree.missing),
    )


def _that_fit(graph: Graph, chosen: Subgraph, budget: int) -> Subgraph:
    """Leave out the candidates that are too large, each by itself, beside what is required."""
    room = budget - required_tokens(graph, chosen)
    tokens = graph.tokens[chosen.nodes]
    free = ~np.isin(chosen.nodes, chosen.required) & graph.content[chosen.nodes]
    too_large = free & (tokens > room)
    dropped = [
        (row, f"its {cost} tokens do not fit in the {room} left")
        for row, cost in zip(
            chosen.nodes[too_large].tolist(), tokens[too_large].tolist(), strict=True
        )
    ]
    nodes = freeze(chosen.nodes[~too_large], np.int32)
    return replace(chosen, nodes=nodes, dropped=(*chosen.dropped, *dropped))


def _best_edge(graph: Graph, query: Query, edges: Rows) -> int:
    """Return one of parallel edges: that of the nearest fact, or else the strongest."""
    facts, vector = graph.edges.facts[edges], query.vector_for_facts
    scores = graph.edges.weights[edges].astype(np.float64) - BELOW_FACTS
    if (facts >= 0).any():
        near: Vectors = np.zeros(len(facts), np.float32)
        if vector is not None:
            near = products(graph.facts.vectors[facts], vector)
        scores = np.where(facts >= 0, near, scores)
    return int(edges[top_k(scores, 1)[0]])


def _notes(
    graph: Graph, links: Links, terminals: Rows, joined: int, tree: SteinerForest | None
) -> dict[str, Any]:
    """Return what the trace says: which seeds are joined, over which nodes and edges."""
    notes: dict[str, Any] = {"seeds": [graph.ids[row] for row in terminals[:joined].tolist()]}
    if joined < len(terminals):
        notes["not joined"] = [graph.ids[row] for row in terminals[joined:].tolist()]
    if tree is not None:
        sources, targets = slot_sources(links, tree.slots), links.targets[tree.slots]
        ends = zip(sources.tolist(), targets.tolist(), strict=True)
        bridges = np.setdiff1d(tree.nodes, terminals).tolist()
        notes |= {
            "bridges": [graph.ids[row] for row in bridges],
            "tree": [(graph.ids[source], graph.ids[target]) for source, target in ends],
            "length": tree.cost,
        }
    return notes


@dataclass(frozen=True)
class _SlotFactsPart:
    """The part that knows the facts which the edges of each slot state."""

    kinds: Kinds

    def compute(self, graph: Graph) -> Ragged:
        edges = graph.links(self.kinds).edges
        return edges.renumbered(graph.edges.facts) if len(graph.edges) else edges
