"""The loops of the budgeted solver, as plain Python, each against what networkx or brute force makes of its definition."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations, pairwise

import networkx as nx
import numpy as np
import pytest

from clew.algorithms.budgeted import (
    Problem,
    SharedCosts,
    Solution,
    heuristics,
    knapsack,
    solve_with_shared_costs,
)
from clew.algorithms.budgeted.kernels import filling, growth, reduction, separators
from clew.algorithms.budgeted.kernels import knapsack as knapsack_kernels
from clew.algorithms.budgeted.shared_costs import _Branch, _Search

SEEDS = range(12)
Q = "Q"


class Case:
    """A random graph with a root Q, as networkx has it and as the loops take it."""

    def __init__(self, seed, n=None, free=0.0):
        rng = self.rng = np.random.default_rng(seed)
        n = self.n = int(rng.integers(4, 10)) if n is None else n
        self.net = nx.gnp_random_graph(n, 0.35, seed=seed)
        near = [sorted(self.net[row]) for row in range(n)]
        self.starts = np.cumsum([0, *map(len, near)])
        self.targets = np.array([other for row in near for other in row], np.int32)
        self.costs = np.where(rng.random(n) < free, 0.0, rng.random(n) + 0.1)
        self.prizes = rng.random(n) * (rng.random(n) < 0.6)
        self.roots = np.sort(rng.choice(n, 2, replace=False)).astype(np.int64)
        self.net.add_edges_from((Q, row) for row in self.roots.tolist())

    @property
    def arrays(self):
        return self.starts, self.targets, self.costs, self.prizes, self.roots

    def connected(self, rows):
        return nx.is_connected(self.net.subgraph([Q, *rows]))

    def connected_choice(self):
        """A random choice that is connected with Q, as a mask."""
        inside = np.zeros(self.n, bool)
        for _ in range(int(self.rng.integers(1, self.n))):
            nearby = nx.node_boundary(self.net, [Q, *np.flatnonzero(inside).tolist()])
            if nearby:
                inside[self.rng.choice(sorted(nearby))] = True
        return inside

    def paths(self, inside, limit):
        """Networkx's cheapest paths to the rows that are not inside: the rows entered, and the cost."""
        net = nx.DiGraph()
        for one, other in chain(self.net.edges, ((b, a) for a, b in self.net.edges)):
            if other != Q and not inside[other]:
                net.add_edge(Q if one == Q or inside[one] else one, other, cost=self.costs[other])
        if Q not in net:
            return {}
        costs, paths = nx.single_source_dijkstra(net, Q, weight="cost", cutoff=limit)
        return {row: (costs[row], paths[row][1:]) for row in paths if row != Q}


def rows_of(mask):
    return np.flatnonzero(mask).tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cheapest_paths_are_networkxs(seed):
    case = Case(seed)
    inside = np.zeros(case.n, bool) if seed % 2 else case.connected_choice()
    limit = float(case.rng.choice([0.7, 1.5, np.inf]))
    cost, gain, parents = growth.cheapest_paths.plain(*case.arrays, inside, limit)
    expected = case.paths(inside, limit)
    for row in range(case.n):
        if inside[row]:
            assert (cost[row], gain[row], parents[row]) == (0, 0, -1)
        elif row in expected:
            length, entered = expected[row]
            assert cost[row] == pytest.approx(length)
            assert gain[row] == pytest.approx(case.prizes[entered].sum())
            before = int(parents[row])
            if len(entered) > 1:
                assert before == entered[-2]
            else:
                at_root = row in case.roots
                assert before == -1 if before < 0 else inside[before]
                assert at_root if before < 0 else before in case.net[row]
        else:
            assert (cost[row], parents[row]) == (np.inf, growth.NO_PARENT)


@pytest.mark.parametrize("better", [0, 1])
def test_of_paths_of_equal_cost_the_one_of_higher_gain_is_taken(better):
    """Row 2 is reached over row 0 and over row 1."""
    prizes = np.array([0.0, 0.0, 1.0])
    prizes[better] = 0.5
    arrays = np.array([0, 1, 2, 4]), np.array([2, 2, 0, 1], np.int32), np.ones(3), prizes
    cost, gain, parents = growth.cheapest_paths.plain(
        *arrays, np.array([0, 1]), np.zeros(3, bool), 2.0
    )
    assert (cost[2], gain[2], parents[2]) == (2.0, 1.5, better)


