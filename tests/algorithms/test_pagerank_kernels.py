"""The loops of PageRank, as plain Python, against dense matrices; and how many rounds a solution takes."""

from __future__ import annotations

import inspect
import math
import threading

import numpy as np
import pytest
from scipy.sparse import csr_array

from clew import second_thread
from clew.algorithms import pagerank as package
from clew.algorithms.kernels.compiled import compile_first, finish_compiling
from clew.algorithms.pagerank import build_walk, pagerank, pageranks, top_pagerank
from clew.algorithms.pagerank.kernels import push, shared_walks, walks
from clew.algorithms.pagerank.together import iterate_together, residual_together
from clew.algorithms.pagerank.top import PushLimits, PushWalk
from clew.algorithms.ranking import TOLERANCE


def weights_of(seed, n=9, share=0.4, directed=False):
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random((n, n)) < share, rng.uniform(0.1, 1, (n, n)), 0)
    np.fill_diagonal(weights, 0)
    return weights if directed else np.triu(weights) + np.triu(weights).T


def rows_of(weights):
    """Compressed rows as the kernels take them, and the reciprocals of the strengths."""
    matrix, strengths = csr_array(weights), weights.sum(axis=1)
    shares = np.divide(1, strengths, out=np.ones(len(weights)), where=strengths > 0)
    arrays = matrix.indptr.astype(np.uint64), matrix.indices.astype(np.uint32), matrix.data
    return arrays, shares


def chebyshev(degree, matrix, damping):
    """T_p(M / d) / T_p(1 / d), by the recurrence of Chebyshev's polynomials."""
    before, now = np.eye(len(matrix)), matrix / damping
    low, high = 1.0, 1 / damping
    if degree == 0:
        return before
    for _ in range(degree - 1):
        before, now = now, 2 * matrix / damping @ now - before
        low, high = high, 2 * high / damping - low
    return now / high


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("damping", [0.5, 0.85])
def test_after_each_product_the_error_is_that_of_chebyshevs_polynomial(seed, damping):
    weights = weights_of(seed)
    arrays, shares = rows_of(weights)
    starts = np.random.default_rng(seed).random((len(weights), 3))
    matrix = damping * shares[:, None] * weights
    solved = np.linalg.solve(np.eye(len(weights)) - matrix, starts)
    for products in range(7):
        expected = solved + chebyshev(products, matrix, damping) @ (starts - solved)
        many = walks.semi_iterate_many.plain(*arrays, shares, starts, damping, products)
        assert many == pytest.approx(expected, abs=1e-12)
        for i in range(3):
            one = walks.semi_iterate.plain(*arrays, shares, starts[:, i].copy(), damping, products)
            assert one == pytest.approx(expected[:, i], abs=1e-12)


