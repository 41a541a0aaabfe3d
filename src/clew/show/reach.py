"""How far the nodes of a drawing are from the question, and in which order they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx


def hops_from_question(network: networkx.MultiDiGraph[str]) -> dict[str, int]:
    """Return how many hops of a path lead to each node; what no path leads to is one farther.

    Args:
        network: A graph made by `to_networkx`.
    """
    import networkx

    question = network.graph["question"]
    neighbours = network.to_undirected(as_view=True)
    hops = dict(networkx.single_source_shortest_path_length(_path_view(network), question))
    for id in network:
        if id not in hops:  # a connector on no path stands beyond what it joins
            joined = (hops[other] for other in neighbours[id] if other in hops)
            hops[id] = 1 + max(joined, default=0)
    return hops


def reading_ranks(network: networkx.MultiDiGraph[str]) -> dict[str, int]:
    """Return the number of each item; of a connector, that of the first item that it leads to."""
    import networkx

    paths = _path_view(network)
    neighbours = network.to_undirected(as_view=True)
    last = len(network)
    ranks: dict[str, int] = {}
    for id, node in network.nodes(data=True):
        if "rank" in node:
            ranks[id] = node["rank"]
        else:
            after = networkx.descendants(paths, id) | set(neighbours[id])
            ranks[id] = min(
                (network.nodes[other].get("rank", last) for other in after), default=last
            )
    return ranks


def _path_view(network: networkx.MultiDiGraph[str]) -> networkx.MultiDiGraph[str]:
    """Return the graph of the paths alone."""
    import networkx

    return networkx.subgraph_view(
        network, filter_edge=lambda tail, head, key: network.edges[tail, head, key]["on_path"]
    )