@pytest.mark.parametrize("seed", SEEDS)
def test_paths_are_added_by_their_gain_for_a_cost(seed):
    case = Case(seed)
    inside = case.connected_choice() if seed % 3 == 0 else np.zeros(case.n, bool)
    left = float(case.rng.choice([0.8, 1.6, 3.0]))
    expected, rest, steps = inside.copy(), left, 0
    while True:
        paths = case.paths(expected, rest)
        dense = {
            row: case.prizes[entered].sum() / cost
            for row, (cost, entered) in paths.items()
            if case.prizes[row] > 0
        }
        if not dense:
            break
        cost, entered = paths[max(dense, key=dense.get)]
        expected[entered] = True
        rest -= cost
        steps += 1
    found, number = growth.add_paths_by_density.plain(*case.arrays, inside, left)
    assert rows_of(found) == rows_of(expected)
    assert number == steps


def test_a_free_row_that_a_path_has_taken_adds_to_no_other_path():
    """Row 0 is free with a prize of 5; behind it row 1 brings 1 for 2, and row 2, beside, 2 for 3."""
    starts, targets = np.array([0, 1, 2, 2]), np.array([1, 0], np.int32)
    costs, prizes = np.array([0.0, 2.0, 3.0]), np.array([5.0, 1.0, 2.0])
    found, number = growth.add_paths_by_density.plain(
        starts, targets, costs, prizes, np.array([0, 2]), np.zeros(3, bool), 3.0
    )
    assert (rows_of(found), number) == ([0, 2], 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_neighbours_are_added_by_their_prize_for_a_cost(seed):
    case = Case(seed, free=0.3)
    case.costs, case.prizes = np.ceil(3 * case.costs), np.round(case.prizes, 1)
    budget = float(case.rng.integers(1, 9))
    inside, left = set(), budget
    while True:
        fitting = [
            row for row in nx.node_boundary(case.net, [Q, *inside]) if case.costs[row] <= left
        ]
        if not fitting:
            break

        def density(row):
            cost, prize = case.costs[row], Fraction(case.prizes[row])
            return (1, prize, -row) if cost == 0 else (0, prize / Fraction(cost), -row)

        best = max(fitting, key=density)
        inside.add(best)
        left -= case.costs[best]
    assert rows_of(growth.add_neighbours.plain(*case.arrays, budget)) == sorted(inside)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_breadth_first_tree_has_the_distances_of_networkx(seed):
    case = Case(seed)
    inside = case.rng.random(case.n) < 0.7
    depths = nx.single_source_shortest_path_length(case.net.subgraph([Q, *rows_of(inside)]), Q)
    order, parents = growth.breadth_first_tree.plain(case.starts, case.targets, case.roots, inside)
    assert sorted(order.tolist()) == sorted(row for row in depths if row != Q)
    found = [depths[row] for row in order.tolist()]
    assert found == sorted(found)
    for row in range(case.n):
        if row not in depths:
            assert parents[row] == growth.NO_PARENT
        else:
            above = Q if parents[row] < 0 else int(parents[row])
            assert parents[row] >= -1
            assert depths[above] == depths[row] - 1
            assert case.net.has_edge(above, row)


@pytest.mark.parametrize("seed", range(30))
def test_articulation_rows_are_those_without_which_a_choice_falls_apart(seed):
    """Linked rows that are not chosen count for nothing."""
    case = Case(seed, 9)
    case.net.add_edges_from((Q, row) for row in range(0, 9, 4))
    roots = np.array(sorted(case.net[Q]))
    inside = case.connected_choice()
    found = filling.articulation_rows.plain(case.starts, case.targets, roots, inside)
    rows = rows_of(inside)
    holding = [row for row in rows if not case.connected([one for one in rows if one != row])]
    assert rows_of(found & inside) == holding


def needless(case, rows):
    """The rows without a prize that cost tokens and that the others are connected without."""
    return [
        row
        for row in rows
        if case.prizes[row] <= 0
        and case.costs[row] > 0
        and case.connected([other for other in rows if other != row])
    ]


@pytest.mark.parametrize("seed", range(30))
def test_a_pruned_choice_holds_its_prizes_and_nothing_needless(seed):
    case = Case(seed, free=0.2)
    inside = case.connected_choice()
    pruned = rows_of(filling.prune.plain(*case.arrays, inside))
    assert set(pruned) <= set(rows_of(inside))
    assert case.connected(pruned)
    assert {row for row in rows_of(inside) if case.prizes[row] > 0} <= set(pruned)
    assert needless(case, pruned) == []
    net = case.net.subgraph([Q, *pruned])
    assert all(case.prizes[row] > 0 for row in pruned if net.degree(row) < 2)


@pytest.mark.parametrize("dear", [0, 1])
def test_of_two_rows_that_either_would_do_the_dearer_is_pruned(dear):
    """Rows 2 and 3 have prizes and are joined; row 0 joins the one to Q, row 1 the other."""
    costs = np.ones(4)
    costs[dear] = 2.0
    starts, targets = np.array([0, 1, 2, 4, 6]), np.array([2, 3, 0, 3, 1, 2], np.int32)
    prizes, roots = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 1])
    pruned = filling.prune.plain(starts, targets, costs, prizes, roots, np.ones(4, bool))
    assert rows_of(pruned) == sorted([1 - dear, 2, 3])
    costs[:2] = 0.0
    kept = filling.prune.plain(starts, targets, costs, prizes, roots, np.ones(4, bool))
    assert kept.all()  # what is free takes nobody's room


