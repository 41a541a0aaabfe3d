"""The proof by cuts: the optimum of brute force and of the flow that defines the problem, a bound that always holds, and the same twice."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from importlib.util import find_spec
from itertools import chain, combinations, count
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.algorithms.budgeted import Problem, Solution, is_feasible, prove, solve_budgeted
from clew.algorithms.budgeted.enumeration import ReducedPrizes, enumerate_choices
from clew.algorithms.budgeted.kernels import separators
from clew.algorithms.budgeted.linear_program import LinearProgram
from clew.algorithms.budgeted.reduction import reduce_problem
from clew.algorithms.kernels import compiled, compiler
from tests.benchmarks.working_graphs import generated

NOTHING = Solution(np.zeros(0, np.int32), 0.0)


def problem(n, edges, prizes, tokens, roots, budget):
    """Compressed rows of an undirected simple graph."""
    pairs = sorted({pair for a, b in edges if a != b for pair in ((a, b), (b, a))})
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount([a for a, _ in pairs], minlength=n), out=starts[1:])
    targets = np.array([b for _, b in pairs], np.int32)
    return Problem(
        starts,
        targets,
        np.array(prizes, np.float64),
        np.array(tokens, np.int64),
        np.array(roots, np.int32),
        budget,
    )


def brute_force(one):
    """The best value over every set of rows; connectivity by a search of its own, over sets as bits."""
    n, best = len(one), 0.0
    near = [
        sum(1 << int(t) for t in one.targets[one.starts[i] : one.starts[i + 1]]) for i in range(n)
    ]
    roots = sum(1 << int(r) for r in one.roots)
    for rows in chain.from_iterable(combinations(range(n), k) for k in range(1, n + 1)):
        value = float(one.prizes[list(rows)].sum())
        if value <= best or one.tokens[list(rows)].sum() > one.budget:
            continue
        chosen = sum(1 << row for row in rows)
        seen, grown = 0, chosen & roots
        while grown != seen:
            seen = grown
            for row in rows:
                grown |= near[row] & chosen if seen >> row & 1 else 0
        best = value if seen == chosen else best
    return best


def by_flow(one):
    """The optimum by the single-commodity flow that defines connectivity: every chosen row takes one unit, through chosen rows only."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import lil_array

    n = len(one)
    sources = np.repeat(np.arange(n), np.diff(one.starts)).tolist()
    arcs = [
        *zip(sources, one.targets.tolist(), strict=True),
        *((-1, root) for root in one.roots.tolist()),
    ]
    rows = lil_array((n + 2 * len(arcs) + 1, n + len(arcs)))
    low, high = np.zeros(rows.shape[0]), np.zeros(rows.shape[0])
    for v in range(n):
        rows[v, v] = -1
    for at, (u, v) in enumerate(arcs):
        rows[v, n + at] += 1
        for row, end in ((n + 2 * at, u), (n + 2 * at + 1, v)):
            rows[row, n + at], low[row] = 1, -np.inf
            high[row] = n if end < 0 else 0
            if end >= 0:
                rows[row, end] = -n
        if u >= 0:
            rows[u, n + at] -= 1
    rows[-1, :n] = one.tokens[None, :]
    low[-1], high[-1] = -np.inf, one.budget
    integral = np.r_[np.ones(n), np.zeros(len(arcs))]
    bounds = Bounds(0, np.r_[np.ones(n), np.full(len(arcs), np.inf)])
    found = milp(
        -np.r_[one.prizes, np.zeros(len(arcs))],
        integrality=integral,
        bounds=bounds,
        constraints=LinearConstraint(rows.tocsr(), low, high),
        options={"mip_rel_gap": 0.0},
    )
    assert found.status == 0
    return -found.fun


