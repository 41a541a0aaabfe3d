"""Shortest ways against networkx."""

from __future__ import annotations

import networkx
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.breadth import shortest_ways
from clew.graph import Edges, Graph

PAIRS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), min_size=1, max_size=30)
ROWS = st.lists(st.integers(0, 11), unique=True, max_size=4)


@given(PAIRS, ROWS, ROWS, st.integers(0, 5))
def test_a_way_is_connected_and_has_the_fewest_hops(pairs, sources, wanted, most):
    graph = Graph.of(["text"] * 12, edges=Edges.of("tie", [a for a, _ in pairs], [b for _, b in pairs]))
    links = graph.links()
    network = networkx.Graph(pairs)
    network.add_nodes_from(range(12))
    hops = networkx.multi_source_dijkstra_path_length(network, set(sources)) if sources else {}

    found = shortest_ways(links, sources, wanted, most)

    assert set(found) == {row for row in wanted if hops.get(row, most + 1) <= most}
    for row, slots in found.items():
        assert len(slots) == hops[row]
        at = row
        for slot in reversed(slots):
            assert int(links.targets[slot]) == at
            at = int(links.sources[slot])
        assert at in sources