@pytest.mark.parametrize("seed", range(30))
def test_a_filled_choice_has_room_for_no_other_prize_and_never_the_banned_row(seed):
    case = Case(seed)
    inside = case.connected_choice()
    held = {row for row in rows_of(inside) if case.prizes[row] > 0}
    budget = float(case.costs[inside].sum() + case.rng.random())
    banned = int(case.rng.choice([-1, *np.flatnonzero(~inside)]))
    found, paths = filling.prune_and_fill.plain(*case.arrays, inside, budget, banned)
    assert case.connected(rows_of(found))
    assert held <= set(rows_of(found))
    assert banned not in rows_of(found)
    assert case.costs[found].sum() <= budget + 1e-12
    assert needless(case, rows_of(found)) == []
    if banned >= 0:
        case.costs[banned] = np.inf
    room = budget - case.costs[found].sum()
    beyond = case.paths(found, room - 1e-12)
    assert not any(case.prizes[row] > 0 for row in beyond)
    assert (paths > 0) == bool({row for row in rows_of(found) if case.prizes[row] > 0} - held)


@pytest.mark.parametrize("seed", range(20))
def test_an_exchange_ends_where_no_dropped_row_makes_room_for_more(seed):
    case = Case(seed)
    inside = filling.prune.plain(*case.arrays, case.connected_choice())
    budget, before = float(case.costs[inside].sum() + 0.3), case.prizes[inside].sum()
    found, tries = filling.exchange_rows.plain(*case.arrays, inside.copy(), budget, 1000, 1e-9)
    value = case.prizes[found].sum()
    assert case.connected(rows_of(found))
    assert case.costs[found].sum() <= budget + 1e-12
    assert value >= before
    assert tries < 1000
    for row in rows_of(found):
        rest = found.copy()
        rest[row] = False
        if case.connected(rows_of(rest)):
            other, _ = filling.prune_and_fill.plain(*case.arrays, rest, budget, row)
            assert case.prizes[other].sum() <= value * (1 + 1e-9)
    assert filling.exchange_rows.plain(*case.arrays, inside.copy(), budget, 0, 0.0)[1] == 0


def falling(x):
    """The rows by falling x, of equals the first one first."""
    return np.argsort(-x, kind="mergesort")


