"""Q-Peel against its own rule in plain words, against every connected truss there is, and against what it promises."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.algorithms.community_search import (
    k_truss,
    nested_trusses,
    peel,
    search_communities,
    search_trusses,
    trussness,
)
from clew.algorithms.community_search.kernels.bit_rows import bit_rows, count_bits, lowest_bit
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

SMALL = st.builds(
    random_graph,
    st.integers(1, 12),
    st.sampled_from([0.1, 0.3, 0.5]),
    st.integers(0, 3),
    st.integers(0, 10**6),
)
WORTHS = st.tuples(st.integers(0, 10**6), st.sampled_from([4, 1000]))


def worths(graph, seed, steps):
    """Of few values there are many ties."""
    return np.round(
        np.random.default_rng(seed).integers(0, steps + 1, graph.number_of_nodes()) / steps, 9
    )


def truss_in(graph, k):
    found = nx.k_truss(graph, k) if k > 2 else graph.copy()
    found.remove_nodes_from([node for node in list(found) if not found.degree(node)])
    return found


def holds(edges, nodes, k):
    part = edges.subgraph(nodes)
    return nx.is_connected(part) and all(
        len(set(part[a]) & set(part[b])) >= k - 2 for a, b in part.edges
    )


def mean(worth, nodes):
    return sum(worth[node] for node in nodes) / len(nodes)


def peeled_by_hand(graph, worth, k, least, cascade):
    """(mean, size) of the best: try nodes by rising worth, take the first that may go, and start anew."""
    best = None
    for part in nx.connected_components(truss_in(graph, k)):
        inside, left = set(part), truss_in(graph, k).subgraph(part).copy()
        while (smaller := one_less(left, inside, worth, k, least, cascade)) is not None:
            inside, left = smaller
        if len(inside) >= least:
            key = round(mean(worth, inside), 9), len(inside)
            best = key if best is None else max(best, key)
    return best


def one_less(left, inside, worth, k, least, cascade):
    now = mean(worth, inside)
    for node in sorted(inside, key=lambda node: (worth[node], node)):
        if not worth[node] < now - 1e-12:
            return None
        rest = inside - {node}
        if len(rest) >= least and holds(left, rest, k):
            return rest, left.subgraph(rest).copy()
        if cascade:
            smaller = left.subgraph(rest).copy()
            while bad := [
                (a, b) for a, b in smaller.edges if len(set(smaller[a]) & set(smaller[b])) < k - 2
            ]:
                smaller.remove_edges_from(bad)
            parts = [c for c in nx.connected_components(smaller) if len(c) >= max(2, least)]
            if parts:
                best = max(parts, key=lambda nodes: (round(mean(worth, nodes), 12), len(nodes)))
                if mean(worth, best) > now + 1e-12:
                    return set(best), smaller.subgraph(best).copy()
    return None


@pytest.mark.parametrize("cascade", [False, True])
@settings(max_examples=2 * settings().max_examples)
@given(SMALL, WORTHS, st.integers(2, 5), st.integers(2, 6))
def test_it_does_what_its_rule_says(cascade, graph, drawn, k, least):
    worth, links = worths(graph, *drawn), links_of(graph)
    found = peel(k_truss(links, trussness(links), k), worth, cascade=cascade, least=least)
    expected = peeled_by_hand(graph, worth, k, least, cascade)
    assert (found is None) == (expected is None)
    assert found is None or (found.mean, len(found)) == pytest.approx(expected, abs=2e-9)


@pytest.mark.parametrize("cascade", [False, True])
@settings(max_examples=2 * settings().max_examples)
@given(RANDOM, WORTHS, st.integers(2, 6))
def test_what_is_found_keeps_every_promise_on_the_edges_of_the_truss(cascade, graph, drawn, k):
    worth, links = worths(graph, *drawn), links_of(graph)
    value = trussness(links)
    found = peel(k_truss(links, value, k), worth, cascade=cascade)
    truss = truss_in(graph, k)
    if found is None:
        assert max(map(len, nx.connected_components(truss)), default=0) < k
        return
    nodes, own = found.rows.tolist(), nx.Graph()
    own.add_edges_from(
        zip(links.sources[found.slots].tolist(), links.targets[found.slots].tolist(), strict=True)
    )
    assert set(own) == set(nodes)
    assert len(found) >= k
    assert nx.is_connected(own)
    assert all(len(set(own[a]) & set(own[b])) >= k - 2 for a, b in own.edges)
    assert min(degree for _, degree in own.degree) >= k - 1
    assert nx.density(own) >= (k - 1) / (len(own) - 1) - 1e-12
    if k > 2:  # a path is a 2-truss, and shorter than its bound
        assert nx.diameter(own) <= (2 * len(own) - 2) // k
    assert found.mean == pytest.approx(mean(worth, nodes), abs=1e-9)
    assert all(
        later > earlier for earlier, later in zip(found.means, found.means[1:], strict=False)
    )
    assert found.means[-1] == pytest.approx(found.mean, abs=1e-8)
    part = next(c for c in nx.connected_components(truss) if nodes[0] in c)
    assert found.means[0] == pytest.approx(mean(worth, part))
    assert found.mean >= mean(worth, part) - 1e-9
    assert not [
        n
        for n in nodes
        if worth[n] < found.mean - 1e-9 and len(nodes) > k and holds(own, set(nodes) - {n}, k)
    ]
    if not cascade:
        assert own.number_of_edges() == truss.subgraph(nodes).number_of_edges()
    assert set(truss_in(graph, k + 1).edges) <= {
        edge for a, b in truss.edges for edge in ((a, b), (b, a))
    }


@cache
def best_truss(seed, k):
    """The highest mean of all connected k-trusses, by looking at every set of nodes: each one's own largest truss."""
    graph = random_graph(9, 0.45, 2, seed)
    worth = worths(graph, seed, 1000)
    best = 0.0
    for size in range(k, graph.number_of_nodes() + 1):
        for nodes in combinations(graph, size):
            inside = truss_in(graph.subgraph(nodes), k)
            if len(inside) == size and nx.is_connected(inside):
                best = max(best, mean(worth, nodes))
    return best


