"""PageRank against a dense solve of its definition and against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from clew.algorithms.pagerank import build_walk, pagerank, pageranks
from clew.deadline import Deadline, until


def random_weights(n, share, seed):
    rng = np.random.default_rng(seed)
    weights = np.triu(np.round(rng.random((n, n)), 3) * (rng.random((n, n)) < share), 1)
    weights[:, n // 2] = weights[n // 2] = 0  # a node apart
    return weights + weights.T


def dense_solve(weights, reset, damping):
    """x = (1 - d) r + d (W^T x + mass at nodes without links * r), with r scaled to sum 1."""
    reset, strengths = reset / reset.sum(), weights.sum(axis=1)
    follow = np.divide(
        weights, strengths[:, None], out=np.zeros_like(weights), where=strengths[:, None] > 0
    )
    follow[strengths == 0] = reset
    return np.linalg.solve(np.eye(len(weights)) - damping * follow.T, (1 - damping) * reset)


def walk_on(weights):
    return build_walk(csr_array(weights), weights.sum(axis=1))


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.85, 0.99])
@given(st.integers(1, 24), st.sampled_from([0.0, 0.1, 0.5]), st.integers(0, 10**6))
def test_it_is_the_solution_of_its_equation_also_with_nodes_apart(damping, n, share, seed):
    weights = random_weights(n, share, seed)
    rng = np.random.default_rng(seed)
    reset = rng.random(n) * (rng.random(n) < 0.3)
    reset[rng.integers(n)] = 1.0

    found = pagerank(walk_on(weights), reset, damping, tolerance=1e-9)

    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert (found >= 0).all()
    assert np.abs(found - dense_solve(weights, reset, damping)).sum() <= 1e-9


@pytest.mark.parametrize("damping", [0.5, 0.85])
def test_networkx_finds_the_same(damping):
    weights = random_weights(60, 0.1, 7)
    reset = np.zeros(60)
    reset[[3, 40]] = [1, 3]
    reference = nx.pagerank(
        nx.from_numpy_array(weights),
        damping,
        personalization=dict(enumerate(reset)),
        dangling=dict(enumerate(reset)),
        tol=1e-12,
        max_iter=1000,
    )
    assert pagerank(walk_on(weights), reset, damping) == pytest.approx(
        [reference[i] for i in range(60)], abs=1e-9
    )


@pytest.mark.parametrize("damping", [0.999, 0.999999])
def test_it_comes_to_an_end_where_no_float_can_show_the_tolerance(damping):
    weights = random_weights(40, 0.2, 3)
    reset = np.ones(40)
    found = pagerank(walk_on(weights), reset, damping, tolerance=1e-14)
    assert np.abs(found - dense_solve(weights, reset, damping)).sum() < 1e-6


def test_nodes_that_the_walk_cannot_reach_get_nothing():
    weights = np.zeros((4, 4))
    weights[0, 1] = weights[1, 0] = weights[2, 3] = weights[3, 2] = 1
    assert pagerank(walk_on(weights), np.array([1.0, 0, 0, 0]))[2:].tolist() == [0, 0]
    assert pagerank(walk_on(weights), np.array([1.0, 0, 0, 0]), 0.0).tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("light", [1e-9, 1e-20, 1e-38, 1e-44])
@pytest.mark.parametrize("starts", [[4], [0, 4], [2], [0, 2]])
def test_links_of_next_to_no_weight_are_followed_and_the_walk_ends(light, starts):
    """Rows 0 and 1 are linked by 1, rows 2 and 3 by a weight that float32 barely holds."""
    weights = np.zeros((5, 5), np.float32)
    weights[0, 1] = weights[1, 0] = 1
    weights[2, 3] = weights[3, 2] = light
    reset = np.zeros(5)
    reset[starts] = 1
    expected = dense_solve(weights.astype(float), reset, 0.5)
    walk = build_walk(csr_array(weights), weights.astype(float).sum(axis=1))

    with until(Deadline.after(20)):
        one, many = pagerank(walk, reset), pageranks(walk, np.array([reset, np.ones(5)]))

    assert one == pytest.approx(expected, abs=1e-9)
    assert many[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("reset", "damping", "message"),
    [
        ([1.0, 0], 1.0, "damping"),
        ([1.0, 0], -0.1, "damping"),
        ([0.0, 0], 0.5, "no mass"),
        ([np.nan, 1], 0.5, "no mass"),
        ([0.8, -0.25], 0.5, "at least 0; got -0.25"),
        ([0.8, -2.0], 0.5, "at least 0; got -2"),
        ([np.inf, 1.0], 0.5, "infinite"),
    ],
)
def test_bad_input_is_named(reset, damping, message):
    with pytest.raises(ValueError, match=message):
        pagerank(walk_on(np.array([[0.0, 1], [1, 0]])), np.array(reset), damping)


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.95])
@given(st.integers(1, 24), st.sampled_from([0.0, 0.1, 0.5]), st.integers(0, 10**6))
def test_on_a_directed_graph_it_is_the_solution_too_and_dead_ends_start_again(
    damping, n, share, seed
):
    rng = np.random.default_rng(seed)
    weights = np.round(rng.random((n, n)), 3) * (rng.random((n, n)) < share)
    reset = rng.random(n) * (rng.random(n) < 0.3)
    reset[rng.integers(n)] = 1.0

    found = pagerank(
        build_walk(csr_array(weights), weights.sum(axis=1), directed=True),
        reset,
        damping,
        tolerance=1e-9,
    )

    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert np.abs(found - dense_solve(weights, reset, damping)).sum() <= 1e-9


@pytest.mark.parametrize("directed", [False, True])
@given(st.integers(1, 30), st.integers(0, 40), st.integers(0, 10**6), st.sampled_from([0.3, 0.85]))
def test_many_questions_at_once_are_answered_as_each_by_itself(directed, n, k, seed, damping):
    weights, rng = random_weights(n, 0.2, seed), np.random.default_rng(seed)
    resets = rng.random((k, n)) * (rng.random((k, n)) < 0.2)
    resets[np.arange(k), rng.integers(n, size=k)] = 1
    over = build_walk(csr_array(weights), weights.sum(axis=1), directed=directed)

    found = pageranks(over, resets, damping, 1e-9)

    assert found.shape == (k, n)
    for one, reset in zip(found, resets, strict=True):
        assert np.abs(one - pagerank(over, reset, damping, 1e-9)).sum() <= 2e-9


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("damping", [0.5, 0.95])
def test_the_error_is_as_promised_in_single_precision_too(tolerance, damping):
    weights = random_weights(300, 0.03, 1)
    reset = np.eye(300)[3]
    assert (
        np.abs(
            pagerank(walk_on(weights), reset, damping, tolerance)
            - dense_solve(weights, reset, damping)
        ).sum()
        <= tolerance
    )


def test_equal_places_have_equal_scores_though_the_products_are_rounded():
    """A ring of rings: every row but those near the seed has a twin on the other side."""
    n = 2001
    weights = csr_array(
        (
            np.ones(2 * n),
            (np.tile(np.arange(n), 2), np.r_[np.roll(np.arange(n), 1), np.roll(np.arange(n), -1)]),
        ),
        (n, n),
    )
    found = pagerank(build_walk(weights, np.full(n, 2.0)), np.eye(n)[0], 0.85)
    assert found[1:] == pytest.approx(found[1:][::-1], abs=1e-14)


@pytest.mark.parametrize("directed", [False, True])
def test_the_nearer_to_one_the_more_the_walk_starts_again_the_more_stays_at_the_seeds(directed):
    weights = random_weights(50, 0.1, 5)
    over, reset = (
        build_walk(csr_array(weights), weights.sum(axis=1), directed=directed),
        np.eye(50)[7],
    )
    at_seed = [pagerank(over, reset, damping)[7] for damping in (0.9, 0.85, 0.5, 0.1, 0.0)]
    assert at_seed == sorted(at_seed)
    assert at_seed[-1] == 1
