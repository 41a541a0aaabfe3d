"""What a later selector leaves of an earlier one's choice, beside its own: the bridges, the links, and what was said of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from clew.graph import Graph, Rows, freeze
from clew.types import Subgraph


def required_rows(candidates: Subgraph) -> Rows:
    """Return the candidates that must be kept, in the order of the candidates."""
    if not len(candidates.required):  # nothing to look for among what may be the whole graph
        return candidates.nodes[:0]
    return candidates.nodes[np.isin(candidates.nodes, candidates.required)]


def tokens_spent(graph: Graph, candidates: Subgraph) -> int:
    """Return what the candidates cost that must be kept: the bridges' content, and the facts that are stated between them."""
    kept = required_rows(candidates)
    facts = graph.edges.facts[candidates.edges]
    said = {graph.facts.texts[fact] for fact in facts[facts >= 0].tolist()}
    return int(graph.tokens[kept[graph.content[kept]]].sum()) + sum(
        graph.count(f"- {text}\n") for text in said
    )


def narrow_to(
    graph: Graph, candidates: Subgraph, chosen: Any, dropped: list[tuple[int, str]]
) -> Subgraph:
    """Return the bridges and the `chosen` candidates, with the edges among them, also over connectors that an earlier selector chose."""
    nodes = np.concatenate([required_rows(candidates), np.asarray(chosen, np.int32)])
    edges = candidates.edges
    if len(edges):
        tails, heads = graph.edges.tails, graph.edges.heads
        inside = ~graph.content
        inside[nodes] = True
        edges = edges[inside[tails[edges]] & inside[heads[edges]]]
        through = np.setdiff1d(np.concatenate([tails[edges], heads[edges]]), nodes)
        nodes = np.concatenate([nodes, candidates.nodes[np.isin(candidates.nodes, through)]])
    read = set(nodes.tolist())
    groups = tuple(
        rows
        for group in candidates.groups
        if len(rows := tuple(row for row in group if row in read)) > 1
    )
    return Subgraph(
        freeze(nodes, np.int32),
        freeze(edges, np.int32),
        candidates.required,
        groups,
        missing=candidates.missing,
        dropped=(*candidates.dropped, *dropped),
    )
