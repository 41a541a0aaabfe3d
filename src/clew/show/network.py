"""A context as a graph: the question, the paths from it, the items, and the edges between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from clew.items import Item
from clew.show.drawable import Drawable
from clew.show.paths import display_name

if TYPE_CHECKING:
    import networkx

QUESTION = "question"


class PathEdge(NamedTuple):
    """An edge that is drawn: both ends, its kind, the fact that it states (or ""), and its weight.

    `forward` says whether the edge of the graph leads from `tail` to `head` too.
    """

    tail: str
    head: str
    kind: str
    text: str
    weight: float
    forward: bool = True


def to_networkx(context: Drawable) -> networkx.MultiDiGraph[str]:
    """Return the context as a directed multigraph whose nodes are ids.

    Every node has `role`, `kind` and `text`. An item also has `rank` (from 1), `score`, `tokens`,
    `document` and `title`. The nodes that are not items are the question, whose name is in
    `graph["question"]`, and the connectors between items (role "connector").

    Every edge has `kind`, `weight`, `text` (the fact that it states, or "") and `on_path`: True
    for a step of the path from the question to an item, False for another edge of the subgraph.
    Pairs that could not be joined are in `graph["missing"]`.

    Args:
        context: What to draw.

    Returns:
        The multigraph. Needs networkx.

    Example:
        >>> from clew.context import Context
        >>> from clew.items import Hop, Item
        >>> path = (Hop("question", "touches", "oars", weight=0.9),)
        >>> item = Item("oars", "Oars are of ash.", 0.7, "seed", "passage", 5, why=path)
        >>> network = to_networkx(Context((item,), item.text, 5, None, "Of what?", "dense"))
        >>> list(network.edges(data="weight"))
        [('question', 'oars', 0.9)]
    """
    import networkx

    ids = {item.id for item in context}
    question = QUESTION
    while question in ids:
        question += "?"
    network: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(
        question=question, missing=list(context.missing)
    )
    network.add_node(question, role="question", kind="question", text=context.question)
    for rank, item in enumerate(context, 1):
        network.add_node(item.id, **_item_attributes(item, rank))
    present: set[tuple[str, str, str, str]] = set()
    for item in context:
        for step in path_edges(item, question):
            _add_edge(network, present, step, on_path=True)
    for edge in context.edges:
        joined = PathEdge(edge.tail, edge.head, edge.kind, edge.text, edge.weight)
        _add_edge(network, present, joined, on_path=False)
    return network


def network_to_draw(context: Drawable, max_edges: int) -> tuple[networkx.MultiDiGraph[str], int]:
    """Return the graph without its weakest edges, and the number of edges that were left out.

    Args:
        context: What to draw.
        max_edges: How many edges beside the paths stay at most, the strongest first.
    """
    network = to_networkx(context)
    others = [
        (tail, head, key)
        for tail, head, key, on_path in network.edges(keys=True, data="on_path")
        if not on_path
    ]
    weight = {edge: network.edges[edge]["weight"] for edge in others}
    weak = sorted(others, key=lambda edge: -weight[edge])[max_edges:]
    network.remove_edges_from(weak)
    isolated = [
        id
        for id, role in network.nodes(data="role")
        if role == "connector" and not network.degree(id)
    ]
    network.remove_nodes_from(isolated)
    return network, len(weak)


def _item_attributes(item: Item, rank: int) -> dict[str, Any]:
    return {
        "role": item.role,
        "kind": item.kind,
        "text": item.text,
        "rank": rank,
        "score": item.score,
        "tokens": item.tokens,
        "document": item.document or item.id,
        "title": display_name(item),
    }


def path_edges(item: Item, question: str) -> list[PathEdge]:
    """The hops from the question's node to the item's own.

    A path that ends before the item is led to it: a fact hangs on its subject, and anything else
    takes the place of the last hop's target.
    """
    path = [
        PathEdge(
            hop.source if i else question, hop.target, hop.kind, hop.text, hop.weight, hop.forward
        )
        for i, hop in enumerate(item.why)
    ]
    if path and path[-1].head != item.id:
        if item.role == "fact" and path[-1].head != item.text:
            path.append(PathEdge(path[-1].head, item.id, "fact", item.text, 1.0))
        else:
            path[-1] = path[-1]._replace(head=item.id)
    return path


def _add_edge(
    network: networkx.MultiDiGraph[str],
    present: set[tuple[str, str, str, str]],
    edge: PathEdge,
    *,
    on_path: bool,
) -> None:
    """Add an edge and its connectors, unless it is there; beside the paths, in either direction."""
    key = (edge.tail, edge.head, edge.kind, edge.text)
    reverse = (edge.head, edge.tail, edge.kind, edge.text)
    if key in present or (not on_path and reverse in present):
        return
    present.add(key)
    for id in (edge.tail, edge.head):
        if id not in network:
            kind = id.partition(":")[0] if ":" in id else ""
            network.add_node(id, role="connector", kind=kind, text=display_name(id))
    network.add_edge(
        edge.tail,
        edge.head,
        kind=edge.kind,
        weight=edge.weight,
        text=edge.text,
        on_path=on_path,
    )