@st.composite
def problems(draw, most=12):
    n = draw(st.integers(0, most))
    ends = st.integers(0, max(n - 1, 0))
    edges = draw(st.lists(st.tuples(ends, ends), max_size=2 * n)) if n else []
    column = lambda values: draw(st.lists(values, min_size=n, max_size=n))  # noqa: E731
    prizes = column(
        draw(
            st.sampled_from(
                [
                    st.sampled_from([0.0, 0.0, 1.0]),
                    st.sampled_from([0.0, 0.1, 0.7, 1 / 3, 2.0]),
                    st.floats(0, 3),
                ]
            )
        )
    )
    tokens = column(st.sampled_from([0, 0, 1, 2, 3, 5, 8]))
    return problem(
        n,
        edges,
        prizes,
        tokens,
        draw(st.lists(ends, unique=True, max_size=3)) if n else [],
        draw(st.integers(0, 25)),
    )


def working_graph(n, seed, share=0.25, connector=3):
    """A preferential-attachment graph in which 55 in 100 rows are connectors without a prize."""
    rng = np.random.default_rng(seed)
    edges = [
        (row, int(row * rng.random() ** 2))
        for row in range(1, n)
        for _ in range(int(rng.integers(1, 4)))
    ]
    empty = rng.random(n) < 0.55
    tokens = np.where(empty, connector, rng.integers(20, 201, n))
    return problem(
        n,
        edges,
        np.where(empty, 0, rng.random(n)),
        tokens,
        rng.choice(n, 3, replace=False),
        int(share * tokens.sum()),
    )


def check(one, found):
    assert is_feasible(one, found.rows)
    assert found.rows.tolist() == sorted(set(found.rows.tolist()))
    assert found.value == pytest.approx(one.prizes[found.rows].sum())
    assert found.bound >= found.value


def searching(allowed):
    """Prove with the search through what little is open, or by cuts and integer programmes alone."""
    return (
        nullcontext()
        if allowed
        else patch(
            "clew.algorithms.budgeted.cuts.enumerate_choices", lambda *arguments: (None, False)
        )
    )


@settings(max_examples=2 * settings().max_examples)
@given(problems(), st.booleans())
def test_from_nothing_it_proves_the_optimum_of_brute_force(one, allowed):
    with searching(allowed):
        found, best = prove(one, NOTHING), brute_force(one)
    check(one, found)
    assert found.proved
    assert found.value == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert best <= found.bound <= best * (1 + 1e-5) + 1e-9


@pytest.mark.parametrize(
    ("seed", "share", "connector"),
    [(s, share, c) for s in range(3) for share, c in ((0.1, 3), (0.3, 0), (0.3, 12))],
)
def test_it_proves_the_optimum_of_the_flow_that_defines_the_problem(seed, share, connector):
    one = working_graph(25, seed, share, connector)
    optimum = by_flow(one)
    for allowed in (True, False):
        with searching(allowed):
            found = prove(one, solve_budgeted(one, "greedy"))
        check(one, found)
        assert found.proved
        assert found.value == pytest.approx(optimum, rel=1e-6)


def hard():
    """Graphs on which neither the first programme nor the heuristics are right, so that cuts and integers have to work."""
    return [working_graph(60, seed, connector=8) for seed in (1, 2, 5)]


@settings(max_examples=2 * settings().max_examples)
@given(problems(), st.floats(0.1, 1.5), st.data())
def test_a_search_sees_every_choice_that_is_wanted(one, share, data):
    best = brute_force(one)
    everything = np.zeros(len(one)), np.ones(len(one))
    # any reduced prizes with their bound will do: here those of a price per token
    price = data.draw(st.floats(0, 1))
    left, bound = one.prizes - price * one.tokens, price * one.budget
    bound += float(np.maximum(left, 0).sum())
    wanted = max(share * best, 1e-6)
    reduced = ReducedPrizes(bound * (1 + 1e-9) + 1e-9, left)
    rows, complete = enumerate_choices(one, everything, reduced, wanted, 1e-9)
    assert complete
    if best >= wanted * (1 + 1e-9):
        assert is_feasible(one, rows)
        assert one.prizes[rows].sum() == pytest.approx(best, abs=1e-8)
    elif best < wanted * (1 - 1e-9):
        assert rows is None
    rows, complete = enumerate_choices(one, everything, reduced, wanted, 1e-9, effort=3)
    assert rows is None or is_feasible(one, rows), "cut short"