@pytest.mark.parametrize(
    ("cascade", "least_ratio", "least_hits"), [(False, 0.85, 0.35), (True, 0.97, 0.75)]
)
def test_the_mean_comes_near_to_the_best_there_is(
    cascade, least_ratio, least_hits, record_property
):
    ratios = []
    for seed in range(16):
        graph = random_graph(9, 0.45, 2, seed)
        worth, links = worths(graph, seed, 1000), links_of(graph)
        found = peel(k_truss(links, trussness(links), 3), worth, cascade=cascade)
        if found is not None:
            ratios.append(found.mean / best_truss(seed, 3))
    record_property("ratios", [float(ratio) for ratio in ratios])
    hits = np.mean(np.array(ratios) > 1 - 1e-9)
    print(
        f"\n{'cascade' if cascade else 'strict'}: {np.mean(ratios):.3f} of the best mean, which it finds in {hits:.0%}"
    )
    assert max(ratios) <= 1 + 1e-9
    assert np.mean(ratios) >= least_ratio
    assert hits >= least_hits


def test_every_part_is_peeled_not_the_first_alone():
    graph = nx.disjoint_union_all([nx.complete_graph(4), nx.complete_graph(5)])
    worth = np.array([0.5, 0.5, 0.5, 0.5, 0.0, 0.9, 0.9, 0.9, 0.9])
    links = links_of(graph)
    assert peel(k_truss(links, trussness(links), 3), worth).rows.tolist() == [5, 6, 7, 8]


def test_the_node_that_joins_two_cliques_stays_though_all_triangles_would():
    graph = nx.Graph([*combinations([0, 1, 2, 3], 2), *combinations([3, 4, 5, 6], 2)])
    worth = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0])
    links = links_of(graph)
    assert peel(k_truss(links, trussness(links), 3), worth).rows.tolist() == list(range(7))
    assert peel(k_truss(links, trussness(links), 3), worth, cascade=True).mean == 1.0


def test_an_edge_that_lost_its_triangles_goes_though_both_its_ends_stay():
    triangles = [(0, 1, 2), (1, 3, 4), (3, 4, 5), (4, 5, 6), (2, 5, 6)]
    graph = nx.Graph()
    graph.add_nodes_from(range(7))
    graph.add_edges_from(pair for three in triangles for pair in combinations(three, 2))
    worth, links = np.array([0.0, 1, 1, 1, 1, 1, 1]), links_of(graph)
    found = peel(k_truss(links, trussness(links), 3), worth, cascade=True)
    assert found.rows.tolist() == [1, 2, 3, 4, 5, 6]
    edges = set(
        zip(links.sources[found.slots].tolist(), links.targets[found.slots].tolist(), strict=True)
    )
    assert edges == {pair for three in triangles[1:] for pair in combinations(three, 2)}


