"""The proven best rows against the full solve, on graphs made to tie, and the push against its invariant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from clew.algorithms.pagerank import build_walk, pagerank, top_pagerank
from clew.algorithms.pagerank.top import (
    PushArrays,
    PushLimits,
    PushWalk,
    approximate_pagerank,
)
from clew.algorithms.ranking import top_k


def random_graph(n, links, seed, directed=False, weights=(1.0,)):
    """Few weights, so that many rows have equal scores."""
    rng = np.random.default_rng(seed)
    matrix = np.zeros((n, n), np.float32)
    ends = rng.integers(n, size=(links, 2))
    matrix[ends[:, 0], ends[:, 1]] = rng.choice(weights, links)
    np.fill_diagonal(matrix, 0)
    return csr_array(matrix if directed else np.maximum(matrix, matrix.T))


def walk_on(matrix, directed=False):
    return build_walk(matrix, np.asarray(matrix.sum(axis=1), np.float64).ravel(), directed=directed)


def star_of_stars():
    """A hub, its leaves, and theirs: all leaves of one level tie."""
    matrix = np.zeros((31, 31), np.float32)
    for i in range(1, 6):
        matrix[0, i] = 1
        matrix[i, 5 * i + 1 : 5 * i + 6] = 1
    return csr_array(matrix + matrix.T)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("budget", [0.0, 0.5, 100.0])
@given(st.data())
def test_the_set_is_that_of_the_full_solve_however_it_was_proven(budget, directed, data):
    n = data.draw(st.integers(1, 40))
    matrix = random_graph(
        n,
        data.draw(st.integers(0, 120)),
        data.draw(st.integers(0, 10**6)),
        directed,
        data.draw(st.sampled_from([(1.0,), (0.25, 1.0)])),
    )
    reset = np.zeros(n)
    reset[data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4))] = 1
    k, damping = data.draw(st.integers(1, 45)), data.draw(st.sampled_from([0.0, 0.3, 0.5, 0.85]))
    over = walk_on(matrix, directed)

    top = top_pagerank(over, reset, k, damping, budget=budget)

    x = pagerank(over, reset, damping)
    assert set(top.rows.tolist()) == set(top_k(x, k).tolist())
    assert len(set(top.rows.tolist())) == min(k, n)
    assert (np.abs(x[top.rows] - top.scores) <= top.error + 1e-9).all()
    assert not over.scratch or not any(over.scratch[0][i].any() for i in (0, 1, 3)), (
        "left as it was found"
    )


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("accuracy", [0.05, 1e-3, 1e-5])
def test_no_score_is_farther_off_than_asked_also_where_mass_is_lost(accuracy, directed):
    """Half of the walk starts at a row without links, and directed links end at others."""
    for seed in range(40):
        over = walk_on(random_graph(30, 40, seed, directed), directed)
        reset = np.zeros(30)
        reset[[seed % 30, int(over.order[-1])]] = 1
        found = top_pagerank(over, reset, 3, 0.85, accuracy=accuracy, budget=1e6)
        whole = pagerank(over, reset, 0.85)
        assert found.error <= accuracy * (1 + 1e-9)
        assert (whole[found.rows] - found.scores).max() <= accuracy


def test_a_tie_at_the_border_goes_to_the_lower_row_by_the_whole_vector():
    over, reset = walk_on(star_of_stars()), np.eye(31)[0]
    assert top_pagerank(over, reset, 3, budget=100).rows.tolist() == [0, 1, 2]
    assert top_pagerank(over, reset, 3, budget=100).method == "residual"
    assert top_pagerank(over, reset, 6, budget=100).rows.tolist() == [0, 1, 2, 3, 4, 5]
    assert top_pagerank(over, reset, 6, budget=100).method == "push"


def test_no_work_is_no_proof_and_what_is_left_is_solved_for():
    matrix = random_graph(400, 1600, 3, weights=np.linspace(0.1, 1, 97))
    reset = np.zeros(400)
    reset[[5, 60]] = [1, 2]
    pushed, solved = (
        top_pagerank(walk_on(matrix), reset, 10, budget=budget) for budget in (50, 0.02)
    )
    assert (pushed.method, solved.method) == ("push", "residual")
    assert set(pushed.rows.tolist()) == set(solved.rows.tolist())
    assert pushed.error > solved.error
    assert top_pagerank(
        walk_on(matrix), reset, 10, accuracy=1e-6, budget=500
    ).scores == pytest.approx(solved.scores, abs=1e-6)


@given(
    st.integers(2, 30),
    st.integers(0, 90),
    st.integers(0, 10**6),
    st.booleans(),
    st.integers(0, 200),
)
def test_the_estimate_and_the_pagerank_of_what_is_left_make_the_whole(
    n, links, seed, directed, most
):
    from clew.algorithms.pagerank.kernels.push import push_mass

    matrix, damping = random_graph(n, links, seed, directed), 0.5
    over = walk_on(matrix, directed)
    weights = matrix.toarray().astype(np.float64)
    follow = weights / np.maximum(weights.sum(axis=1), 1e-300)[:, None]
    estimates, residuals, marks = np.zeros(n), np.zeros(n), np.zeros(n, np.bool_)
    push_mass(
        PushWalk(*over.out, over.shares, over.tops, damping, not directed),
        np.array([0, n - 1], np.int32),
        np.array([0.75, 0.25]),
        PushLimits(n, most, 1e-9, 0.0),  # k = n: never proven before the work is done
        PushArrays(estimates, residuals, np.empty((2, n), np.uint32), marks),
    )
    reset = np.zeros(n)
    reset[over.order[[0, n - 1]]] = [0.75, 0.25]

    known, rest = estimates[over.places], residuals[over.places]
    solve = np.linalg.inv(np.eye(n) - damping * follow.T) * (1 - damping)
    assert known + solve @ rest == pytest.approx(solve @ reset, abs=1e-12)
    assert not marks.any()
    if not directed and (matrix.sum(axis=1) > 0).all():
        assert known.sum() + rest.sum() == pytest.approx(1, abs=1e-12)


@given(
    st.integers(2, 30),
    st.integers(0, 90),
    st.integers(0, 10**6),
    st.booleans(),
    st.integers(0, 200),
    st.integers(0, 5),
    st.sampled_from([0.0, 1e-3, 0.1]),
)
def test_the_push_and_its_plain_form_do_the_same_to_the_bit(
    n, links, seed, directed, most, k, least
):
    from clew.algorithms.pagerank.kernels.push import push_mass

    over = walk_on(random_graph(n, links, seed, directed, weights=(0.25, 1.0, 3.0)), directed)
    results = []
    for push in (push_mass.plain, push_mass.function):
        queue = np.empty((2, n), np.uint32)
        arrays = PushArrays(np.zeros(n), np.zeros(n), queue, np.zeros(n, np.bool_))
        found = push(
            PushWalk(*over.out, over.shares, over.tops, 0.6, not directed),
            np.array([0, n - 1], np.int32),
            np.array([0.75, 0.25]),
            PushLimits(k, most, 1e-9, 0.01, least),
            arrays,
        )
        assert not arrays.marks.any()
        reached = arrays.queue[1, : found[0]]
        results.append((found, *(one.tobytes() for one in (*arrays[:2], reached))))
    assert results[0] == results[1]


@given(
    st.integers(2, 30),
    st.integers(0, 90),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.3, 0.7, 0.9]),
    st.sampled_from([1e-6, 1e-3, 0.05, 0.4, 3.0]),
    st.lists(st.floats(0, 1, width=16), min_size=2, max_size=30),
)
def test_what_stays_near_the_start_misses_no_more_than_it_says(
    n, links, seed, damping, tolerance, start
):
    matrix = random_graph(n, links, seed, weights=(0.25, 1.0)).toarray().astype(np.float64)
    reset = np.resize(start, n)
    reset[seed % n] += 1
    strengths = matrix.sum(axis=1)
    follow = matrix / np.maximum(strengths, 1e-300)[:, None]
    exact = np.linalg.solve(np.eye(n) - damping * follow.T, (1 - damping) * reset / reset.sum())

    found = approximate_pagerank(
        walk_on(csr_array(matrix.astype(np.float32))), reset, damping, tolerance
    )

    missing = exact - found
    strengths[strengths == 0] = 1
    assert missing.min() >= -1e-12
    assert (missing <= 2 * damping * tolerance * strengths + 1e-12).all()


@pytest.mark.parametrize("n", [10**4, 10**5])
def test_on_a_larger_graph_no_more_is_reached(n):
    ring = np.arange(n)
    links = (np.ones(2 * n, np.float32), (np.r_[ring, ring], np.r_[(ring + 1) % n, (ring - 1) % n]))
    over, reset = walk_on(csr_array(links, shape=(n, n))), np.zeros(n)
    reset[7] = 1
    found = approximate_pagerank(over, reset, 0.7, 1e-3)
    assert 3 < np.count_nonzero(found) <= 1 + 1 / (0.3 * 1e-3)
    assert found[[7, 8, 9, 10]].tolist() == sorted(found.tolist(), reverse=True)[:7:2]
    assert not over.scratch[0].estimates.any()
    assert not over.scratch[0].residuals.any()


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="above 0, or the walk never ends; got 0"):
        approximate_pagerank(walk_on(star_of_stars()), np.ones(31), tolerance=0)
    with pytest.raises(ValueError, match="at least 1; got 0"):
        top_pagerank(walk_on(star_of_stars()), np.ones(31), 0)
    with pytest.raises(ValueError, match="damping"):
        top_pagerank(walk_on(star_of_stars()), np.ones(31), 3, 1.0)