@pytest.mark.parametrize("seed", range(20))
def test_a_search_keeps_to_what_is_fixed_and_misses_no_filling(seed):
    rng = np.random.default_rng(seed)
    one = replace(
        working_graph(9, seed, share=0.4),
        prizes=rng.random(9),
        tokens=rng.integers(20, 60, 9),
        roots=np.arange(9, dtype=np.int32),
    )
    one = replace(one, budget=int(0.45 * one.tokens.sum()))
    worst = np.argsort(one.prizes / one.tokens)
    price = float(np.median(one.prizes / one.tokens))
    left = one.prizes - price * one.tokens
    lower, upper = np.zeros(9), np.ones(9)
    lower[worst[0]], upper[worst[-1]] = 1, 0
    bound = price * one.budget + float(np.maximum(left * lower, left * upper).sum())
    choices = [np.flatnonzero([bits >> row & 1 for row in range(9)]) for bits in range(1 << 9)]
    allowed = [
        some
        for some in choices
        if worst[0] in some and worst[-1] not in some and one.tokens[some].sum() <= one.budget
    ]
    reduced = ReducedPrizes(bound * (1 + 1e-9), left)
    rows, complete = enumerate_choices(one, (lower, upper), reduced, 1e-6, 1e-9)
    assert complete
    assert one.prizes[rows].sum() == pytest.approx(max(one.prizes[some].sum() for some in allowed))
    assert worst[0] in rows
    assert worst[-1] not in rows


@pytest.mark.parametrize(
    ("case", "allowed"), [(case, allowed) for case in range(3) for allowed in (True, False)]
)
def test_more_work_never_makes_the_bound_looser_nor_the_choice_worse(case, allowed):
    with searching(allowed):
        more_work_never_makes_it_worse(hard()[case])


def more_work_never_makes_it_worse(one):
    start = solve_budgeted(one, "greedy")
    most = prove(one, start)
    assert most.proved
    before = start
    for work in (0, 1, 2, 3, 5, 8, 13, 200):
        found = prove(one, start, work)
        check(one, found)
        assert found.bound >= most.value
        assert found.bound <= before.bound
        assert found.value >= before.value
        assert found.proved or found.work["stopped by"] == "work"
        spent = sum(found.work[name] for name in ("programmes", "searches", "integer programmes"))
        assert spent <= (work + 1 if work else 0)  # a search follows the last programme
        before = found


def test_the_optimum_grows_with_the_budget():
    one = working_graph(60, 2, connector=8)
    values = [
        prove(replace(one, budget=budget), NOTHING)
        for budget in (0, 100, 300, 700, 1500, int(one.tokens.sum()))
    ]
    assert all(found.proved for found in values)
    assert np.all(np.diff([found.value for found in values]) >= 0)
    assert values[-1].value == pytest.approx(prove(replace(one, budget=10**9), NOTHING).value)


def test_the_same_question_has_the_same_answer_and_the_same_work():
    one = hard()[0]
    first, second = (prove(one, NOTHING, 6) for _ in range(2))
    assert first.rows.tolist() == second.rows.tolist()
    assert (first.value, first.bound, dict(first.work)) == (
        second.value,
        second.bound,
        dict(second.work),
    )


def test_a_first_proof_takes_few_steps_as_plain_python(monkeypatch):
    """Steps are counted by the looks at the clock; 1.4 million of them were 3 s."""
    monkeypatch.setattr(compiled, "PATIENCE", float("inf"))
    monkeypatch.setattr(compiler, "START_DELAY", float("inf"))
    monkeypatch.setattr(compiled.Kernel, "__call__", compiled.Kernel.call_unprepared)
    steps, clock = count(), compiled.time.monotonic
    monkeypatch.setattr(compiled.time, "monotonic", lambda: (next(steps) and 0) or clock())
    assert solve_budgeted(generated(120, 1, 1)).proved
    assert next(steps) < 400_000


