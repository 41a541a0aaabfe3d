"""The weight of an edge between similar passages."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from clew.algorithms.nearest.exact import nearest_of_some
from clew.graph import Graph
from clew.link import Similar, _shared


def weights_of(vectors, rows):
    """The weights among some rows, by the numbers of both ends among all."""
    graph = Graph.of([f"{row}" for row in rows], vectors=vectors[rows])
    edges = Similar(k=len(rows), min_similarity=1e-6).on(graph)
    ends = zip(edges.tails.tolist(), edges.heads.tolist(), strict=True)
    pairs = [(rows[tail], rows[head]) for tail, head in ends]
    return dict(zip(pairs, edges.weights.tolist(), strict=True))


@pytest.mark.parametrize("width", [3, 64, 100])
def test_a_weight_depends_on_its_two_vectors_alone(width):
    """Also in its last bit: else a change of one document would change what others are joined by."""
    vectors = np.abs(np.random.default_rng(width).normal(size=(300, width))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    every = weights_of(vectors, list(range(300)))
    for rows in ([7, 250], list(range(0, 300, 7)), list(range(1, 300)), list(range(299, 100, -1))):
        found = weights_of(vectors, rows)
        assert len(found) == len(rows) * (len(rows) - 1)
        assert found == {pair: every[pair] for pair in found}
        for (tail, head), weight in list(found.items())[:50]:
            exact = vectors[tail].astype(float) @ vectors[head].astype(float)
            assert weight == pytest.approx(exact, abs=1e-6)


def test_vectors_alike_have_the_weight_one():
    vectors = np.random.default_rng(0).normal(size=(40, 300)).astype(np.float32)
    vectors = np.repeat(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), 2, axis=0)
    found = weights_of(vectors, list(range(80)))
    assert max(found.values()) <= 1
    assert all(found[row, row ^ 1] == pytest.approx(1, abs=1e-6) for row in range(80))


@pytest.mark.parametrize("k", [3, 40])
def test_weights_after_a_change_are_the_very_ones_of_a_build(k):
    """Also of edges that nothing was done to, and of cosines that are almost equal."""
    vectors = np.random.default_rng(k).normal(size=(60, 8)).astype(np.float32)
    vectors = np.repeat(vectors, 2, axis=0)
    vectors[1::2, 0] += np.float32(3e-7)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    graphs = [
        Graph.of([f"{row}" for row in range(n)], vectors=vectors[:n]) for n in (117, 118, 120)
    ]
    link = Similar(k=k, min_similarity=0.1)
    edges = link.on(graphs[0])
    for base, graph in itertools.pairwise(graphs):
        edges, expected = link.grow(graph, edges, len(base)), link.on(graph)
        for column in ("tails", "heads", "weights"):
            assert getattr(edges, column).tolist() == getattr(expected, column).tolist()


@pytest.mark.parametrize("seed", range(12))
def test_nodes_that_went_and_came_in_one_step_give_what_a_build_gives(seed, monkeypatch):
    """And nodes that have lost a neighbour to a new one as near are not compared with all."""
    random, k = np.random.default_rng(seed), 1 + seed % 5
    n, width = 200, 2 + seed % 4  # few numbers: many cosines are equal, or almost
    centres = random.integers(-2, 3, size=(n, width))
    vectors = (centres + random.normal(0, [0.0, 1e-7, 0.05][seed % 3], centres.shape)).astype(float)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    vectors = vectors.astype(np.float32)
    stays = random.random(n) < 0.9
    new = vectors[~stays] + random.normal(0, 1e-3, (np.count_nonzero(~stays), width))
    new /= np.maximum(np.linalg.norm(new, axis=1, keepdims=True), 1e-9)
    link = Similar(k=k, min_similarity=0.3)
    before = link.on(Graph.of([f"{row}" for row in range(n)], vectors=vectors))
    after = np.concatenate([vectors[stays], new.astype(np.float32)])
    graph = Graph.of([f"{row}" for row in range(n)], vectors=after)

    number, ends_stay = np.cumsum(stays) - 1, stays[before.tails] & stays[before.heads]
    left = before.take(np.flatnonzero(ends_stay))
    left = replace(left, **{end: number[getattr(left, end)] for end in ("tails", "heads")})
    bereft = np.isin(before.tails, before.tails[stays[before.tails] & ~ends_stay])
    searched = []
    monkeypatch.setattr(
        _shared, "nearest_of_some", lambda *a: searched.extend(a[1]) or nearest_of_some(*a)
    )
    found = link.exchange_some(
        graph,
        left,
        int(stays.sum()),
        number[before.tails[bereft]].astype(np.int32),
        before.weights[bereft],
    )
    expected = link.on(graph)
    assert found.tails.tolist() == expected.tails.tolist()
    assert found.weights == pytest.approx(expected.weights, abs=3e-7)
    for row in range(n):
        own, others = found.heads[found.tails == row], expected.heads[expected.tails == row]
        if set(own) != set(others):  # of cosines that count as equal another may be chosen
            weights = [after[row] @ after[each].T for each in (own, others)]
            assert sorted(weights[0]) == pytest.approx(sorted(weights[1]), abs=1e-6)
    assert len(searched) < len(set(before.tails[bereft].tolist())) or k == 1
