"""Budgeted selection: every method is feasible and between nothing and the optimum, the bound is above it, and the known traps."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.algorithms.budgeted import (
    METHODS,
    Problem,
    SharedCosts,
    Solution,
    articulation_mask,
    heuristics,
    is_feasible,
    solve_budgeted,
    solve_with_shared_costs,
    spanning_parents,
)


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


def optimum(one):
    """The best value by looking at every set of rows; connectivity by a search of its own."""
    best, near = (
        0.0,
        [set(one.targets[one.starts[i] : one.starts[i + 1]].tolist()) for i in range(len(one))],
    )
    for rows in chain.from_iterable(
        combinations(range(len(one)), k) for k in range(1, len(one) + 1)
    ):
        if one.tokens[list(rows)].sum() > one.budget or one.prizes[list(rows)].sum() <= best:
            continue
        seen = set(one.roots.tolist()) & set(rows)
        stack = list(seen)
        while stack:
            new = near[stack.pop()] & set(rows) - seen
            seen |= new
            stack.extend(new)
        if len(seen) == len(rows):
            best = float(one.prizes[list(rows)].sum())
    return best


@st.composite
def problems(draw, most=9):
    n = draw(st.integers(0, most))
    ends = st.integers(0, max(n - 1, 0))
    edges = draw(st.lists(st.tuples(ends, ends), max_size=2 * n)) if n else []
    column = lambda values: draw(st.lists(values, min_size=n, max_size=n))  # noqa: E731
    prizes, tokens = column(st.sampled_from([0.0, 0.0, 0.25, 1.0, 1.5])), column(st.integers(0, 6))
    return problem(
        n,
        edges,
        prizes,
        tokens,
        draw(st.lists(ends, unique=True, max_size=3)) if n else [],
        draw(st.integers(0, 20)),
    )


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=2 * settings().max_examples)
@given(problems())
def test_every_method_is_feasible_and_between_nothing_and_the_optimum_and_the_bound_above_it(
    method, one
):
    found, best = solve_budgeted(one, method), optimum(one)
    assert is_feasible(one, found.rows)
    assert found.rows.tolist() == sorted(set(found.rows.tolist()))
    left_out = np.delete(one.prizes, found.rows)
    assert found.value == pytest.approx(one.prizes.sum() - left_out.sum())
    assert found.value <= best + 1e-12
    assert best <= one.upper_bound + 1e-9
    assert best <= found.bound + 1e-9
    assert not found.proved or found.value == pytest.approx(best)


@pytest.mark.parametrize("method", METHODS)
@given(problems())
def test_what_has_no_prize_is_taken_only_to_hold_something(method, one):
    rows = solve_budgeted(one, method).rows
    before = spanning_parents(one, rows)
    assert (before >= -1).all()
    assert set(rows[one.prizes[rows] == 0].tolist()) <= set(before.tolist())


@settings(max_examples=4 * settings().max_examples)
@given(problems())
def test_the_best_of_them_is_no_worse_than_each_and_mostly_the_optimum(one):
    best = solve_budgeted(one, "best").value
    assert all(best >= solve_budgeted(one, method).value - 1e-12 for method in ("density", "tree"))
    assert best >= 0.6 * optimum(one)


def on_trees():
    """Problems whose graph, Q included, is a tree: one root, every other row hangs on an earlier one."""
    parts = st.integers(1, 10).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.tuples(*(st.integers(0, max(i - 1, 0)) for i in range(n))),
            st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.75]), min_size=n, max_size=n),
            st.lists(st.integers(0, 7), min_size=n, max_size=n),
            st.integers(0, 25),
        )
    )
    return parts.map(
        lambda p: problem(p[0], [(i, b) for i, b in enumerate(p[1]) if i], p[2], p[3], [0], p[4])
    )


@settings(max_examples=2 * settings().max_examples)
@given(on_trees())
def test_on_a_tree_the_knapsack_is_exact(one):
    assert solve_budgeted(one, "tree").value == pytest.approx(optimum(one))


@given(problems(), st.sampled_from(["density", "local", "lagrange"]))
def test_a_tree_regrown_around_a_choice_is_worth_no_less(one, method):
    tree = heuristics.tree
    start = solve_budgeted(one, method)
    assert tree(one, start).value >= start.value - 1e-12


@given(problems(), st.integers(0, 6))
def test_the_ladder_ends_at_the_optimum_which_more_budget_never_lowers(one, more):
    found = solve_budgeted(one)
    assert found.proved
    assert found.value == pytest.approx(optimum(one))
    assert solve_budgeted(replace(one, budget=one.budget + more)).value >= found.value - 1e-9


def test_no_programme_is_solved_where_the_heuristics_prove_or_no_work_is_allowed():
    # of three rows for 2, 3 and 4 with prizes of 1, 2 and 2, two fit in 6; the bound takes a share
    one = problem(3, [], [1.0, 2.0, 2.0], [2, 3, 4], [0, 1, 2], 6)
    best = solve_budgeted(one, "best")
    assert not Solution(best.rows, best.value).proved  # nothing is known of a choice by itself
    idle = solve_budgeted(one, work=0)
    assert not best.proved
    assert (idle.value, idle.bound, dict(idle.work)) == (best.value, best.bound, dict(best.work))
    assert "backend" in solve_budgeted(one, work=1).work
    assert "backend" not in solve_budgeted(replace(one, budget=9)).work


def test_density_passes_a_connector_where_greedy_is_stuck():
    # Q - 0 (small) and Q - 1 (costs 2, worth nothing) - 2 (a treasure)
    one = problem(3, [(1, 2)], [0.1, 0.0, 10.0], [8, 2, 6], [0, 1], 8)
    assert solve_budgeted(one, "greedy").rows.tolist() == [0]
    assert solve_budgeted(one, "density").rows.tolist() == [1, 2]


def test_a_connector_that_a_later_row_makes_needless_gives_its_tokens_back():
    # first 1 over the connector 0, then 2, which holds 1 as well: without the connector 3 fits, too
    one = problem(4, [(0, 1), (1, 2)], [0, 10.0, 3.0, 1.0], [2, 1, 3, 2], [0, 2, 3], 6)
    assert solve_budgeted(one, "density").rows.tolist() == [1, 2, 3]


def test_a_tree_regrown_around_a_choice_can_hold_more_than_the_tree_of_cheapest_ways():
    more = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        pairs = [(i, int(rng.integers(i))) for i in range(1, 14)] + rng.integers(
            0, 14, (14, 2)
        ).tolist()
        one = problem(
            14, pairs, rng.random(14) * (rng.random(14) < 0.6), rng.integers(1, 9, 14), [0], 25
        )
        more += (
            solve_budgeted(one, "tree").work["trees"] > 2
        )  # the second was better than the first, the third no better than that
    assert more >= 2


def test_the_single_dear_way_is_not_missed_for_small_change():
    one = problem(2, [], [0.5, 30.0], [1, 100], [0, 1], 100)
    assert solve_budgeted(one, "density").rows.tolist() == [1]


def test_free_connectors_are_passed_and_the_useless_ones_left_out():
    one = problem(5, [(0, 1), (1, 2), (0, 3), (3, 4)], [0, 0, 1.0, 0, 0], [0, 0, 3, 0, 0], [0], 3)
    for method in METHODS:
        assert solve_budgeted(one, method).rows.tolist() == [0, 1, 2], method


def test_two_rows_far_from_the_root_do_not_hold_each_other_up():
    """E1: by the rule "every chosen row has a chosen neighbour" the far pair would be the optimum; it is an island."""
    one = problem(4, [(0, 1), (2, 3)], [1.0, 1.0, 9.0, 9.0], [2, 2, 2, 2], [0], 4)
    near = [set(one.targets[one.starts[i] : one.starts[i + 1]].tolist()) for i in range(4)]
    island = {2, 3}
    assert all(near[row] & island for row in island), "the printed constraint holds"
    assert not is_feasible(one, sorted(island))
    for method in METHODS:
        assert solve_budgeted(one, method).rows.tolist() == [0, 1], method
    assert one.upper_bound == pytest.approx(2.0), "what no way reaches does not loosen the bound"


@pytest.mark.parametrize("method", METHODS)
class TestEdges:
    def test_no_budget_buys_only_what_is_free(self, method):
        one = problem(3, [(0, 1), (1, 2)], [1.0, 1.0, 1.0], [0, 0, 1], [0], 0)
        assert solve_budgeted(one, method).rows.tolist() == [0, 1]
        assert solve_budgeted(problem(1, [], [1.0], [1], [0], 0), method).rows.tolist() == []

    def test_without_prizes_or_roots_or_rows_nothing_is_chosen(self, method):
        nothings = [
            problem(2, [(0, 1)], [0, 0], [1, 1], [0], 9),
            problem(2, [(0, 1)], [1, 1], [1, 1], [], 9),
            problem(0, [], [], [], [], 9),
        ]
        for one in nothings:
            found = solve_budgeted(one, method)
            assert (found.rows.tolist(), found.value, found.bound, found.proved) == (
                [],
                0.0,
                0.0,
                True,
            )

    def test_what_fits_whole_is_taken_whole_and_proved(self, method):
        one = problem(4, [(0, 1), (1, 2)], [1.0, 0.5, 0.25, 7.0], [5, 5, 5, 5], [0], 2**31 - 1)
        found = solve_budgeted(one, method)
        assert found.rows.tolist() == [0, 1, 2]
        assert found.proved

    def test_of_equals_the_lower_rows_are_taken(self, method):
        assert solve_budgeted(
            problem(6, [], [1.0] * 6, [2] * 6, range(6), 7), method
        ).rows.tolist() == [
            0,
            1,
            2,
        ]


def test_a_budget_too_wide_for_the_table_is_counted_in_coarser_units_and_kept(monkeypatch):
    from clew.algorithms.budgeted import knapsack

    monkeypatch.setattr(knapsack, "MAX_CELLS", 50)
    rng = np.random.default_rng(0)
    one = problem(
        12, [(i, i // 2) for i in range(1, 12)], rng.random(12), rng.integers(1, 90, 12), [0], 200
    )
    found = solve_budgeted(one, "tree")
    assert found.work["token unit"] > 1
    assert is_feasible(one, found.rows)


def test_an_unknown_method_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'ilp'.*auto, best, greedy"):
        solve_budgeted(problem(0, [], [], [], [], 0), "ilp")


@given(problems())
def test_rows_that_hold_others_are_those_without_which_a_search_reaches_less(one):
    rows = solve_budgeted(replace(one, budget=10**6, prizes=np.ones(len(one))), "density").rows
    wanted = [not is_feasible(replace(one, budget=10**6), rows[rows != row]) for row in rows]
    assert articulation_mask(one, rows).tolist() == wanted


@pytest.mark.parametrize("method", ["tree", "local"])
def test_a_start_that_is_too_dear_or_an_island_is_refused(method):
    one = problem(4, [(0, 1), (2, 3)], [1.0, 1.0, 9.0, 9.0], [2, 2, 2, 2], [0], 3)
    for rows in ([0, 1], [2], [1]):
        with pytest.raises(
            ValueError, match="start must be connected with Q and within the budget of 3"
        ):
            getattr(heuristics, method)(one, Solution(np.array(rows, np.int32), 9.0))
    assert getattr(heuristics, method)(
        one, Solution(np.array([0], np.int32), 1.0)
    ).rows.tolist() == [0]


def test_ways_that_prizes_pay_for_find_what_the_cheapest_ways_pass_by():
    # to 3 the way over 0 costs 4, the way over 1 costs 5 and brings a prize of its own; the budget holds one of them
    one = problem(4, [(0, 3), (1, 3), (0, 2)], [0, 6.0, 0.1, 10.0], [4, 5, 1, 5], [0, 1], 10)
    assert (
        solve_budgeted(one, "priced").rows.tolist()
        == solve_budgeted(one, "best").rows.tolist()
        == [1, 3]
    )


def test_the_bound_takes_the_share_that_fits_of_the_last_row():
    one = problem(2, [], [0.25, 1.0], [1, 6], [0, 1], 6)
    assert one.upper_bound == pytest.approx(0.25 + 5 / 6)
    assert solve_budgeted(one, "best").value == 1.0


@pytest.mark.parametrize("seed", range(25))
def test_with_shared_costs_the_choice_is_the_optimum_of_all_choices(seed):
    rng = np.random.default_rng(seed)
    n, g = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    net = nx.gnp_random_graph(n, 0.4, seed=seed)
    starts = np.cumsum([0, *(len(net[row]) for row in range(n))])
    targets = np.array([near for row in range(n) for near in sorted(net[row])], np.int32)
    roots = np.sort(rng.choice(n, 2, replace=False)).astype(np.int32)
    prizes, tokens = np.round(rng.random(n), 2), rng.integers(0, 8, n)
    groups, lines = rng.integers(-1, g, n), rng.integers(1, 9, g)
    budget = int(rng.integers(3, 30))
    net.add_edges_from(("Q", row) for row in roots.tolist())
    values = [0.0]
    for size in range(1, n + 1):
        for rows in combinations(range(n), size):
            headings = {group for group in groups[list(rows)].tolist() if group >= 0}
            paid = tokens[list(rows)].sum() + sum(lines[group] for group in headings)
            if paid <= budget and nx.is_connected(net.subgraph(["Q", *rows])):
                values.append(prizes[list(rows)].sum())
    one = Problem(starts, targets, prizes, tokens, roots, budget)
    solution = solve_with_shared_costs(one, SharedCosts(groups, lines))
    assert solution.value == pytest.approx(max(values))
    assert solution.bound == pytest.approx(max(values))