def cheapest_cut(one, capacities, v):
    """The capacity of the cheapest rows that every path from Q to v crosses, by scipy's flow."""
    from scipy.sparse import lil_array
    from scipy.sparse.csgraph import maximum_flow

    n, free = len(one), 2**30
    arcs = lil_array((2 * n + 1, 2 * n + 1), dtype=np.int32)  # Q is the last; exits are n + row
    for row in range(n):
        arcs[row, n + row] = capacities[row]
        for other in one.targets[one.starts[row] : one.starts[row + 1]]:
            arcs[n + row, other] = free
    for root in one.roots:
        arcs[2 * n, root] = free
    return maximum_flow(arcs.tocsr(), 2 * n, v).flow_value


def is_cut_off(one, rows, v):
    """Whether every path from Q to v crosses the rows."""
    reached, new = set(rows), [root for root in one.roots.tolist() if root not in rows]
    while new:
        reached.update(new)
        near = {t for r in new for t in one.targets[one.starts[r] : one.starts[r + 1]].tolist()}
        new = [row for row in near if row not in reached]
    return v not in reached - set(rows)


@pytest.mark.parametrize("seed", range(4))
def test_there_is_a_separator_for_every_row_whose_cheapest_cut_is_violated(seed):
    one, unit, least = generated(30, seed, 2), 1000, 0.01
    shares = np.random.default_rng(seed).choice([0, 0, 200, 500, 1000], len(one))
    x = shares / unit
    order = np.argsort(-x, kind="stable")
    reverse = separators.reverse_slots(one.starts, one.targets)
    roots = one.roots.astype(np.int64)
    ends, rows, heads = separators.violated_separators(
        one.starts, one.targets, reverse, roots, x, order, 1e-5, least, 3
    )
    for i, v in enumerate(heads.tolist()):
        cut = rows[ends[i] : ends[i + 1]].tolist()
        assert x[cut].sum() < x[v] - least
        assert is_cut_off(one, cut, v)
    violated = [
        v
        for v in range(len(one))
        if v not in one.roots and cheapest_cut(one, shares, v) < shares[v] - least * unit
    ]
    assert sorted({*heads.tolist()}) == violated
    assert violated


def test_two_rows_far_from_q_do_not_hold_each_other_up():
    island = problem(4, [(0, 1), (2, 3)], [1, 1, 9, 9], [1, 1, 1, 1], [0], 4)
    found = prove(island, NOTHING)
    assert (found.rows.tolist(), found.value, found.proved) == ([0, 1], 2.0, True)
    ring = problem(
        6,
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 2)],
        [1, 0, 9, 9, 9, 9],
        [1, 7, 1, 1, 1, 1],
        [0],
        5,
    )
    assert prove(ring, NOTHING).rows.tolist() == [0]


def test_what_costs_nothing_is_passed_through_and_kept_only_to_hold_something():
    # Q - 0 - 1 - 2 and 0 - 3: 0 and 1 are free, 3 is free and holds nothing
    one = problem(4, [(0, 1), (1, 2), (0, 3)], [0, 0, 5, 0], [0, 0, 4, 0], [0], 4)
    assert prove(one, NOTHING).rows.tolist() == [0, 1, 2]
    assert prove(replace(one, budget=3), NOTHING).rows.tolist() == []
    gift = replace(one, prizes=np.array([0.0, 2.0, 5.0, 1.0]), budget=0)
    assert prove(gift, NOTHING).rows.tolist() == [0, 1, 3]


@pytest.mark.parametrize(
    "change", [{"roots": np.zeros(0, np.int32)}, {"budget": 0}, {"prizes": np.zeros(60)}]
)
def test_where_nothing_can_be_had_that_is_proved(change):
    found = prove(replace(working_graph(60, 2, connector=8), **change), NOTHING)
    assert (found.rows.tolist(), found.value, found.bound, found.proved) == ([], 0.0, 0.0, True)


def test_a_bound_of_like_prizes_is_a_sum_of_them():
    one = working_graph(60, 5, connector=8)
    like = replace(one, prizes=np.where(one.prizes > 0, 0.3, 0.0))
    for work in (1, 2, 200):
        found = prove(like, NOTHING, work)
        assert found.bound / 0.3 == pytest.approx(round(found.bound / 0.3))
    assert found.proved


