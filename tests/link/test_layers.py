"""The layers of DA-RAG's index by their definition."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.algorithms.traversal.reached import induced_links
from clew.graph import Facts, Graph, Labels, MentionedEntitiesPart, Ragged, freeze
from clew.link import Alike, Related
from clew.link.related import related_pairs
from clew.methods.da_rag.layers import ChunkLayer, LateChunkLayer, SimilarityLayer

CHUNKS = st.lists(
    st.lists(st.integers(0, 5), max_size=4, unique=True).map(sorted), min_size=1, max_size=6
)
RELATIONS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8)


@given(CHUNKS, RELATIONS, st.integers(1, 4), st.integers(1, 3), st.booleans())
def test_chunks_are_joined_by_relations_between_what_was_read_from_them(
    read_from, relations, hub_cap, min_support, shared
):
    relations = {tuple(sorted((a % len(read_from), b % len(read_from)))) for a, b in relations}
    support = {}
    for u, w in [
        *((u, w) for u, w in relations if u != w),
        *((u, u) for u in range(len(read_from)) if shared),
    ]:
        if max(len(read_from[u]), len(read_from[w])) <= hub_cap:
            for pair in {
                tuple(sorted(pair))
                for pair in product(read_from[u], read_from[w])
                if pair[0] != pair[1]
            }:
                support[pair] = support.get(pair, 0) + 1
    ends = np.array(sorted(relations), np.int32).reshape(-1, 2)
    tails, heads, times = related_pairs(
        Ragged.of(read_from), ends[:, 1], ends[:, 0], hub_cap, min_support, shared
    )
    expected = {pair: times for pair, times in support.items() if times >= min_support}
    assert list(zip(tails.tolist(), heads.tolist(), strict=True)) == sorted(expected)
    assert times.tolist() == [expected[pair] for pair in sorted(expected)]


@given(
    CHUNKS, RELATIONS, st.sampled_from([1, 3, None]), st.integers(1, 2), st.booleans(), st.data()
)
def test_links_of_some_chunks_are_those_of_the_whole_layer(
    read_from, relations, hub_cap, min_support, shared, data
):
    n_chunks, n = 6, len(read_from)
    ends = np.array([(a % n, b % n) for a, b in relations], np.int32).reshape(-1, 2) + n_chunks
    facts = Facts(
        ("a fact",) * len(ends),
        freeze(np.zeros((len(ends), 0)), np.float32),
        freeze(ends[:, 0], np.int32),
        freeze(ends[:, 1], np.int32),
        Labels.of(["knows"] * len(ends)),
        Ragged.of([[0]] * len(ends)),
    )
    graph = Graph.of(
        [f"text {i}" for i in range(n_chunks + n)],
        kinds=["passage"] * n_chunks + ["entity"] * n,
        read_from=Ragged.of([[]] * n_chunks + read_from),
        facts=facts,
    )
    layer = ChunkLayer(hub_cap, min_support, shared)
    chosen = data.draw(st.lists(st.integers(0, n_chunks - 1), unique=True).map(sorted))
    rows = np.array(chosen, np.int32)
    wanted, _ = induced_links(graph.part(layer).links, rows)
    late = LateChunkLayer(graph, layer)
    assert late.rows.tolist() == graph.part(layer).rows.tolist()
    links = late.links_among(rows)
    found, slots = induced_links(links, rows)
    assert len(slots) == len(links.targets)  # and none that lead elsewhere
    for name in ("starts", "targets", "weights"):
        assert getattr(found, name).tolist() == getattr(wanted, name).tolist()


@pytest.fixture(scope="module")
def index(embed):
    facts = {
        "a": [("Anna", "knows", "Ben"), ("Anna", "knows", "Anna")],
        "b": [("Ben", "likes", "Cleo")],
        "c": [("Dora", "left", "Oslo")],
    }
    return clew.Index.from_documents(
        [clew.Document(id, f"text {id}") for id in "abcd"], facts=facts, embedder=embed
    )


def test_the_layers_are_there_without_being_asked_for_and_the_same_as_edges(index):
    graph = index.graph
    layer = graph.part(ChunkLayer())
    assert [graph.ids[row] for row in layer.rows] == list("abcd")
    joined = {
        (graph.ids[t], graph.ids[h])
        for t, h in zip(layer.links.sources, layer.links.targets, strict=True)
    }
    assert joined == {("a", "b"), ("b", "a")}
    with_edges = clew.Index.from_graph(
        graph, embedder=index.embedder, links=[Related(), Alike()]
    ).graph
    for part in (ChunkLayer(), SimilarityLayer()):
        made, told = graph.part(part), with_edges.part(part)
        assert made.links.targets.tolist() == told.links.targets.tolist()
        assert made.links.weights.tolist() == told.links.weights.tolist()


def test_an_entity_has_its_k_nearest_and_whoever_is_nearest_to_it():
    rng = np.random.default_rng(0)
    vectors = np.abs(rng.standard_normal((30, 8)))
    graph = Graph.of(
        [f"e{i}" for i in range(30)],
        kinds="entity",
        vectors=vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
    )
    layer = graph.part(SimilarityLayer(3))
    cosines = graph.vectors @ graph.vectors.T
    nearest = {i: set(np.argsort(-cosines[i])[1:4].tolist()) for i in range(30)}
    for i in range(30):
        assert set(layer.links.neighbours(i).tolist()) == nearest[i] | {
            j for j in range(30) if i in nearest[j]
        }
    assert np.diff(layer.links.starts).min() >= 3


def test_links_between_layers_lead_from_a_chunk_to_what_was_read_from_it(index):
    graph, mentioned = index.graph, index.graph.part(MentionedEntitiesPart())
    assert [sorted(graph.texts[e] for e in mentioned[graph.row(id)]) for id in "abcd"] == [
        ["Anna", "Ben"],
        ["Ben", "Cleo"],
        ["Dora", "Oslo"],
        [],
    ]


@pytest.mark.parametrize(
    "graph",
    [Graph.of([]), Graph.of(["one"]), Graph.of(["one"], kinds="entity", vectors=[[0.0, 0.0]])],
)
def test_a_graph_without_relations_has_empty_layers(graph):
    for part in (ChunkLayer(), SimilarityLayer()):
        assert len(graph.part(part).links.targets) == 0
    assert len(graph.part(MentionedEntitiesPart()).values) == 0


def test_a_question_that_searches_few_chunks_makes_no_layer_of_all(index, embed):
    for links, makes in (([], False), ([Related()], True)):  # with its edges, it is there already
        asked = clew.Index.from_graph(index.graph, embedder=embed, links=links)
        asked.ask("Who knows Ben?", recipe="da_rag", budget=200)
        kept = [part for part, _ in asked.graph.kept_parts()]
        assert any(isinstance(part, ChunkLayer) for part in kept) == makes
