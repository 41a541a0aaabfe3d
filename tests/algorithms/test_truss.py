"""Trusses against networkx for every k, against their definition, and against the bounds that are proved for them."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.algorithms.community_search.kernels import truss
from clew.algorithms.community_search.truss import trussness
from clew.graph import Links, Ragged


def links_of(graph):
    n = graph.number_of_nodes()
    matrix = (
        nx.to_scipy_sparse_array(graph, nodelist=range(n), format="csr")
        if graph.number_of_edges()
        else None
    )
    starts = np.zeros(n + 1, np.int64) if matrix is None else matrix.indptr.astype(np.int64)
    targets = np.zeros(0, np.int32) if matrix is None else matrix.indices.astype(np.int32)
    return Links(starts, targets, np.ones(len(targets), np.float32), Ragged.empty(len(targets)))


def edges_of(links, kept):
    return {
        (a, b)
        for a, b in zip(links.sources[kept].tolist(), links.targets[kept].tolist(), strict=True)
        if a < b
    }


def random_graph(n, share, clumps, seed):
    """Edges at random, and cliques thrown in."""
    graph = nx.gnp_random_graph(n, share, seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(clumps):
        some = rng.choice(n, min(n, int(rng.integers(2, 7))), replace=False).tolist()
        graph.add_edges_from((a, b) for a in some for b in some if a < b)
    return graph


RANDOM = st.builds(
    random_graph,
    st.integers(1, 30),
    st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0]),
    st.integers(0, 4),
    st.integers(0, 10**6),
)


@pytest.mark.parametrize("listed", [truss.MAX_LISTED, 0, 10**6])
@settings(max_examples=2 * settings().max_examples)
@given(RANDOM)
def test_networkx_has_the_same_truss_for_every_k(listed, graph):
    links = links_of(graph)
    if len(links.targets):
        found = truss.decompose(np.array(links.starts), np.array(links.targets), listed)
        for k in range(2, int(found.max()) + 2):
            assert edges_of(links, found >= k) == {
                tuple(sorted(edge)) for edge in nx.k_truss(graph, k).edges
            }
    assert (trussness(links) >= 2).all()


@given(RANDOM, st.integers(3, 6))
def test_an_edge_closes_triangles_inside_its_truss_and_its_parts_are_dense_and_short(graph, k):
    links = links_of(graph)
    inside = nx.Graph(edges_of(links, trussness(links) >= k))
    assert all(len(set(inside[a]) & set(inside[b])) >= k - 2 for a, b in inside.edges)
    for nodes in nx.connected_components(inside):
        part = inside.subgraph(nodes)
        assert nx.density(part) >= (k - 1) / (len(part) - 1) - 1e-12
        assert nx.diameter(part) <= (2 * len(part) - 2) // k


def test_a_large_graph_that_keeps_no_list_of_triangles_is_peeled_alike():
    links = links_of(random_graph(300, 0.2, 40, 1))
    starts, targets = np.array(links.starts), np.array(links.targets)
    *_, total = truss.triangles(*truss.orient_edges(starts, targets)[:2], 0)
    assert total > truss.MAX_LISTED * len(targets) // 2
    assert (
        truss.decompose(starts, targets, truss.MAX_LISTED)
        == truss.decompose(starts, targets, 10**6)
    ).all()


def test_the_octahedron_is_a_four_truss_without_a_clique_of_four():
    octahedron = nx.octahedral_graph()
    assert max(map(len, nx.find_cliques(octahedron))) == 3
    assert set(trussness(links_of(octahedron)).tolist()) == {4}


def test_one_way_edges_and_loops_are_refused():
    for starts, targets in (
        ([0, 1, 1], [1]),
        ([0, 2, 3], [0, 1, 0]),
        ([0, 1, 2, 3], [1, 2, 0]),
        ([0, 1, 1, 2], [2, 1]),
    ):
        links = Links(
            np.int64(starts),
            np.int32(targets),
            np.ones(len(targets), np.float32),
            Ragged.empty(len(targets)),
        )
        with pytest.raises(ValueError, match="one direction only"):
            trussness(links)
