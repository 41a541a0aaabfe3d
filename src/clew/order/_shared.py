"""What orders share: the rows, facts and reports of a subgraph that are read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from clew.algorithms.last_result import remember_last
from clew.algorithms.ranking import top_k
from clew.graph import Floats, Graph, Rows
from clew.types import Reading, Subgraph


def content_rows(graph: Graph, subgraph: Subgraph) -> Rows:
    """Return the nodes that are read, ascending; connectors are passed through."""
    return np.sort(subgraph.nodes[graph.content[subgraph.nodes]])


def largest_value(values: Floats) -> float:
    """Return the largest absolute value; 0 of none."""
    return max(float(values.max(initial=0)), -float(values.min(initial=0)))


def by_falling_prize(rows: Rows, prizes: Floats) -> Rows:
    """Return ascending rows by falling prize; equal prizes go by the lower row.

    Which prizes are equal is decided by those of all nodes.
    """
    ranked: Rows = rows[top_k(prizes[rows], largest=largest_value(prizes))]
    return ranked


def content_by_prize(graph: Graph) -> Callable[[Subgraph, Floats], Rows]:
    """Return the function that gives the nodes that are read of a subgraph, by falling prize.

    Many subgraphs are tried with the same prizes.
    """
    largest_of = remember_last(largest_value)

    def rank(subgraph: Subgraph, prizes: Floats) -> Rows:
        rows = content_rows(graph, subgraph)
        ranked: Rows = rows[top_k(prizes[rows], largest=largest_of(prizes))]
        return ranked

    return rank


def stated_facts(graph: Graph, subgraph: Subgraph) -> Rows:
    """Return the facts that the subgraph's edges state, each once, in the edges' order."""
    if not len(subgraph.edges):
        return subgraph.edges
    facts = graph.edges.facts[subgraph.edges]
    return np.array(list(dict.fromkeys(facts[facts >= 0].tolist())), np.int32)


def reports_outside(graph: Graph, subgraph: Subgraph, reading: Reading) -> Rows:
    """Return the required generated texts that have no place in a reading, best first."""
    nodes = subgraph.nodes
    if not len(subgraph.required):
        return nodes[:0]
    required = graph.generated[nodes] & np.isin(nodes, subgraph.required)
    return nodes[required & ~np.isin(nodes, reading.nodes)]
