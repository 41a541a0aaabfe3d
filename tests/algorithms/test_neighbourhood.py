"""The small graph of Kurisu-G2 before and after a change: distances, fusions and links by networkx and the vectors themselves."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from scipy.sparse.csgraph import floyd_warshall

from clew.algorithms.transport.kernels import fusing, shortest
from clew.algorithms.transport.neighbourhood import SHORTEST, Neighbourhood


class Slots:
    """The definition: a vector and a group for each slot, edges between groups."""

    def __init__(self, vectors, edges, sharpness, direct=False):
        self.vectors, self.edges = np.array(vectors, float), {frozenset(edge) for edge in edges}
        self.groups = list(range(len(vectors)))
        self.sharpness, self.direct = sharpness, direct
        self.scale = max((x for x in self.lengths().flat if x < math.inf), default=0) or 1.0

    def length(self, i, j):
        return math.exp(self.sharpness * (1 - self.vectors[i] @ self.vectors[j])) - 1

    def lengths(self):
        n = len(self.vectors)
        found = np.full((n, n), math.inf)
        net = nx.Graph()
        net.add_nodes_from(self.groups)
        for i, j in map(sorted, self.edges):
            a, b = self.groups[i], self.groups[j]
            if a != b:
                before = net.get_edge_data(a, b, {"length": math.inf})["length"]
                net.add_edge(a, b, length=min(before, self.length(i, j) + SHORTEST))
        paths = dict(nx.all_pairs_dijkstra_path_length(net, weight="length"))
        for i in range(n):
            for j in range(n):
                a, b = self.groups[i], self.groups[j]
                if self.direct:
                    found[i, j] = 0 if a == b else self.length(i, j)
                else:
                    found[i, j] = paths[a].get(b, math.inf)
        return found

    def distances(self):
        lengths = self.lengths()
        return np.where(lengths < math.inf, lengths / self.scale, 1.0)

    def fuse(self, members, vector=None):
        """Make these slots one node; return the cost of taking each old slot for each new one."""
        old = self.vectors.copy()
        if vector is None:
            total = old[members].sum(axis=0)
            length = np.linalg.norm(total)
            vector = total / length if length > 1e-9 else 0 * total
        self.vectors[members] = vector
        touching = {slot for edge in self.edges if edge & {*members} for slot in edge}
        self.edges |= {frozenset((m, t)) for m in members for t in touching if t not in members}
        for member in members:
            self.groups[member] = members[0]
        return ((old[:, None] - self.vectors[None]) ** 2).sum(axis=2) / 4

    def hood(self):
        joined = np.zeros((len(self.vectors),) * 2, bool)
        for i, j in map(sorted, self.edges):
            joined[i, j] = joined[j, i] = True
        return Neighbourhood.of(
            self.vectors @ self.vectors.T, joined, self.sharpness, direct=self.direct
        )


def random_slots(seed, direct=False):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    vectors = rng.normal(size=(n, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    if seed % 3 == 0:
        vectors[1] = -vectors[0]  # fused, the two have no direction
    edges = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.35]
    return rng, Slots(vectors, edges, float(rng.choice([0.5, 1.0, 3.0])), direct)


def value_of_staying(costs, one, other, weight):
    """The identity plan: every slot is taken for itself."""
    return weight * costs.diagonal().mean() + (1 - weight) * ((one - other) ** 2).mean()


@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_a_neighbourhood_and_its_fusions_are_those_of_the_vectors(seed, direct):
    rng, slots = random_slots(seed, direct)
    hood, n = slots.hood(), len(slots.vectors)
    assert hood.distances == pytest.approx(slots.distances())
    first = [0, 1]
    given = None
    if seed % 2:
        given = rng.normal(size=3)
        given /= np.linalg.norm(given)
    products = None if given is None else slots.vectors @ given
    before = slots.distances()
    after, costs = hood.fused(np.array(first), products)
    verdict = hood.may_fuse(np.array(first), math.inf, 0.3, products)
    assert costs == pytest.approx(slots.fuse(first, given))
    assert after.distances == pytest.approx(slots.distances())
    assert verdict.value == pytest.approx(value_of_staying(costs, before, slots.distances(), 0.3))
    again = [0, 1, n - 1]  # a node that is already fused, and another
    last, costs = after.fused(np.array(again))
    assert costs == pytest.approx(slots.fuse(again), abs=1e-7)
    assert last.distances == pytest.approx(slots.distances(), abs=1e-7)
    assert not after.joined[after.alike].any()


@pytest.mark.parametrize("seed", range(8))
def test_a_link_joins_each_slot_with_each_and_is_measured_by_the_old_scale(seed):
    rng, slots = random_slots(seed)
    hood, before = slots.hood(), slots.distances()
    at, to = [0], rng.permutation(np.arange(1, len(slots.vectors)))[:2].tolist()
    after = hood.linked(np.array(at), np.array(to))
    slots.edges |= {frozenset((i, j)) for i in at for j in to}
    assert after.distances == pytest.approx(slots.distances())
    verdict = hood.may_link(np.array(at), np.array(to), math.inf, 0.3)
    own = ((slots.vectors[:, None] - slots.vectors[None]) ** 2).sum(axis=2) / 4
    assert hood.costs == pytest.approx(own, abs=1e-9)
    assert verdict.value == pytest.approx(value_of_staying(own, before, slots.distances(), 0.3))


def test_a_slot_without_a_vector_costs_what_the_other_is():
    """The second slot has no vector; to be taken for the first it moves by a length of 1."""
    hood = Neighbourhood.of(np.diag([1.0, 0.0]), np.zeros((2, 2), bool))
    assert hood.costs.tolist() == [[0, 0.25], [0.25, 0]]
    _, costs = hood.fused(np.array([1]))  # a mean of nothing is nothing
    assert costs.tolist() == [[0, 0.25], [0.25, 0]]
    assert hood.distances.tolist() == [[0, 1], [1, 0]]


def test_where_all_nodes_are_equal_no_distance_is_above_0():
    """Nothing is the longest distance then."""
    hood = Neighbourhood.of(np.ones((3, 3)), np.ones((3, 3), bool), direct=True)
    assert hood.distances.tolist() == np.zeros((3, 3)).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_shortest_paths_are_scipys_in_both_forms(seed):
    """What plain Python runs at once, and the loop that is compiled."""
    rng = np.random.default_rng(seed)
    n = 9
    lengths = np.where(rng.random((n, n)) < 0.3, rng.random((n, n)), np.inf)
    lengths = np.minimum(lengths, lengths.T)
    np.fill_diagonal(lengths, 0)
    expected = floyd_warshall(lengths)
    for form in (shortest.shortest.function, shortest.shortest.plain):
        found = lengths.copy()
        form(found)
        assert found == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("seed", range(6))
def test_slots_are_joined_as_their_rows_are(seed):
    rng = np.random.default_rng(seed)
    n, m = 12, 7
    net = nx.gnp_random_graph(n, 0.2, seed=seed, directed=True)
    starts = np.cumsum([0, *(net.out_degree(row) for row in range(n))])
    heads = np.array([head for row in range(n) for head in net.successors(row)], np.int64)
    rows, children = rng.permutation(n)[:m], rng.permutation(n)[:4]
    found = fusing.joins.plain(rows, starts, heads, children)
    for i, one in enumerate(rows.tolist()):
        assert found[0, i + 1] == found[i + 1, 0] == (one in children)
        for j, other in enumerate(rows.tolist()):
            assert found[i + 1, j + 1] == (net.has_edge(one, other) or net.has_edge(other, one))
    assert not found[0, 0]
