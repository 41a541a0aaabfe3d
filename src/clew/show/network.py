"""A context as a graph: the question, the ways from it, the items, and the edges that join them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew.context import Context, Item
from clew.show.paths import named

if TYPE_CHECKING:
    import networkx

QUESTION = "question"


def to_networkx(context: Context) -> networkx.MultiDiGraph[str]:
    """Return the context as a directed multigraph whose nodes are ids.

    Every node has `role`, `kind` and `text`: the question (its name is in `graph["question"]`), the items (with `rank` from 1, `score`,
    `tokens`, `document`) and the connectors (role "connector") that join them. Every edge has `kind`, `weight`, `text` (the fact it
    states, or nothing) and `way`: True for a step of the way from the question to an item, False for another edge of the subgraph.
    Pairs that could not be joined are in `graph["missing"]`.
    """
    import networkx

    items = {item.id: item for item in context}
    question = QUESTION
    while question in items:
        question += "?"
    network: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(
        question=question, missing=list(context.missing)
    )
    network.add_node(question, role="question", kind="question", text=context.question)
    for rank, item in enumerate(context, 1):
        network.add_node(item.id, **_node(item, rank))
    steps: set[tuple[str, str, str, str]] = set()
    for item in context:
        for source, kind, target, text, weight in _steps(item, question):
            _join(network, steps, source, target, kind, weight, text, way=True)
    for tie in context.edges:
        _join(network, steps, tie.tail, tie.head, tie.kind, tie.weight, tie.text, way=False)
    return network


def drawn(context: Context, edges: int) -> tuple[networkx.MultiDiGraph[str], int]:
    """Return the graph with all ways and the strongest `edges` other edges, and the number of edges left out."""
    network = to_networkx(context)
    others = [
        (tail, head, key)
        for tail, head, key, way in network.edges(keys=True, data="way")
        if not way
    ]
    weight = {edge: network.edges[edge]["weight"] for edge in others}
    weak = sorted(others, key=lambda edge: -weight[edge])[edges:]
    network.remove_edges_from(weak)
    alone = [
        name
        for name, role in network.nodes(data="role")
        if role == "connector" and not network.degree(name)
    ]
    network.remove_nodes_from(alone)
    return network, len(weak)


def _node(item: Item, rank: int) -> dict[str, Any]:
    own = {
        "role": item.role,
        "kind": item.kind,
        "text": item.text,
        "rank": rank,
        "score": item.score,
        "tokens": item.tokens,
    }
    return own | {"document": item.document or item.id, "title": named(item)}


def _steps(item: Item, question: str) -> list[tuple[str, str, str, str, float]]:
    """The hops of an item's way, from the question's node to the item's own; a fact hangs on the subject that leads to it."""
    steps = [
        (hop.source if i else question, hop.kind, hop.target, hop.text, hop.weight)
        for i, hop in enumerate(item.why)
    ]
    if steps and steps[-1][2] != item.id:
        if item.role == "fact" and steps[-1][2] != item.text:
            steps.append((steps[-1][2], "fact", item.id, item.text, 1.0))
        else:
            source, kind, _, text, weight = steps[-1]
            steps[-1] = (source, kind, item.id, text, weight)
    return steps


def _join(
    network: networkx.MultiDiGraph[str],
    steps: set[tuple[str, str, str, str]],
    tail: str,
    head: str,
    kind: str,
    weight: float,
    text: str,
    *,
    way: bool,
) -> None:
    """Add an edge that is not there yet in either direction."""
    if (tail, head, kind, text) in steps or (not way and (head, tail, kind, text) in steps):
        return
    steps.add((tail, head, kind, text))
    for name in (tail, head):
        if name not in network:
            network.add_node(
                name,
                role="connector",
                kind=name.partition(":")[0] if ":" in name else "",
                text=named(name),
            )
    network.add_edge(tail, head, kind=kind, weight=weight, text=text, way=way)