def test_an_edge_outside_the_truss_counts_for_nothing():
    graph = nx.Graph(
        [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)]
    )  # two triangles and a bridge that is in none
    worth = np.array([0.9, 0.9, 0.9, 0.1, 0.1, 0.1])
    links = links_of(graph)
    found = peel(k_truss(links, trussness(links), 3), worth)
    assert found.rows.tolist() == [0, 1, 2]
    assert found.means == (pytest.approx(0.9),)


def test_an_addition_that_makes_no_truss_may_raise_the_mean():
    """The paper's free-rider theorem does not hold for these: the triangle is the answer, and with the node hanging on it worth more."""
    graph = nx.Graph([(0, 1), (0, 2), (1, 2), (2, 3)])
    worth = np.array([0.5, 0.5, 0.5, 0.9])
    links = links_of(graph)
    found = peel(k_truss(links, trussness(links), 3), worth)
    assert found.rows.tolist() == [0, 1, 2]
    assert worth.mean() > found.mean


def test_equal_worths_leave_the_whole_and_of_equal_parts_the_larger():
    graph = nx.disjoint_union_all(
        [nx.complete_graph(4), nx.complete_graph(6), nx.complete_graph(6)]
    )
    links = links_of(graph)
    assert peel(k_truss(links, trussness(links), 4), np.full(16, 0.3)).rows.tolist() == list(
        range(4, 10)
    )


def test_nothing_is_found_where_there_is_no_truss():
    for graph in (nx.empty_graph(3), nx.path_graph(5), nx.empty_graph(0)):
        links = links_of(graph)
        assert peel(k_truss(links, trussness(links), 3), np.ones(len(links))) is None


@settings(max_examples=2 * settings().max_examples)
@given(SMALL, WORTHS, st.integers(3, 6), st.integers(1, 6))
def test_a_search_says_how_closely_what_it_found_hangs_together(graph, drawn, most, nearest):
    worth, links = worths(graph, *drawn), links_of(graph)
    rows = np.flatnonzero(np.random.default_rng(drawn[0]).random(len(links)) < 0.8).astype(np.int32)
    found = search_communities(links, rows, worth, max_k=most, min_piece=3, nearest=nearest)
    inside = graph.subgraph(rows.tolist())
    assert len({c.rows.tobytes() for c in found.communities}) == len(found.communities)
    for community in found.communities:
        own = nx.Graph()
        own.add_nodes_from(community.rows.tolist())
        own.add_edges_from(
            zip(
                links.sources[community.slots].tolist(),
                links.targets[community.slots].tolist(),
                strict=True,
            )
        )
        assert set(own) <= set(rows.tolist())
        assert all(inside.has_edge(*edge) for edge in own.edges)
        assert own.number_of_edges() == len(community.slots), "each edge has one slot"
        assert (links.sources[community.slots] < links.targets[community.slots]).all()
        assert community.mean == pytest.approx(mean(worth, community.rows.tolist()), abs=1e-8)
        if found.level != "nearest":
            assert nx.is_connected(own)
            assert all(len(set(own[a]) & set(own[b])) >= community.k - 2 for a, b in own.edges)
    if not len(rows):
        assert found.level == "empty"
    elif truss_in(inside, 3):
        assert found.level == "truss"
        assert [c.k for c in found.communities] == sorted(c.k for c in found.communities)
        assert all(3 <= c.k <= most for c in found.communities)
    elif max(map(len, nx.connected_components(inside))) >= 3:
        assert found.level == "pieces"
        assert len(found.communities[0]) >= 3
    else:
        assert found.level == "nearest"
        best = sorted(rows.tolist(), key=lambda row: (-worth[row], row))[:nearest]
        (only,) = found.communities
        assert sorted(best) == only.rows.tolist()
        assert only.k == 1
        assert only.means == (only.mean,)
        assert len(only.slots) == graph.subgraph(best).number_of_edges()