@pytest.mark.parametrize("seed", range(20))
def test_separators_are_those_of_minimum_cuts(seed):
    """Each row of a larger x than its minimum cut has one, and each one found separates it."""
    case = Case(seed, 9)
    x = np.round(case.rng.random(9) * (case.rng.random(9) < 0.8), 2)
    x[[row for row in range(9) if not nx.has_path(case.net, Q, row)]] = 0  # they are removed before
    split = nx.DiGraph()
    for row in range(9):
        split.add_edge((row, "in"), (row, "out"), capacity=x[row])
    for one, other in chain(case.net.edges, ((b, a) for a, b in case.net.edges)):
        if other != Q:
            split.add_edge(Q if one == Q else (one, "out"), (other, "in"))
    reverse = separators.reverse_slots.plain(case.starts, case.targets)
    least = 0.0503  # no multiple of a hundredth, as x is
    ends, rows, heads = separators.violated_separators.plain(
        case.starts, case.targets, reverse, case.roots, x, falling(x), 1e-6, least, 3
    )
    cuts = {}
    for (begin, end), head in zip(pairwise(ends), heads.tolist(), strict=True):
        cut = rows[begin:end].tolist()
        rest = case.net.subgraph(set(case.net) - set(cut))
        assert head not in cut
        assert not nx.has_path(rest, Q, head)
        assert x[head] - x[cut].sum() > least
        cuts.setdefault(head, []).append(cut)
    for row in range(9):
        if row in case.roots:
            assert row not in cuts
            continue
        flow = nx.maximum_flow_value(split, Q, (row, "in"))
        assert (row in cuts) == (x[row] - flow > least)
        if row in cuts:
            assert x[cuts[row][0]].sum() == pytest.approx(flow, abs=1e-4)
            assert len({tuple(cut) for cut in cuts[row]}) == len(cuts[row])


def test_behind_a_separator_the_next_one_is_found_and_of_equal_ones_that_of_fewest_rows():
    """Q - 0 - 1 - 2 - 3 with x of 0.1, 0.2, 0.1 and 1: a cut at either end, then the one between."""
    starts, targets = np.array([0, 1, 3, 5, 6]), np.array([1, 0, 2, 1, 3, 2], np.int32)
    reverse = separators.reverse_slots.plain(starts, targets)
    x = np.array([0.1, 0.2, 0.1, 1.0])
    arrays = starts, targets, reverse, np.array([0]), x, falling(x)
    for nested, expected in ((1, [[0], [2]]), (3, [[0], [2], [1]])):
        ends, rows, heads = separators.violated_separators.plain(*arrays, 1e-5, 0.15, nested)
        own = [
            rows[begin:end].tolist()
            for (begin, end), v in zip(pairwise(ends), heads, strict=True)
            if v == 3
        ]
        assert own == expected
    # Q - 0 and Q - 1, both before 2, 2 before 3: two rows of 0.2, or one of 0.4
    starts, targets = np.array([0, 1, 2, 5, 6]), np.array([2, 2, 0, 1, 3, 2], np.int32)
    reverse = separators.reverse_slots.plain(starts, targets)
    x = np.array([0.2, 0.2, 0.4, 1.0])
    ends, rows, heads = separators.violated_separators.plain(
        starts, targets, reverse, np.array([0, 1]), x, falling(x), 1e-5, 0.15, 1
    )
    assert (ends.tolist(), rows.tolist(), heads.tolist()) == ([0, 1], [2], [3])


@pytest.mark.parametrize("seed", range(20))
def test_the_first_inequalities_hold_of_just_the_choices_that_they_describe(seed):
    case = Case(seed, 7)
    tokens = case.rng.choice([0, 1, 2, 5], 7)
    budget = int(case.rng.integers(0, 9))
    ends, columns, values, limits = reduction.first_inequalities.plain(
        case.starts, case.targets, case.prizes, tokens, case.roots, budget
    )
    matrix = np.zeros((len(limits), 7))
    for at in range(len(limits)):
        own = slice(ends[at], ends[at + 1])
        assert len(set(columns[own].tolist())) == len(columns[own])
        matrix[at, columns[own]] = values[own]
    for rows in chain.from_iterable(combinations(range(7), size) for size in range(8)):
        x = np.zeros(7)
        x[list(rows)] = 1
        holds = tokens[list(rows)].sum() <= max(1, budget)
        for row in rows:
            near = set(case.net[row]) & {Q, *rows}
            between = case.prizes[row] == 0 and tokens[row] > 0
            holds &= len(near) >= (2 if between else 1)
            holds &= {other for other in set(case.net[row]) - {Q} if tokens[other] == 0} <= set(
                rows
            )
        assert holds == (matrix @ x <= limits + 1e-9).all()


