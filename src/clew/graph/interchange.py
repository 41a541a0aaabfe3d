"""Graphs from and to networkx and rustworkx, and from bare triples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clew.graph.columns import Labels, Ragged, frozen
from clew.graph.core import Edges, Facts, Graph

if TYPE_CHECKING:
    import networkx
    import rustworkx

NODE_COLUMNS = ("kinds", "texts", "tokens", "documents", "parents", "previous")


def from_triples(triples: Sequence[tuple[str, str, str]], embed: Callable[[list[str]], Any] | None) -> Graph:
    """Return one entity per name (by order of first appearance) and one fact and one edge per distinct triple."""
    distinct = list(dict.fromkeys(tuple(triple) for triple in triples))
    names = list(dict.fromkeys(name for subject, _, object in distinct for name in (subject, object)))
    row = {name: i for i, name in enumerate(names)}
    texts = tuple(" ".join(triple) for triple in distinct)
    subjects = frozen([row[subject] for subject, _, _ in distinct], np.int32)
    objects = frozen([row[object] for _, _, object in distinct], np.int32)
    return Graph.of(
        names,
        ids=names,
        kinds="entity",
        vectors=None if embed is None else embed(names),
        facts=Facts(
            texts,
            frozen(np.zeros((len(texts), 0)) if embed is None else embed(list(texts)), np.float32),
            subjects,
            objects,
            Labels.of([relation for _, relation, _ in distinct]),
            Ragged.empty(len(texts)),
        ),
        edges=Edges.of("fact", subjects, objects, facts=np.arange(len(texts))),
    )


def from_networkx(network: networkx.Graph[Any], count: Callable[[str], int]) -> Graph:
    """Return the nodes (id, `kind`, `text`, `vector`, the rest as metadata) and edges (`kind`, `weight`) of a networkx graph."""
    names = list(network.nodes)
    row = {name: i for i, name in enumerate(names)}
    if len({str(name) for name in names}) < len(names):
        raise ValueError("node names must differ as text too: two of them have the same str()")
    data = [network.nodes[name] for name in names]
    vectors = [d.get("vector") for d in data]
    width = max((len(v) for v in vectors if v is not None), default=0)
    ties = [(row[a], row[b], d) for a, b, d in network.edges(data=True)]
    return Graph.of(
        [str(d.get("text", name)) for name, d in zip(names, data, strict=True)],
        ids=[str(name) for name in names],
        kinds=[str(d.get("kind", "passage")) for d in data],
        vectors=np.array([np.zeros(width) if v is None else v for v in vectors]).reshape(len(names), width),
        metadata=tuple({k: v for k, v in d.items() if k not in ("text", "kind", "vector", *NODE_COLUMNS)} for d in data),
        edges=Edges.join(
            [
                Edges.of(kind, [t[0] for t in some], [t[1] for t in some], [float(t[2].get("weight", 1.0)) for t in some])
                for kind in sorted({str(d.get("kind", "related")) for _, _, d in ties})
                if (some := [t for t in ties if str(t[2].get("kind", "related")) == kind])
            ]
        ),
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
        (int(t), int(h), {"kind": kind, "weight": float(w)} | ({"fact": texts[f]} if f >= 0 else {}))
        for t, h, kind, w, f in zip(edges.tails, edges.heads, edges.kinds, edges.weights, edges.facts, strict=True)
    ]
