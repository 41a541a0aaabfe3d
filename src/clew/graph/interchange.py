"""Graphs from and to networkx and rustworkx, and from bare triples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clew.graph.columns import Labels, Ragged, freeze
from clew.graph.core import GraphColumns, GraphT
from clew.graph.edges import Edges, Facts

if TYPE_CHECKING:
    import networkx
    import rustworkx

Attributes = Mapping[str, Any]

# Columns that a graph computes or numbers anew; they are not read from attributes.
COMPUTED = ("kinds", "texts", "tokens", "documents", "parents", "previous")
READ = ("id", "text", "kind", "vector")


def from_triples(
    cls: type[GraphT],
    triples: Sequence[tuple[str, str, str]],
    embed: Callable[[list[str]], ArrayLike] | None,
) -> GraphT:
    """Return one entity per name, in order of appearance, and a fact and an edge per triple.

    Repeated triples count once. See `Graph.from_triples`.
    """
    distinct = list(dict.fromkeys(tuple(triple) for triple in triples))
    ends = [name for subject, _, object in distinct for name in (subject, object)]
    names = list(dict.fromkeys(ends))
    row = {name: i for i, name in enumerate(names)}
    texts = tuple(" ".join(triple) for triple in distinct)
    subjects = freeze([row[subject] for subject, _, _ in distinct], np.int32)
    objects = freeze([row[object] for _, _, object in distinct], np.int32)
    vectors = np.zeros((len(texts), 0)) if embed is None else embed(list(texts))
    return cls.of(
        names,
        ids=names,
        kinds="entity",
        vectors=None if embed is None else embed(names),
        facts=Facts(
            texts,
            freeze(vectors, np.float32),
            subjects,
            objects,
            Labels.of([relation for _, relation, _ in distinct]),
            Ragged.empty(len(texts)),
        ),
        edges=Edges.of("fact", subjects, objects, facts=np.arange(len(texts))),
    )


def from_networkx(
    cls: type[GraphT], network: networkx.Graph[Any], count: Callable[[str], int]
) -> GraphT:
    """Return the graph of a networkx graph; see `Graph.from_networkx`."""
    names = list(network.nodes)
    row = {name: i for i, name in enumerate(names)}
    nodes = [(str(name), dict(network.nodes[name])) for name in names]
    edges = [(row[tail], row[head], data) for tail, head, data in network.edges(data=True)]
    return _from_attributes(cls, nodes, edges, count)


def from_rustworkx(
    cls: type[GraphT],
    network: rustworkx.PyGraph[Any, Any] | rustworkx.PyDiGraph[Any, Any],
    count: Callable[[str], int],
) -> GraphT:
    """Return the graph of a rustworkx graph; see `Graph.from_rustworkx`."""
    indices = list(network.node_indices())
    row = {index: i for i, index in enumerate(indices)}
    payloads = [network[index] for index in indices]
    nodes = [
        (str(p.get("id", i)), dict(p)) if isinstance(p, dict) else (str(p), {})
        for i, p in zip(indices, payloads, strict=True)
    ]
    edges = [
        (row[a], row[b], p if isinstance(p, dict) else {} if p is None else {"weight": p})
        for a, b, p in network.weighted_edge_list()
    ]
    return _from_attributes(cls, nodes, edges, count)


def to_networkx(graph: GraphColumns) -> networkx.MultiDiGraph[Any]:
    """Return the graph as a networkx graph; see `Graph.to_networkx`."""
    import networkx

    network: networkx.MultiDiGraph[Any] = networkx.MultiDiGraph()
    network.add_nodes_from((id, _node_attributes(graph, row)) for row, id in enumerate(graph.ids))
    for tail, head, data in _edges_with_attributes(graph):
        network.add_edge(graph.ids[tail], graph.ids[head], **data)
    return network


def to_rustworkx(graph: GraphColumns) -> rustworkx.PyDiGraph[Any, Any]:
    """Return the graph as a directed rustworkx multigraph whose node index is the row."""
    import rustworkx

    network: rustworkx.PyDiGraph[Any, Any] = rustworkx.PyDiGraph()
    network.add_nodes_from(
        [{"id": id, **_node_attributes(graph, row)} for row, id in enumerate(graph.ids)]
    )
    network.add_edges_from(list(_edges_with_attributes(graph)))
    return network


def _from_attributes(
    cls: type[GraphT],
    nodes: Sequence[tuple[str, Attributes]],
    edges: Sequence[tuple[int, int, Attributes]],
    count: Callable[[str], int],
) -> GraphT:
    """The graph of named nodes and of edges (tail, head), both with attributes."""
    names = [name for name, _ in nodes]
    if len(set(names)) < len(names):
        raise ValueError("node names must differ as text too: two of them have the same str()")
    texts = [_text(data, "text", name) for name, data in nodes]
    unread = (*READ, *COMPUTED)
    return cls.of(
        texts,
        ids=names,
        kinds=[_text(data, "kind", "passage") for _, data in nodes],
        vectors=_vectors_of(nodes),
        metadata=tuple({k: v for k, v in data.items() if k not in unread} for _, data in nodes),
        facts=_facts_of(edges, texts),
        edges=_edges_of(edges, names),
        count=count,
    )


def _text(attributes: Attributes, name: str, default: str = "") -> str:
    """Return an attribute as text; the default where it is missing, None or, as in a table, NaN."""
    value = attributes.get(name)
    is_missing = value is None or (isinstance(value, float) and value != value)
    return default if is_missing else str(value)


def _vectors_of(nodes: Sequence[tuple[str, Attributes]]) -> NDArray[np.float32]:
    """Return the vectors of the nodes, a row of zeros for none."""
    given: dict[int, NDArray[np.float32]] = {}
    for row, (name, data) in enumerate(nodes):
        if (vector := data.get("vector")) is None:
            continue
        try:
            given[row] = np.asarray(vector, np.float32)
        except (TypeError, ValueError):
            raise ValueError(f"the vector of {name!r} is no list of numbers: {vector!r}") from None
        if given[row].ndim != 1 or len(given[row]) != len(next(iter(given.values()))):
            raise ValueError(
                f"the vector of {name!r} came as an array of shape {given[row].shape}; "
                "wanted one row of numbers, as many as the others have"
            )
    width = len(next(iter(given.values()))) if given else 0
    vectors = np.zeros((len(nodes), width), np.float32)
    for row, vector in given.items():
        vectors[row] = vector
    return vectors


def _states_fact(attributes: Attributes) -> bool:
    return bool(_text(attributes, "relation") or _text(attributes, "fact"))


def _facts_of(edges: Sequence[tuple[int, int, Attributes]], texts: Sequence[str]) -> Facts:
    """The facts that edges state, in the order of the edges."""
    stating = [(tail, head, data) for tail, head, data in edges if _states_fact(data)]
    return Facts(
        tuple(
            _text(data, "fact") or f"{texts[tail]} {_text(data, 'relation')} {texts[head]}"
            for tail, head, data in stating
        ),
        freeze(np.zeros((len(stating), 0)), np.float32),
        freeze([tail for tail, _, _ in stating], np.int32),
        freeze([head for _, head, _ in stating], np.int32),
        Labels.of([_text(data, "relation") for _, _, data in stating]),
        Ragged.empty(len(stating)),
    )


def _edges_of(edges: Sequence[tuple[int, int, Attributes]], names: Sequence[str]) -> Edges:
    """The edges as columns. The i-th edge that states a fact states fact i."""
    parts = list[Edges]()
    facts = 0
    for tail, head, data in edges:
        fact, kind = (facts, "fact") if _states_fact(data) else (-1, "related")
        facts += fact >= 0
        weight = data.get("weight")
        try:
            affinity = 1.0 if weight is None else float(weight)
        except (TypeError, ValueError):
            ends = f"{names[tail]!r} to {names[head]!r}"
            raise ValueError(
                f"the weight of the edge from {ends} is no number: {weight!r}"
            ) from None
        parts.append(Edges.of(_text(data, "kind", kind), [tail], [head], affinity, facts=[fact]))
    return Edges.join(parts)


def _node_attributes(graph: GraphColumns, row: int) -> dict[str, Any]:
    own = {"kind": graph.kinds[row], "text": graph.texts[row], "tokens": int(graph.tokens[row])}
    if graph.vectors[row].any():
        own["vector"] = graph.vectors[row]
    return {**{k: v for k, v in graph.metadata[row].items() if k not in own}, **own}


def _edges_with_attributes(graph: GraphColumns) -> list[tuple[int, int, dict[str, Any]]]:
    edges, facts = graph.edges, graph.facts
    columns = zip(edges.tails, edges.heads, edges.kinds, edges.weights, edges.facts, strict=True)

    def attributes(kind: str, weight: float, fact: int) -> dict[str, Any]:
        own = {"kind": kind, "weight": float(weight)}
        if fact < 0:
            return own
        return own | {"relation": facts.relations[fact], "fact": facts.texts[fact]}

    return [
        (int(tail), int(head), attributes(kind, weight, fact))
        for tail, head, kind, weight, fact in columns
    ]
