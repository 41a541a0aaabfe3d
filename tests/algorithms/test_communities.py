"""Communities: partitions by their definition, beside networkx, and beside the best of all partitions where these can be listed."""

from __future__ import annotations

from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.algorithms.community_detection import (
    METHODS,
    CommunityDetection,
    detect_communities,
    kernels,
    modularity,
    propagate_labels,
)
from clew.algorithms.community_detection.modularity import CommunityGraph
from clew.graph import Edges, Generated, Graph, add_generated


def links_of(n, pairs, weights=None):
    tails, heads = np.array(list(pairs), np.int64).reshape(-1, 2).T
    return graph_of(n, tails, heads, weights).links(merge="sum")


def graph_of(n, tails, heads, weights=None):
    return Graph.of(
        [str(i) for i in range(n)],
        edges=Edges.of("tie", tails, heads, np.ones(len(tails)) if weights is None else weights),
    )


def network(links):
    made = nx.Graph()
    made.add_nodes_from(range(len(links)))
    made.add_weighted_edges_from(
        zip(
            links.sources.tolist(),
            links.targets.tolist(),
            links.weights.astype(float).tolist(),
            strict=True,
        )
    )
    return made


def sets(number):
    return [set(np.flatnonzero(number == one).tolist()) for one in range(int(number.max()) + 1)]


def random_links(n, degree, seed):
    rng = np.random.default_rng(seed)
    pairs = [(a, b) for a, b in combinations(range(n), 2) if rng.random() < degree / n]
    return links_of(n, pairs, rng.uniform(0.1, 1, len(pairs)))


@st.composite
def some_links(draw):
    n = draw(st.integers(1, 30))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=3 * n))
    weights = draw(st.lists(st.floats(0.05, 1), min_size=len(pairs), max_size=len(pairs)))
    return links_of(n, pairs, weights)


@pytest.mark.parametrize("method", METHODS)
@given(some_links(), st.sampled_from([0.3, 1.0, 2.5]), st.sampled_from([None, 0, 7]))
def test_a_hierarchy_of_connected_communities(method, links, resolution, seed):
    found = detect_communities(links, resolution, method, 3, seed)
    whole, isolated = network(links), np.diff(links.starts) == 0
    for level, worth in zip(found.levels, found.modularity, strict=True):
        assert level.dtype == np.int32
        assert set(level.tolist()) == set(range(int(level.max()) + 1))
        assert [min(one) for one in sets(level)] == sorted(min(one) for one in sets(level))
        assert all(nx.is_connected(whole.subgraph(one)) for one in sets(level))
        assert all(np.sum(level == level[row]) == 1 for row in np.flatnonzero(isolated))
        assert worth == pytest.approx(modularity(links, level, resolution))
    for (coarse, high), (fine, low) in pairwise(zip(found.levels, found.modularity, strict=True)):
        assert high >= low - 1e-9
        assert coarse.max() < fine.max()
        assert all(
            len(set(coarse[fine == one].tolist())) == 1 for one in range(int(fine.max()) + 1)
        )
    again = detect_communities(links, resolution, method, 3, seed)
    assert [level.tolist() for level in again.levels] == [level.tolist() for level in found.levels]
    assert [one.tolist() for one in found.members()] == [
        sorted(one) for one in sets(found.levels[0])
    ]


@given(some_links(), st.integers(1, 5), st.floats(0.2, 3))
def test_modularity_is_that_of_networkx(links, parts, resolution):
    number = np.arange(len(links)) % parts
    if not len(links.targets):
        assert modularity(links, number, resolution) == 0
        return
    wanted = nx.community.modularity(
        network(links), [one for one in sets(number) if one], resolution=resolution
    )
    assert modularity(links, number, resolution) == pytest.approx(wanted, abs=1e-6)


def partitions(n):
    """All partitions of n things, as numbers by first appearance."""

    def grown(prefix, used):
        if len(prefix) == n:
            yield prefix
            return
        for one in range(used + 1):
            yield from grown([*prefix, one], max(used, one + 1))

    return np.array(list(grown([0], 1)))


