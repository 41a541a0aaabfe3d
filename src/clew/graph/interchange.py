"""Graphs from and to networkx and rustworkx, and from bare triples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clew.graph.columns import Labels, Ragged, freeze
from clew.graph.core import Graph
from clew.graph.edges import Edges, Facts

if TYPE_CHECKING:
    import networkx
    import rustworkx

NODE_COLUMNS = ("kinds", "texts", "tokens", "documents", "parents", "previous")


def from_triples(
    triples: Sequence[tuple[str, str, str]], embed: Callable[[list[str]], Any] | None
) -> Graph:
    """Return one entity per name (by order of first appearance) and one fact and one edge per distinct triple."""
    distinct = list(dict.fromkeys(tuple(triple) for triple in triples))
    names = list(
        dict.fromkeys(name for subject, _, object in distinct for name in (subject, object))
    )
    row = {name: i for i, name in enumerate(names)}
    texts = tuple(" ".join(triple) for triple in distinct)
    subjects = freeze([row[subject] for subject, _, _ in distinct], np.int32)
    objects = freeze([row[object] for _, _, object in distinct], np.int32)
    return Graph.of(
        names,
        ids=names,
        kinds="entity",
        vectors=None if embed is None else embed(names),
        facts=Facts(
            texts,
            freeze(np.zeros((len(texts), 0)) if embed is None else embed(list(texts)), np.float32),
            subjects,
            objects,
            Labels.of([relation for _, relation, _ in distinct]),
            Ragged.empty(len(texts)),
        ),
        edges=Edges.of("fact", subjects, objects, facts=np.arange(len(texts))),
    )


def from_networkx(network: networkx.Graph[Any], count: Callable[[str], int]) -> Graph:
    """Return the graph of a networkx graph whose nodes and edges may carry the attributes named in `Graph.from_networkx`."""
    names = list(network.nodes)
    row = {name: i for i, name in enumerate(names)}
    nodes = [(str(name), dict(network.nodes[name])) for name in names]
    return _from_plain(
        nodes,
        [(row[tail], row[head], data) for tail, head, data in network.edges(data=True)],
        count,
    )


def from_rustworkx(
    network: rustworkx.PyGraph[Any, Any] | rustworkx.PyDiGraph[Any, Any],
    count: Callable[[str], int],
) -> Graph:
    """Return the graph of a rustworkx graph: payloads are dictionaries, or else a node's name and an edge's weight."""
    indices = list(network.node_indices())
    row = {index: i for i, index in enumerate(indices)}
    payloads = [network[index] for index in indices]
    nodes = [
        (str(p.get("id", i)), dict(p)) if isinstance(p, dict) else (str(p), {})
        for i, p in zip(indices, payloads, strict=True)
    ]
    ties = [
        (row[a], row[b], p if isinstance(p, dict) else {} if p is None else {"weight": p})
        for a, b, p in network.weighted_edge_list()
    ]
    return _from_plain(nodes, ties, count)


def _from_plain(
    nodes: Sequence[tuple[str, dict[str, Any]]],
    ties: Sequence[tuple[int, int, Any]],
    count: Callable[[str], int],
) -> Graph:
    """The graph of named nodes and edges with attributes; an edge with a `relation` or a `fact` states one."""
    names = [name for name, _ in nodes]
    if len(set(names)) < len(names):
        raise ValueError("node names must differ as text too: two of them have the same str()")
    texts = [str(data.get("text", name)) for name, data in nodes]
    vectors = [data.get("vector") for _, data in nodes]
    width = max((len(v) for v in vectors if v is not None), default=0)
    stated = [(t, h, d) for t, h, d in ties if "relation" in d or "fact" in d]
    said = [str(d.get("fact", f"{texts[t]} {d.get('relation')} {texts[h]}")) for t, h, d in stated]
    number = iter(range(len(stated)))
    edges = [
        Edges.of(str(d.get("kind", default)), [t], [h], float(d.get("weight", 1.0)), facts=[fact])
        for t, h, d in ties
        for default, fact in [
            ("fact", next(number)) if "relation" in d or "fact" in d else ("related", -1)
        ]
    ]
    return Graph.of(
        texts,
        ids=names,
        kinds=[str(data.get("kind", "passage")) for _, data in nodes],
        vectors=np.array([np.zeros(width) if v is None else v for v in vectors]).reshape(
            len(names), width
        ),
        metadata=tuple(
            {
                k: v
                for k, v in data.items()
                if k not in ("id", "text", "kind", "vector", *NODE_COLUMNS)
            }
            for _, data in nodes
        ),
        facts=Facts(
            tuple(said),
            freeze(np.zeros((len(stated), 0)), np.float32),
            freeze([t for t, _, _ in stated], np.int32),
            freeze([h for _, h, _ in stated], np.int32),
            Labels.of([str(d.get("relation", "")) for _, _, d in stated]),
            Ragged.empty(len(stated)),
        ),
        edges=Edges.join(edges),
        count=count,
    )


def to_networkx(graph: Graph) -> networkx.MultiDiGraph[Any]:
    """Return nodes named by id with `kind`, `text`, `tokens`, `vector` and metadata, and edges with `kind`, `weight`, `fact`."""
    import networkx

    network: networkx.MultiDiGraph[Any] = networkx.MultiDiGraph()
    network.add_nodes_from((id, _node(graph, row)) for row, id in enumerate(graph.ids))
    for tail, head, data in _edges(graph):
        network.add_edge(graph.ids[tail], graph.ids[head], **data)
    return network


def to_rustworkx(graph: Graph) -> rustworkx.PyDiGraph[Any, Any]:
    """Return a directed multigraph whose node index is the row."""
    import rustworkx

    network: rustworkx.PyDiGraph[Any, Any] = rustworkx.PyDiGraph()
    network.add_nodes_from([{"id": id, **_node(graph, row)} for row, id in enumerate(graph.ids)])
    network.add_edges_from(list(_edges(graph)))
    return network


def _node(graph: Graph, row: int) -> dict[str, Any]:
    own = {"kind": graph.kinds[row], "text": graph.texts[row], "tokens": int(graph.tokens[row])}
    if graph.vectors[row].any():
        own["vector"] = graph.vectors[row]
    return {**{k: v for k, v in graph.metadata[row].items() if k not in own}, **own}


def _edges(graph: Graph) -> list[tuple[int, int, dict[str, Any]]]:
    edges, texts = graph.edges, graph.facts.texts
    return [
        (
            int(t),
            int(h),
            {"kind": kind, "weight": float(w)} | ({"fact": texts[f]} if f >= 0 else {}),
        )
        for t, h, kind, w, f in zip(
            edges.tails, edges.heads, edges.kinds, edges.weights, edges.facts, strict=True
        )
    ]
