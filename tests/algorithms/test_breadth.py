"""Waves against their definition, and shortest ways against networkx."""

from __future__ import annotations

import networkx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.algorithms.traversal.breadth_first import search_breadth_first, shortest_paths
from clew.algorithms.traversal.kernels.hops import reach
from clew.algorithms.traversal.reached import induced_links
from clew.graph import Edges, Graph

PAIRS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), min_size=1, max_size=30)
ROWS = st.lists(st.integers(0, 11), unique=True, max_size=4)


@given(PAIRS, ROWS, ROWS, st.integers(0, 5))
def test_a_way_is_connected_and_has_the_fewest_hops(pairs, sources, wanted, most):
    graph = Graph.of(
        ["text"] * 12, edges=Edges.of("tie", [a for a, _ in pairs], [b for _, b in pairs])
    )
    links = graph.links()
    network = networkx.Graph(pairs)
    network.add_nodes_from(range(12))
    hops = networkx.multi_source_dijkstra_path_length(network, set(sources)) if sources else {}

    found = shortest_paths(links, sources, wanted, most)

    assert set(found) == {row for row in wanted if hops.get(row, most + 1) <= most}
    for row, slots in found.items():
        assert len(slots) == hops[row]
        at = row
        for slot in reversed(slots):
            assert int(links.targets[slot]) == at
            at = int(links.sources[slot])
        assert at in sources


TIES = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from([0.2, 0.5, 1.0])), max_size=30
)
SOURCES = st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True)
LIMITS = st.fixed_dictionaries(
    {
        "max_depth": st.sampled_from([0, 1, 2, 9]),
        "max_degree": st.sampled_from([0, 1, 2, 9]),
        "max_nodes": st.sampled_from([0, 3, 9]),
        "max_tokens": st.sampled_from([6, 99]),
    }
)
QUESTION = np.float32([0.6, 0.8, 0])


def graph_of(ties, seed=0):
    """Ten rows, some without a vector, many equally near to the question, some pointing away from it."""
    rng = np.random.default_rng(seed)
    near = rng.integers(-2, 10, 10) / 10
    vectors = near[:, None] * QUESTION + np.sqrt(1 - near**2)[:, None] * [0, 0, 1]
    vectors[rng.random(10) < 0.2] = 0
    return Graph.of(
        ["text"] * 10,
        vectors=vectors,
        edges=Edges.of(
            "tie", [t for t, _, _ in ties], [h for _, h, _ in ties], [w for *_, w in ties]
        ),
    )


def by_definition(graph, sources, max_depth, max_degree, max_nodes, max_tokens, tokens):
    """The waves as a plain queue; (row, depth, parent) of each that is visited."""
    links = graph.links()
    like = {
        r: max(0.0, round(float(graph.vectors[r] @ QUESTION), 6))
        for r in range(10)
        if graph.vectors[r].any()
    }
    for row in sources:
        like.setdefault(row, 1.0)
    visited, queue = {}, []

    def full(row):
        return (
            len(visited) >= max_nodes or sum(tokens[r] for r in visited) + tokens[row] > max_tokens
        )

    for row in sources:
        if full(row):
            return visited
        visited[row] = (0, None)
        queue.append(row)
    for row in queue:
        depth = visited[row][0]
        if depth == max_depth:
            continue
        near = links.neighbours(row).tolist()
        scores = {}
        for other, weight in zip(near, links.weights[links.starts[row] :].tolist(), strict=False):
            like.setdefault(other, like[row])
            if other not in visited:
                scores[other] = weight * like[other]
        for other in sorted(scores, key=lambda r: (-scores[r], r))[:max_degree]:
            if full(other):
                return visited
            visited[other] = (depth + 1, row)
            queue.append(other)
    return visited