def test_nearly_the_best_of_all_partitions():
    every = partitions(8)
    same = (every[:, :, None] == every[:, None, :]).reshape(len(every), -1)
    ratios = {method: [] for method in METHODS}
    for seed in range(40):
        links = random_links(8, 3, seed)
        if not len(links.targets):
            continue
        matrix = links.matrix().toarray()
        matrix = matrix / matrix.sum() - np.outer(matrix.sum(0), matrix.sum(0)) / matrix.sum() ** 2
        best = float((same @ matrix.reshape(-1)).max())
        for method, kept in ratios.items():
            found = detect_communities(links, method=method).modularity[0]
            assert found <= best + 1e-6
            if best > 1e-6:
                kept.append(found / best)
    assert min(ratios["leiden"]) > 0.9
    assert np.mean(ratios["leiden"]) > 0.99
    assert np.mean(ratios["louvain"]) > 0.97


def test_cliques_in_a_ring_are_found_and_their_pairs_at_a_low_resolution():
    cliques, size = 10, 5
    pairs = [
        (c * size + a, c * size + b)
        for c in range(cliques)
        for a, b in combinations(range(size), 2)
    ]
    pairs += [(c * size, (c + 1) % cliques * size + 1) for c in range(cliques)]
    links = links_of(cliques * size, pairs)
    for method in METHODS:
        assert (
            detect_communities(links, 1.0, method).levels[0].tolist()
            == np.repeat(np.arange(cliques), size).tolist()
        )
        assert detect_communities(links, 0.1, method).levels[0].max() + 1 < cliques


def test_beside_louvain_of_networkx_and_more_communities_at_a_higher_resolution():
    gains, numbers = [], []
    for seed in range(4):
        links = random_links(300, 6, seed)
        found = [detect_communities(links, resolution) for resolution in (0.5, 1.0, 2.0, 4.0)]
        numbers.append([int(one.levels[0].max()) + 1 for one in found])
        other = nx.community.louvain_communities(network(links), seed=seed)
        gains.append(found[1].modularity[0] - nx.community.modularity(network(links), other))
    assert np.mean(gains) > 0
    assert (np.diff(np.mean(numbers, axis=0)) > 0).all()


def test_weights_count_and_a_seed_changes_only_the_order():
    heavy = links_of(4, [(0, 1), (2, 3), (1, 2), (0, 3)], [1, 1, 0.1, 0.1])
    assert detect_communities(heavy).levels[0].tolist() == [0, 0, 1, 1]
    other = links_of(4, [(0, 1), (2, 3), (1, 2), (0, 3)], [0.1, 0.1, 1, 1])
    assert detect_communities(other).levels[0].tolist() == [0, 1, 1, 0]
    links = random_links(300, 6, 1)
    worths = {detect_communities(links, seed=seed).modularity[0] for seed in range(5)}
    assert len(worths) > 1
    assert max(worths) - min(worths) < 0.02


def test_the_part_follows_chosen_kinds_in_both_directions_and_leaves_made_texts_alone():
    graph = Graph.of(
        list("abcdef"),
        edges=Edges.join(
            [Edges.of("tie", [0, 2, 1, 4], [1, 1, 2, 5]), Edges.of("loose", [3, 2], [4, 3])]
        ),
    )
    assert graph.part(CommunityDetection(("tie",))).levels[0].tolist() == [0, 0, 0, 1, 2, 2]
    assert graph.part(CommunityDetection()).levels[0].max() == 1
    written = Generated(
        ("r",), ("report",), ("all",), [[0, 5]], edges=Edges.of("tie", [6, 6, 6], [0, 3, 5])
    )
    longer = add_generated(graph, written).part(CommunityDetection(("tie",)))
    assert longer.levels[0].tolist() == [0, 0, 0, 1, 2, 2, 3]