@pytest.mark.parametrize("block", [1, 5, 12])
def test_whole_arrays_and_blocks_of_rows_have_the_same_bits(block, monkeypatch):
    rng = np.random.default_rng(block)
    weights = weights_of(block, n=30, share=0.6)
    arrays, shares = rows_of(weights)
    start, order = rng.random(30), rng.permutation(30).astype(np.int32)
    places = np.argsort(order).astype(np.int32)

    def results():
        return (
            *walks.permute.plain(*arrays, order, places),
            walks.semi_iterate.plain(*arrays, shares, start, 0.5, 4),
            walks.residual.plain(*arrays, shares, start, start[::-1].copy(), 0.5),
        )

    whole = results()
    monkeypatch.setattr(walks, "BLOCK", block)
    for one, other in zip(whole, results(), strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("seed", range(6))
def test_rows_are_permuted_and_residuals_are_those_of_the_equation(seed):
    weights, rng = weights_of(seed, directed=True), np.random.default_rng(seed)
    n = len(weights)
    order = rng.permutation(n).astype(np.int32)
    places = np.argsort(order).astype(np.int32)
    arrays, shares = rows_of(weights)
    starts, targets, values = walks.permute.plain(*arrays, order, places)
    moved = csr_array((values, targets.astype(np.int64), starts.astype(np.int64)), (n, n))
    assert moved.toarray() == pytest.approx(weights[np.ix_(order, order)])
    into, _ = rows_of(weights.T)
    start, x = rng.random((n, 2)), rng.random((n, 2))
    expected = start + 0.7 * (shares[:, None] * weights).T @ x - x
    assert walks.residuals.plain(*into, shares, start, x, 0.7) == pytest.approx(expected)
    for i in range(2):
        one = walks.residual.plain(*into, shares, start[:, i], x[:, i], 0.7)
        assert one == pytest.approx(expected[:, i])


@pytest.mark.parametrize(
    ("kind", "of_weights"),
    [(np.float32, np.float32), (np.float32, np.float64), (np.float64, np.float64)],
)
@pytest.mark.parametrize("seed", range(4))
def test_whole_arrays_give_what_the_loops_give_bit_by_bit(seed, kind, of_weights):
    weights, rng = weights_of(seed, n=40, share=seed / 10), np.random.default_rng(seed)
    (starts, targets, values), shares = rows_of(weights)
    arrays, n = (starts, targets, values.astype(of_weights)), len(weights)
    order = rng.permutation(n).astype(np.int32)
    places = np.argsort(order).astype(np.int32)
    start, x = rng.random((2, n))
    calls = {
        walks.permute: (*arrays, order, places),
        walks.semi_iterate: (*arrays, shares.astype(kind), start.astype(kind), 0.85, 20),
        walks.residual: (*arrays, shares, start, x, 0.85),
        walks.residual_of_rows: (*arrays, x * shares, start, x, 0.85),
    }
    for kernel, arguments in calls.items():
        results = [kernel.plain(*arguments), kernel.function(*arguments)]
        at_once, by_loop = (one if isinstance(one, tuple) else (one,) for one in results)
        for one, other in zip(at_once, by_loop, strict=True):
            assert (one.dtype, one.tobytes()) == (other.dtype, other.tobytes())


@pytest.mark.parametrize("seed", range(6))
def test_sweeps_of_gauss_and_seidel_end_when_their_changes_prove_the_residual(seed):
    weights, rng = weights_of(seed, directed=True), np.random.default_rng(seed)
    n, damping = len(weights), 0.8
    follow = damping * (rows_of(weights)[1][:, None] * weights).T
    start, x, sweeps = rng.random(n), np.zeros(n), 0
    while True:
        before, sweeps = x.copy(), sweeps + 1
        for u in range(n):
            x[u] = start[u] + follow[u] @ x
        change = np.abs(x - before).sum()
        if damping * change <= 1e-3 * x.sum():
            break
    into, shares = rows_of(weights.T)[0], rows_of(weights)[1]
    found = walks.gauss_seidel.plain(*into, shares, start, np.zeros(n), damping, 1e-3)
    assert found[0] == pytest.approx(x)
    assert found[1] == pytest.approx(change)
    assert found[2] == sweeps
    assert np.abs(start + follow @ x - x).sum() <= damping * change + 1e-12


def rounds(monkeypatch, weights, damping, tolerance):
    """The type and the products of every round, and the error."""
    made, iterate = [], walks.semi_iterate

    def recorded(*arguments):
        made.append((arguments[4].dtype, arguments[6]))
        return iterate(*arguments)

    monkeypatch.setattr(walks, "semi_iterate", recorded)
    strengths, n = weights.sum(axis=1), len(weights)
    found = pagerank(build_walk(csr_array(weights), strengths), np.ones(n), damping, tolerance)
    follow = weights / strengths[:, None]
    exact = np.linalg.solve(np.eye(n) - damping * follow.T, np.full(n, (1 - damping) / n))
    return [kind for kind, _ in made], [n for _, n in made], np.abs(found - exact).sum()


@pytest.mark.parametrize("damping", [0.5, 0.85])
def test_one_round_in_single_precision_gives_a_millionth_and_two_give_1e_10(monkeypatch, damping):
    weights = weights_of(1, 200, 0.05) + np.eye(200, k=1) + np.eye(200, k=-1)
    rate = damping / (1 + math.sqrt(1 - damping**2))
    for tolerance, n_rounds in ((1e-3, 1), (1e-6, 1), (1e-10, 2)):
        kinds, products, error = rounds(monkeypatch, weights, damping, tolerance)
        assert kinds == [np.float32] * n_rounds
        assert error <= tolerance
        # 2 rate^n is by how much n products shrink an error in Chebyshev's bound.
        least = math.log(tolerance * (1 - damping) / (4 * damping)) / math.log(rate)
        assert least <= sum(products) <= least + 4 * n_rounds
    assert rounds(monkeypatch, weights, 0.0, 1e-6)[1] == [1]


def test_where_single_precision_does_not_get_on_double_precision_does(monkeypatch):
    """Weights over eight decades, and a walk that hardly ever starts again."""
    rng = np.random.default_rng(0)
    weights = weights_of(2, 300, 0.03) + np.eye(300, k=1) + np.eye(300, k=-1)
    scales = 10.0 ** rng.uniform(-6, 2, weights.shape)
    weights *= np.triu(scales) + np.triu(scales, 1).T
    kinds, _, error = rounds(monkeypatch, weights, 0.999999, 1e-10)
    assert kinds[0] == np.float32
    assert kinds[-1] == np.float64
    assert error <= 1e-9
    assert rounds(monkeypatch, weights, 0.9, 1e-10)[0] == [np.float32] * 2


@pytest.mark.parametrize(("n", "together"), [(10_000, True), (40_000, False)])
def test_several_questions_share_a_pass_where_their_densities_fit_the_cache(
    monkeypatch, n, together
):
    """Some ten at ten thousand nodes, and one by one on larger graphs."""
    rows = np.arange(n - 1)
    half = csr_array((np.ones(n - 1), (rows, rows + 1)), (n, n))
    path = csr_array(half + half.T)
    walk = build_walk(path, np.asarray(path.sum(axis=1)).ravel())
    widths, iterate = [], walks.semi_iterate_many

    def recorded(*arguments):
        widths.append(arguments[4].shape[1])
        return iterate(*arguments)

    monkeypatch.setattr(walks, "semi_iterate_many", recorded)
    resets = np.zeros((14, n))
    resets[np.arange(14), np.arange(14) * 9] = 1
    found = pageranks(walk, resets)
    assert bool(widths) == together
    assert not widths or (8 <= max(widths) <= 16 and max(widths) >= widths[-1])
    assert found.argmax(axis=1).tolist() == (np.arange(14) * 9).tolist()


def test_all_solvers_have_one_default_of_damping_and_tolerance():
    defaults = {
        name: {
            one.name: one.default
            for one in inspect.signature(getattr(package, name)).parameters.values()
            if one.name in ("damping", "tolerance")
        }
        for name in ("pagerank", "pageranks", "pagerank_with_jumps", "top_pagerank")
    }
    assert defaults["pagerank"] == {"damping": 0.5, "tolerance": 1e-10}
    assert defaults["pageranks"] == defaults["pagerank_with_jumps"] == defaults["pagerank"]
    assert defaults["top_pagerank"] == {"damping": 0.5}


def is_proven_by_definition(case, k, margin, accuracy):
    """Every row's bounds, and whether the k best stand apart from all others."""
    estimates, residuals, shares, beyond, damping, symmetric = case
    low = estimates + (1 - damping) * residuals
    whole, density = residuals.sum(), (residuals * shares).max()
    missing = np.minimum(whole, density / shares) if symmetric else np.full(len(low), whole)
    high = low + damping * missing
    best = sorted(range(len(low)), key=lambda row: -low[row])[:k]
    if len(best) < k:
        return False
    bar = low[best[-1]]
    margin += TOLERANCE * (low.max() + damping * whole)
    others = [high[row] for row in range(len(low)) if row not in best]
    if beyond >= 0:  # rows that no mass has reached: nothing of them is known but their strength
        others.append(damping * (min(whole, density * beyond) if symmetric else whole))
    return all(one + margin < bar for one in others) and all(
        damping * missing[row] <= accuracy for row in best
    )


@pytest.mark.parametrize("symmetric", [False, True])
def test_the_best_are_proven_by_bounds_that_hold_of_all_others(symmetric):
    outcomes = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(2, 7)), int(rng.integers(1, 6))
        estimates = rng.random(n) * (rng.random(n) < 0.8) * rng.choice([0.1, 1.0], n)
        residuals = rng.random(n) * float(rng.choice([0.5, 0.05, 0.003]))
        shares = 1 / rng.choice([1.0, 3.0, 9.0], n)
        beyond = float(rng.choice([-1.0, 0.5, 5.0]))
        damping = float(rng.choice([0.3, 0.85]))
        margin, accuracy = float(rng.choice([0.0, 0.02])), float(rng.choice([1.0, 0.01]))
        nothing = np.zeros(0)
        walk = PushWalk(nothing, nothing, nothing, shares, nothing, damping, symmetric)
        limits = PushLimits(k, 9, margin, accuracy)
        found = push.is_proven.plain(walk, beyond, limits, estimates, residuals, np.arange(n))
        case = estimates, residuals, shares, beyond, damping, symmetric
        assert found == is_proven_by_definition(case, k, margin, accuracy)
        outcomes.append(found)
    assert 40 < sum(outcomes) < 360