@settings(max_examples=2 * settings().max_examples)
@given(problems())
def test_the_smaller_problem_has_the_same_optimum(one):
    small = reduce_problem(one)
    for_nothing = float(one.prizes[small.label == -1].sum())
    assert brute_force(small.problem) + for_nothing == pytest.approx(brute_force(one))
    near = [
        set(small.problem.targets[a:b].tolist())
        for a, b in zip(small.problem.starts[:-1], small.problem.starts[1:], strict=True)
    ]
    assert all(
        row not in others and all(row in near[other] for other in others)
        for row, others in enumerate(near)
    )


def test_a_deadline_stops_it_and_is_said():
    one = hard()[0]
    found = prove(one, NOTHING, deadline=0.0)
    check(one, found)
    assert (found.proved, found.work["stopped by"]) == (False, "deadline")
    assert prove(one, solve_budgeted(one, "best"), 10**12, deadline=3600.0).proved


def test_what_cannot_be_asked_is_refused():
    one = working_graph(20, 0)
    with pytest.raises(ValueError, match="backend"):
        prove(one, NOTHING, backend="abacus")
    with pytest.raises(ValueError, match="work"):
        prove(one, NOTHING, -1)
    with pytest.raises(ValueError, match="incumbent"):
        prove(one, Solution(np.arange(20, dtype=np.int32), 99.0))
    if find_spec("highspy") is None:
        with pytest.raises(ModuleNotFoundError, match="exact"):
            prove(one, NOTHING, backend="highspy")


def test_both_backends_prove_the_same_value():
    pytest.importorskip("highspy")
    for one in [*hard(), working_graph(30, 1)]:
        by_scipy, warm = (prove(one, NOTHING, backend=backend) for backend in ("scipy", "highspy"))
        assert by_scipy.proved
        assert warm.proved
        assert by_scipy.value == pytest.approx(warm.value, rel=1e-6)


@pytest.mark.parametrize("backend", ["scipy", "highspy"])
def test_a_solver_prints_nothing(backend, capfd):
    if backend == "highspy":
        pytest.importorskip("highspy")
    for one in [
        *hard(),
        *(working_graph(30, seed, share=0.1, connector=seed % 3) for seed in range(6)),
    ]:
        for start in (NOTHING, solve_budgeted(one, "greedy")):
            prove(one, start, backend=backend)
    assert capfd.readouterr() == ("", "")


def test_a_process_has_printed_nothing_when_it_ends():  # before that C keeps what goes to a file
    pytest.importorskip("highspy")
    code = """if True:
        import numpy as np
        from clew.algorithms.budgeted.linear_program import LinearProgram
        from scipy.sparse import csr_array

        program = LinearProgram(np.ones(2), "highspy")
        program.add(csr_array(np.ones((1, 2))), np.ones(1))
        state, x, _ = program.solve(np.zeros(2), np.ones(2), None)
        assert state == "optimal" and x.sum() == 1, (state, x)
    """
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("", "")


@st.composite
def programmes(draw):
    """A programme over six columns with its rows, limits and sides."""
    number = st.integers(-3, 3).map(float)
    rows = draw(st.lists(st.lists(number, min_size=6, max_size=6), min_size=1, max_size=4))
    limits = np.array(
        draw(st.lists(st.integers(0, 5).map(float), min_size=len(rows), max_size=len(rows)))
    )
    prizes = np.array(draw(st.lists(st.sampled_from([0.0, 0.3, 1.0, 2.5]), min_size=6, max_size=6)))
    upper = np.array(draw(st.lists(st.sampled_from([0.0, 1.0, 1.0]), min_size=6, max_size=6)))
    return np.array(rows), limits, prizes, upper