def test_new_nodes_follow_their_neighbours():
    #  0-1-2  3-4   5: to 2 (weak) and 3 (strong); 6: to 5 alone; 7-8: to none that is known; 9: alone
    links = links_of(
        10, [(0, 1), (1, 2), (3, 4), (2, 5), (3, 5), (5, 6), (7, 8)], [1, 1, 1, 0.2, 0.9, 1, 1]
    )
    old = [4, 4, 4, 2, 2, -1, -1, -1, -1, -1]
    assert propagate_labels(links, old).tolist() == [4, 4, 4, 2, 2, 2, 2, 5, 5, 6]
    assert propagate_labels(links, old[:5] + [0] * 5).tolist() == old[:5] + [0] * 5
    assert propagate_labels(links, [-1] * 10).max() == 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"resolution": 0}, "resolution"),
        ({"method": "x"}, "leiden"),
        ({"iterations": 0}, "iterations"),
    ],
)
def test_wrong_parameters_are_said(wrong, message):
    with pytest.raises(ValueError, match=message):
        CommunityDetection(**wrong)


def test_directed_links_are_refused():
    graph = Graph.of(list("abc"), edges=Edges.of("tie", [0, 1], [1, 2], [1, 1]))
    with pytest.raises(ValueError, match="undirected"):
        detect_communities(graph.links(directed=True))


@pytest.mark.parametrize("n", [0, 1, 3])
def test_no_links(n):
    found = Graph.of([str(i) for i in range(n)]).part(CommunityDetection())
    assert found.levels[0].tolist() == list(range(n))
    assert found.modularity == (0.0,)


def taken(links, within=None):
    """The links as the kernels take them; `within` is weight inside the nodes, which counts twice."""
    weights = links.weights.astype(np.float64)
    strengths = np.bincount(links.sources, weights=weights, minlength=len(links))
    return CommunityGraph(
        links.starts.astype(np.uint64),
        links.targets.astype(np.uint32),
        weights,
        strengths if within is None else strengths + 2 * within,
    )


def case_of(seed, n=14):
    """Links, a partition, an order to look in, and a scale; no two gains are equal."""
    rng = np.random.default_rng(seed)
    pairs = [pair for pair in combinations(range(n), 2) if rng.random() < 0.3] or [(0, 1)]
    links = links_of(n, pairs, rng.uniform(0.1, 1, len(pairs)))
    graph = taken(links, rng.integers(0, 2, n) / 4)
    number = rng.integers(0, 4, n).astype(np.uint32)
    scale = float(rng.choice([0.4, 1.0, 2.1])) / graph.strengths.sum()
    return links.matrix().toarray(), graph, number, rng.permutation(n).astype(np.uint32), scale


def moved_by_definition(weights, strengths, number, order, scale):
    """The fast local move: a queue of nodes, and after each move its neighbours elsewhere again."""
    number, n = number.tolist(), len(number)
    queue = [row for row in order.tolist() if weights[row].any()]
    while queue:
        row = queue.pop(0)
        gains = {}
        for one in {number[other] for other in range(n) if weights[row, other]} | {number[row]}:
            members = [other for other in range(n) if number[other] == one and other != row]
            total = strengths[members].sum()
            gains[one] = weights[row, members].sum() - scale * strengths[row] * total
        best = max(gains, key=lambda one: (gains[one], one == number[row]))
        if gains[best] < 0 and number.count(number[row]) > 1:
            best = next(one for one in range(n) if one not in number)
        if best != number[row]:
            number[row] = best
            queue += [
                other
                for other in range(n)
                if weights[row, other] and number[other] != best and other not in queue
            ]
    return np.array(number)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("alone", [False, True])
def test_nodes_move_by_the_fast_local_move(seed, alone):
    weights, graph, number, order, scale = case_of(seed)
    number = np.arange(len(number), dtype=np.uint32) if alone else number
    expected = moved_by_definition(weights, graph.strengths, number, order, scale)
    kernels.move_nodes.plain(graph, number, order, scale)
    assert number.max() < len(number)
    assert (number[:, None] == number).tolist() == (expected[:, None] == expected).tolist()