def test_a_push_is_tried_where_it_has_more_links_than_starts_and_can_leave_rows_out():
    weights = weights_of(4, 60, 0.15) + np.eye(60, k=1) + np.eye(60, k=-1)
    matrix = csr_array(weights)
    walk = build_walk(matrix, weights.sum(axis=1))
    reset = np.zeros(60)
    reset[[3, 8, 40]] = [0.5, 0.3, 0.2]
    links = matrix.nnz
    assert top_pagerank(walk, reset, 5, 0.0).method == "full"
    assert top_pagerank(walk, reset, 60).method == "full"
    assert top_pagerank(walk, reset, 59, budget=0.1).method == "residual"
    assert top_pagerank(walk, reset, 5, budget=2 / links).method == "full", "three starts"
    assert top_pagerank(walk, reset, 5, budget=3.5 / links).method == "residual"
    x = pagerank(walk, reset)
    for budget in (0.3, 1.0, 50.0):
        top = top_pagerank(walk, reset, 5, budget=budget)
        assert (np.diff(top.scores) <= 1e-9).all(), "best first"
        assert (top.scores <= x[top.rows] + 1e-9).all(), "a score is never too high"
        assert (top.scores >= x[top.rows] - top.error - 1e-9).all()
        assert 0 < top.work <= budget * links + np.diff(matrix.indptr).max()
    exact = top_pagerank(walk, reset, 5, accuracy=1e-7, budget=50.0)
    assert exact.method == "push"
    assert exact.error <= 1e-6
    assert exact.scores == pytest.approx(x[exact.rows], abs=1e-6)