@pytest.mark.parametrize("backend", ["scipy", "highspy"])
@settings(max_examples=2 * settings().max_examples)
@given(programmes(), st.lists(st.floats(0, 2), min_size=4, max_size=4))
def test_a_bound_is_above_every_choice_whatever_the_duals_and_at_the_best_ones_it_is_the_optimum(
    backend, case, duals
):
    from scipy.sparse import csr_array

    if backend == "highspy":
        pytest.importorskip("highspy")
    rows, limits, prizes, upper = case
    programme = LinearProgram(prizes, backend)
    programme.add(csr_array(rows[:1]), limits[:1])
    programme.add(csr_array(rows[1:]), limits[1:])
    lower = np.zeros(6)
    status, x, y = programme.solve(lower, upper, None)
    assert status == "optimal", "nothing is always a choice"
    assert programme.bound(y, lower, upper)[0] == pytest.approx(prizes @ x, rel=1e-8, abs=1e-8)
    assert programme.bound(y, lower, upper)[0] >= prizes @ x - 1e-10
    assert programme.bound(np.array(duals[: len(rows)]), lower, upper)[0] >= prizes @ x - 1e-10
    choices = (np.array(list(np.binary_repr(bits, 6)), np.float64) for bits in range(64))
    best = max(
        prizes @ one for one in choices if (rows @ one <= limits).all() and (one <= upper).all()
    )
    state, whole, bound, _ = programme.solve_integer(lower, upper, 0.0, 1000, None)
    assert state == "optimal"
    assert prizes @ whole == pytest.approx(best)
    assert best <= bound <= best + 1e-5 * (1 + best)