def parts_by_definition(weights, strengths, number, order, scale, found):
    """Traag et al. 2019: nodes that are still alone join a well connected part, that of most gain.

    Of parts of equal gain it is the one that was found.
    """
    n = len(number)
    parts = {row: [row] for row in range(n)}

    def cut(rows, whole):
        rest = [row for row in whole if row not in rows]
        return weights[np.ix_(rows, rest)].sum() if rest else 0.0

    def is_well_connected(rows, whole):
        inside, outside = strengths[rows].sum(), strengths[whole].sum()
        return cut(rows, whole) >= scale * inside * (outside - inside) - 1e-12

    for row in order.tolist():
        whole = np.flatnonzero(number == number[row]).tolist()
        if parts.get(row) != [row] or cut([row], whole) == 0:
            continue
        if not is_well_connected([row], whole):
            continue
        gains = {}
        for part, rows in parts.items():
            link = weights[row, rows].sum()
            if part != row and link > 0 and number[rows[0]] == number[row]:
                gain = link - scale * strengths[row] * strengths[rows].sum()
                if gain > 1e-9 and is_well_connected(rows, whole):
                    gains[part] = gain
        part = int(found[row])
        assert (part in gains) == bool(gains), "it joins one of these, or stays alone"
        if gains:
            assert gains[part] >= max(gains.values()) - 1e-9
            parts[part].append(row)
            del parts[row]
    return parts


@pytest.mark.parametrize("seed", range(60))
def test_a_refined_part_is_joined_by_the_rule_of_leiden(seed):
    weights, graph, number, order, scale = case_of(seed)
    found = kernels.refine.plain(graph, number, order, scale)
    parts = parts_by_definition(weights, graph.strengths, number, order, scale, found)
    assert sum(len(rows) > 1 for rows in parts.values()) > 0 or scale * graph.strengths.sum() > 1
    for part, rows in parts.items():
        assert (found[rows] == part).all()


@pytest.mark.parametrize("seed", range(20))
def test_communities_become_nodes_with_their_links_and_strengths_and_fall_apart_where_unlinked(
    seed,
):
    weights, graph, number, _, _ = case_of(seed)
    numbers, count = kernels.renumber.plain(number)
    first = {one: numbers.tolist().index(one) for one in range(count)}
    assert [first[one] for one in range(count)] == sorted(first.values())
    assert (numbers[:, None] == numbers).tolist() == (number[:, None] == number).tolist()
    starts, targets, summed, strengths = kernels.aggregate.plain(graph, numbers, count)
    members = np.eye(count)[numbers]
    expected = members.T @ weights @ members
    np.fill_diagonal(expected, 0)
    made = np.zeros((count, count))
    for one in range(count):
        for slot in range(int(starts[one]), int(starts[one + 1])):
            assert made[one, targets[slot]] == 0
            made[one, targets[slot]] = summed[slot]
    assert made == pytest.approx(expected)
    assert strengths == pytest.approx(members.T @ graph.strengths)
    part, parts = kernels.split_disconnected.plain(graph.starts, graph.targets, number)
    whole = nx.from_numpy_array(weights)
    pieces = [
        sorted(piece)
        for one in set(number.tolist())
        for piece in nx.connected_components(whole.subgraph(np.flatnonzero(number == one).tolist()))
    ]
    assert parts == len(pieces)
    assert [np.flatnonzero(part == one).tolist() for one in range(parts)] == sorted(pieces)


@pytest.mark.parametrize("seed", range(8))
def test_leiden_joins_refined_parts_and_louvain_whole_communities(seed):
    links = random_links(60, 4, seed)
    graph, order = taken(links), np.random.default_rng(seed)
    number, scale = np.arange(60, dtype=np.uint32), 1 / graph.strengths.sum()
    kernels.move_nodes(graph, number, order.permutation(60).astype(np.uint32), scale)
    louvain = kernels.split_disconnected(graph.starts, graph.targets, number)[0]
    second = order.permutation(60).astype(np.uint32)
    leiden = kernels.renumber(kernels.refine(graph, number, second, scale))[0]
    for method, parts in (("louvain", louvain), ("leiden", leiden)):
        finest = detect_communities(links, 1.0, method, 1, seed).levels[-1]
        assert finest.tolist() == kernels.renumber(parts)[0].tolist()


def test_to_start_again_with_the_result_never_makes_it_worse():
    better = 0
    for seed in range(12):
        links = random_links(80, 4, seed)
        values = [
            detect_communities(links, iterations=times, seed=seed).modularity[0]
            for times in (1, 2, 3, None)
        ]
        assert (np.diff(values) >= -1e-9).all()
        better += values[-1] > values[0] + 1e-6
    assert better > 0