def random_tree(seed):
    """Parents of a forest, some rows outside of it, with prizes and tokens."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    parents = np.array([int(rng.integers(-1, row)) if row else -1 for row in range(n)], np.int64)
    names = rng.permutation(n)  # a parent may have a higher number than its children
    renamed = np.full(n, -2, np.int64)
    for row in range(n):
        renamed[names[row]] = names[parents[row]] if parents[row] >= 0 else -1
    outside = int(rng.integers(n))
    if outside not in renamed:
        renamed[outside] = -2
    prizes = np.round(rng.random(n), 2) * (rng.random(n) < 0.7)
    return renamed, prizes, rng.integers(0, 6, n), int(rng.integers(0, 15))


def closed_choices(parents):
    """All choices that take no row without the row's parent."""
    n = len(parents)
    for rows in chain.from_iterable(combinations(range(n), size) for size in range(n + 1)):
        if all(parents[row] == -1 or parents[row] in rows for row in rows):
            yield list(rows)


@pytest.mark.parametrize("seed", range(30))
def test_knapsacks_on_a_tree_have_the_best_of_all_choices(seed):
    """The table of the compiled loop, that of plain Python, and the choice for a price."""
    parents, prizes, tokens, budget = random_tree(seed)
    choices = list(closed_choices(parents))
    best = max(prizes[rows].sum() for rows in choices if tokens[rows].sum() <= budget)
    order, sizes = knapsack_kernels.preorder.plain(parents, prizes)
    kernel = knapsack_kernels.tree_knapsack
    found = [form(order, sizes, tokens, prizes, budget) for form in (kernel.function, kernel.plain)]
    found.append(knapsack.best_subtree(parents, prizes, tokens, budget)[0])
    for mask in found:
        assert rows_of(mask) in choices
        assert tokens[mask].sum() <= budget
        assert prizes[mask].sum() == pytest.approx(best)
    for price in (0.05, 0.2):
        mask = knapsack.profitable_subtree(parents, prizes, tokens.astype(float), price)
        assert rows_of(mask) in choices
        assert (prizes - price * tokens)[mask].sum() == pytest.approx(
            max((prizes - price * tokens)[rows].sum() for rows in choices)
        )


@pytest.mark.parametrize("seed", range(10))
def test_a_preorder_has_what_leads_to_a_prize_each_row_followed_by_those_below(seed):
    parents, prizes, _, _ = random_tree(seed)
    below = nx.DiGraph()
    below.add_nodes_from(range(len(parents)))
    below.add_edges_from((int(above), row) for row, above in enumerate(parents) if above >= 0)
    leading = {
        row: list({row, *nx.descendants(below, row)})
        for row in range(len(parents))
        if parents[row] >= -1
    }
    useful = {row for row, some in leading.items() if prizes[some].any()}
    order, sizes = knapsack_kernels.preorder.plain(parents, prizes)
    assert sorted(order.tolist()) == sorted(useful)
    for at, (row, size) in enumerate(zip(order.tolist(), sizes.tolist(), strict=True)):
        assert {*order[at : at + size].tolist()} == useful & set(leading[row])


@pytest.mark.parametrize("method", ["best", "density", "tree", "auto"])
@pytest.mark.parametrize("seed", range(8))
def test_with_shared_costs_every_method_keeps_the_budget_and_its_bound(seed, method):
    """Also where hardly any work is allowed, or no time."""
    case = Case(seed, 7)
    groups, lines = case.rng.integers(-1, 3, 7), case.rng.integers(1, 9, 3)
    tokens, budget = case.rng.integers(0, 8, 7), int(case.rng.integers(3, 25))
    if seed % 2:  # hardly anything but headings costs tokens, and some pay for just two of them
        tokens, budget = tokens // 7, int(lines.sum() - lines[0])
    one = Problem(
        case.starts, case.targets, case.prizes, tokens, case.roots.astype(np.int32), budget
    )

    def paid(rows):
        return (
            tokens[rows].sum() + lines[sorted({g for g in groups[rows].tolist() if g >= 0})].sum()
        )

    best = max(
        case.prizes[list(rows)].sum()
        for rows in chain.from_iterable(combinations(range(7), size) for size in range(8))
        if paid(list(rows)) <= budget and case.connected(rows)
    )
    for work, deadline in ((40, None), (1, None), (40, 0.0)):
        found = solve_with_shared_costs(one, SharedCosts(groups, lines), method, work, deadline)
        assert paid(found.rows) <= budget
        assert case.connected(found.rows.tolist())
        assert found.value == pytest.approx(case.prizes[found.rows].sum())
        assert found.bound >= best - 1e-9
        assert not found.proved or found.value == pytest.approx(best)