def test_an_integer_programme_that_is_cut_short_has_a_bound_that_more_nodes_lower():
    """Three knapsacks over 15 columns, whose 32,768 choices are all looked at."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    rows = rng.integers(20, 60, (3, 15)).astype(float)
    prizes, limits = rows.sum(axis=0) / 100 + rng.random(15) / 10, rows.sum(axis=1) // 2
    choices = (np.arange(2**15)[:, None] >> np.arange(15)) & 1
    best = (choices[(choices @ rows.T <= limits).all(axis=1)] @ prizes).max()
    programme = LinearProgram(prizes, "scipy")
    programme.add(csr_array(rows), limits)
    before = prizes.sum()
    for nodes in (1, 2, 5):
        state, x, bound, used = programme.solve_integer(np.zeros(15), np.ones(15), 0, nodes, None)
        assert state == "stopped"
        assert used == nodes
        assert (rows @ x <= limits).all()
        assert best <= bound <= before
        before = bound
    state, x, bound, _ = programme.solve_integer(np.zeros(15), np.ones(15), 0, 10**6, None)
    assert state == "optimal"
    assert prizes @ x == pytest.approx(best)
    assert best <= bound < before
    for least, state in ((best - 1e-3, "optimal"), (best + 1e-3, "infeasible")):
        found = programme.solve_integer(np.zeros(15), np.ones(15), least, 10**6, None)
        assert found[0] == state


def test_a_choice_that_is_hardly_better_is_not_fixed_away():
    from clew.algorithms.budgeted.cuts import _first_inequalities, _fix_rows, _State

    one = problem(3, [(0, 1), (1, 2)], [1.001, 1.0, 0.9], [1, 1, 1], [0, 1, 2], 1)
    state = _State(one, Solution(np.array([1], np.int32), 1.0), 9, None, reduce_problem(one))
    programme, lower, upper = LinearProgram(one.prizes, "scipy"), state.lower, state.upper
    programme.add(*_first_inequalities(one))
    bound, left = programme.bound(programme.solve(lower, upper, None)[2], lower, upper)
    _fix_rows(state, ReducedPrizes(bound, left))
    assert (lower[0], upper[0]) in ((0, 1), (1, 1)), "0.1 % better"
    assert upper[2] == 0, "what is worse is"


@pytest.mark.parametrize("backend", ["scipy", "highspy"])
def test_a_programme_follows_its_rows_and_sides_and_says_where_there_is_nothing_or_no_time(backend):
    from scipy.sparse import csr_array

    if backend == "highspy":
        pytest.importorskip("highspy")
    programme = LinearProgram(np.array([3.0, 2.0]), backend)
    zero, one = np.zeros(2), np.ones(2)
    programme.add(csr_array(np.array([[2.0, 1.0]])), np.array([2.0]))
    status, x, y = programme.solve(zero, one, None)
    assert (status, x.tolist()) == ("optimal", pytest.approx([0.5, 1.0]))
    assert y == pytest.approx([1.5])
    programme.add(csr_array((0, 2)), np.zeros(0))
    programme.add(csr_array(np.array([[1.0, 1.0]])), np.array([1.0]))
    status, x, _ = programme.solve(zero, one, 60.0)
    assert (status, x.tolist()) == ("optimal", pytest.approx([1.0, 0.0]))
    assert programme.matrix.toarray().tolist() == [[2, 1], [1, 1]]
    status, x, _ = programme.solve(np.array([0.0, 1.0]), one, None)
    assert (status, x.tolist()) == ("optimal", pytest.approx([0.0, 1.0]))
    status, x, y = programme.solve(one, one, None)
    assert (status, len(x), len(y)) == ("infeasible", 0, 0)
    rng = np.random.default_rng(0)
    large = LinearProgram(rng.random(300), backend)
    large.add(csr_array(rng.random((200, 300))), np.full(200, 9.0))
    status, x, y = large.solve(np.zeros(300), np.ones(300), 0.0)
    assert (status, len(x), len(y)) == ("stopped", 0, 0)


def test_a_row_that_is_out_is_not_fixed_in_and_one_that_is_in_is_not_fixed_out():
    from clew.algorithms.budgeted.cuts import _fix_rows, _State

    one = problem(4, [(0, 1), (1, 2), (2, 3)], [1.0, 1.0, 1.0, 1.0], [1] * 4, range(4), 2)
    state = _State(one, Solution(np.array([0], np.int32), 1.0), 9, None, reduce_problem(one))
    state.upper[1], state.lower[2] = 0, 1
    # Without rows 0 and 1, or with rows 2 and 3, the bound of 3 falls below the value looked for.
    _fix_rows(state, ReducedPrizes(3.0, np.array([2.0, 2.0, -2.0, -2.0])))
    assert (state.lower.tolist(), state.upper.tolist()) == ([1, 0, 1, 0], [1, 0, 1, 0])
    assert state.counts["fixed"] == 4
    state.lower[:], state.upper[:] = 0, 1
    _fix_rows(state, ReducedPrizes(3.0, np.array([1.0, 0.5, -1.0, -0.5])))
    assert (state.lower.tolist(), state.upper.tolist()) == ([0, 0, 0, 0], [1, 1, 1, 1])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("known", [False, True])
def test_integer_programmes_alone_come_to_the_optimum_or_say_that_nothing_is_better(seed, known):
    """From nothing, and from the optimum; a choice that is not connected is cut off."""
    from clew.algorithms.budgeted.cuts import (
        MAX_STILL,
        _first_inequalities,
        _Separator,
        _solve_integer,
        _State,
    )

    one = working_graph(14, seed, share=0.35, connector=5)
    best = brute_force(one)
    start = Solution(prove(one, NOTHING).rows, best) if known else NOTHING
    state = _State(one, start, 500, None, reduce_problem(one))
    smaller = state.reduced.problem
    if not smaller.prizes.any():
        return
    scale = float(smaller.prizes.max())
    programme, separator = LinearProgram(smaller.prizes / scale, "scipy"), _Separator(smaller)
    programme.add(*_first_inequalities(smaller))
    rounds, still = 0, 0
    while still != MAX_STILL and not state.done and rounds < 99:
        still = _solve_integer(state, programme, separator, scale)
        rounds += 1
    assert state.done
    assert state.value == pytest.approx(best)
    assert state.bound >= best - 1e-9
    assert state.counts["integer programmes"] == rounds
    assert state.spent >= rounds
    assert not state.stopped
    idle = _State(one, NOTHING, 0, None, reduce_problem(one))
    _solve_integer(idle, programme, separator, scale)
    assert idle.stopped in ("work", "")
    assert idle.bound >= best - 1e-9
