"""To networkx and rustworkx and back."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from clew.graph import Edges, Facts, Graph, Labels, Ragged, freeze


@pytest.fixture
def graph():
    facts = Facts(
        ("Ada wrote Notes",),
        freeze([[0.0, 1.0]], np.float32),
        freeze([1], np.int32),
        freeze([2], np.int32),
        Labels.of(["wrote"]),
        Ragged.of([[0]]),
    )
    edges = Edges.join(
        [
            Edges.of("fact", [1], [2], 0.5, [0]),
            Edges.of("mentions", [0, 0], [1, 2]),
            Edges.of("mentions", [0], [1], 0.25),
        ]
    )
    return Graph.of(
        ["Ada wrote Notes.", "Ada", "Notes"],
        ids=["p", "ada", "notes"],
        kinds=["passage", "entity", "entity"],
        vectors=[[1.0, 0.0], [0.0, 0.0], [0.6, 0.8]],
        metadata=({"page": 3}, {}, {"born": "1843"}),
        facts=facts,
        edges=edges,
    )


def edges_of(graph):
    e = graph.edges
    return sorted(
        (graph.ids[t], graph.ids[h], k, round(float(w), 6))
        for t, h, k, w in zip(e.tails, e.heads, e.kinds, e.weights, strict=True)
    )


def test_a_round_trip_over_networkx_keeps_nodes_vectors_metadata_and_parallel_edges(graph):
    there = graph.to_networkx()
    back = Graph.from_networkx(there)

    assert isinstance(there, nx.MultiDiGraph)
    assert there.edges["ada", "notes", 0] == {
        "kind": "fact",
        "weight": 0.5,
        "relation": "wrote",
        "fact": "Ada wrote Notes",
    }
    assert (back.facts.texts, list(back.facts.relations)) == (("Ada wrote Notes",), ["wrote"])
    assert "vector" not in there.nodes["ada"], "a row of zeros means no vector"
    assert (back.ids, back.texts, list(back.kinds)) == (graph.ids, graph.texts, list(graph.kinds))
    assert np.array_equal(back.vectors, graph.vectors)
    assert [dict(m) for m in back.metadata] == [dict(m) for m in graph.metadata]
    assert edges_of(back) == edges_of(graph)


def test_rustworkx_has_the_same_nodes_by_row_and_the_same_edges(graph):
    there = graph.to_rustworkx()
    assert [there[row]["id"] for row in range(3)] == list(graph.ids)
    assert there[0]["page"] == 3
    assert sorted(
        (graph.ids[t], graph.ids[h], d["kind"], round(d["weight"], 6))
        for t, h, d in there.weighted_edge_list()
    ) == edges_of(graph)


def test_a_networkx_graph_of_anything_becomes_passages(embed):
    network = nx.Graph()
    network.add_node(1, text="one", vector=[1.0, 0.0], tokens=99, colour="red")
    network.add_edge(1, ("a", 2), weight=0.5)
    graph = Graph.from_networkx(network, count=len)
    assert graph.ids == ("1", "('a', 2)")
    assert graph.texts == ("one", "('a', 2)")
    assert graph.tokens.tolist() == [len("- one\n"), len("- ('a', 2)\n")]
    assert graph.metadata[0] == {"colour": "red"}
    assert edges_of(graph) == [("1", "('a', 2)", "related", 0.5)]
    assert len(Graph.from_networkx(nx.Graph())) == 0


def test_what_a_table_has_no_value_for_is_missing():
    network = nx.DiGraph()
    network.add_node("a", text=None, kind=float("nan"), vector=None)
    network.add_node("b", text=float("nan"), vector=[1.0])
    network.add_edge("a", "b", relation=None, fact=float("nan"), weight=None, kind=None)
    network.add_edge("b", "a", relation="knows", fact=None)
    graph = Graph.from_networkx(network)
    assert (graph.texts, list(graph.kinds)) == (("a", "b"), ["passage"] * 2)
    assert graph.facts.texts == ("b knows a",)
    assert edges_of(graph) == [("a", "b", "related", 1.0), ("b", "a", "fact", 1.0)]


@pytest.mark.parametrize(
    ("node", "edge", "message"),
    [
        ({"vector": [1.0, 0.0]}, {}, "the vector of 'b' came as an array of shape"),
        ({"vector": 1.0}, {}, "the vector of 'b' came as an array of shape"),
        ({"vector": "red"}, {}, "the vector of 'b' is no list of numbers: 'red'"),
        ({}, {"weight": "high"}, "the weight of the edge from 'a' to 'b' is no number: 'high'"),
    ],
)
def test_a_vector_or_weight_of_another_form_is_named(node, edge, message):
    network = nx.DiGraph()
    network.add_node("a", vector=[1.0])
    network.add_node("b", **node)
    network.add_edge("a", "b", **edge)
    with pytest.raises(ValueError, match=message):
        Graph.from_networkx(network)


def test_a_column_that_no_graph_has_is_refused():
    with pytest.raises(TypeError, match=r"a graph has no fact, meta; it has tokens, .*metadata"):
        Graph.of(["a"], fact=Facts(), meta=({},))


def test_nodes_that_read_the_same_are_refused():
    with pytest.raises(ValueError, match="two of them have the same str"):
        Graph.from_networkx(nx.Graph([(1, "1")]))


def test_triples_are_entities_facts_and_edges_each_once(embed):
    graph = Graph.from_triples(
        [("a", "knows", "b"), ("b", "knows", "c"), ("a", "knows", "b"), ("a", "likes", "a")],
        embed=embed,
    )
    assert graph.ids == ("a", "b", "c")
    assert list(graph.kinds) == ["entity"] * 3
    assert graph.facts.texts == ("a knows b", "b knows c", "a likes a")
    assert list(graph.facts.relations) == ["knows", "knows", "likes"]
    assert graph.facts.vectors.shape == graph.vectors.shape
    assert edges_of(graph) == [
        ("a", "a", "fact", 1.0),
        ("a", "b", "fact", 1.0),
        ("b", "c", "fact", 1.0),
    ]
    assert graph.edges.facts.tolist() == [0, 1, 2]
    assert graph.links().neighbours(0).tolist() == [1]
    assert len(Graph.from_triples([])) == 0


def test_a_rustworkx_graph_comes_back_with_its_facts():
    import rustworkx

    network = rustworkx.PyGraph()
    anna, ben = (
        network.add_node({"id": "anna", "kind": "entity", "text": "Anna"}),
        network.add_node("ben"),
    )
    network.add_edge(anna, ben, {"relation": "married", "weight": 0.5})
    network.add_edge(ben, anna, 0.25)

    graph = Graph.from_rustworkx(network)

    assert graph.ids == ("anna", "ben")
    assert list(graph.kinds) == ["entity", "passage"]
    assert graph.facts.texts == ("Anna married ben",)
    assert [
        (kind, weight)
        for kind, weight in zip(graph.edges.kinds, graph.edges.weights.tolist(), strict=True)
    ] == [
        ("fact", 0.5),
        ("related", 0.25),
    ]
    again = Graph.from_rustworkx(graph.to_rustworkx())
    assert (again.ids, again.texts, again.facts.texts) == (
        graph.ids,
        graph.texts,
        graph.facts.texts,
    )