def test_the_undecided_groups_are_shared_by_the_rows_of_the_best_choice_or_by_all():
    """Five groups: one is paid for, one is forbidden, two have chosen rows, the last has none."""
    one = Problem(
        np.zeros(13, np.int64),
        np.zeros(0, np.int32),
        np.ones(12),
        np.ones(12, np.int64),
        np.arange(12, dtype=np.int32),
        99,
    )
    groups = np.array([0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, -1])
    search = _Search(one, SharedCosts(groups, np.array([7, 7, 7, 5, 3])), "auto", 9, None)
    search.best = Solution(np.array([0, 2, 4, 6, 8, 11], np.int32), 6.0)
    part = _Branch(frozenset({0}), frozenset({1}))
    shares = search._shares(part)
    assert shares.tolist() == [0, 0, 0, 0, 4, 0, 3, 0, 5, 2, 1, 0]
    relaxed = Solution(np.array([0, 5, 6, 8, 9], np.int32), 5.0)
    one_short = replace(one, budget=26)  # five rows, and groups of 7, 7, 5 and 3
    search.problem = one_short
    assert (
        search._most_underpaid(part, relaxed, shares) == 2
    )  # 3 of 7 are paid, and of 3 there are 2
    search.problem = replace(one, budget=27)
    assert search._most_underpaid(part, relaxed, shares) is None


def reduced_by_definition(case, tokens, reached):
    """Parts of the smaller problem as sets of rows, what is free with Q, and how they are linked."""
    free = case.net.subgraph([row for row in range(case.n) if reached[row] and tokens[row] == 0])
    clusters = [set(part) for part in nx.connected_components(free)]
    with_q = set().union(*(part for part in clusters if part & set(case.roots.tolist())), set())
    parts = [part for part in clusters if not part & with_q]
    parts += [{row} for row in range(case.n) if reached[row] and tokens[row] > 0]
    net = nx.Graph()
    net.add_nodes_from([Q, *map(frozenset, parts)])
    at = {row: frozenset(part) for part in parts for row in part} | dict.fromkeys([Q, *with_q], Q)
    for one, other in case.net.edges:
        if one in at and other in at and at[one] != at[other]:
            net.add_edge(at[one], at[other])
    while bare := [
        part
        for part in net
        if part != Q and case.prizes[list(part)].sum() <= 0 and net.degree(part) < 2
    ]:
        net.remove_nodes_from(bare)
    return net, with_q


@pytest.mark.parametrize("seed", range(60))
def test_a_smaller_problem_joins_free_rows_and_drops_leaves_without_a_prize(seed):
    case = Case(seed, 10)
    tokens = case.rng.choice([0, 0, 1, 4], 10)
    case.prizes *= case.rng.random(10) < 0.5
    reached = case.rng.random(10) < 0.85
    removed, part_of_root = -7, -5
    label, starts, targets, prizes, costs, roots = reduction.contract.plain(
        case.starts, case.targets, case.prizes, tokens, case.roots, reached, (removed, part_of_root)
    )
    net, with_q = reduced_by_definition(case, tokens, reached)
    rows_of_part = {}
    for row, part in enumerate(label.tolist()):
        rows_of_part.setdefault(part, set()).add(row)
    assert rows_of_part.pop(part_of_root, set()) == with_q
    rows_of_part.pop(removed, None)
    assert set(map(frozenset, rows_of_part.values())) == set(net) - {Q}
    assert sorted(rows_of_part) == list(range(len(prizes)))
    names = {frozenset(rows): part for part, rows in rows_of_part.items()} | {Q: Q}
    for part, rows in rows_of_part.items():
        assert prizes[part] == pytest.approx(case.prizes[list(rows)].sum())
        assert costs[part] == tokens[list(rows)].sum()
        near = sorted(names[one] for one in net[frozenset(rows)] if one != Q)
        assert targets[starts[part] : starts[part + 1]].tolist() == near
        assert (part in roots) == net.has_edge(Q, frozenset(rows))
    assert len(targets) == starts[-1]
    assert roots.tolist() == sorted(roots.tolist())