def links_of(seed, n=600):
    """A walk with hubs in float32, as large as needed to distinguish its parts."""
    rng = np.random.default_rng(seed)
    tails = np.minimum(rng.zipf(1.4, 3 * n), n) - 1
    heads = rng.integers(0, n, 3 * n)
    weights = np.zeros((n, n))
    weights[tails, heads] = rng.uniform(0.1, 1, 3 * n)
    np.fill_diagonal(weights, 0)
    weights = np.maximum(weights, weights.T)
    arrays, shares = rows_of(weights)
    links = (*arrays[:2], arrays[2].astype(np.float32))
    return links, shares.astype(np.float32), rng.random(n).astype(np.float32)


def shared_arguments(links, shares, start, products):
    counts, bounds = shared_walks.new_counts(products), shared_walks.parts_of(links[0])
    vectors = start.copy(), np.zeros_like(start)
    return counts, (counts, bounds, links, shares, start, *vectors, 0.5, products), vectors


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("products", [1, 2, 7])
def test_each_side_alone_gives_what_one_thread_gives(seed, side, products):
    links, shares, start = links_of(seed, 60)
    bounds = shared_walks.parts_of(links[0])
    assert (bounds[0], bounds[-1], len(bounds)) == (0, len(start), shared_walks.PARTS + 1)
    assert (np.diff(bounds.astype(int)) >= 0).all()
    expected = walks.semi_iterate.plain(*links, shares, start, 0.5, products)
    _, arguments, vectors = shared_arguments(links, shares, start, products)
    done = shared_walks.semi_iterate_together.plain(side, 0, *arguments)
    assert done == products
    assert vectors[products % 2].tobytes() == expected.tobytes()


