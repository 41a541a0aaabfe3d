"""Steiner trees against brute force, their bound, networkx and rustworkx; and what a reader is promised about them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import rustworkx as rx
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.steiner import LazyLengths, slot_sources, steiner_forest
from clew.graph import Links, Ragged

METHODS = ("mehlhorn", "kou", "takahashi", "exact")


def linked(n, edges):
    """Links and lengths of the edges {(a, b): length}, a < b, which are the rows that slots name."""
    ends = np.array(list(edges), np.int64).reshape(-1, 2)
    tails, heads = (
        np.concatenate([ends[:, 0], ends[:, 1]]),
        np.concatenate([ends[:, 1], ends[:, 0]]),
    )
    order = np.lexsort((heads, tails))
    starts = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=n))])
    rows = np.tile(np.arange(len(ends)), 2)[order]
    links = Links(
        starts,
        heads[order].astype(np.int32),
        np.ones(len(order), np.float32),
        Ragged(np.arange(len(order) + 1), rows.astype(np.int32)),
    )
    return links, np.array(list(edges.values()), np.float64)[rows]


def random_edges(kind, n, seed):
    """A power-law or a grid graph, or a scattered one in several parts; lengths random, of a few values, or all the same."""
    rng = np.random.default_rng(seed)
    side = int(np.sqrt(n))
    graph = {
        "power": lambda: nx.powerlaw_cluster_graph(n, 2, 0.3, seed=seed),
        "grid": lambda: nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side)),
        "parts": lambda: nx.gnp_random_graph(n, 1.4 / n, seed=seed),
    }[kind]()
    draw = [
        lambda: rng.uniform(0.1, 1),
        lambda: float(rng.integers(1, 4)),
        lambda: 1.0,
        lambda: 0.1 * rng.integers(1, 9),
    ][seed % 4]
    return len(graph), {(min(e), max(e)): draw() for e in graph.edges}


def edges_of(links, forest):
    return list(
        zip(
            slot_sources(links, forest.slots).tolist(),
            links.targets[forest.slots].tolist(),
            strict=True,
        )
    )


def tree_of(links, lengths, forest):
    graph = nx.Graph()
    graph.add_nodes_from(forest.nodes.tolist())
    graph.add_weighted_edges_from(
        (a, b, lengths[s]) for (a, b), s in zip(edges_of(links, forest), forest.slots, strict=True)
    )
    return graph


def least_cost(n, edges, terminals):
    """The cost of an optimal tree: a minimum spanning tree of the best set of nodes; inf where nothing joins the terminals."""
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(
        (*ends, length) for ends, length in edges.items() if length < np.inf
    )
    others, best = sorted(set(range(n)) - set(terminals)), np.inf
    for size in range(len(others) + 1):
        for further in combinations(others, size):
            part = graph.subgraph([*terminals, *further])
            if nx.is_connected(part):
                best = min(best, nx.minimum_spanning_tree(part).size("weight"))
    return best


cases = st.tuples(
    st.sampled_from(["power", "grid", "parts"]),
    st.integers(5, 70),
    st.integers(0, 10**6),
    st.integers(2, 8),
)


def drawn(kind, n, seed, k):
    n, edges = random_edges(kind, n, seed)
    terminals = np.random.default_rng(seed).choice(n, min(k, n), replace=False)
    return n, edges, terminals


@pytest.mark.parametrize("method", METHODS)
@given(cases)
def test_what_a_reader_is_promised_of_a_tree_holds(method, case):
    """Existence: what cannot be joined is named; evidence: all is in the graph; minimality: nothing can be left out."""
    n, edges, terminals = drawn(*case)
    links, lengths = linked(n, edges)
    forest = steiner_forest(links, lengths, terminals, method)
    whole = nx.Graph(list(edges))
    whole.add_nodes_from(range(n))
    tree = tree_of(links, lengths, forest)
    parts = [sorted(set(part) & set(terminals.tolist())) for part in nx.connected_components(whole)]
    heads = sorted(part[0] for part in parts if part)

    assert list(forest.missing) == [(heads[0], other) for other in heads[1:]]
    assert sorted(filter(None, parts)) == sorted(
        sorted(set(part) & set(terminals.tolist())) for part in nx.connected_components(tree)
    )
    assert all(pair in edges and pair[0] < pair[1] for pair in edges_of(links, forest))
    assert forest.cost == pytest.approx(sum(edges[pair] for pair in edges_of(links, forest)))
    assert nx.is_forest(tree)
    assert set(forest.nodes.tolist()) == set(tree) >= set(terminals.tolist())
    assert forest.nodes.tolist() == sorted(set(forest.nodes.tolist()))
    assert {row for row in tree if tree.degree(row) <= 1} <= set(terminals.tolist())


@pytest.mark.parametrize("method", METHODS)
@given(st.integers(2, 9), st.integers(0, 10**6), st.integers(2, 5))
def test_costs_are_within_the_bound_of_a_search_over_all_sets_of_nodes_and_exact_has_the_least(
    method, n, seed, k
):
    rng = np.random.default_rng(seed)
    edges = {
        e: float(rng.choice([0.3, 0.7, 1.0, 1.9, np.inf, rng.random() + 0.01]))
        for e in combinations(range(n), 2)
        if rng.random() < 0.5
    }
    terminals = rng.choice(n, min(k, n), replace=False).tolist()
    best = least_cost(n, edges, terminals)
    links, lengths = linked(n, edges)
    forest = steiner_forest(links, lengths, terminals, method)
    assert bool(forest.missing) == (best == np.inf)
    if best < np.inf:
        assert forest.cost >= best - 1e-9
        assert (
            forest.cost <= (1 if method == "exact" else 2 * (1 - 1 / len(terminals))) * best + 1e-9
        )


def test_the_search_that_stops_early_finds_the_forest_of_the_whole_search():
    for seed in range(300):
        n, edges, terminals = drawn(
            ["power", "grid", "parts"][seed % 3], 30 + seed, seed, 2 + seed % 11
        )
        links, lengths = linked(n, edges)
        soon, late = (
            steiner_forest(links, lengths, terminals),
            steiner_forest(links, lengths, terminals, exhaustive=True),
        )
        assert soon.slots.tolist() == late.slots.tolist()


def test_the_search_that_stops_early_settles_and_queues_a_small_part_of_a_large_graph():
    from clew.algorithms.steiner.forest import SearchLabels
    from clew.algorithms.steiner.kernels.searches import mehlhorn
    from clew.algorithms.steiner.lengths import edge_lengths, read_only

    n, edges = random_edges("grid", 40_000, 0)
    links, lengths = linked(n, edges)
    reached, cells = {}, {}
    for whole in (False, True):
        labels = SearchLabels(np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int32))
        arrays = (
            read_only(links.starts, np.int64),
            read_only(links.targets, np.int32),
            edge_lengths(lengths, np.inf),
        )
        _, reached[whole] = mehlhorn(
            *arrays, np.array([20_100, 20_103, 20_508]), np.inf, whole, labels
        )
        cells[whole] = np.count_nonzero(labels.cells)
    assert reached[True] == cells[True] == n
    assert reached[False] <= cells[False] < n / 100


def test_what_is_grown_from_all_terminals_is_within_three_percent_of_the_least_on_average():
    ratios = {method: [] for method in METHODS}
    for seed in range(40):
        n, edges, terminals = drawn(["power", "grid"][seed % 2], 150, seed, 3 + seed % 5)
        links, lengths = linked(n, edges)
        best = steiner_forest(links, lengths, terminals, "exact").cost
        for method in METHODS:
            ratios[method].append(steiner_forest(links, lengths, terminals, method).cost / best)
            assert 1 - 1e-9 <= ratios[method][-1] <= 2 * (1 - 1 / len(terminals)) + 1e-9
    assert np.mean(ratios["takahashi"]) <= 1.03
    assert np.mean(ratios["takahashi"]) <= np.mean(ratios["mehlhorn"])


def test_networkx_and_rustworkx_keep_the_same_bound_and_are_seldom_cheaper():
    ours, theirs = [], []
    for seed in range(24):
        n, edges, terminals = drawn("power", 120, 4 * seed, 3 + seed % 5)
        links, lengths = linked(n, edges)
        graph = nx.Graph()
        graph.add_weighted_edges_from((*ends, length) for ends, length in edges.items())
        fast = rx.PyGraph()
        fast.add_nodes_from(range(n))
        fast.add_edges_from([(*ends, length) for ends, length in edges.items()])
        best = steiner_forest(links, lengths, terminals, "exact").cost
        found = [
            nx.algorithms.approximation.steiner_tree(
                graph, terminals.tolist(), method="mehlhorn"
            ).size("weight"),
            nx.algorithms.approximation.steiner_tree(graph, terminals.tolist(), method="kou").size(
                "weight"
            ),
            sum(rx.steiner_tree(fast, terminals.tolist(), float).edges()),
        ]
        assert best <= min(found) + 1e-9
        assert max(found) <= 2 * (1 - 1 / len(terminals)) * best + 1e-9
        theirs.append(np.array(found) / best)
        ours.append(
            [
                steiner_forest(links, lengths, terminals, method).cost / best
                for method in ("mehlhorn", "kou")
            ]
        )
    assert np.mean(ours, axis=0).max() <= np.mean(theirs, axis=0).min() + 0.005


@pytest.mark.parametrize("method", METHODS)
def test_the_tree_depends_on_nothing_but_the_graph_and_the_set_of_terminals(method):
    for seed in (2, 6, 10):  # lengths all the same: nothing but ties
        n, edges, terminals = drawn("grid", 64, seed, 6)
        links, lengths = linked(n, edges)
        once = steiner_forest(links, lengths, terminals, method)
        again = steiner_forest(
            links, lengths.copy(), [*terminals[::-1].tolist(), *terminals.tolist()], method
        )
        assert once.slots.tolist() == again.slots.tolist()
        assert once.nodes.tolist() == again.nodes.tolist()


@pytest.mark.parametrize("method", METHODS)
def test_ties_fall_to_the_lesser_row(method):
    links, lengths = linked(
        6, {(0, 2): 1.0, (0, 3): 1.0, (0, 4): 1.0, (1, 2): 1.0, (1, 3): 1.0, (1, 4): 1.0}
    )
    assert steiner_forest(links, lengths, [0, 1], method).nodes.tolist() == [0, 1, 2]


@pytest.mark.parametrize("method", METHODS)
def test_nothing_one_terminal_and_the_same_one_twice_are_joined_by_nothing(method):
    links, lengths = linked(4, {(0, 1): 1.0, (1, 2): 1.0})
    for terminals, nodes in (
        ([], []),
        ([2], [2]),
        ([3, 3], [3]),
        (np.array([1, 1], np.int32), [1]),
    ):
        forest = steiner_forest(links, lengths, terminals, method)
        assert (forest.nodes.tolist(), forest.slots.tolist(), forest.cost, forest.missing) == (
            nodes,
            [],
            0.0,
            (),
        )


@pytest.mark.parametrize("method", METHODS)
def test_edges_that_are_forbidden_or_too_long_are_not_used_even_where_nothing_else_joins(method):
    edges = {(0, 1): 3.0, (0, 2): 1.0, (1, 2): np.inf, (1, 3): 1.0, (2, 3): 2.5, (3, 4): 1.0}
    links, lengths = linked(6, edges)
    assert steiner_forest(links, lengths, [0, 1], method).cost == 3.0
    assert steiner_forest(links, lengths, [0, 1], method, max_edge=2.5).cost == 4.5
    cut = steiner_forest(links, lengths, [0, 1, 4, 5], method, max_edge=2.0)
    assert cut.missing == ((0, 1), (0, 5))
    assert edges_of(links, cut) == [(1, 3), (3, 4)]


@pytest.mark.parametrize("method", ["mehlhorn", "kou"])
@given(cases, st.floats(0.1, 4))
def test_no_way_between_two_terminals_is_longer_than_allowed_in_the_graph_and_along_the_tree(
    method, case, most
):
    n, edges, terminals = drawn(*case)
    links, lengths = linked(n, edges)
    most += 1e-6  # no sum of lengths is so near to it that rounding would matter
    whole = nx.Graph()
    whole.add_nodes_from(range(n))
    whole.add_weighted_edges_from((*ends, length) for ends, length in edges.items())

    def chained(graph):
        near = nx.Graph()
        near.add_nodes_from(terminals.tolist())
        for row in terminals.tolist():
            reached = nx.single_source_dijkstra_path_length(graph, row, cutoff=most)
            near.add_edges_from((row, other) for other in terminals.tolist() if other in reached)
        return sorted(sorted(part) for part in nx.connected_components(near))

    forest = steiner_forest(links, lengths, terminals, method, max_path=most)
    tree = tree_of(links, lengths, forest)
    trees = sorted(sorted(part & set(terminals.tolist())) for part in nx.connected_components(tree))
    assert nx.is_forest(tree)
    assert {row for row in tree if tree.degree(row) <= 1} <= set(terminals.tolist())
    assert trees == chained(whole) == chained(tree)
    assert [other for _, other in forest.missing] == [part[0] for part in trees[1:]]


def test_two_trees_that_are_too_far_apart_are_not_joined_by_an_edge_between_their_junctions():
    edges = {(0, 4): 1.0, (1, 4): 1.0, (2, 5): 1.0, (3, 5): 1.0, (4, 5): 0.5}
    links, lengths = linked(6, edges)
    for method in ("mehlhorn", "kou"):
        assert steiner_forest(links, lengths, [0, 1, 2, 3], method, max_path=2.5).missing == ()
        assert steiner_forest(links, lengths, [0, 1, 2, 3], method, max_path=2.4).missing == (
            (0, 2),
        )


def unit_rows(vectors):
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def lazy_case(seed, n=60, d=32):
    """Slots with none, one or several facts, which may be shared, of unit vectors or zeros."""
    rng = np.random.default_rng(seed)
    n, edges = random_edges("power", n, seed)
    links, _ = linked(n, edges)
    vectors = unit_rows(rng.standard_normal((80, d)))
    vectors[7] = 0
    of_edge = [rng.integers(0, 80, rng.integers(0, 4)).tolist() for _ in edges]
    of_edge[0] = [7]
    return links, LazyLengths(
        Ragged.of([of_edge[row] for row in links.edges.values.tolist()]),
        vectors,
        rng.standard_normal(d),
        0.45,
    )


def test_lengths_measured_on_the_way_are_the_definition_and_give_the_same_forest():
    for seed in range(30):
        links, lazy = lazy_case(seed)
        norms = np.maximum(
            np.linalg.norm(lazy.vectors.astype(np.float64), axis=1) * np.linalg.norm(lazy.query),
            1e-300,
        )
        of_fact = np.clip((1 - lazy.vectors.astype(np.float64) @ lazy.query / norms) / 2, 1e-6, 1)
        defined = np.array(
            [min(of_fact[lazy.slot_rows[slot]], default=0.45) for slot in range(len(links.targets))]
        )
        assert lazy.measure_all(links) == pytest.approx(defined, abs=1e-6)

        terminals = np.random.default_rng(seed).choice(len(links), 5, replace=False)
        for method in METHODS:
            for limits in ({}, {"max_edge": 0.5}):
                one, other = (
                    steiner_forest(links, lengths, terminals, method, **limits)
                    for lengths in (lazy, lazy.measure_all(links))
                )
                assert one.slots.tolist() == other.slots.tolist()
                assert one.cost == other.cost
                assert one.missing == other.missing


def test_a_slot_without_facts_is_as_long_as_its_ends_are_unlike_the_question_where_they_are_given():
    for seed in range(10):
        links, lazy = lazy_case(seed)
        rng = np.random.default_rng(seed)
        nodes = unit_rows(rng.standard_normal((len(links), 8)))
        nodes[3] = 0
        weights = (
            links.weights
            * rng.uniform(0.2, 1, len(links.edges.values)).astype(np.float32)[links.edges.values]
        )
        asked = rng.standard_normal(8)
        by_ends = replace(lazy, row_vectors=nodes, weights=weights, row_query=asked)
        norms = np.maximum(
            np.linalg.norm(nodes.astype(np.float64), axis=1), 1e-300
        ) * np.linalg.norm(asked)
        like = nodes @ asked / norms
        ends = np.clip((1 - weights * (like[links.sources] + like[links.targets]) / 2) / 2, 1e-6, 1)
        defined = np.where(lazy.slot_rows.lengths > 0, lazy.measure_all(links), ends)
        assert by_ends.measure_all(links) == pytest.approx(defined, abs=1e-6)
        one, other = (
            steiner_forest(links, lengths, [0, 5, 9, 20], max_edge=0.6)
            for lengths in (by_ends, by_ends.measure_all(links))
        )
        assert (one.slots.tolist(), one.cost) == (other.slots.tolist(), other.cost)
    with pytest.raises(ValueError, match="one weight per slot"):
        replace(lazy, row_vectors=nodes, weights=weights[1:], row_query=asked)


def test_a_fact_that_says_what_the_question_says_is_near_but_not_nothing():
    vectors = np.array([[1.0, 0.0], [-1.0, 0.0]], np.float32)
    lazy = LazyLengths(Ragged.of([[0], [0], [1], [1]]), vectors, [1.0, 0.0])
    assert lazy.measure_all(linked(3, {(0, 1): 1.0, (1, 2): 1.0})[0]).tolist() == [
        1e-6,
        1e-6,
        1.0,
        1.0,
    ]


def test_facts_that_no_search_meets_are_not_measured():
    from clew.algorithms.steiner.forest import SearchLabels
    from clew.algorithms.steiner.kernels.searches import mehlhorn
    from clew.algorithms.steiner.lengths import edge_lengths, read_only

    n, edges = random_edges("grid", 2500, 0)
    links, _ = linked(n, edges)
    vectors = unit_rows(np.random.default_rng(0).standard_normal((len(edges), 8)))
    costs = edge_lengths(LazyLengths(links.edges, vectors, vectors[0]), np.inf)
    labels = SearchLabels(np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int32))
    mehlhorn(
        read_only(links.starts, np.int64),
        read_only(links.targets, np.int32),
        costs,
        np.array([1225, 1226]),
        np.inf,
        False,
        labels,
    )
    assert 0 < np.count_nonzero(costs.edges.lengths) < len(edges) / 10


def test_exact_says_what_is_too_much_for_it():
    links, lengths = linked(20, {(i, i + 1): 1.0 for i in range(19)})
    with pytest.raises(ValueError, match="at most 12 terminals"):
        steiner_forest(links, lengths, range(13), "exact")
    assert steiner_forest(links, lengths, range(12), "exact").cost == 11
    apart = {
        (0, 1): 1.0,
        **{(i, i + 1): 1.0 for i in range(2, 12)},
        **{(i, i + 1): 1.0 for i in range(13, 19)},
    }
    assert (
        steiner_forest(*linked(20, apart), range(20), "exact", max_edge=0.5).cost == 0
    )  # twenty trees of one terminal each


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"method": "prim"}, ValueError, "unknown method 'prim'"),
        ({"method": "prim", "terminals": [0]}, ValueError, "unknown method 'prim'"),
        ({"lengths": np.ones(3)}, ValueError, "4 slots; got 3"),
        ({"lengths": np.array([1.0, 1.0, 0.0, 0.0])}, ValueError, "must be positive"),
        ({"lengths": np.array([1.0, 1.0, np.nan, np.nan])}, ValueError, "must be positive"),
        ({"lengths": -np.ones(4)}, ValueError, "must be positive"),
        ({"terminals": [0, 3]}, ValueError, "rows from 0 to 2; got 0 to 3"),
        ({"terminals": [-1, 2]}, ValueError, "rows from 0 to 2; got -1 to 2"),
        ({"terminals": [0.0, 2.0]}, TypeError, "whole numbers; got float64"),
        ({"max_edge": 0.0}, ValueError, "must be positive; got 0.0"),
        ({"max_path": np.nan}, ValueError, "must be positive; got inf and nan"),
        ({"max_path": 2.0, "method": "takahashi"}, ValueError, "'takahashi' came with 2.0"),
        ({"max_path": 2.0, "method": "exact"}, ValueError, "'exact' came with 2.0"),
        (
            {
                "lengths": LazyLengths(
                    Ragged.of([[0]] * 4), np.zeros((0, 2), np.float32), np.ones(2)
                )
            },
            ValueError,
            "does not exist",
        ),
        (
            {"lengths": LazyLengths(Ragged.empty(3), np.zeros((0, 2), np.float32), np.ones(2))},
            ValueError,
            "4 slots; got 3",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(change, error, said):
    links, lengths = linked(3, {(0, 1): 1.0, (1, 2): 1.0})
    with pytest.raises(error, match=said):
        steiner_forest(**{"links": links, "lengths": lengths, "terminals": [0, 2], **change})


@pytest.mark.parametrize(
    ("question", "neutral"),
    [([1.0], 0.5), ([1.0, np.nan], 0.5), ([1.0, 0.0], 0.0), ([1.0, 0.0], np.nan)],
)
def test_a_question_that_cannot_be_measured_is_refused(question, neutral):
    with pytest.raises(ValueError):
        LazyLengths(Ragged.empty(4), np.zeros((2, 2), np.float32), question, neutral)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("leaves", [1025, 1500])
def test_a_hub_may_have_more_neighbours_than_a_search_began_with_room_for(method, leaves):
    """Two hubs that are joined by their last leaf alone, and a row apart: everything is queued."""
    edges = {(0, row): 1.0 + row / 10_000 for row in range(1, leaves + 1)}
    edges[leaves, leaves + 1] = 5.0
    links, lengths = linked(leaves + 3, edges)
    forest = steiner_forest(links, lengths, [0, leaves + 1, leaves + 2], method)
    assert edges_of(links, forest) == [(0, leaves), (leaves, leaves + 1)]
    assert forest.missing == ((0, leaves + 2),)


@pytest.mark.parametrize("seed", range(30))
def test_a_forest_is_spanned_by_the_shortest_edges_and_loses_all_leaves_but_terminals(seed):
    from clew.algorithms.steiner.kernels import spanning
    from clew.algorithms.steiner.lengths import edge_lengths

    rng = np.random.default_rng(seed)
    n = 14
    edges = {pair: rng.random() + 0.01 for pair in combinations(range(n), 2) if rng.random() < 0.22}
    edges |= dict.fromkeys(list(edges)[:2], np.inf)
    links, lengths = linked(n, edges)
    rows = np.sort(rng.choice(n, 11, replace=False))
    terminals = rng.choice(rows, 3, replace=False)
    pairs = zip(links.sources.tolist(), links.targets.tolist(), strict=True)
    offered = [
        slot
        for slot, (a, b) in enumerate(pairs)
        if a < b and {a, b} <= set(rows.tolist()) and rng.random() < 0.8
    ]
    graph = nx.Graph()
    graph.add_nodes_from(rows.tolist())
    for slot in offered:
        if lengths[slot] < np.inf:
            ends = int(links.sources[slot]), int(links.targets[slot])
            graph.add_edge(*ends, weight=lengths[slot], slot=slot)
    forest = nx.minimum_spanning_tree(graph)
    trees = list(nx.connected_components(forest))
    while bare := [row for row in forest if forest.degree(row) == 1 and row not in terminals]:
        forest.remove_nodes_from(bare)
    slots, cost, tree_of_terminal = spanning.span_and_prune.plain(
        links.starts,
        links.targets,
        edge_lengths(lengths, np.inf),
        terminals,
        np.array(offered, np.int64),
        rows,
    )
    expected = sorted(slot for *_, slot in forest.edges(data="slot"))
    assert slots.tolist() == expected
    assert cost == pytest.approx(lengths[expected].sum())
    for (i, one), (j, other) in combinations(enumerate(terminals.tolist()), 2):
        together = any({one, other} <= tree for tree in trees)
        assert (tree_of_terminal[i] == tree_of_terminal[j]) == together


def test_vectors_that_do_not_belong_together_are_refused():
    links, lazy = lazy_case(0)
    rows, weights = np.eye(len(links), 8, dtype=np.float32), np.ones(len(lazy), np.float32)
    fitting = {"row_vectors": rows, "weights": weights, "row_query": np.ones(8)}
    assert len(replace(lazy, **fitting)) == len(links.targets)
    for name, wrong in (
        ("row_query", np.ones(9)),
        ("row_query", None),
        ("weights", None),
        ("weights", weights[:, None]),
    ):
        with pytest.raises(ValueError, match="one weight per slot and a query vector of the same"):
            replace(lazy, **{**fitting, name: wrong})
    for query in (np.ones(31), np.ones((32, 1))):
        with pytest.raises(ValueError, match=r"vectors must be \[f, d\]"):
            replace(lazy, query=query)
    with pytest.raises(ValueError, match="vectors must be"):
        replace(lazy, vectors=np.ones(32, np.float32))
    for wrong in ({"neutral": 0.0}, {"neutral": np.nan}, {"query": np.full(32, np.inf)}):
        with pytest.raises(ValueError, match="must be finite and the neutral length > 0"):
            replace(lazy, **wrong)
    assert replace(lazy, neutral=1e-9).neutral == 1e-9
