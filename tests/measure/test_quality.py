"""The quality of a part of a graph by networkx and by definition."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.algorithms.traversal.kernels.hops import hops
from clew.graph import Edges, Graph
from clew.measure import Quality, quality, quality_of


@given(st.integers(1, 14), st.sampled_from([0.1, 0.3, 0.7]), st.integers(0, 10**6), st.booleans())
def test_networkx_measures_the_same(n, share, seed, inside):
    rng = np.random.default_rng(seed)
    network = nx.gnp_random_graph(n, share, seed=seed)
    vectors = rng.standard_normal((n + 1, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    tails, heads = np.array(list(network.edges), np.int32).reshape(-1, 2).T
    graph = Graph.of([""] * n, vectors=vectors[:n]).with_edges(Edges.of("x", tails, heads))
    rows = np.flatnonzero(rng.random(n) < 0.6).astype(np.int32)
    found = quality(graph, rows, np.float32(vectors[n]), inside=inside)

    part = network.subgraph(rows.tolist())
    assert found.nodes == len(part)
    assert found.score == pytest.approx(
        (vectors[rows] @ vectors[n]).mean() if len(rows) else 0.0, abs=1e-6
    )
    assert found.parts == nx.number_connected_components(part)
    assert found.density == pytest.approx(nx.density(part))
    ways = dict(nx.all_pairs_shortest_path_length(part if inside else network))
    assert found.diameter == max(
        (length for a in rows for b, length in ways[a].items() if b in rows), default=0
    )
    pairs = [vectors[a] @ vectors[b] for a in rows for b in rows if a < b]
    assert found.similarity == pytest.approx(np.mean(pairs) if pairs else 0.0, abs=1e-6)


def test_a_context_counts_its_passages_and_the_ends_of_its_facts(embed):
    facts = {"a": [("Anna", "married", "Ben")]}
    index = clew.Index.from_documents(
        [clew.Document("a", "Anna married Ben."), clew.Document("b", "Rain.")],
        facts=facts,
        embedder=embed,
    )
    context = index.ask("Who married Ben?", recipe="da_rag", budget=None)
    assert {item.role for item in context} >= {"fact"}
    found = quality_of(index.graph, context, np.float32(embed(["Who married Ben?"])[0]))
    assert found.nodes == 4
    assert isinstance(found, Quality)


def test_a_search_for_the_fewest_hops_ends_when_it_has_met_all_rows():
    """Row 2 leads to a row that there is not: a search that went on would fail there."""
    starts, targets = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 99])
    assert hops.plain(starts, targets, np.array([0, 1])).tolist() == [[0, 1], [1, 0]]
    assert hops.plain(np.array([0, 0, 0]), targets[:0], np.array([1, 0])).tolist() == [
        [0, -1],
        [-1, 0],
    ]