@settings(max_examples=3 * settings().max_examples)
@given(TIES, SOURCES, st.integers(0, 9), LIMITS)
def test_the_waves_are_the_definition(ties, sources, seed, limits):
    graph, tokens = graph_of(ties, seed), np.int32([1, 2, 3, 1, 2, 3, 1, 2, 3, 0])
    links = graph.links()
    wanted = by_definition(graph, sources, **limits, tokens=tokens.tolist())

    found = search_breadth_first(
        links, sources, vectors=graph.vectors, query=QUESTION, tokens=tokens, **limits
    )

    rows = found.rows.tolist()
    assert rows == list(wanted)
    assert found.depths.tolist() == [depth for depth, _ in wanted.values()]
    assert [rows[p] if p >= 0 else None for p in found.parents.tolist()] == [
        parent for _, parent in wanted.values()
    ]
    for place, slot in enumerate(found.slots.tolist()):
        if slot >= 0:
            assert (int(links.sources[slot]), int(links.targets[slot])) == (
                rows[found.parents[place]],
                rows[place],
            )


@given(TIES, SOURCES)
def test_without_limits_depths_are_distances(ties, sources):
    graph = graph_of(ties)
    network = networkx.Graph([(t, h) for t, h, _ in ties])
    network.add_nodes_from(range(10))
    found = search_breadth_first(graph.links(), sources, max_depth=None, max_degree=None)
    assert dict(
        zip(found.rows.tolist(), found.depths.tolist(), strict=True)
    ) == networkx.multi_source_dijkstra_path_length(network, set(sources), weight=None)


@given(TIES, st.lists(st.integers(0, 9), max_size=6, unique=True))
def test_a_part_of_the_graph_has_the_links_among_its_rows(ties, rows):
    links, inside = graph_of(ties).links(), sorted(rows)
    part, slots = induced_links(links, rows)
    assert len(part) == len(inside)
    whole = {
        (s, t): slot
        for slot, (s, t) in enumerate(
            zip(links.sources.tolist(), links.targets.tolist(), strict=True)
        )
    }
    wanted = [slot for (s, t), slot in whole.items() if s in inside and t in inside]
    assert slots.tolist() == wanted
    assert [
        (inside[s], inside[t])
        for s, t in zip(part.sources.tolist(), part.targets.tolist(), strict=True)
    ] == [pair for pair, slot in whole.items() if slot in wanted]
    assert part.weights.tolist() == links.weights[wanted].tolist()
    assert [part.edges[i].tolist() for i in range(len(wanted))] == [
        links.edges[slot].tolist() for slot in wanted
    ]


def test_a_hub_is_followed_to_its_best_leaves_only():
    weights = np.linspace(0.1, 1, 10_000)
    hub = Graph.of(
        ["text"] * 10_001, edges=Edges.of("tie", np.zeros(10_000), np.arange(1, 10_001), weights)
    )
    found = search_breadth_first(hub.links(), [0], max_degree=50)
    assert found.rows.tolist() == [0, *range(10_000, 9_950, -1)]
    assert search_breadth_first(hub.links(), [5]).rows.tolist() == [5, 0, *range(10_000, 9_950, -1)]
    assert search_breadth_first(hub.links(), []).rows.tolist() == []
    assert search_breadth_first(Graph.of(["text"]).links(), [0]).rows.tolist() == [0]


@given(PAIRS, ROWS, ROWS, st.integers(0, 6))
def test_a_search_from_both_ends_finds_the_same_paths(pairs, sources, wanted, most):
    edges = Edges.of("tie", [a for a, _ in pairs], [b for _, b in pairs])
    links = Graph.of(["text"] * 12, edges=edges).links()

    one_end, both_ends = (
        shortest_paths(links, sources, wanted, most, directed=directed)
        for directed in (True, False)
    )

    assert one_end == both_ends
    for search in (reach.plain, reach.function):
        rows = np.array(sources, np.int64), np.array(wanted, np.int64)
        origins = [
            search(links.starts, links.targets, *rows, most, nearby) for nearby in (0, most // 2)
        ]
        assert all(len({int(one[row]) for one in origins}) == 1 for row in one_end)