def test_below_three_a_search_finds_pieces_though_there_are_triangles():
    graph = nx.disjoint_union(nx.complete_graph(4), nx.path_graph(3))
    links, rows = links_of(graph), np.arange(7, dtype=np.int32)
    worth = np.array([0.5] * 4 + [0.6] * 3)
    found = search_communities(links, rows, worth, max_k=2, min_piece=3)
    assert (found.level, [one.k for one in found.communities]) == ("pieces", [2])
    assert found.communities[0].rows.tolist() == [4, 5, 6]
    assert search_communities(links, rows, worth, max_k=3).level == "truss"


@pytest.mark.parametrize("cascade", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_every_piece_of_a_graph_of_many_is_peeled_by_the_rule(cascade, seed):
    """Several parts, so that their numbers, sizes and means are told apart; and many ties."""
    rng = np.random.default_rng(seed)
    graph = nx.disjoint_union_all(
        [random_graph(int(rng.integers(3, 8)), 0.5, 2, seed + 100 * i) for i in range(3)]
    )
    worth, links = worths(graph, seed, 4), links_of(graph)
    for k, least in ((3, 3), (2, 2), (4, 4), (3, 5)):
        found = peel(k_truss(links, trussness(links), k), worth, cascade=cascade, least=least)
        expected = peeled_by_hand(graph, worth, k, least, cascade)
        assert (found is None) == (expected is None)
        assert found is None or (found.mean, len(found)) == pytest.approx(expected, abs=2e-9)


@pytest.mark.parametrize("cascade", [False, True])
def test_means_within_a_millionth_are_equal_and_then_the_larger_part_is_found(cascade):
    graph = nx.disjoint_union(nx.complete_graph(3), nx.complete_graph(4))
    links = links_of(graph)
    for less, rows in ((0.0, [3, 4, 5, 6]), (0.8e-6, [3, 4, 5, 6]), (1.5e-6, [0, 1, 2])):
        worth = np.array([0.5] * 3 + [0.5 - less] * 4)
        found = peel(k_truss(links, trussness(links), 3), worth, cascade=cascade)
        assert found.rows.tolist() == rows


@pytest.mark.parametrize(
    ("cascade", "less", "size"),
    [
        (False, 1e-6, 5),  # below the mean by four fifths of that
        (False, 2e-6, 4),
        (True, 4e-6, 5),  # without it the mean is higher by a fifth of that
        (True, 6e-6, 4),
    ],
)
def test_a_node_stays_where_its_removal_changes_less_than_a_millionth(cascade, less, size):
    links = links_of(nx.complete_graph(5))
    worth = np.array([1.0, 1.0, 1.0, 1.0, 1.0 - less])
    assert len(peel(k_truss(links, trussness(links), 3), worth, cascade=cascade)) == size


@pytest.mark.parametrize("cascade", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_a_search_finds_for_every_k_what_peeling_its_truss_finds(cascade, seed):
    graph = random_graph(20, 0.3, 4, seed)
    worth, links = worths(graph, seed, 8), links_of(graph)
    value = trussness(links)
    expected = {}
    for k in range(3, int(value.max()) + 1):
        one = peel(k_truss(links, value, k), worth, cascade=cascade)
        if one is not None:
            expected[one.rows.tobytes()] = one  # of the same nodes that of the highest k stays
    rows = np.arange(20, dtype=np.int32)
    found = search_communities(links, rows, worth, max_k=None, cascade=cascade)
    assert [(c.k, c.rows.tolist()) for c in found.communities] == [
        (c.k, c.rows.tolist()) for c in expected.values()
    ]
    for one, other in zip(found.communities, expected.values(), strict=True):
        assert one.means == pytest.approx(other.means)
        assert one.mean == pytest.approx(other.mean)
        assert sorted(one.slots.tolist()) == sorted(other.slots.tolist())


def overlapping_cliques(n, seed):
    """Cliques of neighbours in number, of sizes from 3 to 24, and a few edges far away."""
    rng, graph = np.random.default_rng(seed), nx.empty_graph(n)
    for first in range(0, n - 24, 7):
        members = first + rng.choice(24, int(rng.integers(3, 25)), replace=False)
        graph.add_edges_from(combinations(members.tolist(), 2))
    graph.add_edges_from(rng.integers(0, n, (n, 2)).tolist())
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


def peeled_with_sets(graph, worth, k):
    """(nodes, mean) of the best part, by sets of neighbours alone, where single nodes are removed."""
    best, truss = None, truss_in(graph, k)
    for part in nx.connected_components(truss):
        near = {node: set(truss[node]) for node in part}

        def may_go(node, near=near):
            around, reached = near[node], {min(near[node])}
            if any(len(near[a] & near[b]) <= k - 2 for a in around for b in near[a] & around):
                return False
            waiting = list(reached)
            while waiting:
                new = near[waiting.pop()] - reached - {node}
                reached |= new
                waiting += new
            return len(reached) == len(near) - 1

        while len(near) > k:
            mean_worth = mean(worth, near)
            low = [node for node in near if worth[node] < mean_worth - 1e-6]
            gone = next(
                (node for node in sorted(low, key=lambda v: (worth[v], v)) if may_go(node)), None
            )
            if gone is None:
                break
            for other in near.pop(gone):
                near[other].discard(gone)
        if len(near) >= k:
            key = round(mean(worth, near), 9), len(near), sorted(near)
            best = key if best is None else max(best, key, key=lambda one: one[:2])
    return best


@pytest.mark.parametrize("seed", range(3))
def test_trusses_of_many_words_are_peeled_one_after_the_other_as_each_by_itself(seed):
    """More nodes than a word has bits, and nodes that wait for one that is removed later."""
    graph = overlapping_cliques(100, seed)
    links, rows = links_of(graph), np.arange(100, dtype=np.int32)
    trusses = nested_trusses(links, rows)
    assert trusses.last == int(trussness(links).max()) > 8
    for drawn in (seed, seed + 50):  # nothing of the first question is left for the second
        worth = worths(graph, drawn, 1000)
        found = {one.k: one for one in search_trusses(trusses, worth, max_k=None).communities}
        wanted = {k: peeled_with_sets(graph, worth, k) for k in range(3, trusses.last + 1)}
        last = {tuple(nodes): k for k, (_, _, nodes) in wanted.items()}
        assert sorted(found) == sorted(last.values())
        for k, one in found.items():
            assert one.rows.tolist() == wanted[k][2]
            assert one.mean == pytest.approx(wanted[k][0], abs=1e-8)
            assert len(one.means) - 1 <= 100
            inner = truss_in(graph, k).subgraph(one.rows.tolist()).edges
            ends = zip(links.sources[one.slots], links.targets[one.slots], strict=True)
            assert {tuple(map(int, pair)) for pair in ends} == {tuple(sorted(e)) for e in inner}


def test_trusses_without_slots_are_peeled_alike_and_among_some_rows():
    graph = overlapping_cliques(150, 9)
    links, worth = links_of(graph), worths(graph, 9, 1000)
    rows = np.flatnonzero(np.random.default_rng(9).random(150) < 0.8).astype(np.int32)
    searched = search_communities(links, rows, worth, max_k=None)
    known = search_trusses(nested_trusses(links, rows, slots=False), worth, max_k=None)
    assert known.level == searched.level == "truss"
    for one, other in zip(known.communities, searched.communities, strict=True):
        assert (one.k, one.mean, one.means) == (other.k, other.mean, other.means)
        assert one.rows.tolist() == other.rows.tolist()
        assert not len(one.slots)
        assert len(other.slots)


@given(st.integers(1, 2**64 - 1))
def test_the_bits_of_a_word_are_counted_and_the_lowest_is_found(word):
    for form in (count_bits.plain, count_bits.function, count_bits):
        with np.errstate(over="ignore"):
            assert form(np.uint64(word)) == word.bit_count()
    assert lowest_bit(np.uint64(word)) == (word & -word).bit_length() - 1


def test_rows_of_bits_have_their_targets_and_the_slots_of_these():
    links = links_of(overlapping_cliques(200, 3))
    starts, numbers, slots, words = bit_rows(links.starts, np.array(links.targets))
    for row in range(200):
        found = []
        for place in range(starts[row], starts[row + 1]):
            bits = [bit for bit in range(64) if int(words[place]) >> bit & 1]
            assert links.targets[slots[place]] == 64 * numbers[place] + bits[0]
            found += [64 * int(numbers[place]) + bit for bit in bits]
        assert found == links.neighbours(row).tolist()