def test_prices_are_paid_up_to_the_whole_budget():
    """Behind a connector of 4 tokens two rows of prize 3; beside it one of 2.5, dense and dear.

    By density the dear one is taken first, and leaves no room; the others take just the budget.
    """
    starts, targets = np.array([0, 2, 3, 4, 4]), np.array([1, 2, 0, 0], np.int32)
    prizes, tokens = np.array([0.0, 3.0, 3.0, 2.5]), np.array([4, 1, 1, 4])
    one = Problem(starts, targets, prizes, tokens, np.array([0, 3], np.int32), 6)
    found = heuristics.lagrange(one)
    assert (found.rows.tolist(), found.value) == ([0, 1, 2], 6.0)
    assert heuristics.lagrange(replace(one, budget=5)).value == 2.5


def test_no_more_trees_are_grown_than_may_be(monkeypatch):
    cases = [Case(seed, 14) for seed in range(40)]
    problems = [
        Problem(
            case.starts,
            case.targets,
            case.prizes,
            np.ceil(8 * case.costs).astype(np.int64),
            case.roots.astype(np.int32),
            20,
        )
        for case in cases
    ]
    grown = [heuristics.tree(one).work["trees"] for one in problems]
    assert max(grown) > 2
    for most in (1, 2):
        monkeypatch.setattr(heuristics, "ROUNDS", most)
        assert [heuristics.tree(one).work["trees"] for one in problems] == [
            min(most, trees) for trees in grown
        ]


def test_what_is_shared_is_met_by_rows_with_a_group_alone_and_paid_once():
    shared = SharedCosts(np.array([1, -1, 0, 1, -1]), np.array([5, 7]))
    assert shared.met([0, 1, 3]) == {1}
    assert shared.met([1, 4]) == frozenset()
    assert (shared.paid([0, 1, 3]), shared.paid([0, 2]), shared.paid([])) == (7, 12, 0)


# Among them those where parts that cannot be paid for come before the best one, or take it whole.
@pytest.mark.parametrize("seed", [*range(8), 12, 155, 156, 161, 224, 256])
def test_rows_that_cost_little_under_headings_that_cost_much_are_chosen_by_their_headings(seed):
    rng = np.random.default_rng(seed)
    n, g = int(rng.integers(4, 9)), int(rng.integers(2, 5))
    net = nx.gnp_random_graph(n, 0.5, seed=seed)
    starts = np.cumsum([0, *(len(net[row]) for row in range(n))])
    targets = np.array([near for row in range(n) for near in sorted(net[row])], np.int32)
    roots = np.sort(rng.choice(n, min(n, 3), replace=False)).astype(np.int32)
    prizes, tokens = np.round(rng.random(n), 2), rng.choice([0, 0, 0, 1, 3], n)
    groups, lines = rng.integers(0, g, n), rng.integers(2, 12, g)
    budget = int(lines[: int(rng.integers(1, g))].sum()) + int(rng.choice([0, 0, 1]))
    net.add_edges_from((Q, row) for row in roots.tolist())
    best = max(
        prizes[list(rows)].sum()
        for rows in chain.from_iterable(combinations(range(n), size) for size in range(n + 1))
        if tokens[list(rows)].sum() + lines[sorted(set(groups[list(rows)].tolist()))].sum()
        <= budget
        and nx.is_connected(net.subgraph([Q, *rows]))
    )
    one = Problem(starts, targets, prizes, tokens, roots, budget)
    found = solve_with_shared_costs(one, SharedCosts(groups, lines))
    assert found.value == pytest.approx(best)
    assert found.bound == pytest.approx(best)
    assert found.proved


@pytest.mark.parametrize("cells", [10, 37, 200, 10**6])
@pytest.mark.parametrize("seed", range(8))
def test_where_the_table_is_too_large_tokens_are_rounded_up_to_the_least_unit(
    monkeypatch, seed, cells
):
    monkeypatch.setattr(knapsack, "MAX_CELLS", cells)
    parents, prizes, tokens, budget = random_tree(seed)
    tokens, budget = 7 * tokens, 7 * budget + 3
    chosen, unit = knapsack.best_subtree(parents, prizes, tokens, budget)
    order, _ = knapsack_kernels.preorder.plain(parents, prizes)
    spendable = min(budget, int(tokens.sum()))
    least = next(one for one in range(1, 10**6) if len(order) * spendable <= one * cells)
    assert unit == least
    rounded = np.ceil(tokens / unit)
    fitting = [
        prizes[rows].sum()
        for rows in closed_choices(parents)
        if rounded[rows].sum() <= spendable // unit
    ]
    assert prizes[chosen].sum() == pytest.approx(max(fitting))
    assert tokens[chosen].sum() <= budget