def test_two_threads_give_what_one_gives_to_the_bit():
    links, shares, start = links_of(0)
    with compile_first():
        for products in [*range(1, 14)] * 12:
            expected = walks.semi_iterate(*links, shares, start, 0.5, products)
            _, arguments, vectors = shared_arguments(links, shares, start, products)
            together = shared_walks.semi_iterate_together
            other = threading.Thread(target=together, args=(1, 0, *arguments))
            other.start()
            done = 0
            while done < products:  # the other may have been stopped by the system
                done = together(0, done, *arguments)
            other.join()
            assert vectors[products % 2].tobytes() == expected.tobytes()


def test_a_thread_that_stops_at_a_part_is_waited_for_and_then_left_alone():
    links, shares, start = links_of(1)
    products, last = 5, shared_walks.PARTS - 1
    with compile_first():
        expected = walks.semi_iterate(*links, shares, start, 0.5, products)
        after_one = walks.semi_iterate(*links, shares, start, 0.5, 1)
        counts, arguments, (_, odd) = shared_arguments(links, shares, start, products)
        counts[shared_walks.LINE] += 1  # the other has taken the last part of the first product
        together = shared_walks.semi_iterate_together
        assert together(0, 0, *arguments) == 0
        assert not shared_walks.is_done(counts, 0)
        first = int(arguments[1][last])
        assert odd[:first].tobytes() == after_one[:first].tobytes()
        assert not odd[first:].any()
        counts[shared_walks.IS_LEFT * shared_walks.LINE] = 1
        assert together(1, 0, *arguments) == 0  # which it sees
        odd[first:] = after_one[first:]
        counts[2 * shared_walks.LINE] += 1
        assert shared_walks.is_done(counts, 0)
        assert together(0, 0, *arguments) == products
    assert odd.tobytes() == expected.tobytes()


@pytest.mark.parametrize("comes", [True, False])
def test_a_residual_by_halves_is_the_whole_one_to_the_bit(monkeypatch, comes):
    second = second_thread._SecondThread()
    second.is_wanted = comes
    monkeypatch.setattr(second_thread, "_SECOND", second)
    monkeypatch.setattr(second_thread, "is_core_free", lambda: True)
    (starts, targets, weights), shares, _ = links_of(3)
    links, (start, x) = (
        (starts, targets, weights),
        np.random.default_rng(3).random((2, len(shares))),
    )
    expected = walks.residual.plain(*links, shares.astype(float), start, x, 0.5)
    with compile_first():
        for _ in range(5):
            second.rests_until = 0.0
            bounds = shared_walks.parts_of(starts)
            found = residual_together(bounds, links, shares.astype(float), start, x, 0.5)
            assert found.tobytes() == expected.tobytes()
    empty = np.zeros(len(bounds), np.uint64)  # all rows in one half
    empty[len(bounds) // 2 :] = len(x)
    found = residual_together(empty, links, shares.astype(float), start, x, 0.5)
    assert found.tobytes() == expected.tobytes()
    second.stop()


@pytest.mark.parametrize("comes", [True, False])
def test_an_iteration_is_the_same_whether_the_second_thread_comes_or_not(monkeypatch, comes):
    second = second_thread._SecondThread()
    second.is_wanted = True
    if not comes:
        second.thread = threading.current_thread()  # so that none is started
    monkeypatch.setattr(second_thread, "_SECOND", second)
    monkeypatch.setattr(second_thread, "is_core_free", lambda: True)
    links, shares, start = links_of(2)
    arguments = shared_walks.parts_of(links[0]), links, shares, start, 0.5, 13
    expected = walks.semi_iterate(*links, shares, start, 0.5, 13)
    iterate_together(*arguments)  # asks for machine code
    finish_compiling()
    if not comes:
        second.is_free = threading.Lock()
    for _ in range(20 if comes else 1):
        second.rests_until = 0.0
        found = iterate_together(*arguments)
        assert found is None or found.tobytes() == expected.tobytes()
    assert comes or found is not None
    second.stop()
